"""One answer of a provider as it comes together: what is heard, and what will be kept."""

from __future__ import annotations

from dataclasses import dataclass, field

from sidechat_mcp.core.content import Block, Content, Text, Thinking, ToolUse
from sidechat_mcp.core.events import AssistantMessage, Body, Reason, Usage
from sidechat_mcp.core.ids import TurnId
from sidechat_mcp.ports.provider import Chunk, Delta, Done, Spent, Whole

CUT = "cut"
"""`AssistantMessage.stop` of an answer whose terminal event never came."""

_REASONS: dict[str, Reason] = {
    "end": "completed",
    "max_tokens": "max_tokens",
    "refusal": "blocked",
    "content_filter": "blocked",
    "empty": "error",
}


@dataclass(slots=True)
class Reply:
    """Folds chunks. `heard` is the text of the blocks that are not whole yet."""

    turn: TurnId
    blocks: list[Block] = field(default_factory=list[Block])
    heard: str = ""
    spent: Spent | None = None
    done: Done | None = None

    def fold(self, chunk: Chunk) -> str:
        """Take in a chunk; returns the text that listeners should hear now."""
        match chunk:
            case Delta(text=text):
                self.heard += text
                return text
            case Whole(block=block):
                self.blocks.append(block)
                return self._unheard(block.text) if isinstance(block, Text) else ""
            case Spent():
                self.spent = chunk
            case Done():
                self.done = chunk
        return ""

    def _unheard(self, text: str) -> str:
        """What listeners lack of a text block that is whole now."""
        _, found, rest = self.heard.partition(text) if text else ("", "", self.heard)
        unheard = "" if found or self.heard else text
        self.heard = rest
        return unheard

    @property
    def content(self) -> Content:
        """The blocks so far, without empty ones; of a cut answer, the half block too. Calls of a
        cut answer are left out: nobody asked for them with certainty."""
        blocks = [block for block in self.blocks if not _empty(block)]
        if self.done is None:
            blocks = [block for block in blocks if not isinstance(block, ToolUse)]
            if self.heard.strip():
                blocks.append(Text(self.heard))
        return tuple(blocks)

    @property
    def calls(self) -> tuple[ToolUse, ...]:
        return tuple(block for block in self.content if isinstance(block, ToolUse))

    @property
    def text(self) -> str:
        return "\n\n".join(block.text for block in self.content if isinstance(block, Text))

    def facts(self) -> list[Body]:
        """What the log keeps of this answer: the message, if there is any, and its usage."""
        kept: list[Body] = []
        done = self.done
        if self.content:
            kept.append(
                AssistantMessage(
                    self.turn,
                    self.content,
                    model=done.model if done else None,
                    stop=done.stop if done else CUT,
                    verdict=done.verdict if done else None,
                )
            )
        if self.spent is not None:
            spent = self.spent
            kept.append(
                Usage(
                    self.turn,
                    spent.input,
                    spent.output,
                    spent.cache_read,
                    spent.cache_write,
                    dict(spent.ids),
                )
            )
        return kept

    def ending(self) -> tuple[Reason, str | None]:
        """How a turn ends whose last answer this is."""
        done = self.done
        if done is None:
            return "error", "The answer was cut off before its end."
        if not any(isinstance(block, Text) for block in self.content):
            reason = _REASONS.get(done.stop, "error")
            if reason in ("completed", "max_tokens"):
                return "error", done.detail or "The model gave no answer text."
            return reason, done.detail
        return _REASONS.get(done.stop, "completed"), done.detail


def _empty(block: Block) -> bool:
    match block:
        case Text(text=text):
            return not text.strip()
        case Thinking(text=text, verbatim=verbatim):
            return not text and verbatim is None
        case _:
            return False
