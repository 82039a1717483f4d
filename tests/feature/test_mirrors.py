"""Adopted parents: mirrors, rewinds, notes on their way to a client."""

from __future__ import annotations

import json
from dataclasses import replace

import anyio
import pytest

from sidechat_mcp.core import handback
from sidechat_mcp.core.content import plain
from sidechat_mcp.core.events import MirrorSeen
from sidechat_mcp.errors import ParentNotFound
from sidechat_mcp.ports.client import Found, Transcript
from sidechat_mcp.ports.store import Query
from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.stores.memory import MemoryStore
from tests.behaviours import behaviour
from tests.feature.workshop import Shelf, Speaker, shelved, workshop

ME = Caller()
ONE, TWO, THREE = ("Q1?", "A1."), ("Q2?", "A2."), ("Q3?", "A3.")


@behaviour("mirror:import")
async def test_reading_again_adds_only_what_is_new() -> None:
    store, shelf = MemoryStore(), Shelf({"r1": shelved(ONE)})
    sidechat = workshop(store, shelf=shelf)
    first = await sidechat.fork(ME, parent="shelf:r1")
    head = (await store.row(first.parent)).head
    same = await sidechat.fork(ME, parent="shelf:r1")
    assert (await store.row(same.parent)).head == head
    shelf.transcripts["r1"] = shelved(ONE, TWO)
    grown = await sidechat.fork(ME, parent="shelf:r1")
    assert (grown.parent, grown.turns, grown.seed_length) == (first.parent, 2, head + 4)


@behaviour("mirror:rewind")
async def test_a_rewound_conversation_continues_in_a_mirror_that_keeps_what_still_holds() -> None:
    store, shelf = MemoryStore(), Shelf({"r1": shelved(ONE, TWO)})
    speaker = Speaker(["Side."])
    sidechat = workshop(store, shelf=shelf, agents={"speaker": speaker})
    before = await sidechat.fork(ME, parent="shelf:r1")
    shelf.transcripts["r1"] = shelved(ONE, THREE)
    after = await sidechat.fork(ME, parent="shelf:r1", question="And now?")
    assert after.parent != before.parent
    row = await store.row(after.parent)
    assert (row.header.parent_session, row.header.seed_length) == (before.parent, 5)
    asked = [plain(m.content) for m in speaker.seen[-1].messages if m.role == "user"]
    assert asked == ["Q1?", "Q3?", "And now?"]
    again = await sidechat.fork(ME, parent="shelf:r1")
    assert again.parent == after.parent


@behaviour("mirror:race")
async def test_imports_that_race_end_in_one_mirror() -> None:
    store, shelf = MemoryStore(), Shelf({"r1": shelved(ONE, TWO)})
    parents: set[str] = set()

    async def fork() -> None:
        report = await workshop(store, shelf=shelf).fork(ME, parent="shelf:r1")
        parents.add(report.parent)

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(fork)
    assert len(parents) == 1
    assert len(await store.rows(Query(origin="mirror"))) == 1


async def test_a_file_that_is_behind_for_a_moment_changes_nothing() -> None:
    class Late(Shelf):
        late = True

        async def read(self, found: Found, *, since_last: bool = False) -> Transcript:
            whole = await super().read(found)
            if self.late:
                self.late = False
                return replace(whole, drafts=whole.drafts[:5])
            return whole

    shelf = Late({"r1": shelved(ONE, TWO)})
    shelf.late = False
    sidechat = workshop(shelf=shelf)
    first = await sidechat.fork(ME, parent="shelf:r1")
    shelf.late = True
    again = await sidechat.fork(ME, parent="shelf:r1")
    assert (again.parent, again.turns) == (first.parent, 2)


@behaviour("mirror:rewind")
async def test_a_conversation_that_went_back_and_said_nothing_new_yet_is_cut_there() -> None:
    shelf = Shelf({"r1": shelved(ONE, TWO)})
    speaker = Speaker(["Side."])
    sidechat = workshop(shelf=shelf, agents={"speaker": speaker})
    first = await sidechat.fork(ME, parent="shelf:r1")
    shelf.transcripts["r1"] = shelved(ONE, open_turns=1)
    back = await sidechat.fork(ME, parent="shelf:r1", question="And now?")
    assert (back.turns, back.parent != first.parent) == (1, True)
    assert "Q2?" not in [plain(m.content) for m in speaker.seen[-1].messages]
    assert (await sidechat.fork(ME, parent="shelf:r1")).parent == back.parent


