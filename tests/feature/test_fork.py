"""fork, over a memory store and a client whose conversations are made by hand."""

from __future__ import annotations

import json
import os
from pathlib import Path

import anyio
import pytest

from sidechat_mcp.core.content import plain
from sidechat_mcp.core.events import ContextMessage, Draft, TurnStart, Unknown
from sidechat_mcp.core.framing import FRAMING
from sidechat_mcp.core.ids import EventId
from sidechat_mcp.errors import (
    KeyReused,
    NewerSchema,
    NothingToFork,
    ParentNotFound,
    SessionNotFound,
    UnknownFormat,
)
from sidechat_mcp.ports.provider import About
from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.stores.memory import MemoryStore
from tests.behaviours import behaviour
from tests.feature.workshop import Shelf, Speaker, shelved, workshop

ME = Caller()


@behaviour("fork:cut")
async def test_a_fork_reports_what_it_inherited_and_what_it_cut() -> None:
    shelf = Shelf(
        {"r1": shelved(("What?", "This."), ("And?", "That."), open_turns=1, open_events=3)}
    )
    report = await workshop(shelf=shelf).fork(ME, parent="shelf:r1")
    assert (report.parent_name, report.turns, report.cut_turns, report.cut_events) == (
        "shelf:r1",
        2,
        1,
        3,
    )
    assert (report.seed_length, report.fork_seq) == (9, 8)
    assert report.uri == f"sidechat://sessions/{report.session}"
    assert report.title == "And?"


@behaviour("fork:refused")
async def test_a_conversation_without_a_completed_turn_is_refused_with_the_next_step() -> None:
    shelf = Shelf({"r1": shelved()})
    with pytest.raises(NothingToFork, match="after its first answer"):
        await workshop(shelf=shelf).fork(ME, parent="shelf:r1")


@behaviour("fork:framing")
async def test_the_childs_own_range_begins_with_one_framing_message() -> None:
    sidechat = workshop(agents={"speaker": Speaker(["Yes."])})
    report = await sidechat.fork(ME, parent="shelf:r1")
    _, own = await sidechat.side(ME, report.session)
    framings = [event for event in own if isinstance(event.body, ContextMessage)]
    assert [plain(event.body.content) for event in framings] == [FRAMING]  # type: ignore[union-attr]
    assert next(event.body for event in own if isinstance(event.body, TurnStart)).of == "injection"


@behaviour("fork:address")
async def test_the_parents_log_is_untouched_by_fork_and_talk() -> None:
    sidechat = workshop()
    report = await sidechat.fork(ME, parent="shelf:r1", question="Why?")
    before = await sidechat.ndjson(ME, report.parent)
    again = await sidechat.fork(ME, parent="shelf:r1")
    await sidechat.converse(ME, "And now?", session=again.session)
    assert await sidechat.ndjson(ME, report.parent) == before


@behaviour("fork:head")
async def test_a_native_parents_child_continues_its_request_byte_for_byte() -> None:
    speaker = Speaker(["First.", "Second.", "Side."])
    sidechat = workshop(agents={"speaker": speaker})
    native = await sidechat.native(ME, system="Be brief.")
    await sidechat.converse(ME, "One?", session=native.id)
    await sidechat.converse(ME, "Two?", session=native.id)
    parent = await sidechat.next_request(ME, native.id)
    report = await sidechat.fork(ME, parent=native.id, question="On the side?")
    child = await sidechat.next_request(ME, report.session)
    assert report.head == "identical"
    assert child.startswith(parent)
    assert speaker.seen[-1].inherited == 4
    assert report.head_digest is not None


async def test_an_agent_that_puts_its_own_head_in_place_says_so() -> None:
    quoting = Speaker(["…"], about=About("q", None, "nobody", "none", "Quotes.", "substituted"))
    sidechat = workshop(agents={"speaker": quoting})
    report = await sidechat.fork(ME, parent="shelf:r1")
    assert (report.head, report.head_digest, report.notice) == ("substituted", None, "Quotes.")


@behaviour("fork:of-a-fork")
async def test_a_fork_of_a_fork_inherits_both_ranges() -> None:
    speaker = Speaker(["Side one.", "Side two."])
    sidechat = workshop(agents={"speaker": speaker})
    first = await sidechat.fork(ME, parent="shelf:r1", question="Q1?")
    second = await sidechat.fork(ME, parent=first.session, question="Q2?")
    roles = [(m.role, plain(m.content)[:16]) for m in speaker.seen[-1].messages]
    assert roles == [
        ("user", "What now?"),
        ("assistant", "This."),
        ("user", "And then?"),
        ("assistant", "That."),
        ("context", FRAMING[:16]),
        ("user", "Q1?"),
        ("assistant", "Side one."),
        ("context", FRAMING[:16]),
        ("user", "Q2?"),
    ]
    assert second.turns == 3
    assert second.first is not None
    assert second.first.turn == 4


