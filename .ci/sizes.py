"""Holds the house small: no function over 60 and no file over 400 physical lines.

Counted as they stand on the page, comments and blank lines included, a function from its `def`
to its last line. Fixture files are left out by path; a lock or a record of real data is no code."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

FUNCTION = 60
FILE = 400
ROOTS = ("sidechat_mcp", "tests", "benchmarks", ".ci")
CODE = frozenset({".py", ".sql", ".html", ".css", ".js", ".sh", ""})
LEFT_OUT = ("tests/fixtures/", ".ci/lock/", ".ci/node/package-lock.json")


def files(top: Path) -> Iterator[Path]:
    """Every code file of the house, in a stable order."""
    for root in ROOTS:
        for path in sorted((top / root).rglob("*")):
            name = path.relative_to(top).as_posix()
            kept = path.is_file() and path.suffix in CODE and "__pycache__" not in path.parts
            if kept and not name.startswith(LEFT_OUT):
                yield path


def over(path: Path, text: str) -> Iterator[str]:
    """A line for each thing in `text` that is too long."""
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    if lines > FILE:
        yield f"{path}: {lines} lines, at most {FILE}"
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > FUNCTION:
                    place = f"{path}:{node.lineno}"
                    yield f"{place}: {node.name} has {length} lines, at most {FUNCTION}"


def main(arguments: Sequence[str]) -> int:
    top = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    counted = 0
    found: list[str] = []
    for path in files(top):
        counted += 1
        found += over(path.relative_to(top), path.read_text(encoding="utf-8"))
    for line in found:
        sys.stderr.write(f"{line}\n")
    sys.stdout.write(f"sizes: {counted} files, {len(found)} too long\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
