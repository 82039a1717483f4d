"""Moves change fragments (`docs/changes/SLUG.KIND.md`) into the changelog's unreleased part."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

KINDS = ("added", "changed", "fixed", "removed", "security")


def entry(text: str) -> str:
    """A fragment as one item of a list."""
    first, *rest = text.strip().splitlines()
    return "\n".join([f"- {first}", *(f"  {line}".rstrip() for line in rest)])


def gathered(changelog: str, fragments: Mapping[str, Sequence[str]]) -> str:
    """`changelog` with the fragments of each kind at the end of its list under Unreleased."""
    start = changelog.index("## [Unreleased]")
    end = (
        found.start() if (found := re.compile(r"^## ", re.M).search(changelog, start + 3)) else None
    )
    part, after = changelog[start:end], "" if end is None else changelog[end:]
    lists = {
        title.lower(): body.strip()
        for title, body in re.findall(r"^### (\w+)\n(.*?)(?=^### |\Z)", part, re.M | re.S)
    }
    for kind, texts in fragments.items():
        lists[kind] = "\n".join(filter(None, [lists.get(kind, ""), *map(entry, texts)]))
    said = "".join(f"\n### {kind.title()}\n\n{lists[kind]}\n" for kind in KINDS if kind in lists)
    return changelog[:start] + "## [Unreleased]\n" + said + ("\n" + after if after else "")


def main(top: Path) -> int:
    fragments: dict[str, list[str]] = {}
    paths = [
        path for path in sorted((top / "docs" / "changes").glob("*.md")) if path.stem != "README"
    ]
    for path in paths:
        kind = path.stem.rpartition(".")[2]
        if kind not in KINDS:
            sys.stderr.write(f"{path.name}: the kind is one of {', '.join(KINDS)}\n")
            return 2
        fragments.setdefault(kind, []).append(path.read_text(encoding="utf-8"))
    changelog = top / "CHANGELOG.md"
    changelog.write_text(gathered(changelog.read_text(encoding="utf-8"), fragments), "utf-8")
    for path in paths:
        path.unlink()
    sys.stdout.write(f"changes: {len(paths)} moved into {changelog.name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).resolve().parent.parent))
