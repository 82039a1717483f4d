from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from sidechat_mcp.core import codec, content, digest
from sidechat_mcp.core.assemble import Context, Message, assemble
from sidechat_mcp.core.content import Text, ToolUse
from sidechat_mcp.core.digest import Running
from sidechat_mcp.core.events import Draft, Event, Part, RequestHeader
from tests.behaviours import behaviour
from tests.core import logs
from tests.core.bodies import words
from tests.core.logs import HEAD, asked_and_answered, injected, place, start, user

SAID = Message("user", content.text("é\u2028"), turn=3, seq=7, source={"kind": "x"})
ASKED = Message("assistant", (Text("a"), ToolUse("c1", "read", "{}")))
TOLD = Message("tool", content.text("r"), call="c1", is_error=True)


def test_a_message_is_one_canonical_line_without_its_place() -> None:
    assert [digest.message_bytes(message) for message in (SAID, ASKED, TOLD)] == [
        b'{"role":"user","content":[{"text":"\xc3\xa9\\u2028","type":"text"}]}\n',
        b'{"role":"assistant","content":[{"text":"a","type":"text"},'
        b'{"id":"c1","name":"read","input":"{}","type":"tool_use"}]}\n',
        b'{"role":"tool","content":[{"text":"r","type":"text"}],"call":"c1","is_error":true}\n',
    ]


def test_the_digest_of_messages_is_that_of_their_lines_together() -> None:
    lines = b"".join(map(digest.message_bytes, (SAID, ASKED, TOLD)))

    assert digest.messages_digest([SAID, ASKED, TOLD]) == hashlib.sha256(lines).hexdigest()
    assert digest.messages_digest([]) == hashlib.sha256(b"").hexdigest()


@behaviour("core:digest-continued")
@given(logs.logs(), st.data())
def test_the_digest_of_a_prefix_can_be_continued(events: list[Event], data: st.DataObject) -> None:
    messages = assemble(events).messages
    cut = data.draw(st.integers(0, len(messages)))
    prefix = Running().after(messages[:cut])
    whole = prefix.after(messages[cut:])

    assert (whole.digest, whole.count) == (digest.messages_digest(messages), len(messages))
    assert (prefix.digest, prefix.count) == (digest.messages_digest(messages[:cut]), cut)
    assert Running().digest == digest.messages_digest([])


def test_a_part_known_only_by_its_digest_counts_as_the_text_it_is_the_digest_of() -> None:
    whole = RequestHeader(Part("system"), Part("[]"), "m", {"a": 1})
    known = RequestHeader(
        Part(digest=digest.of_text("system")), Part(digest=digest.of_text("[]")), "m", {"a": 1}
    )

    assert digest.head_digest(whole) == digest.head_digest(known)


def test_the_head_digest_changes_with_every_part() -> None:
    heads = [
        HEAD,
        RequestHeader(),
        RequestHeader(Part("")),
        RequestHeader(Part("x")),
        RequestHeader(tools=Part("x")),
        RequestHeader(model="x"),
        RequestHeader(settings={"x": 1}),
        RequestHeader(settings={"x": True}),
    ]

    assert len({digest.head_digest(head) for head in heads}) == len(heads)


@given(words)
def test_any_text_has_a_digest(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")

    assert digest.of_text(text) == hashlib.sha256(data).hexdigest()


def test_two_surrogates_that_spell_a_character_have_its_digest() -> None:
    assert digest.of_text("\ud83d\ude00") == digest.of_text("😀")


@behaviour("core:inherited-bytes")
def test_a_childs_first_request_begins_with_the_bytes_of_its_parents_last_one() -> None:
    parent = place(
        [HEAD, *asked_and_answered("t1", 1, "q", "a"), *asked_and_answered("t2", 2, "r", "b")]
    )
    last = next(event.seq for event in reversed(parent) if event.body.kind == "request/sent")
    own = place([*injected("i", "framing"), start("t3", 3), user("t3", "aside")], logs.CHILD, 11)
    child = assemble([*parent, *own], seed_length=11, session="child")

    before = digest.canonical(assemble(parent[:last]))
    after = digest.canonical(child)
    assert after.startswith(before)
    assert before.count(b"\n") == 4
    assert after.count(b"\n") == 7


@behaviour("core:assemble-pure")
@given(logs.logs())
def test_a_log_gives_the_same_bytes_after_it_was_stored_and_read(events: list[Event]) -> None:
    again = [
        Event(e.session, e.seq, e.id, e.at, codec.load(codec.dump(Draft(e.id, e.at, e.body).body)))
        for e in events
    ]

    assert digest.canonical(assemble(again)) == digest.canonical(assemble(events))


def test_a_split_character_has_the_same_bytes_live_and_read_back() -> None:
    split = Context(HEAD, [Message("user", content.text("\ud83d\ude00"))])
    whole = Context(HEAD, [Message("user", content.text("😀"))])

    assert digest.canonical(split) == digest.canonical(whole)
