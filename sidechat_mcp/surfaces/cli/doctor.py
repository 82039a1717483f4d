"""`doctor`: where things are, what will answer, why, with which rights and at whose cost, and
whether the log still holds. It goes on after the first trouble, and its exit code tells of it."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from sidechat_mcp.bootstrap import (
    ANSWERING,
    Choice,
    answering,
    known_clients,
    open_sidechat,
    sqlite_version,
)
from sidechat_mcp.config import Config, load
from sidechat_mcp.errors import InvalidRequest, OutsideError, SidechatError
from sidechat_mcp.sidechat.agency import QUOTING
from sidechat_mcp.sidechat.reports import AgentReport, Caller
from sidechat_mcp.sidechat.service import Sidechat
from sidechat_mcp.surfaces.cli import words
from sidechat_mcp.surfaces.cli.commands import verdict_of
from sidechat_mcp.surfaces.cli.setting_up import PROGRAMS
from sidechat_mcp.surfaces.cli.terminal import Line, Styled, Terminal, exit_code

VERIFIED = 20
"""How many of the newest side sessions are verified; `replay --verify` does all."""
MODELS = "anthropic:MODEL, openai:MODEL, openai-chat:URL#MODEL or local:FILE.gguf"


@dataclass(slots=True)
class Findings:
    """What was found; `troubles` are the errors, in the order they were met."""

    config: Config
    choice: Choice | None = None
    sessions: str | None = None
    verdict: str | None = None
    troubles: list[SidechatError] = field(default_factory=list[SidechatError])

    @property
    def conversation(self) -> str | None:
        newest = self.choice.found if self.choice is not None else None
        return f"{newest.client}:{newest.ref}" if newest is not None else None


def doctor(args: Namespace, terminal: Terminal) -> int:
    found = Findings(load(os.environ))
    anyio.run(_examined, found)
    terminal.show(_document(found), *_lines(found))
    return exit_code(found.troubles[0]) if found.troubles else 0


async def _examined(found: Findings) -> None:
    try:
        found.choice = await answering(found.config, os.environ, os.getcwd())
        if found.choice.missing is not None:
            found.troubles.append(found.choice.missing)
    except SidechatError as error:
        found.troubles.append(error)
    if found.choice is None and found.config.agent not in ("auto", "client"):
        return  # No agent of that name: nothing would open.
    try:
        async with open_sidechat(found.config) as sidechat:
            if sidechat.unwritable is not None:
                found.troubles.append(sidechat.unwritable)
            await _log(found, sidechat, Caller(cwd=os.getcwd()))
    except SidechatError as error:
        found.troubles.append(error)
    found.troubles += _open_to_others(found.config.home)


def _open_to_others(home: Path) -> Sequence[InvalidRequest]:
    """That others may look into the home: it was not ours alone to close when it was opened."""
    try:
        mode = stat.S_IMODE(home.stat().st_mode)
    except OSError:
        return ()  # There is none yet, or it was said above.
    if not mode & 0o077:
        return ()
    return [
        InvalidRequest(
            f"Others may look into the home {home} (mode {mode:04o}).",
            then=f"Close it: chmod 700 {shlex.quote(str(home))}",
        )
    ]


async def _log(found: Findings, sidechat: Sidechat, caller: Caller) -> None:
    listing = await sidechat.sessions(caller, limit=VERIFIED)
    more = "the newest " if listing.next else ""
    found.sessions = more + words.count(len(listing.sessions), "side session")
    reports = [
        report
        for listed in listing.sessions
        for report in await sidechat.replay(caller, listed.session)
    ]
    found.verdict = verdict_of(reports)
    for report in reports:
        if report.verdict == "failed":
            what = f"A log fails its check: {report.why}"
            found.troubles.append(OutsideError(what, then="`sidechat replay --verify` says more."))


def _clients() -> Mapping[str, str]:
    """What each known client can do on this machine."""
    return {name: _able(name) for name in known_clients(os.environ)}


def _able(client: str) -> str:
    if client not in ANSWERING:
        return "conversations are read, another agent answers"
    program = shutil.which(PROGRAMS.get(client, client), path=os.environ.get("PATH", ""))
    if program is None:
        return "conversations are read; no program on the PATH that could answer"
    return "can answer for its own conversations"


def _document(found: Findings) -> dict[str, Any]:
    choice = found.choice
    return {
        "home": str(found.config.home),
        "store": found.config.store,
        "sqlite": sqlite_version(),
        "note_cap": found.config.note_cap,
        "agent": None
        if choice is None
        else {
            "name": choice.about.name,
            "model": choice.about.model,
            "why": choice.why,
            "rights": choice.about.rights,
            "pays": choice.about.pays,
            "network": choice.network,
            "window": choice.window,
            "key": choice.key or None,
            "notice": choice.about.notice,
        },
        "conversation": found.conversation,
        "clients": dict(_clients()),
        "checked": found.sessions,
        "verdict": found.verdict,
        "troubles": [
            {"code": error.code, "message": error.message, "next": error.then}
            for error in found.troubles
        ],
    }


def _lines(found: Findings) -> Sequence[Line]:
    config = found.config
    lines = [
        words.row("home", str(config.home)),
        words.row("log", config.store),
        words.row("sqlite", sqlite_version()),
        words.row("note cap", words.count(config.note_cap, "character")),
    ]
    if found.conversation is not None:
        lines.append(words.row("newest", f"{found.conversation}, in this folder"))
    if found.choice is not None:
        lines += _answering(found.choice)
    able = _clients()
    for what in dict.fromkeys(able.values()):
        names = ", ".join(name for name in able if able[name] == what)
        lines.append(words.row("clients", f"{names}: {what}"))
    if found.sessions is not None:
        lines.append(words.row("checked", f"{found.sessions}: {found.verdict}"))
    for error in found.troubles:
        lines.append((Styled("  trouble   ", "red"), str(error)))
    if not found.troubles:
        lines.append((Styled("  all well", "green"),))
    return lines


def _answering(choice: Choice) -> Sequence[Line]:
    about = choice.about
    agent = AgentReport(about.name, about.model, about.pays, about.rights)
    return [
        *words.agent(agent),
        words.row("why", choice.why),
        words.row("sent", choice.network),
        *([words.row("key", choice.key)] if choice.key else []),
        *_window(choice),
        words.row("to quote", "SIDECHAT_AGENT=quoting: no model, no key, no network"),
        words.row("models", f"To have a model answer: SIDECHAT_AGENT={MODELS}"),
    ]


def _window(choice: Choice) -> Sequence[Line]:
    """How large a conversation may be. What only quotes takes any."""
    if choice.window is not None:
        return [words.row("window", words.count(choice.window, "token"))]
    if choice.about.name == QUOTING:
        return []
    return [words.row("window", "unknown: nobody says it; `window` in config.toml sets it")]
