"""Parents and their children as logs, for what must hold of their requests."""

from __future__ import annotations

import base64
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from sidechat_mcp.core.assemble import Context, assemble
from sidechat_mcp.core.content import Block, Content, Media, Text, Thinking, ToolUse, Verbatim
from sidechat_mcp.core.events import (
    AssistantMessage,
    Body,
    ContextMessage,
    Event,
    Part,
    RequestHeader,
    RequestSent,
    ToolResult,
    TurnEnd,
    TurnStart,
    Usage,
    UserMessage,
)
from sidechat_mcp.core.framing import FRAMING, SOURCE
from sidechat_mcp.core.ids import EventId, SessionId, TurnId

MODELS = {"anthropic": "claude-m", "openai": "gpt-5.6", "openai-chat": "m"}
T = TurnId("t")


def png(width: int, height: int, extra: int = 0) -> str:
    """The beginning of a PNG of this size, in base64."""
    raw = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + struct.pack(">II", width, height)
    return base64.b64encode(raw + b"\0" * extra).decode()


PICTURE = Media("image", "image/png", "ab" * 32, 20, png(10, 10), "shot.png")
REFERENCE = Media("image", "image/png", "cd" * 32, 2048)
PDF = Media("document", "application/pdf", "ef" * 32, 9, base64.b64encode(b"%PDF-1.7").decode())
NOTES = Media("document", "text/plain", "0f" * 32, 5, base64.b64encode("früh".encode()).decode())

VERBATIM = {
    "anthropic": '{"type": "thinking","thinking":"mm","signature":"c2ln"}',
    "openai": '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"eA=="}',
    "openai-chat": '{"reasoning_content":"mm"}',
}
WORDS = st.text(st.characters(exclude_categories=[]), max_size=12) | st.sampled_from(
    [
        '"quoted"\n',
        " ",
        "",
        "\ud83d",
        "\u2028",
        '","cache_control":{"type":"ephemeral"}',
        "<|im_end|>",
    ]
)
INPUTS = st.sampled_from(
    ['{"path": "a b",  "n": 1.50}', "{}", "", "{bad", "[1]", '{"s":"\\ud800"}', '{"u":"\\u00fc"}']
)


def _thinking(wire: str) -> st.SearchStrategy[Block]:
    others = [other for other in VERBATIM if other != wire]
    return st.sampled_from(
        [
            Thinking("mm", wire, VERBATIM[wire]),
            Thinking("mm", others[0], VERBATIM[others[0]]),
            Thinking("mm", wire),
        ]
    )


def _user_blocks(wire: str) -> st.SearchStrategy[Block]:
    return st.builds(Text, WORDS) | st.sampled_from(
        [PICTURE, REFERENCE, PDF, NOTES, Verbatim(wire, '{"type":"odd","a": 1}')]
    )


def _contents(blocks: st.SearchStrategy[Block], most: int = 3) -> st.SearchStrategy[Content]:
    return st.lists(blocks, min_size=1, max_size=most).map(tuple)


@dataclass(slots=True)
class Log:
    """Bodies in order, as one session writes them."""

    bodies: list[Body] = field(default_factory=list[Body])
    calls: int = 0

    def events(self) -> list[Event]:
        session = SessionId("s")
        return [
            Event(session, seq, EventId(str(seq)), 0, body) for seq, body in enumerate(self.bodies)
        ]

    def sent(self) -> None:
        self.bodies.append(RequestSent(T, "", "", "", 0))

    def note(self, content: Content) -> None:
        self.bodies += [
            TurnStart(T, "injection"),
            ContextMessage(T, content, {"kind": "client"}),
            TurnEnd(T, "injection"),
        ]


