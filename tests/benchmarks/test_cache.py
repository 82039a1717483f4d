"""The bench of a real prefix cache: how long its histories are, and when it fails."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

import pytest

from benchmarks import cache
from tests.behaviours import behaviour
from tests.providers_wire.loopback import Say, complaint, loopback


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def said(found: Any) -> Say:
    return complaint(200, json.dumps(found).encode())


def serving(window: int) -> list[Say]:
    props = {"default_generation_settings": {"n_ctx": window}}
    return [said({"data": [{"id": "m", "owned_by": "llamacpp"}]}), said(props)]


@behaviour("house:cache-bench")
@pytest.mark.parametrize(
    ("window", "reports"), [(32_768, cache.TOKENS), (8192, 8192 - cache.ROOM), (7500, cache.FEWEST)]
)
async def test_a_history_is_as_long_as_was_asked_for_or_the_models_window_leaves(
    window: int, reports: int
) -> None:
    counted = said({"tokens": [0] * cache.CORPUS})
    async with loopback(counted, models=serving(window)) as server:
        ground = await cache.Ground(server.url, "key").sized(cache.TOKENS)
    assert ground.reports == reports, "one token a report"
    assert server.asked[0].headers["authorization"] == "Bearer key"


@behaviour("house:cache-bench")
async def test_a_window_too_small_for_the_bar_to_mean_anything_is_refused() -> None:
    async with loopback(models=serving(cache.FEWEST + cache.ROOM - 1)) as server:
        with pytest.raises(SystemExit, match="is too short: 6000 are the fewest"):
            await cache.Ground(server.url, "key").sized(cache.TOKENS)


@behaviour("house:cache-bench")
def test_what_is_over_or_under_its_figure_counts_as_missed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    table = cache.Table()
    for value, least, missed in (
        (0.99, True, 0),
        (0.9899, True, 1),
        (0.01, False, 1),
        (0.0101, False, 2),
    ):
        table.row("a share", value, 0.99 if least else 0.01, least=least)
        assert table.missed == missed
    table.answer("by turns", cache.Answered(0.1, 1000, 969, 1, ""))
    assert table.missed == 3
    assert capsys.readouterr().out.count("MISSED") == 3


def test_another_salt_is_another_talk_from_the_first_word_on() -> None:
    one, same, other = (cache.history(salt, 3) for salt in ("a", "a", "b"))
    assert (one == same, one == other) == (True, False)


def test_a_models_file_is_found_from_where_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.gguf").touch()
    monkeypatch.chdir(tmp_path)
    assert cache.file("m.gguf") == tmp_path / "m.gguf"
    with pytest.raises(ArgumentTypeError, match="there is no file"):
        cache.file("n.gguf")
