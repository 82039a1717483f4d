"""A key that is planted shows up nowhere but in the header it is for."""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Sequence
from types import ModuleType

import pytest

from sidechat_mcp.core.assemble import Context, Message
from sidechat_mcp.core.content import text
from sidechat_mcp.core.events import RequestHeader
from sidechat_mcp.errors import BadCredentials, ProviderError
from sidechat_mcp.providers.exchange.keys import Secret, find
from sidechat_mcp.providers.exchange.wired import Wired
from sidechat_mcp.providers.named import for_agent
from tests.behaviours import behaviour
from tests.providers_wire.loopback import Say, complaint, loopback, stream
from tests.providers_wire.streams import named
from tests.providers_wire.wires import KEY, SPOKEN, Spoken

CONTEXT = Context(RequestHeader(), [Message("user", text("Hi"))])
ECHO = f"Incorrect API key provided: {KEY}. You sent Bearer {KEY}"


def anyway(spoken: Spoken) -> Sequence[Say]:
    """Everything that can go wrong, the key repeated in it."""
    inside = {"type": "error", "error": {"type": "api_error", "message": ECHO}, "message": ECHO}
    return [
        complaint(401, f'{{"error":{{"message":"{ECHO}"}}}}'.encode()),
        complaint(400, f'{{"error":{{"message":"{ECHO}"}}}}'.encode()),
        complaint(400, ECHO.encode()),
        complaint(503, ECHO.encode()),
        complaint(200, ECHO.encode()),
        complaint(302, ECHO.encode(), location="https://example.com/"),
        stream(*named(inside)),
        stream(*spoken.long[:4], *named(inside)),
        stream(b"data: " + ECHO.encode() + b"\n\n"),
        stream(*spoken.plain),
    ]


@pytest.mark.parametrize("spoken", SPOKEN, ids=lambda spoken: spoken.name)
@behaviour("wire:key-unseen")
async def test_a_key_is_nowhere_but_in_its_header(
    spoken: Spoken, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    seen: list[str] = []
    for say in anyway(spoken):
        async with loopback(say) as server:
            provider = spoken.at(server.url)
            try:
                async with provider.stream(CONTEXT) as chunks:
                    seen += [repr(chunk) async for chunk in chunks]
            except ProviderError as error:
                seen += [str(error), repr(error), error.then, *traceback.format_exception(error)]
            seen += [repr(provider), repr(provider.access), str(provider.wire(CONTEXT))]
            sent = server.asked[-1]
            assert KEY in sent.headers.get("x-api-key", sent.headers.get("authorization", ""))
            seen += [sent.line, sent.body.decode()]
    assert len(seen) > 40
    assert [line for line in (*seen, caplog.text) if KEY in line] == []


def test_a_key_that_no_header_can_carry_is_no_key() -> None:
    assert find("K", {"K": "two\nlines"}) is None
    assert find("K", {"K": "ключ"}) is None
    assert find("K", {"K": "  "}) is None
    assert find("K", {"K": " abc\n"}) == Secret("abc")


def test_a_secret_does_not_say_itself() -> None:
    secret = Secret(KEY)
    assert KEY not in f"{secret} {secret!r} {secret.mark} {[secret]}"
    assert secret.out_of(f"<{KEY}>") == "<[key]>"


def keyring(monkeypatch: pytest.MonkeyPatch, *, broken: bool = False) -> None:
    module = ModuleType("keyring")

    def get_password(service: str, name: str) -> str | None:
        if broken:
            raise RuntimeError("locked")
        return KEY if (service, name) == ("sidechat", "ANTHROPIC_API_KEY") else None

    module.get_password = get_password  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", module)


async def sent_key(environ: dict[str, str]) -> str | None:
    """The key that a request of `anthropic:claude-m` carries under this environment."""
    spoken = SPOKEN[0]
    async with loopback(stream(*spoken.plain)) as server:
        provider = for_agent("anthropic:claude-m", {**environ, "ANTHROPIC_BASE_URL": server.url})
        async with provider.stream(CONTEXT) as chunks:
            assert [chunk async for chunk in chunks]
        return server.asked[0].headers.get("x-api-key")


async def test_the_environment_comes_before_the_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    keyring(monkeypatch)
    assert await sent_key({"ANTHROPIC_API_KEY": "sk-env"}) == "sk-env"
    assert await sent_key({}) == KEY
    assert find("OPENAI_API_KEY", {}) is None
    for environ, place in (({"ANTHROPIC_API_KEY": "sk-env"}, "environment"), ({}, "keyring")):
        provider = for_agent("anthropic:claude-m", environ)
        assert isinstance(provider, Wired)
        assert await provider.key_place() == f"ANTHROPIC_API_KEY, from the {place}"


@pytest.mark.parametrize("broken", [True, False])
async def test_without_a_key_nothing_is_sent_and_the_way_to_one_is_said(
    monkeypatch: pytest.MonkeyPatch, broken: bool
) -> None:
    if broken:
        keyring(monkeypatch, broken=True)
    else:
        monkeypatch.setitem(sys.modules, "keyring", None)
    provider = for_agent("anthropic:claude-m", {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"})
    with pytest.raises(BadCredentials) as raised:
        async with provider.stream(CONTEXT):
            pass
    assert str(raised.value) == (
        "There is no key for Anthropic. Set ANTHROPIC_API_KEY,"
        " or put it into the keyring: `keyring set sidechat ANTHROPIC_API_KEY`."
    )


def test_a_provider_made_of_an_environment_does_not_show_it() -> None:
    environ = {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY, "SIDECHAT_API_KEY": KEY}
    for name in ("anthropic:m", "openai:m", "openai-chat:http://127.0.0.1:1#m"):
        provider = for_agent(name, environ)
        assert isinstance(provider, Wired)
        assert KEY not in f"{provider!r} {provider.about} {provider.access!r}"
