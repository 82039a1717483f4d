"""Whether a text has the kind of thing a question asks for: a count, a time, a name, a person."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sidechat_mcp.providers.quoting.questions import Question
from sidechat_mcp.providers.quoting.words import is_stop, stem

NUMBER = (
    r"(?:\d[\d.,:]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty"
    r"|forty|fifty|sixty|hundred|thousand|million|half|dozen|dozens|several|no|none|once|twice)"
)
_NUMBER = re.compile(rf"\b{NUMBER}\b", re.I)
_TIME = re.compile(
    rf"\b(?:{NUMBER}\s+(?:ms|seconds?|minutes?|hours?|days?|weeks?|months?|years?)"
    r"|\d{1,2}:\d\d|(?:mon|tues|wednes|thurs|fri|satur|sun)day|today|tomorrow|tonight|yesterday"
    r"|jan(?:uary)?|feb(?:ruary)?|march|april|may|june|july|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|once|until|after|before|as soon as|nightly|daily"
    r"|weekly|monthly|q[1-4]|\d{4}-\d\d|\d{1,2}(?:st|nd|rd|th))\b",
    re.I,
)
_NAMELIKE = re.compile(r"[A-Z][\w.’'-]*|[\w./#-]*[\d_./#][\w./#-]*|[\"'“‘`][^\"'”’`]{1,40}[\"'”’`]")


def gives(question: Question, sentences: Sequence[str]) -> bool:
    match question.want:
        case "count":
            return any(_counts(question, text) for text in sentences)
        case "number":
            return any(_NUMBER.search(text) for text in sentences)
        case "time":
            return any(_TIME.search(text) for text in sentences)
        case "name":
            return any(_names(question, text) for text in sentences)
        case _:
            return True


def _counts(question: Question, text: str) -> bool:
    """A number stands within three words before the counted thing."""
    found = re.findall(r"[^\W_]+(?:[.,:]\d+)*", text)
    for at, word in enumerate(found):
        if stem(word) in question.focus and any(
            _NUMBER.fullmatch(w) for w in found[max(at - 4, 0) : at]
        ):
            return True
    return False


def _names(question: Question, text: str) -> bool:
    """Something that looks like a name stands right beside the named thing."""
    named = question.focus or frozenset(question.stems)
    found = re.findall(r"[\w./#-]+|[\"'“‘`][^\"'”’`]{1,40}[\"'”’`]", text)
    for at, word in enumerate(found):
        if stem(word.strip(".").lower()) in named:
            beside = [*found[max(at - 1, 0) : at], *found[at + 1 : at + 3]]
            if any(_NAMELIKE.fullmatch(w.strip(".")) and not is_stop(w) for w in beside):
                return True
    return False
