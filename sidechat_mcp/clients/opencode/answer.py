"""The events of an opencode session → one answer. Pure: what has to be done is said, not done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sidechat_mcp.clients.opencode.records import tokens
from sidechat_mcp.clients.values import amount, mapping, word
from sidechat_mcp.core.content import Text
from sidechat_mcp.errors import (
    AnswerCut,
    BadCredentials,
    ContextOverflow,
    Overloaded,
    ProviderError,
    RateLimited,
)
from sidechat_mcp.ports.provider import Chunk, Delta, Done, Spent, Stop, Whole

TRIES = 3
"""How often the client may try again before the person is told."""

_STOPS: Mapping[str, Stop] = {"length": "max_tokens", "content-filter": "content_filter"}
_ASKED = {"permission.asked": "permission", "question.asked": "question"}


@dataclass(slots=True)
class Heard:
    """A text while it comes: what came, and how much of it was passed on."""

    text: str = ""
    told: str = ""


@dataclass(slots=True)
class Answer:
    """Takes in events. `waiting` are the questions that the client now waits with: their kind and
    id. `over` says that the client is done with this prompt."""

    session: str
    messages: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    texts: dict[str, Heard] = field(default_factory=dict[str, Heard])
    whole: set[str] = field(default_factory=set[str])
    waiting: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    busy: bool = False
    over: bool = False

    def take(self, event: Mapping[str, Any]) -> Iterator[Chunk]:
        """Raises: ProviderError."""
        about, kind = mapping(event.get("properties")), event.get("type")
        if about.get("sessionID") != self.session:
            return
        match kind:
            case "message.updated":
                self._message(mapping(about.get("info")))
            case "message.part.updated":
                yield from self._part(mapping(about.get("part")))
            case "message.part.delta" if about.get("field") == "text":
                yield from self._delta(word(about.get("partID")), word(about.get("delta")))
            case "session.error":
                raise failure(mapping(about.get("error")))
            case "session.status":
                self._status(mapping(about.get("status")))
            case "session.idle":
                self.over = self.busy
            case "permission.asked" | "question.asked":
                if (id := word(about.get("id"))) is not None:
                    self.waiting.append((_ASKED[kind], id))
            case _:
                pass

    def end(self) -> Iterator[Chunk]:
        """What follows the last event. Raises: ProviderError."""
        last = mapping([*self.messages.values()][-1]) if self.messages else {}
        finish = word(last.get("finish"))
        if finish is None:
            raise AnswerCut("opencode ended its answer before its end.", then="Ask again.")
        yield self._spent()
        model = f"{last.get('providerID')}/{last.get('modelID')}"
        yield Done(_STOPS.get(finish, "end"), model)

    def _message(self, info: dict[str, Any]) -> None:
        id = word(info.get("id"))
        if id is None or info.get("role") != "assistant":
            return
        self.messages[id], self.busy = info, True
        if info.get("error") is not None:
            raise failure(mapping(info.get("error")))

    def _part(self, part: dict[str, Any]) -> Iterator[Chunk]:
        id = word(part.get("id"))
        if id is None or part.get("type") != "text" or part.get("messageID") not in self.messages:
            return
        heard = self.texts.setdefault(id, Heard())
        if mapping(part.get("time")).get("end") is None or id in self.whole:
            return
        self.whole.add(id)
        text = part.get("text")
        if not isinstance(text, str) or not text.strip():
            return
        if text.startswith(heard.told) and len(text) > len(heard.told):
            yield Delta(text[len(heard.told) :])
        yield Whole(Text(text))

    def _delta(self, part: str | None, piece: str | None) -> Iterator[Chunk]:
        heard = self.texts.get(part or "")
        if heard is None or piece is None:
            return  # It is no text, or not the model's.
        heard.text += piece
        # The client trims a text when it is whole, so blanks at its end are kept back.
        ready = heard.text.rstrip()
        if len(ready) > len(heard.told):
            yield Delta(ready[len(heard.told) :])
            heard.told = ready

    def _status(self, status: dict[str, Any]) -> None:
        if status.get("type") == "retry" and (amount(status.get("attempt")) or 0) >= TRIES:
            why = word(status.get("message")) or "no reason given"
            raise Overloaded(
                f"opencode's model did not answer {TRIES} times: {why[:300]}.",
                then="Ask again later.",
                retryable=True,
            )
        self.busy = self.busy or status.get("type") == "busy"
        self.over = self.over or (self.busy and status.get("type") == "idle")

    def _spent(self) -> Spent:
        """All requests of this answer; a count that none of them has is not reported."""
        found = [tokens(mapping(one.get("tokens"))) for one in self.messages.values()]
        spent = [one for one in found if one is not None]
        return Spent(
            _sum([one.input for one in spent]),
            _sum([one.output for one in spent]),
            _sum([one.cache_read for one in spent]),
            _sum([one.cache_write for one in spent]),
        )


def failure(error: Mapping[str, Any]) -> ProviderError:
    """What went wrong, in our words."""
    name, about = word(error.get("name")) or "an unknown error", mapping(error.get("data"))
    said = f"opencode did not answer: {name}: {(word(about.get('message')) or '')[:300]}"
    status = about.get("statusCode")
    match name, status:
        case "MessageAbortedError", _:
            return AnswerCut("opencode's answer was interrupted.", then="Ask again.")
        case ("ProviderAuthError", _) | (_, 401 | 403):
            return BadCredentials(f"{said}.", then="Sign in with `opencode auth login`.")
        case "ContextOverflowError", _:
            return ContextOverflow(f"{said}.", then="Fork with a summary (`fork --compact`).")
        case _, 429:
            return RateLimited(f"{said}.", then="Ask again later.", retryable=True)
        case _, int() if status >= 500:
            return Overloaded(f"{said}.", then="Ask again later.", retryable=True)
        case _:
            return ProviderError(f"{said}.", retryable=about.get("isRetryable") is True)


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
