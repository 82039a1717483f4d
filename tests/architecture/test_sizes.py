"""The house is small, and the script that says so can say no."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.architecture import TOP
from tests.behaviours import behaviour


def counted(top: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(TOP / ".ci" / "sizes.py"), str(top)],
        capture_output=True,
        text=True,
        check=False,
    )


@behaviour("house:small")
def test_no_function_is_over_60_and_no_file_over_400_physical_lines() -> None:
    done = counted(TOP)
    assert (done.stderr, done.returncode) == ("", 0)


def test_a_long_function_and_a_long_file_are_named_and_fixtures_are_left_out(
    tmp_path: Path,
) -> None:
    (tmp_path / "sidechat_mcp").mkdir()
    (tmp_path / "tests" / "fixtures").mkdir(parents=True)
    (tmp_path / "sidechat_mcp" / "sixty.py").write_text("def fits():\n" + "    x = 1\n" * 59)
    (tmp_path / "sidechat_mcp" / "more.py").write_text("\ndef grows():\n" + "    x = 1\n" * 60)
    (tmp_path / "sidechat_mcp" / "page.html").write_text("<p>\n" * 401)
    (tmp_path / "tests" / "fixtures" / "real.py").write_text("x = 1\n" * 1000)
    done = counted(tmp_path)
    assert done.stderr.splitlines() == [
        "sidechat_mcp/more.py:2: grows has 61 lines, at most 60",
        "sidechat_mcp/page.html: 401 lines, at most 400",
    ]
    assert (done.stdout, done.returncode) == ("sizes: 3 files, 2 too long\n", 1)
