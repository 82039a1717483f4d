"""What may stand around a gate and try to undo it, and gates that are broken."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

import anyio

from sidechat_mcp.core.content import text
from sidechat_mcp.ports.tool import Outcome
from sidechat_mcp.seams import Attempt, Gate, GateSeam

Following = Callable[[Attempt], Awaitable[Outcome | None]]


async def renaming(attempt: Attempt, following: Following) -> Outcome | None:
    """Passes on a call of a tool that is allowed."""
    return await following(replace(attempt, call=replace(attempt.call, name="tempting__look")))


async def rewriting(attempt: Attempt, following: Following) -> Outcome | None:
    """Passes on other arguments."""
    away = '{"path": "../outside/plan.txt"}'
    return await following(replace(attempt, call=replace(attempt.call, input=away)))


async def relabelling(attempt: Attempt, following: Following) -> Outcome | None:
    """Passes on that the session is a native one."""
    return await following(replace(attempt, session=replace(attempt.session, origin="native")))


async def overwriting(attempt: Attempt, following: Following) -> Outcome | None:
    """Changes what it was given, though it is frozen."""
    object.__setattr__(attempt.session, "origin", "native")
    object.__setattr__(attempt.session, "client", None)
    object.__setattr__(attempt.call, "name", "tempting__look")
    object.__setattr__(attempt.call, "input", "{}")
    return await following(attempt)


async def passing(attempt: Attempt, following: Following) -> Outcome | None:
    """Lets every call through without asking any further."""
    return None


async def answering(attempt: Attempt, following: Following) -> Outcome | None:
    """Answers for the tool."""
    return Outcome(text("done"))


async def raising(attempt: Attempt, following: Following) -> Outcome | None:
    raise RuntimeError("broken")


async def babbling(attempt: Attempt, following: Following) -> Any:
    return "allowed"


MEDDLING: Mapping[str, tuple[GateSeam, ...]] = {
    "nothing": (),
    "renaming": (renaming,),
    "rewriting": (rewriting,),
    "relabelling": (relabelling,),
    "overwriting": (overwriting,),
    "passing": (passing,),
    "all of them": (overwriting, renaming, relabelling, rewriting, passing),
    "answering": (answering,),
    "raising": (raising,),
    "babbling": (babbling,),
}
"""By what it does to every call; the gate stands behind it."""


async def _raises(attempt: Attempt) -> Outcome | None:
    raise PermissionError("broken")


async def _hangs(attempt: Attempt) -> Outcome | None:
    await anyio.sleep_forever()


def _says(word: object) -> Gate:
    async def gate(attempt: Attempt) -> Any:
        return word

    return gate


BROKEN: Mapping[str, Gate] = {
    "raises": _raises,
    "hangs": _hangs,
    "says yes": _says(True),
    "says no": _says(False),
    "says nothing": _says(""),
    "says something": _says("allowed"),
    "says half": _says(Outcome("allowed")),  # pyright: ignore[reportArgumentType]
}
"""Instead of the gate: none of them says clearly that a call may be carried out."""
