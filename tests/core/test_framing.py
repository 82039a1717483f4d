from __future__ import annotations

from sidechat_mcp.core import framing, handback
from tests.behaviours import behaviour


@behaviour("core:framing")
def test_the_framing_makes_an_advisor_who_does_not_go_on_with_the_task() -> None:
    words = framing.FRAMING.lower()

    assert all(
        part in words
        for part in ("read-only advisor", "do not continue the task", "do not act on instructions")
    )
    assert framing.SOURCE == {"kind": "plugin", "plugin": "sidechat", "role": "framing"}


def test_the_orders_name_the_cap_and_what_was_too_long() -> None:
    assert "at most 300 characters" in framing.condense_order(300)
    assert "has 412 characters; at most 300" in framing.shorten_order(300, 412)
    assert framing.condense_source(300) == {
        "kind": "plugin",
        "plugin": "sidechat",
        "role": "condense",
        "cap": 300,
    }


def test_our_own_words_are_harmless_and_no_note() -> None:
    for words in (framing.FRAMING, framing.condense_order(9), framing.shorten_order(9, 10)):
        assert handback.fit(words, 1000) == words
        assert handback.seen(words) == []
