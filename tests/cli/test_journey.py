"""The real feature behind the command line, over a log on disk."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from sidechat_mcp.bootstrap import open_sidechat
from sidechat_mcp.config import load
from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.surfaces.cli import commands
from sidechat_mcp.surfaces.cli.arguments import parse
from sidechat_mcp.surfaces.cli.commands import Desk
from sidechat_mcp.surfaces.cli.terminal import Terminal
from tests.behaviours import behaviour
from tests.cli.persons import REF, person
from tests.cli.screens import terminal

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return person(tmp_path)


@pytest.fixture
def sidechat(environ: dict[str, str]) -> Run:
    def run(*argv: str, said: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "sidechat_mcp", *argv],
            env=environ,
            cwd=environ["PWD"],
            input=said,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def masked(text: str) -> str:
    """`text` without what is different each time: our ids and the folder."""
    names: dict[str, str] = {}
    text = re.sub(
        r"\b[a-z2-7]{26}\b", lambda found: names.setdefault(found[0], f"id-{len(names)}"), text
    )
    text = re.sub(r"\b\d+ of 2,000", "N of 2,000", text)
    return re.sub(r"of \d{4}-\d\d-\d\d \d\d:\d\d", "of TIME", text)


@behaviour("cli:names-parent", "cli:journey")
def test_a_conversation_is_forked_asked_and_given_a_note_from_the_terminal(sidechat: Run) -> None:
    forked = sidechat("fork")
    assert forked.returncode == 0
    assert masked(forked.stderr) == (
        f"Taking the newest conversation of this folder, claude-code:{REF} “shutterbin, our photo"
        " archive, keeps too many copies of the…”, of TIME.\n"
        "Next: sidechat chat id-0 (/merge there takes a note back), or sidechat ask -s id-0 TEXT\n"
    )
    notice, _, report = masked(forked.stdout).partition("\n")
    assert notice.startswith("Answers here are quotes")
    assert report == snapshot("""\
Forked: sidechat://sessions/id-0
  from      claude-code:5e1d0c7b-8a42-4f39-b6d0-93c1a7e4f210, after turn 9 (event 53)
  inherits  9 turns, 54 events, about 1,200 tokens (code points / 4)
  cut       1 turn behind the last completed one (4 events)
  answers   quoting
  rights    reads this conversation's history; calls no tools
  pays      nobody: no model is used
  head      substituted
  prefix    sha256 7c29bdf15e45…
""")

    asked = sidechat("ask", "why 6 and not 10?")
    assert masked(asked.stderr) == snapshot("""\
In “One more thing: legal wants to know whether hashes are pers…” (id-0):
— turn 10 · answered
""")
    assert asked.stdout.startswith("From turn")

    merged = sidechat("merge")
    assert masked(merged.stderr) == snapshot("""\
In “why 6 and not 10?” (id-0):
Merged into claude-code:5e1d0c7b-8a42-4f39-b6d0-93c1a7e4f210.
  note      id-1 · revision 1 · N of 2,000 characters
  place     event 55 of id-2
  delivery  pending
""")
    assert sidechat("merge").stderr.startswith("In “why 6 and not 10?” (")
    assert sidechat("merge").stdout == merged.stdout

    assert sidechat("replay", "--verify").stdout.splitlines()[-1] == "replay: verified"
    [listed] = json.loads(sidechat("sessions", "--json").stdout)["sessions"]
    assert (listed["title"], listed["turns"], listed["merged"]) == ("why 6 and not 10?", 1, True)


@behaviour("cli:exit-codes")
def test_refusals_of_the_real_feature_have_their_exit_codes(sidechat: Run) -> None:
    for argv in (
        ["fork", "claude-code:none"],
        ["fork", "--file", "none.jsonl"],
        ["ask", "anybody?"],
        ["show", "nope"],
        ["merge", "--note", " "],
    ):
        done = sidechat(*argv)
        assert (done.returncode, done.stdout) == (2, ""), argv
        assert done.stderr.count("\n") == 1, done.stderr


READS: Sequence[Sequence[str]] = (
    ("show", "CHILD"),
    ("show", "PARENT"),
    ("log", "CHILD"),
    ("log", "PARENT"),
    ("sessions",),
    ("merge", "-s", "CHILD"),
    ("replay", "--verify"),
)


@behaviour("cli:live-and-reloaded")
@pytest.mark.parametrize("json", [[], ["--json"]])
async def test_what_is_shown_live_is_shown_again_from_a_reloaded_log(
    environ: dict[str, str], json: list[str]
) -> None:
    caller = Caller(cwd=environ["PWD"])

    async def seen(desk: Desk, argv: Sequence[str]) -> tuple[str, str]:
        out, err = io.StringIO(), io.StringIO()
        screen = Terminal(out, err, {}, json=bool(json))
        args = parse([*argv, *json])
        await getattr(commands, args.command)(Desk(desk.sidechat, caller, screen), args)
        return out.getvalue(), err.getvalue()

    nowhere = Terminal(io.StringIO(), io.StringIO(), {})
    async with open_sidechat(load(environ), environ=environ) as live:
        report = await live.fork(caller, parent=f"claude-code:{REF}")
        await live.converse(caller, "why 6 and not 10?", session=report.session)
        await live.merge(caller, session=report.session)
        names = {"CHILD": report.session, "PARENT": report.parent}
        reads = [[names.get(word, word) for word in argv] for argv in READS]
        first = [await seen(Desk(live, caller, nowhere), argv) for argv in reads]
    async with open_sidechat(load(environ), environ=environ) as reloaded:
        second = [await seen(Desk(reloaded, caller, nowhere), argv) for argv in reads]
    assert first == second
    assert all(out for out, _ in first)


@behaviour("cli:ctrl-c")
def test_a_talk_at_a_terminal_over_the_real_feature(environ: dict[str, str]) -> None:
    with terminal("-m", "sidechat_mcp", "chat", environ=environ, cwd=environ["PWD"]) as typist:
        typist.reads("Forked: sidechat://sessions/")
        typist.reads(" › ")
        typist.types("why 6 and not 10?\n")
        typist.reads("false positives")
        typist.reads("— turn 10 · answered\n\nwhy 6 and not 10? › ")
        typist.types("/merge\n")
        typist.reads(f"Take this note back to claude-code:{REF}?\n[Y/n] ")
        typist.types("\n")
        typist.reads("Merged into")
        typist.reads(" › ")
        typist.types("\x04")
        assert typist.leaves() == 0
