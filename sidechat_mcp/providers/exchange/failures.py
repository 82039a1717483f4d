"""What a provider says went wrong → our errors. Pure. Its words are shown, cleaned and cut short;
those about a key are not, for they often repeat it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sidechat_mcp.core.redact import clean
from sidechat_mcp.errors import (
    BadCredentials,
    ContextOverflow,
    Overloaded,
    ProviderError,
    QuotaSpent,
    RateLimited,
    RejectedRequest,
    UnknownModel,
)

MOST_WORDS = 300
_OVERFLOW = re.compile(
    r"prompt is too long|context.?(length|window|size)|maximum context|too many (input )?tokens"
    r"|exceeds? .{0,40}(context|token)|exceed_context|input is too long|request_too_large",
    re.IGNORECASE,
)
# Words alone may also mean a rate: some say "check your plan and billing" of one request too many.
_SPENT = re.compile(r"insufficient_(quota|credit|fund|balance)|billing", re.IGNORECASE)
_SPENT_WORDS = re.compile(r"credit balance|insufficient (credit|fund|balance)", re.IGNORECASE)
_BUSY = re.compile(r"overloaded|server_error|api_error|timeout|unavailable|capacity", re.IGNORECASE)
_BY_STATUS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    409: "timeout_error",
    413: "request_too_large",
    425: "timeout_error",
    429: "rate_limit_error",
}


@dataclass(frozen=True, slots=True)
class Complaint:
    """What a provider said: its kinds (type and code, in its own spelling) and its words."""

    kinds: str = ""
    words: str = ""

    @classmethod
    def read(cls, found: Mapping[str, Any]) -> Complaint:
        """From `{"error": {…}}`, `{"error": "…"}` or the error object itself."""
        error = found.get("error", found)
        match error:
            case {**fields}:
                kinds = [fields.get(name) for name in ("type", "code", "status")]
                words = fields.get("message")
                return cls(" ".join(str(kind) for kind in kinds if kind), str(words or ""))
            case _:
                return cls(words=str(error))


def failure(who: str, status: int, said: Complaint, after: float | None = None) -> ProviderError:
    """The error for an answer with `status` (200: it came inside a stream) of the provider
    `who`. `after` is how many seconds it asks to be left alone."""
    kinds = said.kinds or _BY_STATUS.get(status, "overloaded" if status >= 500 else "")
    if status == 200 and not said.kinds:
        kinds = "api_error"
    everything = f"{kinds} {said.words}"
    shown = _shown(said.words, status, kinds)
    if _SPENT.search(kinds) or _SPENT_WORDS.search(said.words):
        return QuotaSpent(f"{who} says the account has no credit left.", then="Top it up there.")
    if status in (401, 403) or re.search(
        r"authentication|permission|invalid_api_key|\b40[13]\b", kinds
    ):
        return BadCredentials(
            f"{who} did not accept the key.", then="Set a valid one; `doctor` says where."
        )
    if status == 429 or re.search(r"rate_?limit|too_many_requests|\b429\b", kinds, re.IGNORECASE):
        wait = f" in {after:.0f} s" if after is not None else " a little later"
        return RateLimited(
            f"{who} takes no more requests for this key now{shown}.",
            then=f"Ask again{wait}.",
            retryable=True,
        )
    if _OVERFLOW.search(everything):
        return ContextOverflow(
            f"The conversation is larger than the window of {who}'s model{shown}.",
            then="Use a model with a larger window, or fork an earlier or compacted parent.",
        )
    if status == 404 or re.search(r"not_found|model_not", kinds):
        return UnknownModel(f"{who} has no such model{shown}.", then="Check SIDECHAT_AGENT.")
    if status >= 500 or status in (408, 409, 425) or _BUSY.search(kinds):
        return Overloaded(
            f"{who} cannot answer at the moment{shown}.", then="Ask again.", retryable=True
        )
    return RejectedRequest(f"{who} did not take the request{shown}.")


def _shown(words: str, status: int, kinds: str) -> str:
    words = " ".join(clean(words[:4000]).split())
    if len(words) > MOST_WORDS:
        words = words[: MOST_WORDS - 1] + "…"
    return f": {words.rstrip('.')}" if words else f" ({status} {kinds})".replace("200 ", "")