@behaviour("fork:key")
async def test_the_same_key_gives_the_same_child_and_other_arguments_conflict() -> None:
    speaker = Speaker(["A."])
    sidechat = workshop(agents={"speaker": speaker})
    first = await sidechat.fork(ME, parent="shelf:r1", question="Why?", key="k")
    again = await sidechat.fork(ME, parent="shelf:r1", question="Why?", key="k")
    assert (again.session, again.first) == (first.session, first.first)
    assert (again.again, len(speaker.seen)) == (True, 1)
    with pytest.raises(KeyReused):
        await sidechat.fork(ME, parent="shelf:r1", question="What else?", key="k")


async def test_two_forks_without_a_key_are_two_children() -> None:
    sidechat = workshop()
    one = await sidechat.fork(ME, parent="shelf:r1")
    two = await sidechat.fork(ME, parent="shelf:r1")
    assert one.session != two.session


@behaviour("fork:prompt")
async def test_a_prompts_fork_is_reused_until_its_child_has_spoken() -> None:
    sidechat = workshop()
    one = await sidechat.fork(ME, parent="shelf:r1", reuse_untouched=True)
    two = await sidechat.fork(ME, parent="shelf:r1", reuse_untouched=True)
    assert two.session == one.session
    await sidechat.converse(ME, "Hm?", session=one.session)
    three = await sidechat.fork(ME, parent="shelf:r1", reuse_untouched=True)
    assert three.session != one.session


async def test_the_live_conversation_is_the_parent_when_none_is_named() -> None:
    shelf = Shelf({"r1": shelved(("What?", "This."))}, live="r1")
    assert (await workshop(shelf=shelf).fork(ME)).parent_name == "shelf:r1"


async def test_without_a_live_conversation_the_newest_are_offered_and_none_is_guessed() -> None:
    with pytest.raises(ParentNotFound, match="shelf:r1"):
        await workshop().fork(ME)


@behaviour("who:owner")
async def test_another_principals_session_is_as_good_as_none() -> None:
    sidechat = workshop()
    mine = await sidechat.fork(ME, parent="shelf:r1")
    you = Caller("someone else")
    messages: list[str] = []
    for session in (mine.session, "nosuchsession"):
        with pytest.raises(SessionNotFound) as refused:
            await sidechat.fork(you, parent=session)
        messages.append(str(refused.value).replace(session, "X"))
        for refuse in (sidechat.converse(you, "Hi", session=session), sidechat.read(you, session)):
            with pytest.raises(SessionNotFound):
                await refuse
    assert messages[0] == messages[1]
    assert (await sidechat.sessions(you)).sessions == []


async def test_the_log_is_given_as_lines_with_places() -> None:
    sidechat = workshop()
    report = await sidechat.fork(ME, parent="shelf:r1")
    lines = [json.loads(line) for line in (await sidechat.ndjson(ME, report.session)).splitlines()]
    assert [line["seq"] for line in lines] == list(range(len(lines)))
    assert {line["session"] for line in lines} == {report.parent, report.session}


async def test_forking_over_one_store_from_two_services_shares_the_mirror() -> None:
    store = MemoryStore()
    one = await workshop(store).fork(ME, parent="shelf:r1")
    two = await workshop(store).fork(ME, parent="shelf:r1")
    assert one.parent == two.parent


@behaviour("who:owner")
async def test_another_principal_reaches_no_conversation_of_this_machine() -> None:
    shelf = Shelf({"r1": shelved(("What?", "This."))}, live="r1")
    sidechat = workshop(shelf=shelf)
    you = Caller("someone else")
    for parent in ("shelf:r1", None):
        with pytest.raises(ParentNotFound) as refused:
            await sidechat.fork(you, parent=parent)
        assert "r1" not in str(refused.value)
    assert await sidechat.parents(you) == []


async def test_a_reused_child_is_told_by_its_own_agent() -> None:
    store = MemoryStore()
    other = Speaker(["…"], about=About("other", "other-1", "somebody", "all"))
    speakers = {"speaker": Speaker(["…"]), "other": other}
    first = await workshop(store, agents=speakers).fork(ME, parent="shelf:r1", reuse_untouched=True)
    again = await workshop(store, agents=speakers, agent="other").fork(
        ME, parent="shelf:r1", reuse_untouched=True
    )
    assert (again.session, again.agent) == (first.session, first.agent)


async def test_an_event_that_only_a_newer_version_reads_is_said_by_every_reader() -> None:
    store = MemoryStore()
    sidechat = workshop(store)
    fork = await sidechat.fork(ME, parent="shelf:r1", question="Hm?")
    later = Unknown("later/kind", {"kind": "later/kind"}, False)
    await store.append(fork.session, [Draft(EventId("x"), 0, later)], expect=None)
    for read in (
        sidechat.converse(ME, "And?", session=fork.session),
        sidechat.read(ME, fork.session),
        sidechat.markdown(ME, fork.session),
        sidechat.merge(ME, session=fork.session),
    ):
        with pytest.raises(NewerSchema, match="later/kind"):
            await read
    (found,) = await sidechat.replay(ME, fork.session)
    assert (found.verdict, "later/kind" in found.why) == ("not rebuildable", True)


async def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with anyio.fail_after(5), pytest.raises(UnknownFormat, match="is no file"):
        await workshop().fork(ME, file=tmp_path / "pipe")
