"""A file that is read again and again while it grows tells what one reading of all of it tells."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

from sidechat_mcp.core.events import Draft
from sidechat_mcp.errors import SidechatError
from sidechat_mcp.ports.client import Client, Transcript


async def grown(opened: Callable[[], Client], path: Path, text: bytes, dice: random.Random) -> int:
    """Write `text` to `path` bit by bit, each time reading what is new; how often that was less
    than the whole. Fails if anything differs from a reading of all that is there."""
    follower, other = opened(), opened()
    known: list[Draft] = []
    less = 0
    for stop in _stops(text, dice):
        with path.open("ab") as file:
            file.write(text[file.tell() : stop])
        new = await _read(follower, path, since_last=True)
        whole = await _read(other, path, since_last=False)
        if new is None or whole is None:
            assert new is whole, "both refuse, or none"
            continue
        known = _joined(known, new)
        less += new.after is not None
        assert known == list(whole.drafts), stop
        assert _counts(new) == _counts(whole), stop
    return less


def _stops(text: bytes, dice: random.Random) -> Sequence[int]:
    """Places at which somebody may look: behind most lines, and in the middle of some."""
    stops: list[int] = []
    at = 0
    for line in text.splitlines(keepends=True):
        if dice.random() < 0.1:
            stops.append(at + dice.randrange(len(line)))
        at += len(line)
        if dice.random() < 0.6:
            stops.append(at)
    return [*stops, len(text)]


async def _read(client: Client, path: Path, *, since_last: bool) -> Transcript | None:
    try:
        return await client.read_file(path, since_last=since_last)
    except SidechatError:
        return None


def _joined(known: Sequence[Draft], new: Transcript) -> list[Draft]:
    if new.after is None:
        return list(new.drafts)
    places = [place for place, draft in enumerate(known) if draft.id == new.after]
    return [*known[: places[0] + 1], *new.drafts]


def _counts(read: Transcript) -> tuple[object, ...]:
    about = read.ref, read.cwd, read.skipped.unreadable
    return *about, read.open_turns, read.open_events, read.open_calls
