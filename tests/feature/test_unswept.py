"""While a conversation is read nobody looks for cycles; afterwards all is as it was."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import suppress

import pytest

from sidechat_mcp.sidechat.unswept import unswept


@pytest.fixture(autouse=True)
def _as_it_was() -> Generator[None]:
    were_on = gc.isenabled()
    yield
    (gc.enable if were_on else gc.disable)()


def test_it_is_off_until_the_last_has_left_whoever_that_is() -> None:
    gc.enable()
    first, second = unswept(), unswept()
    seen = [gc.isenabled()]
    for step in (first.__enter__, second.__enter__):
        step()
        seen.append(gc.isenabled())
    for one in (first, second):
        one.__exit__(None, None, None)
        seen.append(gc.isenabled())
    assert seen == [True, False, False, False, True]


@pytest.mark.parametrize("on", [True, False])
def test_a_failure_inside_leaves_it_as_it_was(on: bool) -> None:
    (gc.enable if on else gc.disable)()
    with suppress(ValueError), unswept():
        raise ValueError
    assert gc.isenabled() is on
