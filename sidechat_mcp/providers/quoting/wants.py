"""Whether a text has the kind of thing a question asks for: a count, a duration, a person, a name.

Only sentences that hold a word of the question are looked at, and what directly answers such a
sentence: an answer stands where it is spoken of. English wording; questions in other languages
want nothing in particular."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sidechat_mcp.providers.quoting.language.cues import asks
from sidechat_mcp.providers.quoting.language.sentences import ITEM
from sidechat_mcp.providers.quoting.language.wordlists import PERSONS, is_stop
from sidechat_mcp.providers.quoting.language.words import stem
from sidechat_mcp.providers.quoting.questions import Question

_WORDS = (
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty"
    "|hundred|thousand|million|half|dozens?|several"
)
_FIGURE = rf"(?:\d[\d.,:]*|{_WORDS})"
_COUNTED = re.compile(rf"\d[\d.,]*|{_WORDS}|no|none|zero|both", re.I)
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
        rf"{_FIGURE}\s*(?:euros?|eur|dollars?|usd|cents?|pounds?|gbp|francs?|chf|yen|kr"
        r"|[€$£¥])|[€$£¥]\s*\d|\b\d+k\b|\bfree\b|\bnothing\b|\b\d{1,3}(?:[,.]\d{3})+\b|\b\d+[.,]\d\d\b",
        re.I,
    ),
    "clock": re.compile(
        r"\b(?:\d{1,2}[:.h]\d\d|\d{1,2}\s?[ap]\.?m|noon|midnight|o['’]clock|mornings?|evenings?"
        r"|afternoons?)\b",
        re.I,
    ),
    "age": re.compile(
        rf"\b{_FIGURE}[\s-]+(?:years?|months?|weeks?)\b|\b(?:aged?|born|turn(?:s|ed)|is|are)\s+\d"
        r"|\b(?:from|built|since|of) (?:1[89]|20)\d\d\b",
        re.I,
    ),
    "distance": re.compile(
        rf"\b{_FIGURE}\s*(?:[cmk]?m|miles?|met(?:re|er)s?|kilomet\w+|feet|foot|ft|inch(?:es)?|{_UNIT})\b",
        re.I,
    ),
    "duration": re.compile(
        rf"\b(?:{_FIGURE}|an?|one|few)[\s-]+(?:\w+[\s-]+)?{_UNIT}\b|\b(?:until|forever|indefinitely)\b"
        rf"|\b{_FIGURE}\s+(?:characters?|words?|pages?|lines?|bytes?|met(?:re|er)s?|[cmk]?m)\b",
        re.I,
    ),
    "why": re.compile(
        r"\b(?:because|since|so|due to|reason|why|means|would|must|too|otherwise|therefore"
        r"|caus\w+|only|but|breaks?|needs?|requires?|leads? to|in order|to avoid"
        r"|allows?|not|never|cannot|no|without|hates?|fears?|worr\w+|prefers?|better|worse|risk\w*)\b"
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
        r"|yesterday|once|until|after|as soon as|nightly|daily|weekly|monthly|q[1-4]"
        r"|\d{4}-\d\d|(?:19|20)\d\d"
        r"|\d{1,2}(?:st|nd|rd|th)|\d{1,2}\s?[ap]m|next \w+|last \w+)\b",
        re.I,
    ),
}
_TOKEN = re.compile(r"[^\W_]+(?:[.,:]\d+)*|[^\w\s-]")
_NAMED = re.compile(r"[\w./#-]+|[\"'“‘`][^\"'”’`]{1,40}[\"'”’`]")
_NAMELIKE = re.compile(r"[A-Z][\w.’'-]*|[\w./#-]*[\d_./#][\w./#-]*|[\"'“‘`].*")
_POINTS_BACK = re.compile(
    r"(?:it|that|this|they|these|those|he|she|its|their|his|her|so|because)\b|(?:the )?reason", re.I
)
TERSE = 4
"""So few words of a person name what is to be spoken of."""
_BELONGS = frozenset({"our", "my", "the", "a", "an", "their", "your"})
"""Little words after which it is said who somebody is."""
_TELLS = frozenset({"is", "are", "was", "were", "says", "said", ":", "=", "to"})
_BETWEEN = frozenset({"of", "was", "were", "are"})
_SUBJECT = re.compile(r"I|we|you|he|she|they", re.I)
_CALENDAR = re.compile(rf"{_DAYS}|{_MONTHS}", re.I)


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence, the words of the question that it holds, and whether the person said it."""

    text: str
    held: frozenset[str]
    asked: bool


