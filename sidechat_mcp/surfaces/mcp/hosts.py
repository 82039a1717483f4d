"""What real clients were seen to do with prompts, by the exact name they give themselves.

A row is here because a test shows what its client sends; the test's name stands beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping

PREFETCHERS: Mapping[str, str] = {
    "opencode": "test_opencode_fetches_every_prompt_at_its_start_and_nothing_happens",
}
"""Fetch prompts before anybody typed them, with placeholders or nothing as arguments."""

SPACE_SPLITTERS: Mapping[str, str] = {
    "claude-code": "test_claude_code_passes_single_words_and_drops_the_rest",
}
"""Cut what a person typed at spaces, one word an argument, and drop what is left over."""

_PLACEHOLDER = re.compile(r"\$\{?\w+\}?|\{\{?.*\}?\}|<[^<>]*>|%\w|\[[^\[\]]*\]")


def is_placeholder(value: str) -> bool:
    """Whether an argument only marks the place of one: `$1`, `${session}`, `{{note}}`, `<id>`."""
    return _PLACEHOLDER.fullmatch(value.strip()) is not None
