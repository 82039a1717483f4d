"""What may leave a side session: secrets and characters that deceive are taken out.

Every way out (notes, titles, lists, logs for people) goes through `clean`. Patterns are linear:
no text makes them slow."""

from __future__ import annotations

import re
from functools import lru_cache

from sidechat_mcp.core.credentials import FAMILIES

_ESCAPE = re.compile(
    # CSI: moves, colours, clearing.
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    # OSC, DCS and their like, with what they carry.
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f\n]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]?"
)
_NEWLINE = re.compile(r"\r\n?|[\v\f\x85]")
# Controls, joiners of words that show nothing, bidi marks and overrides, hangul fillers,
# interlinear annotation: nothing of these is ever seen, all of it is read by a model.
_HIDDEN = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f"
    r"\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    r"\U0001d173-\U0001d17a]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_JOINING = re.compile("[\u200c\u200d\ufe00-\ufe0f\U000e0000-\U000e0fff]")
# The only flags spelled with tag characters that exist: England, Scotland, Wales.
_FLAGS = {
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
}
_FLAG_LENGTH = 7
_PASSES = 8
SHORT = 8_192
"""Code points of a text whose outcome is kept."""
# Each cue once, however many families it points to: most texts have hardly any.
_CUES = {
    cue: [n for n, family in enumerate(FAMILIES) if cue in family.cues]
    for cue in dict.fromkeys(cue for family in FAMILIES for cue in family.cues)
}
_STYLES = {"\ufe0e", "\ufe0f"}
_KEYCAPS = set("0123456789#*©®")


def secrets(text: str) -> str:
    """`text` with every piece that looks like a credential replaced by `[redacted: KIND]`."""
    # The turns of a session are shown again and again, and looking through them takes longest.
    return _remembered(text) if len(text) <= SHORT else _without_secrets(text)


def _without_secrets(text: str) -> str:
    # Taking one out can lay bare the next, where two stood side by side; not for ever, though.
    for _ in range(_PASSES):
        before, lowered = text, text.lower()
        cued = {n for cue, families in _CUES.items() if cue in lowered for n in families}
        for n in sorted(cued):
            text = FAMILIES[n].redact(text)
        if text == before:
            break
    return text


_remembered = lru_cache(maxsize=1024)(_without_secrets)


def harmless(text: str) -> str:
    """`text` without terminal escapes, control characters (but newline and tab), bidi overrides
    and invisible tag characters; emoji sequences stay whole; lone surrogates become U+FFFD."""
    text = _NEWLINE.sub("\n", _ESCAPE.sub("", text))
    text = _SURROGATE.sub("\ufffd", _HIDDEN.sub("", text))
    return _without_tricks(text) if _JOINING.search(text) else text


def clean(text: str) -> str:
    """Both, and trailing white space trimmed: the one way out for notes and titles."""
    return secrets(harmless(text)).rstrip()


def _without_tricks(text: str) -> str:
    """`text` with joiners, variation selectors and tags only where they make a sign of writing:
    one, behind something that takes it; never a run that spells a hidden message."""
    kept: list[str] = []
    place = 0
    while place < len(text):
        if text[place : place + _FLAG_LENGTH] in _FLAGS:
            kept.append(text[place : place + _FLAG_LENGTH])
            place += _FLAG_LENGTH
            continue
        before = kept[-1][-1] if kept else ""
        if not _JOINING.match(text[place]) or (
            before and _belongs(before, text[place : place + 2])
        ):
            kept.append(text[place])
        place += 1
    return "".join(kept)


def _belongs(before: str, here: str) -> bool:
    sign, after = here[0], here[1:]
    if sign in "\u200c\u200d":
        # Between two signs of a script that joins, or of an emoji sequence.
        return _can_join(before) and _can_join(after) and not _JOINING.match(after)
    if sign in _STYLES:
        return before in _KEYCAPS or _is_sign(before)
    if "\ufe00" <= sign <= "\ufe0d":
        return _is_sign(before)
    return "\U000e0100" <= sign <= "\U000e01ef" and _is_ideograph(before)


def _is_sign(character: str) -> bool:
    """Something that is seen, beyond Latin."""
    return character > "\u02ff" and not character.isspace() and not _JOINING.match(character)


def _can_join(character: str) -> bool:
    return character in _STYLES or _is_sign(character)


def _is_ideograph(character: str) -> bool:
    return (
        "\u3400" <= character <= "\u9fff"
        or "\uf900" <= character <= "\ufaff"
        or "\U00020000" <= character <= "\U0003ffff"
    )
