"""The words of the command line → one namespace. Nothing is carried out here."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from sidechat_mcp import __version__
from sidechat_mcp.errors import InvalidRequest
from sidechat_mcp.surfaces.cli.terminal import unwritten

_ABOUT = """\
Ask on the side: fork a conversation, talk with the fork, take one note back.

  sidechat fork                     fork the conversation of this folder
  sidechat ask "why not Redis?"     ask the newest side session
  sidechat chat                     talk with it
  sidechat merge                    take one note back to the parent
"""
_END = """\
PARENT is the id of a session, or CLIENT:ID (`claude-code:…`). Without one, the live
conversation is meant, else the newest of this folder. Every command takes --json.
`sidechat-mcp` (or `sidechat serve`) is the MCP server; `sidechat setup claude-code` adds it.
"""


_NO_COMMAND = re.compile(r"argument COMMAND: invalid choice: (.+?) \(choose from")
_HOW = "`{} --help` shows how it is used."


class _Parser(argparse.ArgumentParser):
    def _print_message(self, message: str, file: Any = None) -> None:
        # argparse says nothing of what it could not write.
        try:
            (file or sys.stderr).write(message)
        except BrokenPipeError:
            pass
        except OSError as error:
            raise unwritten(error) from error

    def error(self, message: str) -> NoReturn:
        sentence = message[:1].upper() + message[1:].rstrip(".") + "."
        if found := _NO_COMMAND.match(message):
            sentence = f"There is no command {found[1]}."
        raise InvalidRequest(sentence, then=_HOW.format(self.prog))


def spoken(argument: str) -> str:
    """An argument as text: bytes that the locale could not read are read as UTF-8."""
    return argument.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Raises InvalidRequest for words that make no command; SystemExit after `--help`."""
    parser = _parser()
    args, left = parser.parse_known_args(argv)
    if left:
        # argparse would point to the help of all; that of the command says what it takes.
        prog = " ".join(filter(None, (parser.prog, args.command)))
        raise InvalidRequest(f"Unrecognized arguments: {' '.join(left)}.", then=_HOW.format(prog))
    return args


def _parser() -> argparse.ArgumentParser:
    layout = argparse.RawDescriptionHelpFormatter
    parser = _Parser(
        prog="sidechat", description=_ABOUT, epilog=_END, formatter_class=layout, allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"sidechat {__version__}")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    commands = parser.add_subparsers(
        title="commands", dest="command", metavar="COMMAND", parser_class=_Parser
    )
    _side_sessions(commands)
    _logs(commands)
    _installation(commands)
    return parser


def _add(commands: Any, name: str, help: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        name, help=help, description=help[:1].upper() + help[1:] + ".", allow_abbrev=False
    )
    # Left out of the namespace unless given, so that `sidechat --json COMMAND` counts as well.
    command.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="one JSON document on stdout"
    )
    return command


def _side_sessions(commands: Any) -> None:
    stdin = "- reads it from stdin"
    fork = _add(commands, "fork", "fork a conversation at its last completed turn")
    where = fork.add_mutually_exclusive_group()
    where.add_argument(
        "parent",
        nargs="?",
        metavar="PARENT",
        help="a session's id, or CLIENT:ID (else the live or the newest conversation here)",
    )
    where.add_argument("--file", type=Path, metavar="PATH", help="a transcript file to fork")
    fork.add_argument(
        "-q", "--question", type=spoken, metavar="TEXT", help=f"ask this at once; {stdin}"
    )
    fork.add_argument(
        "--compact", action="store_true", help="begin with a summary, not with the whole history"
    )

    ask = _add(commands, "ask", "ask a side session one question")
    ask.add_argument("-s", "--session", metavar="ID", help="the side session (else the newest)")
    ask.add_argument("text", nargs="+", type=spoken, metavar="TEXT", help=f"the question; {stdin}")

    chat = _add(commands, "chat", "talk with a side session")
    chat.add_argument("session", nargs="?", metavar="ID", help="which one (else the newest)")

    merge = _add(commands, "merge", "take one note back to the parent")
    merge.add_argument("-s", "--session", metavar="ID", help="the side session (else the newest)")
    merge.add_argument("--draft", action="store_true", help="only show the note")
    merge.add_argument(
        "--note", type=spoken, metavar="TEXT", help="your own words; - reads them from stdin"
    )


def _logs(commands: Any) -> None:
    sessions = _add(commands, "sessions", "list side sessions, newest first")
    sessions.add_argument("--parent", metavar="PARENT", help="only the forks of this one")
    sessions.add_argument("--cursor", metavar="CURSOR", help="go on where a list ended")
    sessions.add_argument("--limit", type=int, default=20, metavar="N", help="how many (20)")

    for name, help in (
        ("show", "show a session as people read it"),
        ("log", "show the log of a session, one event a line"),
        ("forget", "forget a side session (or a damaged parent) for good"),
    ):
        _add(commands, name, help).add_argument(
            "session", metavar="ID", help="its id, or its address (sidechat://sessions/…)"
        )

    replay = _add(commands, "replay", "rebuild every request from the log and compare")
    replay.add_argument("--verify", action="store_true", required=True, help="compare digests")
    replay.add_argument("session", nargs="?", metavar="ID", help="only this session")


def _installation(commands: Any) -> None:
    setup = _add(commands, "setup", "add the MCP server to a client, by the client's own means")
    setup.add_argument("client", metavar="CLIENT", help="claude-code, codex, opencode or pi")
    setup.add_argument("--print", action="store_true", help="only show what would be run")
    setup.add_argument(
        "--hook", action="store_true", help="also the hook that brings notes with your next prompt"
    )
    setup.add_argument("--undo", action="store_true", help="take away what was added")

    serve = _add(commands, "serve", "serve MCP on stdin and stdout, or over HTTP")
    serve.add_argument("--http", metavar="HOST:PORT", help="serve HTTP there instead")
    serve.add_argument(
        "--token-file", type=Path, metavar="FILE", help="the bearer token that callers must send"
    )

    _add(commands, "doctor", "say where things are and what will answer")

    demo = _add(commands, "demo", "see the whole journey on an example, in a temporary place")
    demo.add_argument(
        "--transcript", type=Path, metavar="PATH", help="another Claude Code transcript"
    )
