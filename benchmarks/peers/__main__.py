"""`python -m benchmarks.peers NAME FOLDER TURNS`: builds a parent of so many turns, says `ready`,
then forks it once for every line it is sent and says how many seconds that took."""

from __future__ import annotations

import asyncio  # noqa: TID251 - the peers know nothing else
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.conversation import conversation


def _say(text: object) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


async def main(name: str, folder: str, turns: str) -> None:
    peer: Any = import_module(f"benchmarks.peers.{name}").Peer(Path(folder))
    await peer.build(conversation(int(turns)))
    _say("ready")
    while sys.stdin.readline():
        begun = time.perf_counter()
        await peer.fork()
        _say(time.perf_counter() - begun)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))
