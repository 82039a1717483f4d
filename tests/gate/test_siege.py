"""Read-only is enforced: an attacker that is obeyed changes nothing, as seen from outside."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream

from tests.behaviours import behaviour
from tests.gate.attack import Ground

TOP = Path(__file__).parents[2]
CANARY = "canary-7f3a91"
SECONDS = 60


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    """A folder with every way out of it, and around it what is to be got at."""
    made = Ground(tmp_path / "ground")
    for folder in ("project/src/deep", "outside", "home/.ssh"):
        (made.root / folder).mkdir(parents=True)
    secret = f"a secret: {CANARY}\n"
    for hidden in ("outside/plan.txt", "home/.ssh/id_rsa", "project/.env"):
        (made.root / hidden).write_text(secret)
    (made.project / "notes.md").write_text("nothing secret\n")
    (made.project / "src" / "app.py").write_text("print('no secret')\n")
    for link, target in {
        "leak": made.outside,
        "leak.txt": made.outside / "plan.txt",
        "up": "..",
        "loop": ".",
        "abs": "/etc",
        "src/far": "../../outside",
        "env-by-another-name": ".env",
        "dangling": "../made-by-a-link",
    }.items():
        (made.project / link).symlink_to(target)
    os.mkfifo(made.project / "pipe")
    return made


def seen(root: Path) -> str:
    """A digest of every file, folder and link below `root`, with sizes, modes and times."""
    found = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        state = path.lstat()
        told = [str(path.relative_to(root)), state.st_mode, state.st_size, state.st_mtime_ns]
        if path.is_symlink():
            told.append(os.readlink(path))
        elif path.is_file():
            told.append(hashlib.sha256(path.read_bytes()).hexdigest())
        found.update(repr(told).encode("utf-8", "surrogateescape"))
    return found.hexdigest()


@dataclass
class Outcome:
    """What came of an attack. `told` is the attacked process's own account; all else was seen
    from outside: whether anything changed, the log, and the traces of the two servers."""

    told: dict[str, Any]
    changed: bool
    log: str
    asked: list[str]
    done: list[str]
    seconds: float


@asynccontextmanager
async def tempting(trace: Path) -> AsyncGenerator[str]:
    """The server over HTTP; gives its URL."""
    command = [sys.executable, "-B", "-m", "tests.gate.tempting", str(trace), "--http"]
    async with await anyio.open_process(command, cwd=TOP, stderr=None) as process:
        try:
            assert process.stdout is not None
            with anyio.fail_after(20):
                port = await BufferedByteReceiveStream(process.stdout).receive_until(b"\n", 16)
            yield f"http://127.0.0.1:{int(port)}/mcp"
        finally:
            if process.returncode is None:
                process.kill()


async def attacked(ground: Ground, of: str, count: int) -> Outcome:
    away = ground.root.parent / "away"
    away.mkdir()
    traces = [away / "stdio", away / "http"]
    for trace in traces:
        trace.touch()
    async with tempting(traces[1]) as url:
        (ground.root / "home" / "config.toml").write_text(
            f'[servers.tempting]\ncommand = "{sys.executable}"\n'
            f'args = ["-B", "-m", "tests.gate.tempting", "{traces[0]}"]\n'
            f'allow = ["look", "note"]\n[servers.web]\nurl = "{url}"\nallow = ["look", "note"]\n'
        )
        before, started = seen(ground.root), time.monotonic()
        plan = {"root": str(ground.root), "of": of, "count": count, "log": str(away / "log")}
        done = await anyio.run_process(
            [sys.executable, "-B", "-m", "tests.gate.siege", json.dumps(plan)],
            cwd=TOP,
            env={**os.environ, "HOME": str(ground.root / "home")},
            stderr=None,
        )
        seconds = time.monotonic() - started
    lines = [line for trace in traces for line in trace.read_text().splitlines()]
    return Outcome(
        json.loads(done.stdout),
        seen(ground.root) != before,
        (away / "log").read_text(),
        sorted({line.split()[1] for line in lines if line.startswith("asked ")}),
        [line for line in lines if not line.startswith("asked ")],
        seconds,
    )


@behaviour("gate:siege")
async def test_ten_thousand_calls_of_an_attacker_that_is_obeyed_change_nothing(
    ground: Ground,
) -> None:
    came = await attacked(ground, "child", 10_000)
    assert sum(came.told["calls"].values()) == 10_000
    assert not came.changed, "files changed"
    assert came.told["heard"] == [], "what the attacked process did to the world"
    assert came.done == [], "what the servers did to the world"
    assert came.asked == ["look"], "tools that are both read-only and allowed"
    assert CANARY not in came.log
    carried_out = came.told["carried_out"]
    assert carried_out["nothing"] > 100, "what is allowed is carried out"
    assert [way for way in carried_out if way.startswith("gate ") and carried_out[way]] == []
    assert [carried_out[way] for way in ("answering", "raising", "babbling")] == [0, 0, 0]
    assert came.seconds < SECONDS


@behaviour("gate:siege")
async def test_a_child_of_a_clients_conversation_holds_out_as_well(ground: Ground) -> None:
    came = await attacked(ground, "adopted", 2_000)
    assert sum(came.told["calls"].values()) == 2_000
    assert (came.changed, came.told["heard"], came.done, came.asked) == (False, [], [], [])
    assert CANARY not in came.log
    assert came.told["carried_out"]["nothing"] > 20


@behaviour("gate:siege")
async def test_the_same_attacker_succeeds_against_the_parent(ground: Ground) -> None:
    came = await attacked(ground, "parent", 400)
    assert came.changed
    assert CANARY in came.log
    kinds = {line.split()[0] for line in came.done}
    assert kinds >= {"open", "os.remove", "os.rename", "subprocess.Popen", "socket.connect"}
    assert {"write", "note", "peek", "delete", "run", "connect", "batch"} <= set(came.asked)
