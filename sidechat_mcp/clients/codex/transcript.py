"""A whole rollout: bytes → `Transcript`. Pure but for the reading of its sources.

A fork may hold only what is its own, and so does a thread in which turns were taken back: then
what it goes on from is read first, up to the place where it was left, and so on back to a file
that stands alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

from sidechat_mcp.clients.codex import records, turns
from sidechat_mcp.clients.codex.drafting import NAME, Behind
from sidechat_mcp.clients.codex.records import Meta, Record
from sidechat_mcp.clients.codex.turns import Pause, Told
from sidechat_mcp.clients.jsonl import Seen, Source, Tally, once_more
from sidechat_mcp.clients.values import amount
from sidechat_mcp.core.events import ToolResult
from sidechat_mcp.errors import ParentNotFound, UnknownFormat
from sidechat_mcp.ports.client import Skipped, Transcript

RECOGNISED = 0.1
"""The part of a file's lines that must be understood: below it the format has changed."""
DEEPEST = 64
"""How many forks of forks are followed back."""

Elsewhere = Callable[[str], AbstractContextManager[Source | None]]
"""Opens the rollout that is a segment of some thread, or gives None where it is not there."""


def rows(
    source: Source,
    elsewhere: Elsewhere,
    tally: Tally,
    above: tuple[str, ...] = (),
    end: int | None = None,
) -> Iterator[tuple[bool, int, dict[str, Any]]]:
    """The JSON objects of a whole thread, up to the ordinal `end`: each with its place in its
    file, and whether it stands in `source` itself. `above` are the segments that led here. A
    thread's record of itself comes before what it goes on from.

    Raises: ParentNotFound where something that it goes on from is missing."""
    known = False
    ordinal = 0
    for place, one in records.each(source, tally):
        numbered = amount(one.get("ordinal"))
        ordinal = ordinal if numbered is None else numbered
        meta = records.meta(one) if not known else None
        # What a fork says of itself stands behind the end of what a fork of it goes on from.
        if meta is None and end is not None and ordinal >= end:
            return
        yield not above, place, one
        if meta is not None:
            known = True
            yield from _based(meta, elsewhere, tally, above, end)


def _based(
    meta: Meta, elsewhere: Elsewhere, tally: Tally, above: tuple[str, ...], end: int | None
) -> Iterator[tuple[bool, int, dict[str, Any]]]:
    if meta.base is None:
        return
    segment, length = meta.base
    with elsewhere(segment) as source:
        if source is None or segment in above or len(above) >= DEEPEST:
            raise ParentNotFound(
                f"This conversation continues {segment}, whose file is not here, so it cannot be"
                " read whole.",
                then="Put that file back, or name another conversation.",
            )
        end = length if end is None else min(length, end)
        yield from rows(source, elsewhere, tally, (*above, segment), end)


