"""`setup CLIENT`: show the client's own command that adds our server, then run it."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from argparse import Namespace
from typing import Any

from sidechat_mcp.clients.claude_code import setup as claude_code
from sidechat_mcp.errors import InvalidRequest, OutsideError
from sidechat_mcp.surfaces.cli.terminal import Styled, Terminal

CLIENTS = {"claude-code": claude_code}


def setup(args: Namespace, terminal: Terminal) -> int:
    """Raises: InvalidRequest (unknown or missing client), OutsideError (its command failed)."""
    if args.client not in CLIENTS:
        known = ", ".join(sorted(CLIENTS))
        raise InvalidRequest(f"No client is called {args.client!r}.", then=f"Known: {known}.")
    client = CLIENTS[args.client]
    program = client.executable(os.environ)
    plan = client.plan(program or "claude", sys.executable, os.environ)
    run, undo = shlex.join(plan.do), shlex.join(plan.undo)
    said: dict[str, Any] = {
        "client": args.client,
        "run": list(plan.do),
        "undo": list(plan.undo),
        "ran": not args.print,
    }
    if args.print:
        terminal.show(said, run)
        return 0
    if program is None:
        raise InvalidRequest(
            f"{args.client} is not installed here, or not on the PATH.",
            then="`setup --print` shows what to run where it is.",
        )
    terminal.tell((Styled("Running: ", "dim"), run), (Styled("To undo: ", "dim"), undo))
    _run(plan.do, undo, terminal)
    if terminal.json:
        terminal.document(said)
    else:
        terminal.say(f"{args.client} has the server now; its next session will show it.")
    return 0


def _run(argv: Any, undo: str, terminal: Terminal) -> None:
    # Its words are about our answer, not the answer: they go where ours about it go.
    done = subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    said = done.stdout.decode("utf-8", "replace").rstrip()
    if said:
        terminal.tell(said)
    if done.returncode:
        raise OutsideError(
            f"The client's command ended with {done.returncode}; nothing was added.",
            then=f"If it has a server of that name already, remove it first: {undo}",
        )
