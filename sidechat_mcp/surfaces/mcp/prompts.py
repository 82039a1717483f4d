"""The prompts: when `prompts/get` acts, and when it only speaks (CONTRACT).

Clients fetch prompts ahead of time, put placeholders or cut words in, and send no id of their
conversation. So a prompt acts only on what surely is a person's order; whatever else it gets, it
repeats, and leads to the tool of the same name."""

from __future__ import annotations

from collections.abc import Mapping

import mcp.types as T
from mcp.shared.exceptions import MCPError

from sidechat_mcp.core import excerpt
from sidechat_mcp.errors import InvalidRequest, ParentNotFound, SessionNotFound
from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.sidechat.service import Sidechat
from sidechat_mcp.surfaces.mcp import prompt_words
from sidechat_mcp.surfaces.mcp.asking import Form, ask
from sidechat_mcp.surfaces.mcp.caller import client_name
from sidechat_mcp.surfaces.mcp.desk import Desk
from sidechat_mcp.surfaces.mcp.errors import Context, request
from sidechat_mcp.surfaces.mcp.hosts import PREFETCHERS, SPACE_SPLITTERS, is_placeholder
from sidechat_mcp.surfaces.mcp.progress import telling
from sidechat_mcp.surfaces.mcp.schemas import PROMPTS
from sidechat_mcp.surfaces.mcp.words import sound

CHOICES = 20
"""How many side sessions a form offers."""

Params = T.GetPromptRequestParams
Said = str | T.InputRequiredResult


class Prompts:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.list = _list
        self.get = request(self._get)

    async def _get(self, ctx: Context, params: Params) -> T.GetPromptResult | T.InputRequiredResult:
        prompt = PROMPTS.get(params.name)
        if prompt is None:
            raise MCPError(T.INVALID_PARAMS, f"Unknown prompt: {params.name[:80]}")
        said = await self._said(ctx, params, _given(prompt, params))
        if isinstance(said, T.InputRequiredResult):
            return said
        message = T.PromptMessage(role="user", content=T.TextContent(text=sound(said)))
        return T.GetPromptResult(description=prompt.description, messages=[message])

    async def _said(self, ctx: Context, params: Params, given: Mapping[str, str]) -> Said:
        host = client_name(ctx)
        splits = host in SPACE_SPLITTERS
        leading = prompt_words.lead(params.name, given, splits=splits)
        if host in PREFETCHERS or any(is_placeholder(value) for value in given.values()):
            return leading
        service, caller = await self._desk.service(), self._desk.caller(ctx)
        match params.name:
            case "fork":
                said = await _fork(service, caller, given, splits=splits)
            case "converse":
                said = await _converse(ctx, params, service, caller, given, splits=splits)
            case _:
                said = await _merge(ctx, params, service, caller, given, splits=splits)
        return leading if said is None else said


async def _list(ctx: Context, params: T.PaginatedRequestParams | None) -> T.ListPromptsResult:
    return T.ListPromptsResult(prompts=list(PROMPTS.values()))


def _given(prompt: T.Prompt, params: Params) -> Mapping[str, str]:
    """The arguments that are there, in the prompt's order; blank ones are as good as absent."""
    sent = params.arguments or {}
    names = [argument.name for argument in prompt.arguments or ()]
    return {name: sent[name] for name in names if sent.get(name, "").strip()}


async def _fork(
    service: Sidechat, caller: Caller, given: Mapping[str, str], *, splits: bool
) -> str | None:
    parent, question = given.get("parent"), given.get("question")
    if parent is not None and parent.startswith(f"{excerpt.CLIENT}:"):
        return None  # A client may have cut it at a space; the tool gets it whole.
    try:
        report = await service.fork(
            caller,
            parent=parent,
            # One word of a question is no question: it must not tell two forks apart either.
            question=None if splits else question,
            reuse_untouched=True,
        )
    except (ParentNotFound, SessionNotFound):
        if parent is None:
            raise
        return None
    return prompt_words.forked(report, question, splits=splits)


async def _converse(
    ctx: Context,
    params: Params,
    service: Sidechat,
    caller: Caller,
    given: Mapping[str, str],
    *,
    splits: bool,
) -> Said | None:
    session, message, key = given.get("session"), given.get("message"), None
    if message is not None and splits:
        return None
    if message is None:
        if session is not None and not await _is_side(service, caller, session):
            return None
        asked = await ask(ctx, params, Form("message", "What do you want to ask on the side?"))
        if asked is None or isinstance(asked, T.InputRequiredResult):
            return asked
        message, key = asked.text, asked.nonce
    words = message
    try:
        answer = await telling(
            ctx,
            lambda emit: service.converse(caller, words, session=session, key=key, emit=emit),
        )
    except SessionNotFound:
        if session is None:
            raise
        return None
    return prompt_words.answered(answer)


async def _merge(
    ctx: Context,
    params: Params,
    service: Sidechat,
    caller: Caller,
    given: Mapping[str, str],
    *,
    splits: bool,
) -> Said | None:
    session, note = given.get("session"), given.get("note")
    if note is not None and splits:
        return None
    if session is None:
        asked = await ask(ctx, params, await _which(service, caller))
        if asked is None or isinstance(asked, T.InputRequiredResult):
            return asked
        session = asked.text
    if not await _is_side(service, caller, session):
        return None
    return prompt_words.merged(await service.merge(caller, session=session, note=note))


async def _which(service: Sidechat, caller: Caller) -> Form:
    """Asks which side session hands back its note. Raises: InvalidRequest (there is none)."""
    listing = await service.sessions(caller, limit=CHOICES)
    if not listing.sessions:
        raise InvalidRequest("There is no side session to merge.", then="`fork` opens one.")
    lines = [f"{one.session} “{one.title}”" for one in listing.sessions]
    return Form(
        "session",
        sound("Which side session hands back its note?\n" + "\n".join(lines)),
        tuple(str(one.session) for one in listing.sessions),
    )


async def _is_side(service: Sidechat, caller: Caller, session: str) -> bool:
    try:
        await service.side(caller, session)
    except SessionNotFound:
        return False
    return True
