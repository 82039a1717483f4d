"""`doctor`: where things are, what will answer, why, with which rights and at whose cost, and
whether the log still holds. It goes on after the first trouble, and its exit code tells of it."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio

from sidechat_mcp.bootstrap import answering, open_sidechat, sqlite_version
from sidechat_mcp.config import Config, load
from sidechat_mcp.errors import OutsideError, SidechatError
from sidechat_mcp.ports.provider import About
from sidechat_mcp.sidechat.reports import AgentReport, Caller
from sidechat_mcp.sidechat.service import Sidechat
from sidechat_mcp.surfaces.cli import words
from sidechat_mcp.surfaces.cli.commands import verdict_of
from sidechat_mcp.surfaces.cli.terminal import Line, Styled, Terminal, exit_code

VERIFIED = 20
"""How many of the newest side sessions are verified; `replay --verify` does all."""


@dataclass(slots=True)
class Findings:
    """What was found; `troubles` are the errors, in the order they were met."""

    config: Config
    about: About | None = None
    conversation: str | None = None
    sessions: str | None = None
    verdict: str | None = None
    troubles: list[SidechatError] = field(default_factory=list[SidechatError])

    @property
    def why(self) -> str:
        if self.config.agent == "auto":
            return "SIDECHAT_AGENT is not set; auto takes what needs no key"
        return f"SIDECHAT_AGENT is {self.config.agent}"


def doctor(args: Namespace, terminal: Terminal) -> int:
    found = Findings(load(os.environ))
    try:
        found.about = answering(found.config)
    except SidechatError as error:
        found.troubles.append(error)
    if not found.troubles:
        anyio.run(_examined, found)
    terminal.show(_document(found), *_lines(found))
    return exit_code(found.troubles[0]) if found.troubles else 0


async def _examined(found: Findings) -> None:
    try:
        async with open_sidechat(found.config) as sidechat:
            await _log(found, sidechat, Caller(cwd=os.getcwd()))
    except SidechatError as error:
        found.troubles.append(error)


async def _log(found: Findings, sidechat: Sidechat, caller: Caller) -> None:
    for one in await sidechat.parents(caller, 1):
        found.conversation = f"{one.client}:{one.ref}"
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


def _document(found: Findings) -> dict[str, Any]:
    about = found.about
    return {
        "home": str(found.config.home),
        "store": found.config.store,
        "sqlite": sqlite_version(),
        "note_cap": found.config.note_cap,
        "agent": None
        if about is None
        else {
            "name": about.name,
            "model": about.model,
            "why": found.why,
            "rights": about.rights,
            "pays": about.pays,
            "notice": about.notice,
        },
        "conversation": found.conversation,
        "checked": found.sessions,
        "verdict": found.verdict,
        "troubles": [
            {"code": error.code, "message": error.message, "next": error.then}
            for error in found.troubles
        ],
    }


def _lines(found: Findings) -> Sequence[Line]:
    config, about = found.config, found.about
    lines = [
        words.row("home", str(config.home)),
        words.row("log", config.store),
        words.row("sqlite", sqlite_version()),
        words.row("note cap", words.count(config.note_cap, "character")),
    ]
    if about is not None:
        agent = AgentReport(about.name, about.model, about.pays, about.rights)
        lines += [*words.agent(agent), words.row("why", found.why)]
        if about.notice:
            lines.append(words.row("notice", about.notice))
    if found.conversation is not None:
        lines.append(words.row("newest", f"{found.conversation}, in this folder"))
    if found.sessions is not None:
        lines.append(words.row("checked", f"{found.sessions}: {found.verdict}"))
    for error in found.troubles:
        lines.append((Styled("  trouble   ", "red"), str(error)))
    if not found.troubles:
        lines.append((Styled("  all well", "green"),))
    return lines
