"""`connect` gives a client of either era, in memory, to one server over a fake feature."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, Literal

import pytest
from mcp import Client
from mcp.types import Implementation

from sidechat_mcp.surfaces.mcp.server import SidechatServer, serving
from tests.mcp.fake import FakeSidechat, opened

Era = Literal["modern", "legacy"]
Connect = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=["modern", "legacy"])
def era(request: pytest.FixtureRequest) -> Era:
    return request.param


@pytest.fixture
def fake() -> FakeSidechat:
    return FakeSidechat()


@pytest.fixture
async def server(fake: FakeSidechat) -> AsyncGenerator[SidechatServer]:
    async with serving(partial(opened, fake), home="HOME", cwd="/folder") as made:
        yield made


@pytest.fixture
def connect(server: SidechatServer, era: Era) -> Connect:
    return partial(client, server, era)


def client(server: Any, era: Era, *, name: str = "tests", **options: Any) -> Client:
    """A client of that era to `server` (anything the SDK's client connects to)."""
    return Client(
        server,
        mode="legacy" if era == "legacy" else "auto",
        client_info=Implementation(name=name, version="1"),
        cache=None,
        **options,
    )
