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
