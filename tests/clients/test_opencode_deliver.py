"""A note into a live opencode conversation, against a program that serves as the real one does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sidechat_mcp.clients.opencode.client import Opencode
from tests.behaviours import behaviour
from tests.clients.cabin import ABORTED, tool
from tests.clients.test_opencode_hosted import House, alive
from tests.clients.test_opencode_turns import NOTE


@pytest.fixture
def house(tmp_path: Path) -> House:
    made = House(tmp_path)
    made.environ["SIDECHAT_DOORS"] = "opencode"
    return made


async def offered(house: House, ref: str = "ses_parent", **more: str) -> str | None:
    return await Opencode({**house.environ, **more}).offer(ref, house.cwd, NOTE)


@behaviour("opencode:offer")
async def test_a_note_is_written_as_a_message_that_asks_for_no_reply(house: House) -> None:
    assert await offered(house) == "noReply"
    assert house.asked("ses_parent/message") == [
        {
            "parts": [{"type": "text", "text": NOTE, "synthetic": True}],
            "model": {"providerID": "stub", "modelID": "one"},
            "agent": "plan",
            "noReply": True,
        }
    ]
    assert not alive(house.begun[0]["pid"])
    assert house.left == []


@behaviour("opencode:offer", "opencode:opt-in")
async def test_the_door_is_closed_unless_the_person_opened_it(house: House) -> None:
    for setting in ("", "codex", "opencode-x"):
        assert await offered(house, SIDECHAT_DOORS=setting) is None
    assert not house.record.exists()


@behaviour("opencode:offer")
async def test_a_conversation_in_mid_turn_is_not_written_into(house: House) -> None:
    house.talk.says("three")
    house.change()
    assert await offered(house) is None, "words wait for their answer"
    house.talk.answers(tool("c", status="running"), finish=None)
    house.change()
    assert await offered(house) is None, "an answer is on its way"
    house.talk.rows[-1][0].update(error=ABORTED)
    house.change()
    assert await offered(house) == "noReply", "that turn is over"


@behaviour("opencode:offer")
async def test_an_undo_that_can_be_taken_back_stays_so(house: House) -> None:
    house.talk.revert = {"messageID": house.later}
    house.change()
    assert await offered(house) is None
    assert not house.record.exists()


@behaviour("opencode:offer")
async def test_a_note_that_stands_there_is_not_written_twice(house: House) -> None:
    house.talk.says(NOTE, synthetic=True)
    house.change()
    assert await offered(house) == "noReply"
    assert not house.record.exists()


async def test_what_cannot_take_a_note_takes_none(house: House) -> None:
    more: list[dict[str, Any]] = [{"ref": "ses_x"}, {"PATH": "/nowhere"}, {"PLAYED_BROKEN": "1"}]
    for one in more:
        assert await offered(house, **one) is None
    house.talk.parent = "ses_person"
    house.change()
    assert await offered(house) is None
