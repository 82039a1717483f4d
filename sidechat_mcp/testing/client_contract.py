"""What every client owes (`ports.client`), as tests over a made-up home folder.

A client's own tests derive a class from `ClientContract` and give it the fixture `house`; the
methods are collected from there. Nothing here knows a client's files but through the house."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sidechat_mcp.core.content import ToolUse
from sidechat_mcp.core.events import (
    AssistantMessage,
    Body,
    ContextCompacted,
    Draft,
    RequestHeader,
    ToolResult,
    TurnEnd,
    TurnStart,
)
from sidechat_mcp.errors import ParentNotFound, SidechatError, UnknownFormat
from sidechat_mcp.ports.client import Call, Client, Found, Transcript


@dataclass(frozen=True, slots=True)
class House:
    """A home folder with conversations in it.

    `refs` are the conversations of the folder `cwd`, newest first; `elsewhere` is a folder with
    none. `calling` makes a call to us that surely comes from a conversation (None: this client
    gives no sign of who calls), `stray` is a call that comes from none of them. `moments` are
    the bytes of one conversation's file at every moment of its life, without a rewind; `torn` is
    such a file in the middle of a write. `alien` is a file of an unknown format."""

    client: Client
    home: Path
    cwd: str
    elsewhere: str
    refs: Sequence[str]
    calling: Callable[[str], Call] | None
    stray: Call
    moments: Sequence[bytes]
    torn: bytes
    alien: bytes


class ClientContract:
    async def test_its_name_is_one_word(self, house: House) -> None:
        assert house.client.name
        assert ":" not in house.client.name
        assert house.client.name == house.client.name.strip().lower()

    async def test_it_finds_the_conversation_that_is_calling(self, house: House) -> None:
        if house.calling is None:
            return
        for ref in house.refs:
            found = await house.client.locate(house.calling(ref))
            assert found is not None
            assert (found.client, found.ref) == (house.client.name, ref)

    async def test_it_never_guesses_who_is_calling(self, house: House) -> None:
        assert await house.client.locate(house.stray) is None

    async def test_the_newest_of_a_folder_come_first_and_only_so_many(self, house: House) -> None:
        newest = await house.client.newest(house.cwd, 100)
        assert [one.ref for one in newest] == list(house.refs)
        assert all(one.client == house.client.name and one.title for one in newest)
        assert [one.ref for one in await house.client.newest(house.cwd, 1)] == [house.refs[0]]
        assert list(await house.client.newest(house.elsewhere, 100)) == []

    async def test_it_finds_a_conversation_by_exactly_its_id(self, house: House) -> None:
        for ref in house.refs:
            for cwd in (house.cwd, house.elsewhere, None):
                found = await house.client.find(ref, cwd)
                assert found is not None
                assert found.ref == ref
        for wrong in (house.refs[0][:-1], "", ".", "../x", "a/b", "*", "x" * 5000, "\0", "\ud800"):
            assert await house.client.find(wrong, house.cwd) is None

    async def test_looking_and_reading_changes_nothing(self, house: House) -> None:
        before = _state(house.home)
        for ref in house.refs:
            await house.client.locate(house.stray if house.calling is None else house.calling(ref))
            await house.client.read(await _found(house, ref))
        await house.client.newest(house.cwd, 100)
        assert _state(house.home) == before

    async def test_reading_again_gives_the_same(self, house: House) -> None:
        for ref in house.refs:
            found = await _found(house, ref)
            read = await house.client.read(found)
            assert await house.client.read(found) == read
            assert (read.client, read.ref) == (house.client.name, ref)
            assert await house.client.read_file(found.path) == read

    async def test_drafts_are_whole_closed_turns(self, house: House) -> None:
        for ref in house.refs:
            read = await house.client.read(await _found(house, ref))
            assert read.drafts
            check_turns([draft.body for draft in read.drafts])

    async def test_every_draft_has_an_id_of_its_own(self, house: House) -> None:
        for ref in house.refs:
            read = await house.client.read(await _found(house, ref))
            ids = [draft.id for draft in read.drafts]
            assert len({*ids}) == len(ids)
            assert all(":" in id for id in ids)

    async def test_a_file_that_grows_only_adds_drafts(self, house: House, tmp_path: Path) -> None:
        before: Sequence[Draft] = []
        sizes: set[int] = set()
        for moment in house.moments:
            now = (await _read(house, tmp_path, moment)).drafts
            assert list(now[: len(before)]) == list(before)
            before = now
            sizes.add(len(now))
        assert len(sizes) > 2

    async def test_a_half_written_record_is_not_there_yet(
        self, house: House, tmp_path: Path
    ) -> None:
        drafts = (await _read(house, tmp_path, house.torn)).drafts
        whole = (await _read(house, tmp_path, house.moments[-1])).drafts
        assert drafts
        assert list(whole[: len(drafts)]) == list(drafts)

    async def test_a_file_that_vanished_is_said_to_be_missing(self, house: House) -> None:
        found = await _found(house, house.refs[0])
        found.path.unlink()
        error = await _refusal(house.client.read(found))
        assert isinstance(error, ParentNotFound)
        assert error.then

    async def test_an_unknown_format_is_refused_in_a_sentence(
        self, house: House, tmp_path: Path
    ) -> None:
        error = await _refusal(_read(house, tmp_path, house.alien))
        assert isinstance(error, UnknownFormat)
        assert error.then


def check_turns(bodies: Sequence[Body]) -> None:
    """Fails unless `bodies` are whole turns, numbered from 1, in which every call is answered."""
    number, open_turn = 0, None
    calls: set[str] = set()
    for body in bodies:
        match body:
            case TurnStart():
                assert open_turn is None
                open_turn = body.turn
                if body.of == "turn":
                    number += 1
                assert body.number == (number if body.of == "turn" else None)
            case TurnEnd():
                assert open_turn == body.turn
                assert not calls
                open_turn = None
            case RequestHeader() | ContextCompacted():
                pass
            case AssistantMessage(content=content):
                assert body.turn == open_turn
                calls |= {block.id for block in content if isinstance(block, ToolUse)}
            case ToolResult():
                assert body.turn == open_turn
                calls.remove(body.call)
            case _:
                assert getattr(body, "turn", None) == open_turn
    assert open_turn is None


async def _found(house: House, ref: str) -> Found:
    found = await house.client.find(ref, house.cwd)
    assert found is not None
    return found


async def _read(house: House, folder: Path, text: bytes) -> Transcript:
    path = folder / "conversation.jsonl"
    path.write_bytes(text)
    return await house.client.read_file(path)


async def _refusal(reading: Awaitable[Transcript]) -> SidechatError | None:
    try:
        await reading
    except SidechatError as error:
        return error
    return None


def _state(home: Path) -> dict[str, tuple[bytes, int]]:
    files = [Path(folder) / name for folder, _, names in os.walk(home) for name in names]
    return {str(file): (file.read_bytes(), file.stat().st_mtime_ns) for file in files}
