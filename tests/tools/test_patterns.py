"""Which paths a shell pattern means."""

from __future__ import annotations

import time

import pytest

from sidechat_mcp.tools.patterns import MOST_ALTERNATIVES, matcher
from tests.behaviours import behaviour


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.py", "a.py", True),
        ("*.py", "src/deep/a.py", True),
        ("./*.py", "a.py", True),
        ("./*.py", "src/a.py", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/deep/er/a.py", True),
        ("src/**", "src/deep/a.py", True),
        ("**/deep/*", "deep/a.py", True),
        ("**", "a", True),
        ("*.{ts,tsx}", "x/a.tsx", True),
        ("{src,lib}/*.{a,b}", "lib/x.b", True),
        ("{src,lib}/*.{a,b}", "lib/x.c", False),
        ("{a,{b,c}}.x", "c.x", True),
        ("[ab]?.x", "bc.x", True),
        ("A.x", "a.x", False),
        ("../*", "x", False),
        ("{", "{", True),
    ],
)
def test_a_pattern_means_what_a_shell_means(pattern: str, path: str, fits: bool) -> None:
    assert matcher(pattern)(path) is fits


@behaviour("tools:bounded")
def test_no_pattern_takes_long() -> None:
    started = time.monotonic()
    assert not matcher("*a" * 100 + "b")("a" * 255)
    assert not matcher("**/" * 200 + "x")("/".join("a" * 200))
    with pytest.raises(ValueError, match=f"more than {MOST_ALTERNATIVES} alternatives"):
        matcher("{a,b}" * 40)
    assert time.monotonic() - started < 2
