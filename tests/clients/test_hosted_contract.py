"""The four clients that answer for their own conversations, held to what each hosted agent owes.
Each is played by a program that talks as the real one does."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

import pytest

from sidechat_mcp.ports.client import Hosted
from sidechat_mcp.testing.hosted_contract import HostedContract, Stage
from tests.behaviours import behaviour
from tests.clients import test_claude_hosted as claude
from tests.clients import test_codex_hosted as codex
from tests.clients import test_opencode_hosted as opencode
from tests.clients import test_pi_hosted as pi
from tests.clients.rollouts import Home


class Ending(Hosted, Protocol):
    async def gone(self) -> None: ...


@asynccontextmanager
async def ended(fork: Ending) -> AsyncGenerator[None]:
    try:
        yield
    finally:
        fork.close()
        await fork.gone()


@behaviour("hosted:few")
class TestClaudeCode(HostedContract):
    @pytest.fixture
    async def stage(self, tmp_path: Path) -> AsyncGenerator[Stage]:
        record = tmp_path / "record"
        fork = claude.made(record)
        async with ended(fork):
            yield Stage(
                fork,
                fork.gone,
                lambda: [int(one["pid"]) for one in claude.noted(record) if "argv" in one],
                lambda: [one for one in claude.noted(record) if isinstance(one, str)],
            )


@behaviour("hosted:few")
class TestCodex(HostedContract):
    @pytest.fixture
    async def stage(self, tmp_path: Path) -> AsyncGenerator[Stage]:
        record = tmp_path / "record"
        fork = codex.made(Home(tmp_path), record)
        async with ended(fork):
            yield Stage(
                fork,
                fork.gone,
                lambda: [one["pid"] for one in codex.starts(record)[1:]],  # One asked for trust.
                lambda: [one["input"][0]["text"] for one in codex.requests(record, "turn/start")],
            )


@behaviour("hosted:few")
class TestPi(HostedContract):
    @pytest.fixture
    async def stage(self, tmp_path: Path) -> AsyncGenerator[Stage]:
        house = pi.House(tmp_path)
        fork = house.fork()
        async with ended(fork):
            yield Stage(
                fork,
                fork.gone,
                lambda: [one["pid"] for one in house.noted if "pid" in one],
                lambda: house.told,
                lambda: house.left,
            )


@behaviour("hosted:few")
class TestOpencode(HostedContract):
    @pytest.fixture
    async def stage(self, tmp_path: Path) -> AsyncGenerator[Stage]:
        house = opencode.House(tmp_path)
        fork = house.fork()
        async with ended(fork):
            yield Stage(
                fork,
                fork.gone,
                lambda: [one["pid"] for one in house.begun],
                lambda: house.told,
                lambda: house.left,
            )
