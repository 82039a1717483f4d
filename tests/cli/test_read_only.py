"""A home in which nothing can be written is still read."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from tests.behaviours import behaviour
from tests.cli.persons import person

Run = Callable[..., subprocess.CompletedProcess[str]]
DIES = """
import os, sys
from sidechat_mcp.surfaces.cli.entry import run
from sidechat_mcp.stores.sqlite.store import SqliteStore
async def close(store): sys.stdout.flush(); os._exit(0)
SqliteStore.close = close
run(sys.argv[1:])
"""


def _as_anybody() -> None:
    """What root may write although its mode says no, may not be written from here on."""
    drop, override = 24, 1  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE
    ctypes.CDLL(None).prctl(drop, override)


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {**person(tmp_path), "SIDECHAT_AGENT": "quoting"}


def _run(environ: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        env=environ,
        cwd=environ["PWD"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=_as_anybody if sys.platform == "linux" else None,
    )


@pytest.fixture(params=["closed well", "with a log beside it", "with a log and no memory of it"])
def kept(request: pytest.FixtureRequest, environ: dict[str, str]) -> Generator[str]:
    """A home with one side session, in which nothing can be written any more."""
    home = Path(environ["SIDECHAT_HOME"])
    how = ["-m", "sidechat_mcp"] if request.param == "closed well" else ["-c", DIES]
    done = _run(environ, *how, "fork", "-q", "Which copies are kept?")
    if request.param != "closed well":
        assert (home / "log.db-wal").stat().st_size
    if request.param == "with a log and no memory of it":
        (home / "log.db-shm").unlink()
    if (home / "turns").exists():
        (home / "turns").rmdir()
    for path in (*home.iterdir(), home):
        path.chmod(path.stat().st_mode & 0o555)
    assert "sidechat://sessions/" in done.stdout
    yield request.param
    home.chmod(0o700)


@behaviour("cli:read-only")
def test_what_reads_works_and_what_writes_says_one_sentence(
    environ: dict[str, str], kept: str
) -> None:
    def run(*argv: str) -> tuple[int, str, str]:
        done = _run(environ, "-m", "sidechat_mcp", *argv)
        return done.returncode, done.stdout, done.stderr

    home = environ["SIDECHAT_HOME"]
    before = sorted(os.listdir(home))
    status, listed, complaint = run("sessions")
    if kept == "with a log and no memory of it":
        assert (status, listed, complaint.count("\n")) == (4, "", 1)
        assert "still in its write-ahead log" in complaint
        return
    assert (status, complaint) == (0, "")
    assert "Which copies are kept?" in listed
    session = listed.split()[0]
    for argv in (["show", session], ["log", session], ["replay", "--verify", session]):
        status, said, complaint = run(*argv)
        assert (status, said != "", complaint) == (0, True, "")
    refusal = (
        f"Nothing can be written in {home}, so the log there is only read. Make it writable, or set"
        " SIDECHAT_HOME to a folder that is."
    )
    for argv in (["ask", "-s", session, "Why?"], ["forget", session], ["merge", "-s", session]):
        assert run(*argv) == (4, "", refusal + "\n")
    status, said, _ = run("doctor")
    assert (status, f"trouble   {refusal}" in said, "all well" in said) == (4, True, False)
    assert sorted(os.listdir(home)) == before


@behaviour("cli:read-only")
def test_where_there_is_no_log_and_none_can_be_made_that_is_said(environ: dict[str, str]) -> None:
    home = Path(environ["SIDECHAT_HOME"])
    home.mkdir(mode=0o500)
    done = _run(environ, "-m", "sidechat_mcp", "sessions")
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith(f"Nothing can be written in {home}")
    home.chmod(0o700)
