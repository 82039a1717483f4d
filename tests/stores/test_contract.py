"""Every store keeps the contract, on both event loops."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from sidechat_mcp.ports.store import LogStore
from sidechat_mcp.stores.memory import MemoryStore
from sidechat_mcp.stores.sqlite.store import open_sqlite
from sidechat_mcp.testing.samples import Now
from sidechat_mcp.testing.store_contract import StoreContract
from tests.behaviours import behaviour


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def now() -> Now:
    return Now()


@pytest.fixture(params=["memory", "sqlite"])
async def store(
    request: pytest.FixtureRequest, tmp_path: Path, now: Now
) -> AsyncGenerator[LogStore]:
    store: LogStore = (
        MemoryStore(now)
        if request.param == "memory"
        else await open_sqlite(tmp_path / "log.db", now=now)
    )
    yield store
    await store.close()


class TestContract(StoreContract):
    """Over memory and SQLite."""


C = StoreContract
SHOWN = {
    "stores:places": (
        C.test_an_append_takes_the_next_places,
        C.test_facts_of_many_stand_one_behind_the_other,
        C.test_a_session_that_cannot_be_leaves_nothing,
    ),
    "stores:decisions-and-facts": (
        C.test_a_decision_on_an_old_head_is_refused,
        C.test_of_many_decisions_on_one_head_one_is_taken,
        C.test_a_fact_is_taken_whatever_happened_meanwhile,
    ),
    "stores:once": (
        C.test_the_same_key_writes_once_and_answers_the_first_place,
        C.test_the_same_key_creates_once,
        C.test_of_twins_at_the_same_moment_one_writes,
        C.test_the_same_key_with_other_arguments_is_refused,
        C.test_a_callers_key_counts_thirty_days_and_an_identity_for_ever,
    ),
    "stores:address": (
        C.test_a_child_reads_its_ancestors_up_to_where_it_left_them,
        C.test_a_child_costs_its_parent_nothing,
        C.test_a_long_line_of_forks_reads_as_one_log,
    ),
    "stores:verbatim": (C.test_every_kind_of_event_comes_back_as_it_was,),
    "stores:forget": (
        C.test_a_forgotten_session_is_gone_with_its_keys,
        C.test_a_session_with_children_is_kept,
    ),
    "stores:one-turn-runner": (
        C.test_one_at_a_time_holds_a_session,
        C.test_of_many_who_ask_at_once_one_holds,
    ),
    "stores:checkpoints": (C.test_every_method_is_a_checkpoint,),
}
for id, tests in SHOWN.items():
    for test in tests:
        behaviour(id)(test)
