"""A figure that misses its bar is seen, measured once more, and fails the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from benchmarks import __main__ as bench
from benchmarks.figures import Figure, at_most, table, times_faster, within
from benchmarks.ground import Ground, grounds
from benchmarks.plan import Plan
from benchmarks.timing import alternate
from tests.behaviours import behaviour

GOOD = at_most("good", [0.001], [0.001], 2)
BAD = at_most("bad", [0.005], [0.001], 2)


class Measured:
    """A measure that gives what it was told to, one answer after the other."""

    __name__ = "measured"

    def __init__(self, *answers: Sequence[Figure]) -> None:
        self.answers = list(answers)

    async def __call__(self, ground: Ground, plan: Plan) -> Sequence[Figure]:
        return self.answers.pop(0)


def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *answers: Sequence[Figure]) -> int:
    measure = Measured(*answers)
    monkeypatch.setattr(bench, "BUILD", tmp_path)
    monkeypatch.setattr(bench, "MEASURES", (measure,))
    code = bench.main(["--quick"])
    assert measure.answers == []
    return code


@behaviour("house:bench")
def test_a_missed_figure_is_measured_again_and_then_fails_the_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, tmp_path, [GOOD]) == 0
    assert run(monkeypatch, tmp_path, [GOOD, BAD], [BAD, GOOD]) == 0
    capsys.readouterr()
    assert run(monkeypatch, tmp_path, [BAD], [BAD]) == 1
    shown = capsys.readouterr().out
    assert "bad" in shown
    assert "MISSED  second try, first 5.00" in shown
    assert "1 figures, 1 missed" in shown
    assert list(tmp_path.iterdir()) == []


def test_a_bar_is_a_limit_from_above_or_from_below() -> None:
    slow = times_faster("slow", [0.002], [0.003], 2)
    fast = times_faster("fast", [0.001], [0.003], 2)
    assert [GOOD.ok, BAD.ok, slow.ok, fast.ok] == [True, False, False, True]
    assert [within("none", n, 0, "").ok for n in (0, 1)] == [True, False]
    assert table([fast]).splitlines()[1].split() == (
        ["fast", "1", "ms", "3", "ms", "3.00", ">=", "2", "ok"]
    )


async def test_of_a_long_measurement_the_quietest_stretch_counts() -> None:
    spent = iter([*[3.0] * 44, *[1.0] * 40, *[2.0] * 40])

    async def act() -> float:
        return next(spent)

    ours, other = await alternate(60, act, act)
    assert (set(ours), set(other), len(ours), len(other)) == ({1.0}, {1.0}, 20, 20)


def test_a_disk_that_syncs_slowly_is_left_for_memory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("benchmarks.ground.MEMORY", tmp_path)
    with grounds(tmp_path) as places:
        monkeypatch.setattr("benchmarks.ground.sync_floor", _floor(0.0005, 0.0009))
        near = places.now()
        monkeypatch.setattr("benchmarks.ground.sync_floor", _floor(0.0009, 0.004))
        far = places.now()
        assert (near.memory, near.folder == near.disk) == (False, True)
        assert (far.memory, far.folder == far.spare, far.note) == (
            (True, True, "tmpfs, 0.25 ms a sync")
        )
        assert far.with_sync([0.1]) == [0.10025]
        assert near.with_sync([0.1]) == [0.1]


def _floor(median: float, worst: float) -> Callable[[Path], tuple[float, float]]:
    def found(folder: Path) -> tuple[float, float]:
        return median, worst

    return found
