"""What the tracked files say, and what they must not."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from tests.architecture import TOP, tracked
from tests.behaviours import behaviour

TOP_LEVEL = {
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "Makefile",
    ".gitignore",
    ".ci",
    "sidechat_mcp",
    "tests",
    "manifests",
    "docs",
    "benchmarks",
}
# Put together here so that this file does not name what it forbids.
HOSTS = (
    "pypi" + ".org",
    "pythonhosted" + ".org",
    "registry" + ".npmjs.org",
    "registry.yarnpkg" + ".com",
    "deb.debian" + ".org",
)
PATHS = ("/tmp" + "/w/", "/work" + "/", "/root" + "/")


def project() -> dict[str, Any]:
    return tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))


@behaviour("house:top-level")
def test_the_top_level_holds_exactly_what_it_is_meant_to() -> None:
    found = {path.relative_to(TOP).parts[0] for path in tracked()}
    assert found - TOP_LEVEL == set()


@behaviour("house:no-addresses")
def test_no_tracked_file_names_a_registry_or_a_path_of_some_machine() -> None:
    hosts, paths = ("|".join(map(re.escape, words)) for words in (HOSTS, PATHS))
    forbidden = re.compile(rf"{hosts}|(?<![\w.~/}}$>-])(?:{paths})")
    found: list[str] = []
    for file in tracked():
        text = file.read_text(encoding="utf-8", errors="replace")
        found += [f"{file.relative_to(TOP)}: {hit}" for hit in set(forbidden.findall(text))]
    assert found == []


@behaviour("house:locks")
def test_locks_pin_everything_by_hash_and_name_no_address() -> None:
    for name in ("run", "dev", "legacy", "bench"):
        text = (TOP / ".ci" / "lock" / f"{name}.txt").read_text(encoding="utf-8")
        assert not re.search(r"://|#|@ |--index|--find", text), name
        entries = re.split(r"\n(?=\S)", text.strip())
        bare = [e for e in entries if not re.match(r"[a-z0-9.-]+==\S+ .*--hash=sha256:", e, re.S)]
        assert bare == [], name
        without = name in ("legacy", "bench")
        assert without or "\nhatchling==" in text, "the build backend is locked too"
    npm = (TOP / ".ci" / "node" / "package-lock.json").read_text(encoding="utf-8")
    assert '"resolved"' not in npm
    assert npm.count('"integrity"') > 100


@behaviour("house:dependencies")
def test_the_package_depends_on_four_packages_and_no_more() -> None:
    wanted = [re.split(r"[<>=!~ ]", line)[0] for line in project()["project"]["dependencies"]]
    assert wanted == ["mcp", "anyio", "pydantic", "apsw"]
    assert "mcp>=2.3,<3" in project()["project"]["dependencies"]


def test_rooms_are_held_without_exceptions() -> None:
    contracts = project()["tool"]["importlinter"]["contracts"]
    assert [c["name"] for c in contracts if "ignore_imports" in c] == []
    assert contracts[0]["exhaustive"]
