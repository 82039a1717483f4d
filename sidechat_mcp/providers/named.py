"""An agent's name → the provider that answers under it. Loaded when a model is first wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sidechat_mcp.errors import InvalidRequest
from sidechat_mcp.ports.provider import About, Provider
from sidechat_mcp.providers.anthropic import wire as anthropic
from sidechat_mcp.providers.exchange.endpoint import endpoint
from sidechat_mcp.providers.exchange.keys import Secret, find
from sidechat_mcp.providers.exchange.pace import Turnstiles
from sidechat_mcp.providers.exchange.speech import Access
from sidechat_mcp.providers.exchange.wired import Wired
from sidechat_mcp.providers.local.provider import local
from sidechat_mcp.providers.openai_chat import wire as openai_chat
from sidechat_mcp.providers.openai_responses import wire as openai_responses

FORMS = "anthropic:MODEL, openai:MODEL, openai-chat:URL#MODEL, local:PATH"
_TURNSTILES = Turnstiles()
"""One for each key, whichever agents use it."""
_RIGHTS = "reads the conversation; calls read-only tools of the session at most"


def for_agent(name: str, environ: Mapping[str, str]) -> Provider:
    """The provider for `anthropic:MODEL`, `openai:MODEL`, `openai-chat:URL#MODEL` or
    `local:PATH`. Nothing is connected to, looked up or started before it is first asked.

    Raises: InvalidRequest, for any other spelling, an address that cannot be used, or a file
    that is not there."""
    kind, _, rest = name.partition(":")
    make = _KINDS.get(kind)
    if make is None or not rest.strip():
        raise InvalidRequest(f"There is no agent {name!r}.", then=f"The forms are {FORMS}.")
    return make(rest.strip(), environ)


def _anthropic(model: str, environ: Mapping[str, str]) -> Provider:
    where = endpoint(environ.get("ANTHROPIC_BASE_URL") or "https://api.anthropic.com")
    own = where.origin.endswith(".anthropic.com")
    if where.path.endswith("/v1"):
        where = endpoint(where.url.removesuffix("/v1"))
    key = _key("ANTHROPIC_API_KEY", environ)
    about = _about("anthropic", model, "Anthropic", "ANTHROPIC_API_KEY")
    access = Access("Anthropic", where, key, _missing("ANTHROPIC_API_KEY"))
    return Wired(about, anthropic.wire("Anthropic", model, compared=own), access, _TURNSTILES)


def _openai(model: str, environ: Mapping[str, str]) -> Provider:
    where = endpoint(environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1", "/v1")
    key = _key("OPENAI_API_KEY", environ)
    about = _about("openai", model, "OpenAI", "OPENAI_API_KEY")
    access = Access("OpenAI", where, key, _missing("OPENAI_API_KEY"))
    return Wired(about, openai_responses.wire("OpenAI", model), access, _TURNSTILES)


def _chat(rest: str, environ: Mapping[str, str]) -> Provider:
    url, _, model = rest.rpartition("#")
    if not url or not model:
        raise InvalidRequest(
            f"The agent openai-chat:{rest} does not say which model.",
            then="Write openai-chat:URL#MODEL, as openai-chat:http://127.0.0.1:8080/v1#qwen3.",
        )
    where = endpoint(url, "/v1")
    who = where.origin.partition("://")[2]
    about = _about("openai-chat", model, who, "SIDECHAT_API_KEY, if it wants one")
    access = Access(who, where, _key("SIDECHAT_API_KEY", environ))
    return Wired(about, openai_chat.wire(who, model), access, _TURNSTILES)


def _local(path: str, environ: Mapping[str, str]) -> Provider:
    return local(path, environ, _RIGHTS, _TURNSTILES)


_KINDS: Mapping[str, Callable[[str, Mapping[str, str]], Provider]] = {
    "anthropic": _anthropic,
    "openai": _openai,
    "openai-chat": _chat,
    "local": _local,
}


def _key(name: str, environ: Mapping[str, str]) -> Callable[[], Secret | None]:
    # Not a partial: its repr would show the whole environment.
    def key() -> Secret | None:
        return find(name, environ)

    return key


def _missing(name: str) -> str:
    return f"Set {name}, or put it into the keyring: `keyring set sidechat {name}`."


def _about(name: str, model: str, who: str, key: str) -> About:
    return About(name, model, f"you, to {who} (key: {key})", _RIGHTS)
