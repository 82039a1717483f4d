"""`setup CLIENT`: show the client's own commands that add our server (and, with `--hook`, the hook
that brings notes), then run them; `--undo` takes both away again."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sidechat_mcp.clients.claude_code import setup as claude_code
from sidechat_mcp.clients.codex import setup as codex
from sidechat_mcp.clients.lodging import private
from sidechat_mcp.clients.opencode import setup as opencode
from sidechat_mcp.clients.pi import setup as pi
from sidechat_mcp.errors import InvalidRequest, OutsideError
from sidechat_mcp.surfaces.cli.terminal import Styled, Terminal

CLIENTS: Mapping[str, Any] = {
    "claude-code": claude_code,
    "codex": codex,
    "opencode": opencode,
    "pi": pi,
}
PROGRAMS = {"claude-code": "claude"}
"""What a client's program is called, where it is not called as the client is."""


def setup(args: Namespace, terminal: Terminal) -> int:
    """Raises: InvalidRequest (unknown or missing client), OutsideError (its command failed)."""
    if args.client not in CLIENTS:
        # Many a client takes servers by a file of its own, which we never write.
        raise InvalidRequest(
            f"`setup` cannot add to {args.client!r}, only to {', '.join(sorted(CLIENTS))}.",
            then=f"Add the server by hand there; its command is: {_server()}",
        )
    client = CLIENTS[args.client]
    program = client.executable(os.environ)
    called = program or PROGRAMS.get(args.client) or str(args.client)
    files, do, undo = _steps(client, called, args.hook)
    if args.undo:
        files, do, undo = dict[Path, str](), undo, do
        if not do:
            raise InvalidRequest(
                f"{args.client} has no command that takes a server away.", then=client.BY_HAND
            )
    said: dict[str, Any] = {
        "client": args.client,
        "write": [str(path) for path in files],
        "run": [list(argv) for argv in do],
        "undo": [list(argv) for argv in undo],
        "ran": not args.print,
    }
    if args.print:
        shown = [f"# writes {path}:\n{_quoted(held)}" for path, held in files.items()]
        terminal.show(said, "\n".join([*shown, *map(shlex.join, do)]))
        return 0
    if program is None:
        raise InvalidRequest(
            f"{args.client} is not installed here, or not on the PATH.",
            then="`setup --print` shows what to run where it is.",
        )
    for path, held in files.items():
        terminal.tell((Styled("Writing: ", "dim"), str(path)))
        _write(path, held)
    for argv in do:
        terminal.tell((Styled("Running: ", "dim"), shlex.join(argv)))
        _run(argv, terminal)
    terminal.tell((Styled("To undo: ", "dim"), _again(args)))
    if terminal.json:
        terminal.document(said)
    else:
        done = "no longer has the server, from" if args.undo else "has the server, from"
        terminal.say(f"{args.client} {done} its next session on.")
    return 0


def _steps(
    client: Any, program: str, hooked: bool
) -> tuple[Mapping[Path, str], list[Sequence[str]], list[Sequence[str]]]:
    plan: claude_code.Plan = client.plan(program, sys.executable, os.environ)
    if not hooked:
        return {}, [plan.do], [plan.undo] if plan.undo else []
    if not hasattr(client, "hook"):
        raise InvalidRequest("That client has no hook of ours.", then="Leave `--hook` out.")
    home = Path(os.environ.get("SIDECHAT_HOME") or "~/.sidechat").expanduser().absolute()
    hook: claude_code.Hook = client.hook(program, home)
    return hook.files, [plan.do, *hook.do], [*hook.undo, plan.undo]


def _server() -> str:
    return shlex.join([sys.executable, "-m", "sidechat_mcp", "serve"])


def _quoted(held: str) -> str:
    """A file's text as comments of a shell."""
    return "\n".join(f"#   {line}".rstrip() for line in held.splitlines())


def _again(args: Namespace) -> str:
    switches = ["--hook"] * args.hook + ["--undo"] * (not args.undo)
    return shlex.join(["sidechat", "setup", args.client, *switches])


def _write(path: Path, held: str) -> None:
    private(path.parent)
    path.touch(mode=0o600)
    path.write_text(held, "utf-8")


def _run(argv: Sequence[str], terminal: Terminal) -> None:
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
            f"The client's command ended with {done.returncode}; nothing more was done.",
            then="If it has a server of that name already, `setup --undo` takes it away first.",
        )
