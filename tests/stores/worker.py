"""Other processes at the same log: `python -m tests.stores.worker TIMES VERB FOLDER …` starts that
many (`{n}` in an argument is a process's number), `… kill TIMES FOLDER` starts and kills them, one
after the other. They say on their standard output what has been acknowledged, a line each."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from itertools import count
from pathlib import Path
from random import Random

import anyio
from anyio.lowlevel import checkpoint

from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.ports.store import Once
from sidechat_mcp.stores.sqlite.store import SqliteStore, open_sqlite
from sidechat_mcp.testing.samples import child, draft, native


def say(line: str) -> None:
    os.write(1, f"{line}\n".encode())


async def start(store: SqliteStore, *_: str) -> None:
    """Be there once the parent says so: many start at the same moment."""
    mark, _sessions = await store.changed(0)
    say(f"up {mark}")


async def append(store: SqliteStore, session: str, name: str, times: str) -> None:
    """Facts for a session that others append to as well."""
    for number in range(int(times)):
        await store.append(SessionId(session), [draft(f"{name}-{number}")], expect=None)
    say("done")


async def go_on(store: SqliteStore, name: str) -> None:
    """Sessions, events, forks and keys until somebody kills us."""
    for number in count():
        parent = f"{name}-{number}"
        pair = [draft(f"{parent}/0"), draft(f"{parent}/1")]
        await store.create(native(parent), pair)
        say(f"{parent} 0 2")
        await store.append(SessionId(parent), [draft(f"{parent}/2")], expect=2, once=Once(parent))
        say(f"{parent} 2 3")
        await store.create(child(f"{parent}-c", parent, 3), [draft(f"{parent}-c/3")])
        say(f"{parent}-c 3 4")


async def listen(store: SqliteStore, times: str) -> None:
    mark, _sessions = await store.changed(0)
    say("ready")
    heard = 0
    while heard < int(times):
        await store.wait(mark)
        mark, sessions = await store.changed(mark)
        heard += len(sessions)
        say(" ".join(sessions))


async def hold(store: SqliteStore, session: str) -> None:
    async with store.hold(SessionId(session)):
        say("held")
        await anyio.sleep_forever()


VERBS: dict[str, Callable[..., Awaitable[None]]] = {
    verb.__name__: verb for verb in (start, append, go_on, listen, hold)
}


async def work(verb: str, folder: str, arguments: Sequence[str]) -> None:
    store = await open_sqlite(Path(folder) / "log.db")
    await VERBS[verb](store, *arguments)
    await store.close()


def fork(verb: str, folder: str, arguments: Sequence[str], number: int) -> int:
    """Start one. Forked, not begun anew: what is slow to import is there already."""
    pid = os.fork()
    if pid == 0:
        own = [argument.replace("{n}", str(number)) for argument in arguments]
        anyio.run(work, verb, folder, own)
        os._exit(0)
    return pid


def crowd(times: int, verb: str, folder: str, *arguments: str) -> None:
    if times == 1:
        return anyio.run(work, verb, folder, arguments)
    pids = [fork(verb, folder, arguments, number) for number in range(times)]
    assert [os.waitpid(pid, 0)[1] for pid in pids] == [0] * times


def kill(times: int, folder: str) -> None:
    random = Random(7)
    for number in range(times):
        pid = fork("go_on", folder, ["s{n}"], number)
        time.sleep(random.uniform(0, 0.2))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    anyio.run(checkpoint)  # So that the event loop is imported before we fork.
    if sys.argv[1] == "kill":
        kill(int(sys.argv[2]), *sys.argv[3:])
    else:
        crowd(int(sys.argv[1]), *sys.argv[2:])
