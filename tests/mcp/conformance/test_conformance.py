"""The public conformance suite against the shipped server over HTTP, in both eras. No failure is
expected, so there is no list of expected failures."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from tests.behaviours import behaviour
from tests.mcp.web import serving_web
from tests.parts import node, npm_program

FIXTURES = [sys.executable, "-m", "tests.mcp.conformance.program"]


@behaviour("mcp:conformance")
@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
async def test_the_conformance_suite_is_passed_without_expected_failures(
    revision: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = [node(), npm_program("conformance"), "server", "--requirements", revision]
    async with serving_web(tmp_path, *FIXTURES) as web:
        with anyio.fail_after(110):
            done = await anyio.run_process(
                [*suite, "--url", f"{web.origin}/mcp", "-o", str(tmp_path / "out")],
                check=False,
                stderr=subprocess.STDOUT,
            )
    said = done.stdout.decode("utf-8", "replace")
    with capsys.disabled():
        sys.stdout.write(f"\nconformance {revision}: exit {done.returncode}; {counts(said)}\n")
    assert done.returncode == 0, said[-6000:]


def counts(said: str) -> str:
    """How many scenarios counted and how many did not, in the suite's own figures."""
    ran = re.findall(r"^[✓✗] ([\w-]+): ", said, re.MULTILINE)
    unscored = re.search(r"Not scored for [\d-]+: (\d+) scenario\(s\) run, (\d+) failing", said)
    total = re.search(r"^Total: (.*)$", said, re.MULTILINE)
    assert unscored is not None, said[-6000:]
    assert total is not None, said[-6000:]
    return (
        f"{len(ran) - int(unscored[1])} scenarios scored, {unscored[1]} not scored"
        f" ({unscored[2]} of those failing); checks of both: {total[1]}"
    )
