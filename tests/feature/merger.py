"""One process that merges a child, and dies where it is told:

    python -m tests.feature.merger LOG CHILD MOMENT

It waits for the file LOG.first (or, to live, LOG.second), merges with an agent that says
something new at every call, and prints the note's id and text. MOMENT is `never`, or when the
process kills itself: `before condense`, `after condense`, `before commit`, `after commit`."""

from __future__ import annotations

import json
import os
import secrets
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import anyio

from sidechat_mcp.bootstrap import assemble_parts
from sidechat_mcp.config import Config
from sidechat_mcp.core.assemble import Context
from sidechat_mcp.core.events import Draft, TurnEnd
from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.ports.store import LogStore, Once, Receipt
from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.stores.sqlite.store import open_sqlite
from tests.feature.workshop import Speaker


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def wait_for(file: Path) -> None:
    """Other processes are held by a file, not by an event."""
    while not file.exists():
        time.sleep(0.002)


def dying(store: LogStore, moment: str) -> LogStore:
    """`store`, whose appends end the process at `moment`."""
    append = store.append

    async def deadly(
        session: SessionId,
        drafts: Sequence[Draft],
        *,
        expect: int | None,
        once: Once | None = None,
    ) -> Receipt:
        merging = once is not None and once.key.startswith("merge/")
        if merging and moment == "before commit":
            die()
        receipt = await append(session, drafts, expect=expect, once=once)
        if merging and moment == "after commit":
            die()
        closed = any(isinstance(draft.body, TurnEnd) for draft in drafts)
        if moment == "after condense" and closed and not merging:
            die()
        return receipt

    store.append = deadly  # type: ignore[method-assign]
    return store


async def main(log: Path, child: str, moment: str) -> None:
    def says(context: Context) -> str:
        if moment == "before condense":
            die()
        return f"Note {secrets.token_hex(4)}."

    store = dying(await open_sqlite(log), moment)
    sidechat = assemble_parts(
        Config(log.parent, str(log), "speaker"),
        store,
        {},
        provider=lambda _: Speaker([says]),
        clients={},
    )
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    wait_for(log.with_suffix(".second" if moment == "never" else ".first"))
    note = await sidechat.merge(Caller(), session=child)
    sys.stdout.write(json.dumps([note.note, note.text]) + "\n")
    await store.close()


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), sys.argv[2], sys.argv[3])
