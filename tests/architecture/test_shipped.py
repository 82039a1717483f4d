"""What is built and handed out: the wheel, the registry's manifest, the changelog."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from sidechat_mcp import __version__
from tests.architecture import PACKAGE, TOP, tracked
from tests.behaviours import behaviour


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=TOP,
        capture_output=True,
        check=True,
    )
    return next(folder.glob("sidechat_mcp-*.whl"))


@behaviour("house:wheel")
def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    package = {p.relative_to(TOP).as_posix() for p in tracked() if p.is_relative_to(PACKAGE)}
    assert package <= inside
    assert "sidechat_mcp/py.typed" in inside
    info = f"sidechat_mcp-{__version__}.dist-info/"
    assert {name for name in inside if not name.startswith(("sidechat_mcp/", info))} == set()
    assert info + "licenses/LICENSE" in inside


def test_the_wheels_scripts_and_needs_are_the_projects(wheel: Path) -> None:
    info = f"sidechat_mcp-{__version__}.dist-info/"
    with zipfile.ZipFile(wheel) as opened:
        scripts = opened.read(info + "entry_points.txt").decode()
        metadata = opened.read(info + "METADATA").decode()
    assert "sidechat = sidechat_mcp.__main__:main" in scripts
    assert "sidechat-mcp = sidechat_mcp.__main__:serve" in scripts
    needs = re.findall(r"^Requires-Dist: ([\w-]+)(?!.*extra ==)", metadata, re.M)
    assert sorted(needs) == ["anyio", "apsw", "mcp", "pydantic"]
    assert "\nRequires-Python: >=3.11\n" in metadata
    assert "\nLicense-Expression: Apache-2.0\n" in metadata


@behaviour("house:manifest")
def test_the_registry_manifest_is_complete_and_agrees_with_the_project() -> None:
    manifest: dict[str, Any] = json.loads((TOP / "manifests" / "server.json").read_text("utf-8"))
    assert manifest["$schema"].endswith("/schemas/2025-12-11/server.schema.json")
    assert set(manifest) <= {"$schema", "name", "title", "description", "version", "packages"}
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", manifest["name"])
    assert 3 <= len(manifest["name"]) <= 200
    assert 1 <= len(manifest["description"]) <= 100
    assert manifest["version"] == __version__
    assert f"<!-- mcp-name: {manifest['name']} -->" in (TOP / "README.md").read_text("utf-8")
    (package,) = manifest["packages"]
    assert {key: value for key, value in package.items() if key != "environmentVariables"} == {
        "registryType": "pypi",
        "identifier": "sidechat-mcp",
        "version": __version__,
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
    }
    allowed = {"name", "description", "format", "default", "isRequired", "isSecret"}
    for variable in package["environmentVariables"]:
        assert set(variable) <= allowed
        assert variable["name"].startswith("SIDECHAT_")
        assert variable.get("format", "string") in {"string", "number", "boolean", "filepath"}
        assert isinstance(variable.get("default", ""), str)


def test_change_fragments_move_into_the_unreleased_part(tmp_path: Path) -> None:
    changes = tmp_path / "docs" / "changes"
    changes.mkdir(parents=True)
    (changes / "README.md").write_text("stays\n")
    (changes / "redis.added.md").write_text("A Redis store.\nIt is fast.\n")
    (changes / "crash.fixed.md").write_text("No crash on an empty line.\n")
    changelog = tmp_path / "CHANGELOG.md"
    changelog.write_text(
        "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n\n## [0.1.0]\n\n- First.\n"
    )
    script = str(TOP / ".ci" / "changes.py")
    done = subprocess.run([sys.executable, script, str(tmp_path)], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert changelog.read_text() == (
        "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n- A Redis store.\n"
        "  It is fast.\n\n### Fixed\n\n- No crash on an empty line.\n\n## [0.1.0]\n\n- First.\n"
    )
    assert [path.name for path in changes.iterdir()] == ["README.md"]


def test_every_waiting_change_fragment_has_a_kind() -> None:
    kinds = {"added", "changed", "fixed", "removed", "security"}
    names = [path.stem for path in (TOP / "docs" / "changes").glob("*.md")]
    assert [n for n in names if n != "README" and n.rpartition(".")[2] not in kinds] == []
