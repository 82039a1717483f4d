"""A figure: what was measured, against what, and the bar it has to keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from benchmarks.timing import median

Unit = Literal["ms", "s", "B", "MB", "/s", ""]


@dataclass(frozen=True, slots=True)
class Figure:
    """`ratio` is compared with `bar`: at most that, or with `least` at least that."""

    name: str
    ours: float
    reference: float
    ratio: float
    bar: float
    unit: Unit = ""
    least: bool = False
    note: str = ""

    @property
    def ok(self) -> bool:
        return self.ratio >= self.bar if self.least else self.ratio <= self.bar


def at_most(
    name: str, ours: Sequence[float], reference: Sequence[float], bar: float, note: str = ""
) -> Figure:
    """The median of `ours` may be `bar` times that of `reference`; both in seconds."""
    mine, other = median(ours) * 1e3, median(reference) * 1e3
    return Figure(name, mine, other, mine / other, bar, "ms", note=note)


def times_faster(
    name: str, ours: Sequence[float], reference: Sequence[float], bar: float, note: str = ""
) -> Figure:
    """`ours` has to be `bar` times as fast as `reference`; both in seconds."""
    mine, other = median(ours) * 1e3, median(reference) * 1e3
    return Figure(name, mine, other, other / mine, bar, "ms", least=True, note=note)


def within(name: str, ours: float, limit: float, unit: Unit, note: str = "") -> Figure:
    """`ours` may not be more than `limit`; the limit stands as the reference."""
    return Figure(name, ours, limit, ours / limit if limit else 1 + ours, 1.0, unit, note=note)


HEAD = ("row", "ours", "reference", "ratio", "bar", "")


def table(figures: Sequence[Figure]) -> str:
    """One line a figure, with what has to be said of it in the last column."""
    rows = [HEAD, *(_cells(figure) for figure in figures)]
    widths = [max(len(row[n]) for row in rows) for n in range(5)]
    return "\n".join(
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(row[n].rjust(widths[n]) for n in range(1, 5)),
                row[5],
            ]
        ).rstrip()
        for row in rows
    )


def _cells(figure: Figure) -> tuple[str, str, str, str, str, str]:
    verdict = "ok" if figure.ok else "MISSED"
    return (
        figure.name,
        _number(figure.ours, figure.unit),
        _number(figure.reference, figure.unit),
        f"{figure.ratio:.2f}" if figure.ratio < 100 else f"{figure.ratio:.0f}",
        f"{'>=' if figure.least else '<='} {figure.bar:g}",
        f"{verdict}  {figure.note}".rstrip(),
    )


def _number(value: float, unit: Unit) -> str:
    digits = 0 if value >= 100 or value == int(value) else 1 if value >= 10 else 3
    return f"{value:.{digits}f} {unit}".rstrip()
