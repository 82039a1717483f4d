"""One function a command: words in, one call, words out. None of them decides anything."""

from __future__ import annotations

import os
import shlex
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from sidechat_mcp.core.ids import session_id
from sidechat_mcp.errors import (
    DamagedLog,
    InvalidRequest,
    NothingToMerge,
    ParentNotFound,
    SessionNotFound,
    SidechatError,
)
from sidechat_mcp.sidechat.reports import (
    Answer,
    Caller,
    ForkReport,
    Note,
    Reading,
    Replayed,
    SpentReport,
)
from sidechat_mcp.sidechat.service import Sidechat
from sidechat_mcp.surfaces import shapes
from sidechat_mcp.surfaces.cli import words
from sidechat_mcp.surfaces.cli.terminal import Styled, Terminal, exit_code

_PAGE = 100
LONGEST = 16_000_000
"""Characters that are taken from stdin."""
SHORTER = "Give what matters of it."
FAILED = 4


@dataclass(frozen=True, slots=True)
class Desk:
    """Who asks, whom, and where the words go."""

    sidechat: Sidechat
    caller: Caller
    terminal: Terminal


async def fork(desk: Desk, args: Namespace) -> int:
    # The report stands on the screen before the question is asked: if the answer fails, the
    # person still knows the child.
    report = await forked(desk, args)
    terminal = desk.terminal
    status = 0
    if not terminal.json:
        terminal.say(*words.fork(report))
        if args.question is not None:
            terminal.say("")
            status = await _asked(desk, args.question, report.session)
        terminal.tell(words.after_fork(report))
        return status
    if args.question is None:
        terminal.document(shapes.forked(report))
        return 0
    try:
        first = await desk.sidechat.converse(desk.caller, args.question, session=report.session)
    except SidechatError as error:
        failed = {"code": error.code, "message": error.message, "next": error.then}
        terminal.document({**shapes.forked(report), "error": failed})
        return exit_code(error)
    terminal.document(shapes.forked(replace(report, first=first)))
    return code_of(first)


async def forked(desk: Desk, args: Namespace) -> ForkReport:
    """Fork what is meant: the parent or file that was named, else the live conversation, else
    the newest one of this folder, after naming it.

    Raises: InvalidRequest (a file is named as a parent is; there is no conversation here)."""
    short: bool = getattr(args, "compact", False)
    try:
        return await desk.sidechat.fork(
            desk.caller, parent=args.parent, file=args.file, compact=short
        )
    except SessionNotFound:
        if args.parent is None or not _is_file(args.parent):
            raise
        right = shlex.join(["sidechat", "fork", "--file", args.parent])
        raise InvalidRequest(
            f"{args.parent} is a file, and no session's id.",
            then=f"To fork what it holds: {right}",
        ) from None
    except ParentNotFound as error:
        if args.parent is not None or args.file is not None:
            raise
        found = await desk.sidechat.parents(desk.caller, 1)
        if not found:
            raise ParentNotFound(error.message, then=words.nowhere(desk.caller.cwd)) from None
    newest = found[0]
    name = f"{newest.client}:{newest.ref}"
    title = f" “{words.brief(newest.title)}”" if newest.title else ""
    last = words.when(newest.active)
    desk.terminal.tell(f"Taking the newest conversation of this folder, {name}{title}, of {last}.")
    return await desk.sidechat.fork(desk.caller, parent=name, compact=short)


def _is_file(name: str) -> bool:
    # Unlike a Path it takes a text that can be no path for none.
    return os.path.isfile(name)


async def ask(desk: Desk, args: Namespace) -> int:
    if desk.terminal.json:
        answer = await desk.sidechat.converse(desk.caller, args.text, session=args.session)
        desk.terminal.document(shapes.answered(answer))
        return code_of(answer)
    return await _asked(desk, args.text, args.session)


async def _asked(desk: Desk, text: str, session: str | None) -> int:
    if session is None:
        # The answer may take a while; where the question goes is said before it.
        session, title = await desk.sidechat.meant(desk.caller, None)
        desk.terminal.tell(words.chosen(title, session))
    answer = await streamed(desk, text, session)
    desk.terminal.tell(*words.answered(answer))
    return code_of(answer)


def code_of(answer: Answer) -> int:
    """A turn that the model's side ended is shown, and is no success (as an OutsideError)."""
    return FAILED if answer.reason == "error" else 0


async def streamed(desk: Desk, text: str, session: str) -> Answer:
    """Ask, and show the answer while it arrives."""
    heard: list[str] = []

    async def emit(piece: str) -> None:
        heard.append(piece)
        desk.terminal.stream(piece)

    try:
        answer = await desk.sidechat.converse(desk.caller, text, session=session, emit=emit)
    except BaseException:
        if heard:
            desk.terminal.stream("\n")
        raise
    # An answer read back from the log was not heard, or only its beginning was.
    whole, begun = answer.answer, "".join(heard)
    rest = whole.removeprefix(begun) if whole.startswith(begun) else ""
    desk.terminal.stream(rest + ("" if (rest or begun).endswith("\n") else "\n"))
    return answer


