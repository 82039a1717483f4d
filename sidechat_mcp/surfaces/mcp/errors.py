"""Our errors in the protocol's words. The only place that knows both.

A tool's failure is a result that the model can read and act on; a failed prompt or resource is
a failed request. What nobody expected is one plain sentence for the caller and an entry in the
log under the same id; never a traceback, and never the words of a request."""

from __future__ import annotations

import logging
import secrets
import traceback
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import mcp.types as T
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError

from sidechat_mcp.errors import InvalidRequest, OutsideError, SidechatError
from sidechat_mcp.surfaces.mcp.words import sound

Context = ServerRequestContext[Any, Any]
P = TypeVar("P")
R = TypeVar("R")
Handler = Callable[[Context, P], Awaitable[R]]

log = logging.getLogger("sidechat_mcp")


class Hosted(InvalidRequest):
    """We were started inside a side session of our own (law 15)."""

    code = "hosted"

    def __init__(self) -> None:
        super().__init__(
            "This is a side conversation; it cannot fork, talk or merge from inside.",
            then="Do it from the main session.",
        )


def for_request(error: SidechatError) -> MCPError:
    """A failed prompt, resource or completion."""
    code = T.INVALID_PARAMS if isinstance(error, InvalidRequest) else T.INTERNAL_ERROR
    data: dict[str, Any] = {"code": error.code}
    if isinstance(error, OutsideError):
        data["retryable"] = error.retryable
    return MCPError(code, sound(str(error)), data)


def for_tool(error: SidechatError) -> T.CallToolResult:
    """A failed tool call."""
    return failed(f"{error} ({error.code})")


def failed(sentence: str) -> T.CallToolResult:
    return T.CallToolResult(content=[T.TextContent(text=sound(sentence))], is_error=True)


def unexpected(error: Exception) -> str:
    """Log what nobody expected, without the words it may carry, and say how to find it."""
    mark = secrets.token_hex(4)
    frames = traceback.extract_tb(error.__traceback__)[-12:]
    way = " < ".join(f"{f.filename}:{f.lineno} {f.name}" for f in reversed(frames))
    log.error("[%s] %s at %s", mark, type(error).__name__, way)
    return f"Something went wrong inside sidechat; its log entry is {mark}."


def request(handler: Handler[P, R]) -> Handler[P, R]:
    """Let only the protocol's own errors out of a prompt, resource or completion handler."""

    async def translated(ctx: Context, params: P) -> R:
        try:
            return await handler(ctx, params)
        except MCPError:
            raise
        except SidechatError as error:
            raise for_request(error) from None
        except Exception as error:
            raise MCPError(T.INTERNAL_ERROR, unexpected(error)) from None

    return translated


def tool(handler: Handler[P, T.CallToolResult]) -> Handler[P, T.CallToolResult]:
    """Turn every failure of a tool into a result; an unknown tool stays a failed request."""

    async def translated(ctx: Context, params: P) -> T.CallToolResult:
        try:
            return await handler(ctx, params)
        except MCPError:
            raise
        except SidechatError as error:
            return for_tool(error)
        except Exception as error:
            return failed(unexpected(error))

    return translated
