"""Our server as a process of its own, over a log on disk and a scripted agent.

`stdio`, or `http PORT` with secrets by principal in SIDECHAT_TEST_SECRETS. A message with the
word `wait` is answered by halves: the second one never comes; with `stuck` it holds a thread, too.
One with `long N` is answered with N characters. `meet A` and `meet B` each say their fifth piece
and then wait for the other's. The caller's conversation is `shelf:r1`."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import ClassVar

import anyio
import anyio.to_thread

from sidechat_mcp.core.assemble import Context
from sidechat_mcp.core.content import Text, plain
from sidechat_mcp.ports.provider import Chunk, Delta, Done, Whole
from sidechat_mcp.sidechat.service import Sidechat
from sidechat_mcp.stores.sqlite.store import open_sqlite
from sidechat_mcp.surfaces.mcp import stdio
from tests.feature.workshop import Shelf, Speaker, shelved, workshop

PARENT = shelved(("What now?", "This."), ("And then?", "That."))


class Obedient(Speaker):
    """Answers as the message says."""

    met: ClassVar = {"A": anyio.Event(), "B": anyio.Event()}

    @asynccontextmanager
    async def stream(self, context: Context) -> AsyncGenerator[AsyncIterator[Chunk]]:
        yield self._answer(plain(context.messages[-1].content))

    async def _answer(self, asked: str) -> AsyncIterator[Chunk]:
        meeting = re.fullmatch(r"meet ([AB])", asked)
        if meeting:
            async for chunk in self._meet(meeting[1]):
                yield chunk
            return
        long = re.search(r"long ([0-9]+)", asked)
        text = "x" * int(long[1]) if long else f"You said: {asked[:80]}"
        yield Delta(text[:3])
        if "wait" in asked:
            await anyio.sleep_forever()
        if "stuck" in asked:
            await anyio.to_thread.run_sync(time.sleep, 60)
        yield Delta(text[3:])
        yield Whole(Text(text))
        yield Done()

    async def _meet(self, me: str) -> AsyncIterator[Chunk]:
        pieces = [f"{me}{n} " for n in range(1, 11)]
        for n, piece in enumerate(pieces, 1):
            yield Delta(piece)
            if n == 5:
                self.met[me].set()
                await self.met["B" if me == "A" else "A"].wait()
        yield Whole(Text("".join(pieces)))
        yield Done()


@asynccontextmanager
async def opened(environ: Mapping[str, str]) -> AsyncGenerator[Sidechat]:
    store = await open_sqlite(Path(environ["SIDECHAT_HOME"]) / "log.db")
    try:
        agents = {"speaker": Obedient(["unused"])}
        yield workshop(store, agents=agents, shelf=Shelf({"r1": PARENT}, live="r1"))
    finally:
        await store.close()


def main() -> int:
    if sys.argv[1] == "http":
        from sidechat_mcp.surfaces.mcp import http

        secrets = json.loads(os.environ.get("SIDECHAT_TEST_SECRETS", "null"))
        return http.serve("127.0.0.1", int(sys.argv[2]), secrets, open=opened)
    return stdio.serve(open=opened)


if __name__ == "__main__":
    raise SystemExit(main())
