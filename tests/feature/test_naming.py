"""A session is meant by its id or its address, however it was pasted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from sidechat_mcp.core.ids import session_id
from sidechat_mcp.errors import InvalidRequest, SessionNotFound
from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.sidechat.service import Sidechat
from tests.behaviours import behaviour
from tests.feature.workshop import workshop

ME = Caller()
Spell = Callable[[str], str]
SPELLINGS: list[Spell] = [
    lambda plain: f"sidechat://sessions/{plain}",
    lambda plain: f" {plain}\n",
    lambda plain: f"\tSIDECHAT://Sessions/{plain.upper()} ",
    str.upper,
]


@behaviour("who:address")
@pytest.mark.parametrize("spelled", SPELLINGS)
async def test_every_verb_takes_an_id_as_it_was_shown_or_pasted(spelled: Spell) -> None:
    sidechat = workshop()
    fork = await sidechat.fork(ME, parent="shelf:r1", question="Why?")
    given = spelled(fork.session)
    assert (await sidechat.meant(ME, given))[0] == fork.session
    assert (await sidechat.converse(ME, "And?", session=given)).session == fork.session
    assert (await sidechat.merge(ME, session=given)).session == fork.session
    assert (await sidechat.read(ME, given)).session == fork.session
    assert await sidechat.markdown(ME, given) == await sidechat.markdown(ME, fork.session)
    assert await sidechat.turn_markdown(ME, given, 3) != ""
    assert await sidechat.ndjson(ME, given) == await sidechat.ndjson(ME, fork.session)
    assert await sidechat.next_request(ME, given) != ""
    assert [one.session for one in await sidechat.replay(ME, given)] == [fork.session]
    deeper = await sidechat.fork(ME, parent=given)
    assert (deeper.parent, deeper.parent_name) == (fork.session, fork.session)
    listed = (await sidechat.sessions(ME, parent=given)).sessions
    assert [one.session for one in listed] == [deeper.session]
    assert await sidechat.forget(ME, spelled(deeper.session)) == deeper.session


@behaviour("who:address")
async def test_a_client_s_own_name_for_its_conversation_may_stand_between_spaces() -> None:
    sidechat = workshop()
    fork = await sidechat.fork(ME, parent=" shelf:r1\n")
    assert fork.parent_name == "shelf:r1"
    listed = (await sidechat.sessions(ME, parent="shelf:r1 ")).sessions
    assert [one.session for one in listed] == [fork.session]


@behaviour("who:address")
async def test_who_typed_the_beginning_of_an_address_gets_addresses() -> None:
    sidechat = workshop()
    one = await sidechat.fork(ME, parent="shelf:r1", question="About sidechat?")
    two = await sidechat.fork(ME, parent="shelf:r1")
    for typed in ("sidechat://", "sidechat://sessions/", " SIDECHAT://sessions/"):
        assert list(await sidechat.complete(ME, typed)) == [two.uri, one.uri]
    assert list(await sidechat.complete(ME, one.uri[:24])) == [one.uri]
    assert list(await sidechat.complete(ME, one.session[:6].upper())) == [one.session]
    assert list(await sidechat.complete(ME, "sidechat")) == [one.session]


@pytest.mark.parametrize(
    "given",
    ["", " ", "sidechat://sessions/", "sidechat://sessions/a/log", "http://sessions/a", "a b", "ä"],
)
async def test_what_is_neither_an_id_nor_an_address_names_nothing(given: str) -> None:
    assert session_id(given) is None
    with pytest.raises(SessionNotFound):
        await workshop().read(ME, given)


@behaviour("mcp:completion")
async def test_more_than_a_hundred_matches_are_known_to_be_more() -> None:
    sidechat = workshop()
    first = (await sidechat.fork(ME, parent="shelf:r1", question="The oldest?")).session
    for _ in range(205):
        await sidechat.fork(ME, parent="shelf:r1")
    assert len(await sidechat.complete(ME, "")) == 101
    assert list(await sidechat.complete(ME, "oldest")) == [first]


LONG = "x" * 100_000
REFUSED: list[Callable[[Sidechat], Awaitable[object]]] = [
    lambda sidechat: sidechat.read(ME, LONG),
    lambda sidechat: sidechat.converse(ME, "Hm?", session=LONG),
    lambda sidechat: sidechat.fork(ME, parent=LONG),
    lambda sidechat: sidechat.fork(ME, parent=f"{LONG}:{LONG}"),
    lambda sidechat: sidechat.fork(ME, parent=f"shelf:{LONG}"),
    lambda sidechat: sidechat.sessions(ME, parent=f"{LONG}:{LONG}"),
]


@behaviour("who:address")
@pytest.mark.parametrize("refused", REFUSED)
async def test_a_refusal_does_not_say_all_of_a_very_long_name_again(
    refused: Callable[[Sidechat], Awaitable[object]],
) -> None:
    with pytest.raises(InvalidRequest) as told:
        await refused(workshop())
    assert len(str(told.value)) < 1000
