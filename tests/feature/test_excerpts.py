"""A parent that nobody can read, handed over as text: forked, talked about, merged."""

from __future__ import annotations

from pathlib import Path

import pytest

from sidechat_mcp.core.content import plain
from sidechat_mcp.core.excerpt import LABEL, LONGEST
from sidechat_mcp.core.framing import FRAMING
from sidechat_mcp.errors import InvalidRequest, ParentNotFound, UnknownFormat
from sidechat_mcp.ports.client import Transcript
from sidechat_mcp.ports.store import Query
from sidechat_mcp.providers.quoting.provider import Quoting
from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.stores.memory import MemoryStore
from sidechat_mcp.surfaces.mcp.schemas import PARENT
from tests.behaviours import behaviour
from tests.feature.workshop import Shelf, Speaker, shelved, workshop

ME = Caller(cwd="/srv/ferryline")
TALK = "User: When do we ship?\nAssistant: On Tuesday.\nUser: And the keys?"


@behaviour("excerpt:recorded")
async def test_text_given_as_a_parent_is_forked_and_labelled_as_an_excerpt() -> None:
    store, speaker = MemoryStore(), Speaker(["Side."])
    sidechat = workshop(store, agents={"speaker": speaker})
    report = await sidechat.fork(ME, parent=f"excerpt:{TALK}", question="Why Tuesday?")
    header = (await store.row(report.parent)).header
    assert (header.origin, header.client) == ("mirror", "excerpt")
    assert report.parent_name == f"excerpt:{(header.client_ref or '')[:8]}"
    assert (report.turns, report.cut_turns, report.cut_events) == (1, 1, 2)
    assert "excerpt" in report.notice
    assert [(m.role, plain(m.content)) for m in speaker.seen[-1].messages] == [
        ("context", LABEL),
        ("user", "When do we ship?"),
        ("assistant", "On Tuesday."),
        ("context", FRAMING),
        ("user", "Why Tuesday?"),
    ]


@behaviour("excerpt:nothing-invented")
async def test_the_quoting_agent_finds_what_an_unmarked_excerpt_says() -> None:
    sidechat = workshop(agents={"quoting": Quoting()}, agent="quoting")
    given = "We talked about ledgerd.\n\nThe release of ledgerd is on Tuesday at 14:00 UTC."
    report = await sidechat.fork(
        ME, parent=f"excerpt:{given}", question="When is the release of ledgerd?"
    )
    assert report.first is not None
    assert report.first.status in ("answered", "weak")
    assert "Tuesday at 14:00 UTC" in report.first.answer


@behaviour("excerpt:same-text")
async def test_the_same_text_is_one_parent_which_its_short_name_names_too() -> None:
    store = MemoryStore()
    sidechat = workshop(store)
    one = await sidechat.fork(ME, parent=f"excerpt:{TALK}")
    other = await sidechat.fork(ME, parent=f"excerpt:{TALK}")
    named = await sidechat.fork(ME, parent=one.parent_name)
    assert {one.parent, other.parent, named.parent} == {one.parent}
    assert len({one.session, other.session, named.session}) == 3
    assert len(await store.rows(Query(origin="mirror"))) == 1
    listing = await sidechat.sessions(ME, parent=one.parent_name)
    assert {listed.session for listed in listing.sessions} == {
        *(one.session, other.session, named.session)
    }


async def test_a_note_into_an_excerpt_waits_for_nobody() -> None:
    sidechat = workshop()
    report = await sidechat.fork(ME, parent=f"excerpt:{TALK}", question="Why?")
    note = await sidechat.merge(ME, session=report.session)
    assert (note.parent_name, note.delivery) == (report.parent_name, "none")
    assert note.wrapped
    again = await sidechat.merge(ME, session=report.session)
    assert (again.note, again.again, again.delivery) == (note.note, True, "none")
    after = await sidechat.fork(ME, parent=f"excerpt:{TALK}")
    assert (after.parent, after.turns) == (report.parent, 1)


async def test_an_excerpt_is_its_givers_own() -> None:
    sidechat = workshop()
    theirs = await sidechat.fork(Caller("somebody"), parent=f"excerpt:{TALK}")
    mine = await sidechat.fork(ME, parent=f"excerpt:{TALK}")
    assert theirs.parent != mine.parent
    assert theirs.parent_name == mine.parent_name


@pytest.mark.parametrize("given", ["", "  ", "x" * (LONGEST + 1)])
async def test_no_text_and_too_much_are_refused(given: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        await workshop().fork(ME, parent=f"excerpt:{given}")
    assert refusal.value.then


async def test_a_name_of_no_excerpt_is_not_taken_for_the_text_of_one() -> None:
    with pytest.raises(ParentNotFound, match="excerpt:0a1b2c3d"):
        await workshop().fork(ME, parent="excerpt:0a1b2c3d")


async def test_who_names_no_conversation_is_told_of_the_excerpt() -> None:
    for shelf in (Shelf(), Shelf({"r1": shelved(("Q", "A"))})):
        with pytest.raises(ParentNotFound, match="`excerpt:`"):
            await workshop(shelf=shelf).fork(ME)


@behaviour("others:unknown-format")
async def test_a_file_that_nobody_reads_is_refused_with_everybodys_name() -> None:
    class Refusing(Shelf):
        async def read_file(self, path: Path, *, since_last: bool = False) -> Transcript:
            raise UnknownFormat("No.", then="Never.")

    with pytest.raises(UnknownFormat, match=r"talk\.bin .*shelf") as refusal:
        await workshop(shelf=Refusing()).fork(ME, file=Path("talk.bin"))
    assert "excerpt:" in refusal.value.then


def test_the_tool_takes_the_longest_excerpt() -> None:
    assert PARENT["maxLength"] >= LONGEST + len("excerpt:")
