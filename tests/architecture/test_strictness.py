"""In CI nothing skips; on a machine that lacks something, one line says what."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture import TOP
from tests.behaviours import behaviour

SKIPPING = """
import pytest

def test_runs(): pass

def test_skips(): pytest.skip("no moon tonight")

@pytest.mark.xfail(reason="known to be so")
def test_is_excused(): assert False
"""
WHOLE_MODULE = 'import pytest\npytest.skip("not on this machine", allow_module_level=True)\n'


def suite(folder: Path, ci: str) -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_text("from tests.conftest import *\n")
    (folder / "test_some.py").write_text(SKIPPING)
    (folder / "test_whole.py").write_text(WHOLE_MODULE)
    environment = {**os.environ, "CI": ci, "PYTHONPATH": str(TOP)}
    switches = ["-q", "-p", "no:cacheprovider", "--continue-on-collection-errors"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *switches, str(folder)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@behaviour("house:nothing-skips")
def test_in_ci_what_skips_fails_and_gives_its_reason(tmp_path: Path) -> None:
    done = suite(tmp_path, "true")
    assert done.returncode != 0
    for reason in ("no moon tonight", "known to be so", "not on this machine"):
        assert f"skipped in CI: {reason}" in done.stdout
    assert "2 failed, 1 passed, 1 error" in done.stdout


def test_elsewhere_what_skips_is_only_shown(tmp_path: Path) -> None:
    done = suite(tmp_path, "")
    assert done.returncode == 0
    assert "1 passed, 2 skipped, 1 xfailed" in done.stdout


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A PATH with a shell's own tools on it and nothing else."""
    for tool in ("sh", "id"):
        (tmp_path / tool).symlink_to(shutil.which(tool) or tool)
    return tmp_path


def system(path: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", str(TOP / ".ci" / "system"), "--install"],
        env={"PATH": str(path), **more},
        capture_output=True,
        text=True,
        check=False,
    )


@behaviour("house:missing-said")
def test_what_a_machine_lacks_is_said_in_one_line(bare: Path) -> None:
    done = system(bare)
    said = "Missing on this machine: python3 (3.11 or newer), git, make.\n"
    assert (done.stdout, done.stderr, done.returncode) == ("", said, 2)


def test_a_python_too_old_is_named_with_its_version(bare: Path) -> None:
    for tool in ("git", "make"):
        (bare / tool).symlink_to("/bin/sh")
    old = bare / "python3"
    old.write_text('#!/bin/sh\ncase "$2" in *sys.exit*) exit 1;; *) echo 3.9.6;; esac\n')
    old.chmod(0o755)
    done = system(bare)
    said = "python3 3.11 or newer (this one is 3.9.6; PYTHON=... names another)"
    assert (done.stderr, done.returncode) == (f"Missing on this machine: {said}.\n", 2)


def test_nothing_in_the_house_asks_for_rights() -> None:
    word = "su" + "do"
    for name in ("Makefile", ".ci/run", ".ci/system", ".ci/node/install.py"):
        assert word not in (TOP / name).read_text(encoding="utf-8"), name
