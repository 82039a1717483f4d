"""Which side session is meant when none is named: the latest that was forked from this place."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sidechat_mcp.errors import InvalidRequest
from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.sidechat.service import Sidechat
from tests.behaviours import behaviour
from tests.feature.workshop import Shelf, shelved, workshop

HERE, THERE, ELSEWHERE = (Caller(cwd=folder) for folder in ("/here", "/there", "/elsewhere"))


@pytest.fixture
def sidechat() -> Sidechat:
    """Two conversations: `r1` works in /here, `r2` in /there."""
    one = replace(shelved(("Q?", "A.")), cwd="/here")
    two = replace(shelved(("R?", "B."), ref="r2"), cwd="/there")
    return workshop(shelf=Shelf({"r1": one, "r2": two}))


async def meant(sidechat: Sidechat, caller: Caller) -> str:
    return (await sidechat.meant(caller, None))[0]


@behaviour("who:place")
async def test_the_fork_just_made_from_here_is_meant_wherever_its_conversation_works(
    sidechat: Sidechat,
) -> None:
    older = (await sidechat.fork(HERE, parent="shelf:r1", question="Why?")).session
    assert await meant(sidechat, HERE) == older
    newer = await sidechat.fork(HERE, parent="shelf:r2")
    assert (newer.parent_name, await meant(sidechat, HERE)) == ("shelf:r2", newer.session)
    answer = await sidechat.converse(HERE, "And?")
    assert (answer.session, answer.chosen) == (newer.session, "New side session")
    note = await sidechat.merge(HERE)
    assert (note.session, note.chosen) == (newer.session, "And?")
    await sidechat.converse(HERE, "Once more?", session=older)
    assert await meant(sidechat, HERE) == older


@behaviour("who:place")
async def test_what_was_forked_from_elsewhere_is_meant_only_where_nothing_else_is(
    sidechat: Sidechat,
) -> None:
    await sidechat.fork(HERE, parent="shelf:r1")
    foreign = (await sidechat.fork(HERE, parent="shelf:r2")).session
    assert await meant(sidechat, THERE) == foreign
    own = (await sidechat.fork(THERE, parent="shelf:r2")).session
    await sidechat.converse(HERE, "And?", session=foreign)
    assert (await meant(sidechat, THERE), await meant(sidechat, HERE)) == (own, foreign)
    with pytest.raises(InvalidRequest, match="no side session"):
        await meant(sidechat, ELSEWHERE)


@behaviour("who:place")
async def test_a_fork_of_one_of_our_own_sessions_is_found_where_it_was_made(
    sidechat: Sidechat,
) -> None:
    native = await sidechat.native(THERE)
    await sidechat.converse(THERE, "Hi?", session=native.id)
    fork = await sidechat.fork(ELSEWHERE, parent=native.id)
    deeper = await sidechat.fork(HERE, parent=fork.session)
    assert await meant(sidechat, ELSEWHERE) == fork.session
    assert await meant(sidechat, HERE) == deeper.session
    header = (await sidechat.parts.store.row(deeper.session)).header
    assert (header.cwd, header.made_in) == ("/there", "/here")