@behaviour("mirror:note")
async def test_a_merge_reads_what_became_of_its_parent_meanwhile() -> None:
    shelf = Shelf({"r1": shelved(ONE)})
    sidechat = workshop(shelf=shelf)
    fork = await sidechat.fork(ME, parent="shelf:r1", question="Why?")
    shelf.transcripts["r1"] = shelved(ONE, TWO, THREE)
    await sidechat.merge(ME, session=fork.session)
    events = await sidechat.parts.store.read(fork.parent)
    note = next(note for event in events if (note := handback.read(event)) is not None)
    assert note.advanced_turns == 2


@behaviour("mirror:note", "mirror:rewind")
async def test_a_note_for_a_conversation_that_went_back_reaches_its_live_line_and_says_so() -> None:
    shelf = Shelf({"r1": shelved(ONE, TWO)})
    sidechat = workshop(shelf=shelf, agents={"speaker": Speaker(["S.", "The note."])})
    fork = await sidechat.fork(ME, parent="shelf:r1", question="Why?")
    shelf.transcripts["r1"] = shelved(ONE, THREE)
    note = await sidechat.merge(ME, session=fork.session)
    assert (note.delivery, note.notice != "") == ("pending", True)
    assert (
        note.wrapped
        in json.loads(await sidechat.pending_notes(ME, "r1", None))["hookSpecificOutput"][
            "additionalContext"
        ]
    )
    shown = (f"Hook says: {note.wrapped}", "Noted.")
    shelf.transcripts["r1"] = replace(shelved(ONE, THREE, shown), delivered={note.note: "record-9"})
    assert (await sidechat.merge(ME, session=fork.session)).delivery == "delivered"


async def test_a_child_lives_on_when_its_parents_file_is_gone() -> None:
    shelf = Shelf({"r1": shelved(ONE)})
    sidechat = workshop(shelf=shelf)
    fork = await sidechat.fork(ME, parent="shelf:r1", question="Why?")
    del shelf.transcripts["r1"]
    with pytest.raises(ParentNotFound):
        await sidechat.fork(ME, parent="shelf:r1")
    assert (await sidechat.converse(ME, "Still?", session=fork.session)).reason == "completed"
    note = await sidechat.merge(ME, session=fork.session)
    assert (note.delivery, "shelf has no such conversation" in note.notice) == ("pending", True)
    assert [r.verdict for r in await sidechat.replay(ME)] == ["verified", "verified"]
    shelf.transcripts["r1"] = shelved(ONE)
    assert (await sidechat.merge(ME, session=fork.session)).notice == ""


@behaviour("mirror:note")
async def test_a_note_is_in_no_context_until_the_client_shows_it_in_its_own_words() -> None:
    store, shelf = MemoryStore(), Shelf({"r1": shelved(ONE)})
    sidechat = workshop(store, shelf=shelf, agents={"speaker": Speaker(["S.", "The note.", "S."])})
    fork = await sidechat.fork(ME, parent="shelf:r1", question="Why?")
    note = await sidechat.merge(ME, session=fork.session)
    assert note.delivery == "pending"
    assert "The note." not in await sidechat.next_request(ME, fork.parent)
    shown = (f"Hook says: {note.wrapped}", "Noted.")
    shelf.transcripts["r1"] = replace(shelved(ONE, shown), delivered={note.note: "record-7"})
    assert (await sidechat.merge(ME, session=fork.session)).delivery == "delivered"
    assert (await sidechat.next_request(ME, fork.parent)).count("The note.") == 1
    await sidechat.fork(ME, parent="shelf:r1")
    events = await store.read(fork.parent)
    seen = [event.body for event in events if isinstance(event.body, MirrorSeen)]
    assert seen == [MirrorSeen(note.note, "record-7")]