@dataclass(slots=True)
class _Reading:
    """What is known of the thread that is read. `bare` files are those of the first versions."""

    tally: Tally = field(default_factory=Tally)
    meta: Meta | None = None
    bare: bool = False
    said: int = 0

    def records(self, source: Source, elsewhere: Elsewhere) -> Iterator[Record]:
        for own, place, one in rows(source, elsewhere, self.tally):
            if own and self.meta is None:
                self._meet(one)
            record = self._record(one, place)
            if record is not None:
                yield record

    def further(self, source: Source, before: Standing) -> Iterator[Record]:
        """The records behind `before`."""
        for place, one in once_more(source, before.seen, self.tally, self._rest):
            if (record := self._record(one, place)) is not None:
                yield record

    def _rest(self, source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
        return records.each(source, self.tally, self.tally.objects)

    def _meet(self, one: dict[str, Any]) -> None:
        self.meta = records.meta(one)
        self.bare = self.meta is not None and "payload" not in one
        if self.meta is not None and self.meta.subagent:
            raise _subagent(self.meta)

    def _record(self, one: dict[str, Any], place: int) -> Record | None:
        try:
            record = records.read(one, place, self.tally)
        except RecursionError:
            self.tally.unreadable["nested too deeply"] += 1
            return None
        self.said += record is not None
        return record


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a rollout can be gone on with: at `pause`."""

    pause: Pause
    meta: Meta | None
    bare: bool
    ref: str
    seen: Seen

    @property
    def offset(self) -> int:
        return self.pause.offset


def read(source: Source, name: str, elsewhere: Elsewhere, ref: str | None = None) -> Transcript:
    """The conversation in `source`. `name` is its file's, without the ending; `ref` the client's
    id of it, where the caller knows it (else it is taken from the records, or is `name`).

    Raises: UnknownFormat; ParentNotFound for the thread of a subagent, and for a fork whose
    parent's file is missing."""
    return whole(source, name, elsewhere, ref)[0]


def whole(
    source: Source, name: str, elsewhere: Elsewhere, ref: str | None
) -> tuple[Transcript, Standing | None]:
    """As `read`, and where the file can be gone on with when it has grown: not one that goes on
    from another one, nor one that has not said yet whether it does."""
    reading = _Reading()
    found = reading.records(source, elsewhere)
    told = turns.tell(found, reading.tally, lambda: reading.bare, None)
    _refuse(reading)
    meta = reading.meta
    ref = ref or (meta.id if meta is not None else name)
    alone = meta is not None and meta.base is None
    return _transcript(reading, told, ref), _standing(reading, told, ref) if alone else None


def since(source: Source, before: Standing) -> tuple[Transcript, Standing] | None:
    """What `source` holds from `before` on; None where all of it must be read."""
    reading = _Reading(Tally(end=before.offset, objects=before.pause.place))
    reading.meta, reading.bare = before.meta, before.bare
    try:
        told = turns.tell(
            reading.further(source, before), reading.tally, lambda: before.bare, before.pause
        )
    except Behind:
        return None
    read = replace(_transcript(reading, told, before.ref), after=before.pause.after)
    return read, _standing(reading, told, before.ref) or before


def _standing(reading: _Reading, told: Told, ref: str) -> Standing | None:
    if told.pause is None:
        return None
    return Standing(told.pause, reading.meta, reading.bare, ref, reading.tally.seen)


def _transcript(reading: _Reading, told: Told, ref: str) -> Transcript:
    tally, meta = reading.tally, reading.meta
    for kind, times in tally.unknown.items():
        tally.ignored[f"unknown record {kind[:40]!r}"] = times
    return Transcript(
        client=NAME,
        ref=ref,
        drafts=told.drafts,
        cwd=meta.cwd if meta is not None else None,
        open_turns=told.open_turns,
        open_events=told.open_events,
        open_calls=told.open_calls,
        repaired=sum(
            isinstance(one.body, ToolResult) and one.body.synthetic is not None
            for one in told.drafts
        ),
        skipped=Skipped(dict(tally.unreadable), dict(tally.ignored)),
        delivered=told.delivered,
        version=meta.version if meta is not None else None,
    )


def _refuse(reading: _Reading) -> None:
    tally = reading.tally
    unknown = tally.understood < RECOGNISED * tally.lines
    if tally.lines and (unknown or (reading.meta is None and not reading.said)):
        kinds = ", ".join(_kind(kind) for kind, _ in tally.unknown.most_common(5))
        version = reading.meta.version if reading.meta is not None else None
        raise UnknownFormat(
            f"This file is no Codex conversation that this version can read: of {tally.lines}"
            f" lines {tally.understood} were understood"
            + (f", unknown records {kinds}" if kinds else "")
            + (f", written by Codex {version}" if version else "")
            + ".",
            then="Upgrade sidechat-mcp, or name another conversation.",
        )


def _kind(kind: str) -> str:
    return repr(kind[:40])


def _subagent(meta: Meta) -> ParentNotFound:
    then = f"codex:{meta.under}." if meta.under else "it is named in its records."
    return ParentNotFound(
        f"This file is the thread of a subagent ({meta.id}), which is no conversation of its own.",
        then=f"Fork the conversation that started it: {then}",
    )
