"""A client that is imported when it is first asked for something, so that a process which never
meets it starts as fast as without it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

from sidechat_mcp.ports.client import Call, Client, Found, Hosted, Point, Transcript


class Later:
    """The client `name`, which the function `opened` of `module` makes from an environment.
    `sign` is what a call of that client has, in its `_meta` or in our environment; None: nothing
    says that a call comes from it."""

    def __init__(
        self, name: str, module: str, sign: str | None, environ: Mapping[str, str]
    ) -> None:
        self._name = name
        self._module = module
        self._sign = sign
        self._environ = environ
        self._made: Client | None = None

    @property
    def name(self) -> str:
        return self._name

    async def locate(self, call: Call) -> Found | None:
        signed = self._sign is not None and (
            self._sign in call.meta or self._sign in call.environment
        )
        return await self._client.locate(call) if signed else None

    async def newest(self, cwd: str | None, limit: int) -> Sequence[Found]:
        return await self._client.newest(cwd, limit)

    async def find(self, ref: str, cwd: str | None) -> Found | None:
        return await self._client.find(ref, cwd)

    async def read(self, found: Found, *, since_last: bool = False) -> Transcript:
        return await self._client.read(found, since_last=since_last)

    async def read_file(self, path: Path, *, since_last: bool = False) -> Transcript:
        return await self._client.read_file(path, since_last=since_last)

    def hosted(self, point: Point) -> Hosted | None:
        return self._client.hosted(point)

    async def offer(self, ref: str, cwd: str | None, text: str) -> str | None:
        return await self._client.offer(ref, cwd, text)

    @property
    def _client(self) -> Client:
        if self._made is None:
            module = importlib.import_module(self._module)
            opened = cast("Callable[[Mapping[str, str]], Client]", module.opened)
            self._made = opened(self._environ)
        return self._made
