"""Whether a text has the kind of thing a question asks for: a count, a duration, a person, a name.

Only sentences that hold a word of the question are looked at, and what directly answers such a
sentence: an answer stands where it is spoken of. English wording; questions in other languages
want nothing in particular."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sidechat_mcp.providers.quoting.language.cues import asks
from sidechat_mcp.providers.quoting.language.wordlists import is_stop
from sidechat_mcp.providers.quoting.language.words import stem
from sidechat_mcp.providers.quoting.questions import Question

_WORDS = (
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty"
    "|hundred|thousand|million|half|dozens?|several"
)
_FIGURE = rf"(?:\d[\d.,:]*|{_WORDS})"
_COUNTED = re.compile(rf"\d[\d.,]*|{_WORDS}|one|no|none|zero|both", re.I)
_DAYS = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_MONTHS = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|march|april|may|june|july|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_UNIT = r"(?:ms|milliseconds?|seconds?|minutes?|hours?|days?|nights?|weeks?|months?|years?)"
_SIZE = (
    r"(?:[kmgt]i?b|bytes?|bits?|rows?|lines?|items?|records?|characters?|words?|tokens?|pages?|files?"
    r"|million|thousand|billion|[cmk]?m|kg|g|tons?|inch(?:es)?|feet|ft|square|lit(?:er|re)s?|seats?"
    r"|beds?|rooms?|people|persons|users|percent|%)"
)
_EXPECTED: dict[str, re.Pattern[str]] = {
    "number": re.compile(rf"\b{_FIGURE}\b", re.I),
    "money": re.compile(
        rf"{_FIGURE}\s*(?:euros?|eur|dollars?|usd|cents?|pounds?|gbp|francs?|chf|yen|kr|percent"
        r"|[€$£¥%])|[€$£¥]\s*\d|\bfree\b|\bnothing\b",
        re.I,
    ),
    "duration": re.compile(
        rf"\b(?:{_FIGURE}|an?|one|few)[\s-]+(?:\w+[\s-]+)?{_UNIT}\b|\b(?:until|forever|indefinitely)\b",
        re.I,
    ),
    "why": re.compile(
        r"\b(?:because|since|so|due to|reason|why|means|would|must|too|otherwise|therefore"
        r"|caus\w+|only|but|breaks?|needs?|requires?|leads? to|in order|to avoid"
        r"|allows?|not|never|cannot)\b"
        r"|n['’]t\b",
        re.I,
    ),
    "file": re.compile(r"\b[\w-]+\.[a-z]\w{0,4}\b|\w/\w|/\w+/", re.I),
    "size": re.compile(rf"\b{_FIGURE}\s*{_SIZE}\b", re.I),
    "often": re.compile(
        rf"\b(?:every|each|per|hourly|daily|nightly|weekly|monthly|yearly|once|twice"
        rf"|{_FIGURE} times|never|always)\b",
        re.I,
    ),
    "time": re.compile(
        rf"\b(?:{_FIGURE}\s+{_UNIT}|\d{{1,2}}:\d\d|{_DAYS}|{_MONTHS}|today|tomorrow|tonight"
        r"|yesterday|once|until|after|as soon as|nightly|daily|weekly|monthly|q[1-4]|\d{4}-\d\d"
        r"|\d{1,2}(?:st|nd|rd|th)|\d{1,2}\s?[ap]m|next \w+|last \w+)\b",
        re.I,
    ),
}
_TOKEN = re.compile(r"[^\W_]+(?:[.,:]\d+)*|[^\w\s-]")
_NAMED = re.compile(r"[\w./#-]+|[\"'“‘`][^\"'”’`]{1,40}[\"'”’`]")
_NAMELIKE = re.compile(r"[A-Z][\w.’'-]*|[\w./#-]*[\d_./#][\w./#-]*|[\"'“‘`].*")
_SUBJECT = re.compile(r"I|we|you|he|she|they", re.I)
_CALENDAR = re.compile(rf"{_DAYS}|{_MONTHS}", re.I)


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence, and whether it holds a word of the question."""

    text: str
    holds: bool


def gives(question: Question, sentences: Sequence[Said]) -> bool:
    if question.want == "why":  # what is gone into at length is seldom explained in one sentence
        return any(_EXPECTED["why"].search(said.text) for said in sentences)
    near = [
        said.text
        for at, said in enumerate(sentences)
        if said.holds or (at and sentences[at - 1].holds and asks(sentences[at - 1].text))
    ]
    want = question.want
    if want in _EXPECTED:
        return any(_EXPECTED[want].search(text) for text in near)
    check = {"count": _counts, "name": _names, "value": _has_value, "person": _acts}.get(want)
    return check is None or any(check(question, text) for text in near)


def _counts(question: Question, text: str) -> bool:
    """A number stands before the counted thing, with at most two plain words between."""
    found = _TOKEN.findall(text)
    for at, word in enumerate(found):
        if stem(word) not in question.counted:
            continue
        for before in reversed(found[max(at - 3, 0) : at]):
            if _COUNTED.fullmatch(before):
                return True
            if not before.isalnum() or is_stop(before) or before.lower() in ("percent", "each"):
                break
    return False


def _names(question: Question, text: str) -> bool:
    """Something that looks like a name stands right beside the named thing."""
    named = question.focus or frozenset(question.stems)
    found = _NAMED.findall(text)
    for at, word in enumerate(found):
        if stem(word.strip(".").lower()) in named:
            beside = [*found[max(at - 1, 0) : at], *found[at + 1 : at + 3]]
            if any(_NAMELIKE.fullmatch(w.strip(".")) and not is_stop(w) for w in beside):
                return True
    return False


def _has_value(question: Question, text: str) -> bool:
    """A figure follows the measured thing within four words."""
    found = _TOKEN.findall(text)
    return any(
        stem(word) in question.focus
        and any(any(c.isdigit() for c in after) for after in found[at + 1 : at + 5])
        for at, word in enumerate(found)
    )


def _acts(question: Question, text: str) -> bool:
    """A person (a name inside a sentence, or a pronoun) stands before the verb asked about in the
    same clause, or behind it after `by`."""
    if asks(text):
        return False
    found = _TOKEN.findall(text)
    for at, word in enumerate(found):
        if question.focus and stem(word) not in question.focus:
            continue
        for place in range(at - 1, -1, -1):
            if found[place] in (",", ";", ":", "."):
                break
            if _person(found[place]):
                return True
        behind = found[at + 1 : at + 6]
        if "by" in behind and any(_person(w) for w in behind[behind.index("by") :]):
            return True
    return False


def _person(word: str) -> bool:
    if _SUBJECT.fullmatch(word):
        return True
    plain = word[:1].isupper() and word[1:].islower() and word.isalpha()
    return plain and not is_stop(word) and _CALENDAR.fullmatch(word) is None
