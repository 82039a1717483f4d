"""A folder of ours for one fork: a copy of the parent's session that ends at the cut, the gate,
and what the fork writes. It goes with the fork; what a killed process of ours left behind goes
when the next one comes."""

from __future__ import annotations

import io
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sidechat_mcp.clients.jsonl import Tally, objects
from sidechat_mcp.clients.lodging import private
from sidechat_mcp.clients.pi import records
from sidechat_mcp.clients.pi.drafting import named
from sidechat_mcp.clients.rooms import enter
from sidechat_mcp.errors import ProviderError

REFUSAL = "This side conversation is read-only: no tool is carried out."
GATE = "sidechat-gate"
"""The command by which a running fork shows that the gate is in it."""
_EXTENSION = f"""\
// Denies every tool in this side conversation. The command tells that this was loaded.
export default function (pi) {{
  pi.on("tool_call", () => ({{ block: true, reason: "{REFUSAL}" }}));
  pi.on("user_bash", () => ({{
    result: {{ output: "{REFUSAL}", exitCode: 1, cancelled: false, truncated: false }},
  }}));
  pi.registerCommand("{GATE}", {{ description: "read-only", handler: async () => {{}} }});
}}
"""


@dataclass(frozen=True, slots=True)
class Room:
    """`lock` is held as long as the room is used: nobody clears away what somebody locks."""

    path: Path
    lock: BinaryIO

    @property
    def copy(self) -> Path:
        return self.path / "parent.jsonl"

    @property
    def gate(self) -> Path:
        return self.path / "gate.ts"

    @property
    def sessions(self) -> Path:
        return self.path / "sessions"

    def close(self) -> None:
        """Once more does no harm."""
        shutil.rmtree(self.path, ignore_errors=True)
        self.lock.close()


def make(environ: Mapping[str, str], parent: Path, record: str) -> Room:
    """A room with `parent` in it up to the entry `record`. Raises: OSError; ProviderError (the
    parent has no such entry any more)."""
    rooms = _rooms(environ)
    private(rooms)
    room = Room(*enter(rooms))
    try:
        room.sessions.mkdir(mode=0o700)
        room.gate.write_text(_EXTENSION, "utf-8")
        with parent.open("rb") as whole, room.copy.open("xb") as begun:
            cut(whole, begun, record)
    except BaseException:
        room.close()
        raise
    return room


def cut(whole: io.BufferedIOBase, begun: io.BufferedIOBase, record: str) -> None:
    """Copy a session's lines up to the one that holds the entry `record`, which is then the tip
    of the copy: an entry comes after everything that it hangs on."""
    shelf = records.Shelf(Tally())
    while line := whole.readline():
        begun.write(line)
        for one in objects(io.BytesIO(line), records.SHAPE, shelf.tally):
            entry = records.read(one, shelf)
            if entry is not None and named(entry.id) == record:
                return
    raise ProviderError(
        "The session was rewritten since this fork was made.", then="Fork it again."
    )


def _rooms(environ: Mapping[str, str]) -> Path:
    home = environ.get("SIDECHAT_HOME")
    user = Path(environ.get("HOME") or Path.home())
    return (Path(home).expanduser().absolute() if home else user / ".sidechat") / "hosted" / "pi"