async def merge(desk: Desk, args: Namespace) -> int:
    report = await merged(desk, args.session, args.note, draft=args.draft)
    terminal = desk.terminal
    if terminal.json:
        terminal.document(shapes.merged(report))
        return 0
    if report.chosen is not None:
        terminal.tell(words.chosen(report.chosen, report.session))
    terminal.say(report.text)
    ways = words.TAKE_OWN if args.note is not None else words.take_back(report.session)
    terminal.tell(*words.note(report, ways))
    return 0


async def merged(desk: Desk, session: str | None, own: str | None, *, draft: bool) -> Note:
    """One note. Raises: as the feature, with the next step in the words of a terminal."""
    try:
        return await desk.sidechat.merge(desk.caller, session=session, note=own, draft=draft)
    except NothingToMerge as error:
        raise NothingToMerge(error.message, then="Ask it something first.") from None


async def sessions(desk: Desk, args: Namespace) -> int:
    report = await desk.sidechat.sessions(
        desk.caller, parent=args.parent, cursor=args.cursor, limit=args.limit
    )
    desk.terminal.show(shapes.listed(report), *words.listing(report))
    if not desk.terminal.json:
        desk.terminal.tell(*words.after_listing(report))
    return 0


async def show(desk: Desk, args: Namespace) -> int:
    if desk.terminal.json:
        whole = await _whole(desk, args.session)
        desk.terminal.document(shapes.shown(whole, await _spent(desk, args.session)))
        return 0
    try:
        desk.terminal.say((await desk.sidechat.markdown(desk.caller, args.session)).rstrip("\n"))
    except SessionNotFound:
        # A parent has no page of its own, but what was said in it can be read.
        desk.terminal.say(*words.reading(await _whole(desk, args.session)))
    return 0


async def _spent(desk: Desk, session: str) -> SpentReport | None:
    try:
        return await desk.sidechat.spent(desk.caller, session)
    except SessionNotFound:
        return None  # A parent's tokens are its client's, or its own.


async def _whole(desk: Desk, session: str) -> Reading:
    page = await desk.sidechat.read(desk.caller, session, start=1, limit=_PAGE)
    turns = list(page.turns)
    while page.next is not None:
        page = await desk.sidechat.read(desk.caller, session, start=page.next, limit=_PAGE)
        turns += page.turns
    return Reading(page.session, turns, None)


async def log(desk: Desk, args: Namespace) -> int:
    lines = await desk.sidechat.ndjson(desk.caller, args.session)
    if not desk.terminal.json:
        desk.terminal.records(lines if lines.endswith("\n") else lines + "\n")
        return 0
    import json

    events = [json.loads(line) for line in lines.split("\n") if line]
    desk.terminal.document({"session": session_id(args.session), "events": events})
    return 0


async def forget(desk: Desk, args: Namespace) -> int:
    session = await desk.sidechat.forget(desk.caller, args.session)
    desk.terminal.show(shapes.forgotten(session), f"Forgot {session}.")
    return 0


async def replay(desk: Desk, args: Namespace) -> int:
    try:
        reports = list(await desk.sidechat.replay(desk.caller, args.session))
    except DamagedLog as error:
        if not desk.terminal.json:
            desk.terminal.say(("replay: ", Styled("failed", "red")))
        return desk.terminal.fail(error)
    verdict = verdict_of(reports)
    desk.terminal.show(shapes.replayed(reports, verdict), *words.replayed(reports, verdict))
    return FAILED if verdict == "failed" else 0


def verdict_of(reports: Sequence[Replayed]) -> str:
    """The worst of many. Sessions that cannot be rebuilt do not unsay that others were."""
    verdicts = {report.verdict for report in reports if report.requests}
    verdicts |= {report.verdict for report in reports if report.verdict == "failed"}
    for verdict in ("failed", "verified", "not rebuildable"):
        if verdict in verdicts:
            return verdict
    return "nothing to verify"


def listen(args: Namespace, terminal: Terminal) -> None:
    """Make every text that `args` hold what is meant by it. To be called before there is an event
    loop, in which Ctrl-C would not end a read.

    Raises: InvalidRequest (as `said`)."""
    for name in ("text", "question", "note"):
        given = getattr(args, name, None)
        if given is not None:
            many = cast("list[str]", given) if isinstance(given, list) else [given]
            if many == ["-"] and sys.stdin.isatty():
                terminal.tell("Type the text. Ctrl-D on a line of its own ends it.")
            setattr(args, name, said(" ".join(many)))


def said(text: str) -> str:
    """`text`, or with `-` what stdin says. Raises InvalidRequest when nothing is left, or when
    there is no end of it."""
    words_in = sys.stdin.read(LONGEST + 1) if text == "-" else text
    if len(words_in) > LONGEST:
        raise InvalidRequest(f"That text is too long (over {LONGEST:,} characters).", then=SHORTER)
    if not words_in.strip():
        raise InvalidRequest("There is no text.", then="Give it as an argument, or - for stdin.")
    return words_in.rstrip("\n")
