"""Forms of a word that no stemmer joins: irregular verbs, and words that are written as one or as
two. General English only."""

from __future__ import annotations

from functools import cache

from sidechat_mcp.providers.quoting.language.words import stem

_FORMS = """
begin began begun
break broke broken
bring brought
build built
buy bought
catch caught
choose chose chosen
draw drew drawn
drive drove driven
eat eaten
fall fell fallen
feel felt
fight fought
find found
fly flew flown
forget forgot forgotten
freeze froze frozen
grow grew grown
hear heard
hide hid hidden
hold held
keep kept
lead led
leave left
lend lent
lose lost
mean meant
meet met
pay paid
ride rode ridden
rise rose risen
run ran
sell sold
send sent
shake shook shaken
sing sang sung
sleep slept
speak spoke spoken
spend spent
stand stood
steal stole stolen
stick stuck
swim swam swum
teach taught
throw threw thrown
wake woke woken
wear wore worn
win won
write wrote written
child children
lib library
config configuration
repo repository
db database
env environment
auth authentication
app application
msg message
info information
param parameter
dir directory
admin administrator
spec specification
max maximum
min minimum
man men
woman women
foot feet
tooth teeth
"""


@cache
def _table() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in _FORMS.strip().splitlines():
        group = frozenset(stem(word) for word in line.split())
        found |= {s: group - {s} for s in group}
    return found


def forms(of: str) -> frozenset[str]:
    """The other stems of the same word."""
    return _table().get(of, frozenset())


def near(word: str, other: str) -> bool:
    """Whether two words differ by one slip of the hand: a letter more, less, another, or two
    swapped."""
    if abs(len(word) - len(other)) > 1 or word == other:
        return False
    at = 0
    while at < min(len(word), len(other)) and word[at] == other[at]:
        at += 1
    a, b = word[at:], other[at:]
    if a[1:] == b[1:] or a[1:] == b or a == b[1:]:
        return True
    return len(a) > 1 and len(b) > 1 and a[:2] == b[1::-1] and a[2:] == b[2:]
