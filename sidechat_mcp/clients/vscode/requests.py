"""A chat session of VS Code: a log of changes, or one document → its requests, and what they
say. Pure and lenient.

What the client put before a person's words (attachments, the editor, reminders) is in the words
as they were rendered for the model; of a result, the text of its tree is what the model saw."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sidechat_mcp.clients import files
from sidechat_mcp.clients.blocks import media
from sidechat_mcp.clients.dialogue import Answer, Over, Record, Result, Said, Saying, Shown
from sidechat_mcp.clients.values import compact, instant, mapping, sequence, word
from sidechat_mcp.core.content import Block, Content, Text, Thinking, ToolUse, Verbatim

WIRE = "vscode"

_TEXT = 1
"""What a rendered part of a message is when it is text."""
_OPENS = "<userRequest>"


class Mutated:
    """A session while the lines of its log come in; what does not fit is counted by the caller."""

    def __init__(self) -> None:
        self.value: dict[str, Any] = {}

    def take(self, line: dict[str, Any]) -> bool:
        """Whether the change could be made."""
        path, value = sequence(line.get("k")), line.get("v")
        holder: Any = self.value
        for name in path[:-1]:
            holder = _at(holder, name)
        match line.get("kind"):
            case 0 if isinstance(value, dict):  # the whole session
                self.value = mapping(value)
                return True
            case 1 if path:
                return _put(holder, path[-1], value)
            case 2 if path:
                return _push(holder, path[-1], line)
            case 3 if path and isinstance(path[-1], str) and path[-1] in mapping(holder):
                del mapping(holder)[path[-1]]
                return True
            case _:
                return False


@dataclass(slots=True)
class Around:
    """What the model was told of the workspace last: it is shown when it changes."""

    told: str = ""


def says(request: dict[str, Any], around: Around) -> Iterator[Record]:
    """Everything that a request says: the question, its answers, how it ended."""
    id, at = word(request.get("requestId")) or "", instant(request.get("timestamp"), 0)
    result = mapping(request.get("result"))
    about = mapping(result.get("metadata"))
    yield Record(id, at, _said(request, about, around))
    last: Answer | None = None
    for record, one in _answers(request, about):
        if isinstance(one, Answer):
            last = one
        yield Record(record or id, at, one)
    ended = _ended(request, result, last)
    if ended is not None:
        # The turn's end belongs to the last round, where there is one.
        rounds = [mapping(one) for one in sequence(about.get("toolCallRounds"))]
        named = word(rounds[-1].get("id")) if rounds else None
        yield Record(named or id, at, ended)


def _said(request: dict[str, Any], about: dict[str, Any], around: Around) -> Said:
    typed = word(mapping(request.get("message")).get("text")) or ""
    shown: list[Shown] = []
    everywhere = _rendered(about.get("renderedGlobalContext"))
    if everywhere and everywhere != around.told:
        around.told = everywhere
        shown.append(Shown((Text(everywhere),), "renderedGlobalContext"))
    rendered = _rendered(about.get("renderedUserMessage"))
    before = rendered.rpartition(typed)[0] if typed else rendered
    before = before.rstrip().removesuffix(_OPENS).rstrip()
    if before:
        shown.append(Shown((Text(before),), "renderedUserMessage"))
    content: list[Block] = [Text(typed)] if typed else []
    if not rendered:
        given = sequence(mapping(request.get("variableData")).get("variables"))
        content += (Verbatim(WIRE, compact(one)) for one in given)
    return Said(tuple(content), before=shown)


def _rendered(value: Any) -> str:
    found = (mapping(one) for one in sequence(value))
    return "".join(word(one.get("text")) or "" for one in found if one.get("type") == _TEXT)


def _answers(request: dict[str, Any], about: dict[str, Any]) -> Iterator[tuple[str | None, Saying]]:
    """Answers and results round by round; without rounds, what was shown is the answer."""
    model = word(request.get("modelId"))
    results = mapping(about.get("toolCallResults"))
    rounds = [mapping(one) for one in sequence(about.get("toolCallRounds"))]
    for one in rounds:
        content = _round(one)
        yield word(one.get("id")), Answer(content, model, marked=True)
        for block in content:
            if isinstance(block, ToolUse) and block.id in results:
                given = mapping(results[block.id])
                yield word(one.get("id")), Result(block.id, _result(given))
    if not rounds:
        shown = _shown(request.get("response"))
        yield None, Answer((Text(shown),) if shown else (), model, marked=True)


def _round(found: dict[str, Any]) -> Content:
    blocks: list[Block] = []
    thought = mapping(found.get("thinking")).get("text")
    lines = [thought] if isinstance(thought, str) else sequence(thought)
    words = "".join(one for one in lines if isinstance(one, str))
    if words:
        blocks.append(Thinking(words, WIRE, compact(found["thinking"])))
    said = word(found.get("response"))
    if said is not None:
        blocks.append(Text(said))
    calls: set[str] = set()
    for one in map(mapping, sequence(found.get("toolCalls"))):
        id, name = word(one.get("id")), word(one.get("name"))
        if id is not None and name is not None and id not in calls:
            calls.add(id)
            blocks.append(ToolUse(id, name, _arguments(one.get("arguments"))))
    return tuple(blocks)


def _arguments(value: Any) -> str:
    if isinstance(value, str) and files.document(value.encode("utf-8", "replace")) is not None:
        return value
    return compact(value if value not in (None, "") else {})


def _result(given: dict[str, Any]) -> Content:
    found: list[Block] = []
    for one in map(mapping, sequence(given.get("content"))):
        value, held = one.get("value"), word(one.get("data"))
        words = value if isinstance(value, str) else _tree(mapping(value).get("node"))
        if words:
            found.append(Text(words))
        elif held is not None:
            found.append(media(held, word(one.get("mimeType"))))
    return tuple(found)


def _tree(node: Any) -> str:
    """The text of a rendered tree, from top to bottom."""
    told: list[str] = []
    left = [node]
    while left:
        one = mapping(left.pop())
        words = word(one.get("text"))
        if words is not None:
            if one.get("lineBreakBefore") is True and told and not told[-1].endswith("\n"):
                told.append("\n")
            told.append(words)
        left += reversed(sequence(one.get("children")))
    return "".join(told)


def _shown(response: Any) -> str:
    """The Markdown of an answer as the person saw it."""
    told: list[str] = []
    for part in map(mapping, sequence(response)):
        match part.get("kind"):
            case None | "markdownContent":
                given = part.get("value") or part.get("content")
                told.append(
                    given if isinstance(given, str) else word(mapping(given).get("value")) or ""
                )
            case "inlineReference":
                where = mapping(part.get("inlineReference"))
                path = word(where.get("path")) or word(mapping(where.get("uri")).get("path")) or ""
                told.append(word(part.get("name")) or path.rpartition("/")[2])
            case _:
                pass
    return "".join(told)


def _ended(request: dict[str, Any], result: dict[str, Any], last: Answer | None) -> Over | None:
    """How the client says that it ended; nothing while it goes on."""
    failure = mapping(result.get("errorDetails"))
    if request.get("isCanceled") is True:
        return Over("aborted", "interrupted by the person")
    if failure:
        return Over("error", (word(failure.get("message")) or "")[:200] or None)
    if not result:
        return None
    content = last.content if last is not None else ()
    whole = bool(content) and not any(isinstance(block, ToolUse) for block in content)
    return Over("completed" if whole else "interrupted")


def _at(holder: Any, name: Any) -> Any:
    if isinstance(holder, dict):
        return mapping(holder).get(name) if isinstance(name, str) else None
    listed = sequence(holder)
    return listed[name] if _is_place(name, len(listed)) else None


def _put(holder: Any, name: Any, value: Any) -> bool:
    if isinstance(holder, dict) and isinstance(name, str):
        mapping(holder)[name] = value
        return True
    listed = sequence(holder)
    if not isinstance(holder, list) or not _is_place(name, len(listed) + 1):
        return False
    listed[name : name + 1] = [value]
    return True


def _is_place(name: Any, length: int) -> bool:
    return isinstance(name, int) and not isinstance(name, bool) and 0 <= name < length


def _push(holder: Any, name: Any, line: dict[str, Any]) -> bool:
    """Cut a list at `i`, where that is given, and put `v` behind it."""
    listed, keep = _at(holder, name), line.get("i")
    if listed is None and _put(holder, name, []):
        listed = _at(holder, name)
    if not isinstance(listed, list):
        return False
    if _is_place(keep, len(sequence(listed))):
        del sequence(listed)[keep:]
    sequence(listed).extend(sequence(line.get("v")))
    return True