@st.composite
def parents(draw: st.DrawFn, wire: str) -> Log:
    """A native parent of a model of this wire: parallel calls, reasoning, images, notes that
    arrive in mid-answer, aborted and refused turns; the last turn is completed."""
    log = Log([draw(headers(wire))])
    for number in range(1, draw(st.integers(1, 4)) + 1):
        log.bodies += [
            TurnStart(T, "turn", number),
            UserMessage(T, draw(_contents(_user_blocks(wire)))),
        ]
        for _ in range(draw(st.integers(0, 2))):
            _batch(draw, log, wire)
        log.sent()
        if draw(st.booleans()):
            log.bodies.append(
                ContextMessage(T, draw(_contents(_user_blocks(wire), 1)), {"kind": "client"})
            )
        answer = (
            *draw(_contents(_thinking(wire), 2)),
            Text("Answer."),
            *draw(_contents(_said(), 2)),
        )
        log.bodies += [
            AssistantMessage(T, answer, MODELS[wire]),
            Usage(T, 10, 1, ids={"response": f"resp_{number}"}),
            TurnEnd(T, "completed"),
        ]
        if draw(st.booleans()):
            log.note(draw(_contents(_user_blocks(wire), 1)))
        if draw(st.booleans()):
            _broken_off(draw, log, wire)
    _broken_off(draw, log, wire)
    log.bodies += [TurnStart(T, "turn", 8), UserMessage(T, (Text("Well?"),))]
    log.sent()
    log.bodies += [AssistantMessage(T, (Text("Well."),), MODELS[wire]), TurnEnd(T, "completed")]
    return log


def _broken_off(draw: st.DrawFn, log: Log, wire: str) -> None:
    """A turn that has no answer, or half of one."""
    log.bodies += [TurnStart(T, "turn", 7), UserMessage(T, draw(_contents(_user_blocks(wire))))]
    log.sent()
    if draw(st.booleans()):
        log.bodies.append(AssistantMessage(T, draw(_contents(_thinking(wire) | _said(), 2))))
    log.bodies.append(TurnEnd(T, "aborted"))


def _said() -> st.SearchStrategy[Block]:
    return st.builds(Text, WORDS)


def _batch(draw: st.DrawFn, log: Log, wire: str) -> None:
    """A request, an answer with calls, and their results, in any order."""
    log.sent()
    calls: list[ToolUse] = []
    for _ in range(draw(st.integers(1, 4))):
        log.calls += 1
        id = draw(st.sampled_from([f"call_{log.calls}", f"functions.read:{log.calls}"]))
        calls.append(ToolUse(id, draw(st.sampled_from(["read", "mcp.list files"])), draw(INPUTS)))
    before = draw(_contents(_thinking(wire) | _said(), 2))
    log.bodies += [AssistantMessage(T, (*before, *calls), MODELS[wire]), Usage(T, 10, 1)]
    for call in draw(st.permutations(calls)):
        content: Content = draw(st.just(()) | _contents(_user_blocks(wire), 2))
        log.bodies.append(ToolResult(T, call.id, content, draw(st.booleans())))


TOOLS = '[{"name":"read","description":"Reads","input_schema":{"type": "object"}}]'


def headers(wire: str) -> st.SearchStrategy[RequestHeader]:
    own: dict[str, dict[str, Any]] = {
        "anthropic": {
            "max_tokens": 99,
            "thinking": {"type": "adaptive"},
            "tool_choice": {"type": "auto"},
        },
        "openai": {"reasoning": {"effort": "low"}, "prompt_cache_key": "root"},
        "openai-chat": {"temperature": 0, "tool_choice": "auto"},
    }
    return st.builds(
        RequestHeader,
        st.sampled_from([Part("You help. ü"), Part(), Part(digest="00"), Part("  ")]),
        st.sampled_from([Part(TOOLS), Part("[]"), Part()]),
        st.just(MODELS[wire]),
        st.sampled_from([own[wire], {}]),
    )


def last_request(log: Log) -> Context:
    """The context of the last request that was sent."""
    events = log.events()
    last = max(n for n, event in enumerate(events) if isinstance(event.body, RequestSent))
    return assemble(events[:last], session="s")


def child(log: Log, *said: str) -> Context:
    """The first request of a child forked at the end of `log` (or a later one, with more said)."""
    seed = len(log.bodies)
    own: list[Body] = [
        TurnStart(T, "injection"),
        ContextMessage(T, (Text(FRAMING),), SOURCE),
        TurnEnd(T, "injection"),
    ]
    for number, words in enumerate(said):
        if number:
            answer = AssistantMessage(T, (Text("So it is."),), None)
            own += [RequestSent(T, "", "", "", 0), answer, TurnEnd(T, "completed")]
        own += [TurnStart(T, "turn", 9 + number), UserMessage(T, (Text(words),))]
    events = Log([*log.bodies, *own]).events()
    return assemble(events, seed_length=seed, session="c")


def media(content: Sequence[Block]) -> list[Media]:
    return [block for block in content if isinstance(block, Media)]