def gives(question: Question, sentences: Sequence[Said]) -> bool:
    if question.want == "why":  # what is gone into at length is seldom explained in one sentence
        return any(_EXPECTED["why"].search(said.text) for said in sentences)
    enough = frozenset[str]() if question.want in ("count", "number") else question.focus
    near = [
        text for text, held in _in_context(sentences) if held & enough or _speaks_of(question, held)
    ]
    if question.want == "count" and _counts_topic(question, sentences):
        return True
    want = question.want
    if want in _EXPECTED:
        return any(_EXPECTED[want].search(text) for text in near)
    check = _CHECKS.get(want)
    return check is None or any(check(question, text) for text in near)


def _in_context(sentences: Sequence[Said]) -> Iterator[tuple[str, frozenset[str]]]:
    """Each sentence with what it is about: its own words, those of the sentence before it, if it
    stands in no list with it, and those of the person's question that it answers."""
    question = frozenset[str]()
    before: Said | None = None
    for said in sentences:
        held = said.held
        listed = before is not None and ITEM.match(said.text) and ITEM.match(before.text)
        if before is not None and not listed and (held or _POINTS_BACK.match(said.text)):
            held |= before.held
        yield said.text, held | question if not said.asked else held
        if said.asked and (asks(said.text) or len(said.text.split()) <= TERSE):
            question |= said.held
        before = said


def _speaks_of(question: Question, held: frozenset[str]) -> bool:
    """Whether more than half of what the question is about is meant."""
    heavy = question.heavy
    return len(held & heavy) * 5 >= len(heavy) * 3 if heavy else bool(held)


def _counts(question: Question, text: str) -> bool:
    """A number stands before the counted thing, with at most two plain words between."""
    found = _TOKEN.findall(text)
    for at, word in enumerate(found):
        if stem(word) not in question.counted:
            continue
        for told, after in pairwise(found[at + 1 : at + 4]):
            if told in _TELLS and after[0].isdigit():
                return True
        for before in reversed(found[max(at - 4, 0) : at]):
            if _COUNTED.fullmatch(before):
                return True
            if before in _BETWEEN:
                continue
            if not before.isalnum() or is_stop(before) or before.lower() in ("percent", "each"):
                break
    return False


def _counts_topic(question: Question, sentences: Sequence[Said]) -> bool:
    """Whether the person named in a word what is counted, and a number was told with all else that
    the question is about."""
    named = any(
        s.asked and len(s.text.split()) <= TERSE and question.counted & s.held for s in sentences
    )
    rest = question.heavy - question.counted
    return named and any(
        not s.asked and rest and rest <= s.held and re.search(r"\b\d+ [a-z]", s.text)
        for s in sentences
    )


def _names(question: Question, text: str) -> bool:
    """Something that looks like a name stands right beside the named thing."""
    named = question.focus or frozenset(question.stems)
    found = _NAMED.findall(text)
    for at, word in enumerate(found):
        if stem(word.strip(".").lower()) in named:
            beside = [*found[max(at - 1, 0) : at], *found[at + 1 : at + 3]]
            like = [w for w in beside if _NAMELIKE.fullmatch(w.strip(".")) and not is_stop(w)]
            if any(question.want == "code" or not w.strip(".,%")[:1].isdigit() for w in like):
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
        if question.heavy == frozenset({stem(word)}) and _says_who(found[at + 1 : at + 3]):
            return True
        for place in range(at - 1, -1, -1):
            if found[place] in (",", ";", ":", "."):
                break
            if _person(found[place]):
                return True
        behind = found[at + 1 : at + 6]
        if "(" in behind[:-1] and _person(behind[behind.index("(") + 1]):
            return True
        if "by" in behind and any(_person(w) for w in behind[behind.index("by") :]):
            return True
    return False


def _says_who(after: Sequence[str]) -> bool:
    """Whether a name goes on like “Priya (our DBA)”."""
    return len(after) > 1 and after[0] in ("(", ",") and after[1].lower() in _BELONGS


def _person(word: str) -> bool:
    if _SUBJECT.fullmatch(word):
        return True
    if word.lower() in PERSONS:
        return True
    plain = word[:1].isupper() and word[1:].islower() and word.isalpha()
    return plain and not is_stop(word) and _CALENDAR.fullmatch(word) is None


_CHECKS = {
    "count": _counts,
    "name": _names,
    "code": _names,
    "value": _has_value,
    "person": _acts,
}
