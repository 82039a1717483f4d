"""The events of an opencode session as an answer, and its permission rules as ours."""

from __future__ import annotations

from typing import Any

import pytest

from sidechat_mcp.clients.opencode.answer import Answer, failure
from sidechat_mcp.clients.opencode.rules import denying
from sidechat_mcp.core.content import Text
from sidechat_mcp.errors import (
    AnswerCut,
    BadCredentials,
    ContextOverflow,
    Overloaded,
    ProviderError,
    RateLimited,
)
from sidechat_mcp.ports.provider import Chunk, Delta, Done, Spent, Whole
from tests.behaviours import behaviour

TOKENS = {"input": 10, "output": 5, "reasoning": 2, "cache": {"read": 30, "write": 0}}


def heard(answer: Answer, kind: str, **about: Any) -> list[Chunk]:
    return list(answer.take({"type": kind, "properties": {"sessionID": "s", **about}}))


def message(answer: Answer, id: str, **info: Any) -> list[Chunk]:
    whole = {"id": id, "role": "assistant", "providerID": "p", "modelID": "m", **info}
    return heard(answer, "message.updated", info=whole)


def part(answer: Answer, id: str, text: str, *, end: bool = False, kind: str = "text") -> Any:
    made = {"id": id, "messageID": "m1", "type": kind, "text": text}
    return heard(answer, "message.part.updated", part={**made, "time": {"end": 1} if end else {}})


def delta(answer: Answer, id: str, piece: str) -> list[Chunk]:
    return heard(answer, "message.part.delta", partID=id, field="text", delta=piece)


@behaviour("opencode:hosted")
def test_a_text_comes_once_whole_after_the_very_same_pieces() -> None:
    answer = Answer("s")
    message(answer, "m1")
    found = [
        *part(answer, "t", ""),
        *delta(answer, "t", "One, "),
        *delta(answer, "t", "two.\n"),
        *part(answer, "t", "One, two.", end=True),
        *part(answer, "t", "One, two.", end=True),
    ]
    assert found == [Delta("One,"), Delta(" two."), Whole(Text("One, two."))]
    silent = [*part(answer, "u", ""), *part(answer, "u", "At once.", end=True)]
    assert silent == [Delta("At once."), Whole(Text("At once."))]


def test_what_is_no_text_of_this_answer_is_not_heard() -> None:
    answer = Answer("s")
    message(answer, "m1")
    other = {"type": "message.part.delta", "properties": {"sessionID": "x", "partID": "t"}}
    asked = {"id": "q", "messageID": "mine", "type": "text", "text": "?", "time": {"end": 1}}
    assert list(answer.take(other)) == []
    assert heard(answer, "message.part.updated", part=asked) == []
    assert [*part(answer, "r", "", kind="reasoning"), *delta(answer, "r", "Hm.")] == []
    assert part(answer, "t", " \n", end=True) == []
    nonsense: list[dict[str, Any]] = [{}, {"type": 7}, {"type": "x", "properties": []}]
    for odd in nonsense:
        assert list(answer.take(odd)) == []


@behaviour("opencode:hosted")
def test_an_answer_counts_all_its_requests_and_ends_as_the_last_one_did() -> None:
    answer = Answer("s")
    heard(answer, "session.idle")
    assert not answer.over, "nothing has begun"
    message(answer, "m1", finish="tool-calls", tokens=TOKENS)
    message(answer, "m2", finish="length", tokens=TOKENS)
    message(answer, "m2", finish="length", tokens=TOKENS)
    heard(answer, "session.status", status={"type": "idle"})
    assert answer.over
    assert list(answer.end()) == [Spent(80, 14, 60, 0), Done("max_tokens", "p/m")]


def test_an_answer_without_an_end_was_cut() -> None:
    answer = Answer("s")
    message(answer, "m1")
    heard(answer, "session.idle")
    with pytest.raises(AnswerCut):
        list(answer.end())


@behaviour("opencode:hosted")
def test_a_client_that_keeps_trying_is_not_waited_for_for_ever() -> None:
    answer = Answer("s")
    heard(answer, "session.status", status={"type": "retry", "attempt": 2, "message": "busy"})
    with pytest.raises(Overloaded, match="busy"):
        heard(answer, "session.status", status={"type": "retry", "attempt": 3, "message": "busy"})


@pytest.mark.parametrize(
    ("name", "status", "kind"),
    [
        ("MessageAbortedError", None, AnswerCut),
        ("ProviderAuthError", None, BadCredentials),
        ("APIError", 401, BadCredentials),
        ("ContextOverflowError", None, ContextOverflow),
        ("APIError", 429, RateLimited),
        ("APIError", 503, Overloaded),
        ("APIError", 400, ProviderError),
        ("UnknownError", "x", ProviderError),
    ],
)
def test_what_went_wrong_is_said_in_our_words(name: str, status: object, kind: type) -> None:
    error = failure({"name": name, "data": {"message": "why", "statusCode": status}})
    assert type(error) is kind
    assert error.message.endswith(".")
    with pytest.raises(kind):
        message(Answer("s"), "m1", error={"name": name, "data": {"statusCode": status}})


def rule(permission: str, pattern: str, action: str) -> dict[str, str]:
    return {"permission": permission, "pattern": pattern, "action": action}


@behaviour("opencode:denied")
def test_each_rule_denies_in_its_place_and_hides_only_what_was_hidden() -> None:
    found = [
        rule("*", "*", "allow"),
        rule("edit", "*", "deny"),
        rule("read", "*.env", "ask"),
        rule("tiny_*", "*", "deny"),
        rule("edit", "src/*", "allow"),
        rule("tiny_add", "*", "allow"),
        {"permission": 7},
        "nonsense",
    ]
    assert denying(found, ["bash", "deploy", 7]) == [
        rule("*", "?*", "deny"),
        rule("read", "?*", "deny"),
        rule("tiny_*", "*", "deny"),
        rule("edit", "?*", "deny"),
        rule("tiny_add", "?*", "deny"),
        rule("deploy", "*", "deny"),
    ]
