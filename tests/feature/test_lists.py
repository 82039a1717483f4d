"""sessions, read, forget, complete, and the checkup."""

from __future__ import annotations

import pytest

from sidechat_mcp.errors import HasChildren, InvalidRequest, ParentNotFound, SessionNotFound
from sidechat_mcp.sidechat.reports import Caller, Said
from tests.behaviours import behaviour
from tests.feature.workshop import Speaker, workshop

ME = Caller()


@behaviour("list:pages")
async def test_pages_list_every_session_once_newest_first() -> None:
    sidechat = workshop()
    made = [(await sidechat.fork(ME, parent="shelf:r1")).session for _ in range(7)]
    listed: list[str] = []
    cursor: str | None = None
    while True:
        page = await sidechat.sessions(ME, cursor=cursor, limit=3)
        listed += [one.session for one in page.sessions]
        cursor = page.next
        if cursor is None:
            break
    assert listed == made[::-1]


@pytest.mark.parametrize("cursor", ["", "x", "czE6", "czE6LTE=", "MTIz", "ü"])
async def test_a_cursor_that_is_not_ours_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidRequest, match="cursor"):
        await workshop().sessions(ME, cursor=cursor)


async def test_the_forks_of_a_client_that_is_not_known_are_refused_not_none() -> None:
    with pytest.raises(ParentNotFound, match="No client is called 'foo'"):
        await workshop().sessions(ME, parent="foo:bar")


async def test_a_list_says_what_was_asked_and_whether_it_was_merged() -> None:
    sidechat = workshop()
    fork = await sidechat.fork(ME, parent="shelf:r1", question="Why this way?")
    await sidechat.merge(ME, session=fork.session)
    await sidechat.fork(ME, parent="shelf:r1")
    newest, older = (await sidechat.sessions(ME, parent="shelf:r1")).sessions
    assert (older.title, older.turns, older.merged, older.parent_name) == (
        "Why this way?",
        1,
        True,
        "shelf:r1",
    )
    assert (newest.title, newest.turns, newest.merged) == ("And then?", 0, False)


async def test_a_parent_is_read_turn_by_turn() -> None:
    sidechat = workshop()
    fork = await sidechat.fork(ME, parent="shelf:r1")
    reading = await sidechat.read(ME, fork.parent, limit=1)
    assert (list(reading.turns), reading.next) == (
        [Said(1, "user", "What now?"), Said(1, "assistant", "This.")],
        2,
    )
    rest = await sidechat.read(ME, fork.parent, start=2)
    assert ([said.text for said in rest.turns], rest.next) == (["And then?", "That."], None)


async def test_ids_are_completed_by_their_beginning_and_by_words_of_the_title() -> None:
    sidechat = workshop()
    one = await sidechat.fork(ME, parent="shelf:r1", question="About taxes?")
    two = await sidechat.fork(ME, parent="shelf:r1", question="About tests?")
    assert list(await sidechat.complete(ME, "")) == [two.session, one.session]
    assert list(await sidechat.complete(ME, one.session[:6])) == [one.session]
    assert list(await sidechat.complete(ME, "TAX")) == [one.session]


@behaviour("forget:children")
async def test_a_session_with_children_stays_until_they_are_gone() -> None:
    sidechat = workshop()
    parent = await sidechat.fork(ME, parent="shelf:r1", question="Hm?")
    child = await sidechat.fork(ME, parent=parent.session)
    with pytest.raises(HasChildren, match=child.session):
        await sidechat.forget(ME, parent.session)
    await sidechat.forget(ME, child.session)
    await sidechat.forget(ME, parent.session)
    with pytest.raises(SessionNotFound):
        await sidechat.markdown(ME, parent.session)


async def test_a_parent_is_no_side_session_and_cannot_be_forgotten_as_one() -> None:
    sidechat = workshop()
    fork = await sidechat.fork(ME, parent="shelf:r1")
    for refused in (sidechat.forget(ME, fork.parent), sidechat.markdown(ME, fork.parent)):
        with pytest.raises(SessionNotFound):
            await refused


@behaviour("replay:verified")
async def test_every_request_of_every_session_is_rebuilt_from_the_log() -> None:
    sidechat = workshop(agents={"speaker": Speaker(["A.", "B.", "C.", "Note.", "D."])})
    native = await sidechat.native(ME, system="Be brief.")
    await sidechat.converse(ME, "One?", session=native.id)
    side = await sidechat.fork(ME, parent=native.id, question="Side?")
    await sidechat.converse(ME, "More?", session=side.session)
    await sidechat.merge(ME, session=side.session)
    await sidechat.converse(ME, "Two?", session=native.id)
    found = {one.session: (one.requests, one.verdict) for one in await sidechat.replay(ME)}
    assert found == {native.id: (2, "verified"), side.session: (3, "verified")}


async def test_one_turn_can_be_shown_and_a_missing_one_is_named() -> None:
    sidechat = workshop()
    fork = await sidechat.fork(ME, parent="shelf:r1", question="Why?")
    assert "Why?" in await sidechat.turn_markdown(ME, fork.session, 3)
    with pytest.raises(InvalidRequest, match="no turn 9"):
        await sidechat.turn_markdown(ME, fork.session, 9)


async def test_a_cursor_beyond_every_place_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="cursor"):
        await workshop().sessions(ME, cursor="czE6OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5")