@behaviour("deliver:once")
async def test_a_waiting_note_is_offered_once_and_again_after_a_turn_that_did_not_show_it() -> None:
    shelf = Shelf({"r1": shelved(ONE)})
    sidechat = workshop(shelf=shelf, agents={"speaker": Speaker(["S.", "The note."])})
    fork = await sidechat.fork(ME, parent="shelf:r1", question="Why?")
    assert await sidechat.pending_notes(ME, "r1", "a prompt") == "{}"
    note = await sidechat.merge(ME, session=fork.session)
    offered = json.loads(await sidechat.pending_notes(ME, "r1", None))
    assert offered == {
        "hookSpecificOutput": {
            "hookEventName": "UserPromptSubmit",
            "additionalContext": note.wrapped,
        }
    }
    assert await sidechat.pending_notes(ME, "r1", None) == "{}"
    assert (await sidechat.merge(ME, session=fork.session)).delivery == "offered: hook"
    shelf.transcripts["r1"] = shelved(ONE, TWO)
    assert (
        note.wrapped
        in json.loads(await sidechat.pending_notes(ME, "r1", None))["hookSpecificOutput"][
            "additionalContext"
        ]
    )


@behaviour("deliver:once")
async def test_a_merge_from_inside_the_live_conversation_is_itself_the_door() -> None:
    shelf = Shelf({"r1": shelved(ONE)}, live="r1")
    sidechat = workshop(shelf=shelf)
    me = Caller(surface="mcp")
    await sidechat.fork(me, question="Why?")
    assert (await sidechat.merge(me)).delivery == "offered: result"
    assert await sidechat.pending_notes(ME, "r1", None) == "{}"


@behaviour("deliver:once")
async def test_a_merge_at_a_terminal_leaves_the_note_for_the_clients_own_doors() -> None:
    shelf = Shelf({"r1": shelved(ONE)}, live="r1")
    sidechat = workshop(shelf=shelf)
    await sidechat.fork(ME, question="Why?")
    assert (await sidechat.merge(ME)).delivery == "pending"
    assert await sidechat.pending_notes(ME, "r1", None) != "{}"


@behaviour("deliver:once")
async def test_a_clients_own_open_door_is_taken_when_the_client_took_the_note() -> None:
    class Open(Shelf):
        async def offer(self, ref: str, cwd: str | None, text: str) -> str | None:
            return "inject" if ref == "r1" and "</sidechat-note>" in text else None

    sidechat = workshop(shelf=Open({"r1": shelved(ONE)}))
    fork = await sidechat.fork(ME, parent="shelf:r1", question="Why?")
    assert (await sidechat.merge(ME, session=fork.session)).delivery == "offered: inject"
    assert await sidechat.pending_notes(ME, "r1", None) == "{}"


async def test_a_note_too_long_for_the_hook_does_not_hold_up_the_next_one() -> None:
    sidechat = workshop(
        shelf=Shelf({"r1": shelved(ONE)}),
        agents={"speaker": Speaker(["S.", "n" * 9_999, "S.", "Short."])},
        cap=10_000,
    )
    for _ in range(2):
        fork = await sidechat.fork(ME, parent="shelf:r1", question="Why?")
        await sidechat.merge(ME, session=fork.session)
    assert "Short." in await sidechat.pending_notes(ME, "r1", None)


@behaviour("deliver:commit")
async def test_offering_a_note_is_one_commit_and_two_doors_at_once_are_one() -> None:
    store = MemoryStore()
    sidechat = workshop(store, shelf=Shelf({"r1": shelved(ONE)}))
    fork = await sidechat.fork(ME, parent="shelf:r1", question="Why?")
    await sidechat.merge(ME, session=fork.session, note="The note.")
    before = store.commits
    told: list[str] = []

    async def hook() -> None:
        told.append(await sidechat.pending_notes(ME, "r1", None))

    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(hook)
    assert [one for one in told if one != "{}"] == [max(told, key=len)]
    assert store.commits == before + 1
    again = await sidechat.merge(ME, session=fork.session, note="The note.")
    assert (again.again, again.delivery) == (True, "offered: hook")


@behaviour("deliver:once")
async def test_a_superseded_note_is_not_offered_any_more() -> None:
    sidechat = workshop(shelf=Shelf({"r1": shelved(ONE)}))
    fork = await sidechat.fork(ME, parent="shelf:r1", question="Why?")
    await sidechat.merge(ME, session=fork.session, note="Wrong.")
    await sidechat.merge(ME, session=fork.session, note="Right.")
    offered = await sidechat.pending_notes(ME, "r1", None)
    assert ("Right." in offered, "Wrong." in offered) == (True, False)
