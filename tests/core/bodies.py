"""Any body, header and text at all, for the laws of the stored spelling."""

from __future__ import annotations

import itertools
import typing
from typing import Any

from hypothesis import strategies as st

from sidechat_mcp.core import content, events
from sidechat_mcp.core.events import Body, Header, Unknown

# Separators, control characters, lone surrogates and signs beyond the first plane all at once.
TROUBLE = '\u2028\u2029\x85\x0b\x1c\x00\x7f\x9f\ud800\udfff\U0001f600"\\\né'


def _unpaired(words: str) -> bool:
    return not any(
        "\ud800" <= one <= "\udbff" and "\udc00" <= two <= "\udfff"
        for one, two in itertools.pairwise(words)
    )


words = st.text(st.characters() | st.sampled_from(TROUBLE), max_size=12).filter(_unpaired)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | words
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(words, json_values, max_size=3)

KINDS = typing.get_args(events.Known)
BLOCKS = typing.get_args(typing.get_args(content.Block)[0])


def _of(kind: type[Any]) -> st.SearchStrategy[Any]:
    """Any value of a dataclass of ours, by its fields."""
    hints = typing.get_type_hints(kind, include_extras=True)
    return st.builds(kind, **{name: _by(hint) for name, hint in hints.items()})


def _by(hint: Any) -> st.SearchStrategy[Any]:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint == content.Content:
        return st.lists(st.one_of(*map(_of, BLOCKS)), max_size=3).map(tuple)
    if origin is typing.Literal:
        return st.sampled_from(arguments)
    if hint is str or getattr(hint, "__supertype__", None) is str:
        return words
    if hint is events.Part:
        return st.builds(events.Part, text=st.none() | words, digest=st.none() | words)
    if origin is not None and "Mapping" in str(origin):
        return st.dictionaries(words, words if arguments[1] is str else json_values, max_size=3)
    if arguments:
        return st.one_of(*map(_by, arguments))
    return {int: st.integers(-(2**60), 2**60), bool: st.booleans(), type(None): st.none()}[hint]


known: st.SearchStrategy[Body] = st.one_of(*map(_of, KINDS))


def _newer(name: str, found: dict[str, Any], ignorable: bool) -> Unknown:
    whole = {**found, "kind": f"later/{name}", "ignorable": ignorable}
    return Unknown(f"later/{name}", whole, ignorable)


unknown: st.SearchStrategy[Body] = st.builds(_newer, words, objects, st.booleans())
headers: st.SearchStrategy[Header] = _of(Header)
