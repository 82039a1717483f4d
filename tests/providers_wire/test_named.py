"""An agent's name and what it brings."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sidechat_mcp.core.assemble import Context, Message
from sidechat_mcp.core.content import text
from sidechat_mcp.core.events import RequestHeader
from sidechat_mcp.errors import InvalidRequest
from sidechat_mcp.providers.exchange.wired import Wired
from sidechat_mcp.providers.named import for_agent
from tests.behaviours import behaviour


def made(name: str, **environ: str) -> Wired:
    provider = for_agent(name, environ)
    assert isinstance(provider, Wired)
    return provider


@pytest.mark.parametrize(
    ("name", "environ", "url"),
    [
        ("anthropic:m", {}, "https://api.anthropic.com/v1/messages"),
        ("anthropic:m", {"ANTHROPIC_BASE_URL": "https://e.com/v1/"}, "https://e.com/v1/messages"),
        ("anthropic:m", {"ANTHROPIC_BASE_URL": "https://e.com/a"}, "https://e.com/a/v1/messages"),
        ("openai:m", {}, "https://api.openai.com/v1/responses"),
        ("openai:m", {"OPENAI_BASE_URL": "https://e.com/x"}, "https://e.com/x/responses"),
        ("openai-chat:https://e.com/api/v1#a/b", {}, "https://e.com/api/v1/chat/completions"),
        ("openai-chat:http://127.0.0.1:80#m", {}, "http://127.0.0.1:80/v1/chat/completions"),
    ],
)
@behaviour("wire:agents")
def test_a_name_says_where_requests_go(name: str, environ: dict[str, str], url: str) -> None:
    provider = made(name, **environ)
    assert provider.access.endpoint.url + provider.speech.path == url


@pytest.mark.parametrize(
    ("name", "model", "who"),
    [
        ("anthropic:claude-m", "claude-m", "you, to Anthropic (key: ANTHROPIC_API_KEY)"),
        ("openai:gpt-m", "gpt-m", "you, to OpenAI (key: OPENAI_API_KEY)"),
        (
            "openai-chat:https://e.com:8443/v1#a/b:free",
            "a/b:free",
            "you, to e.com:8443 (key: SIDECHAT_API_KEY, if it wants one)",
        ),
    ],
)
@behaviour("wire:agents")
def test_an_agent_says_who_pays_and_what_it_may_do(name: str, model: str, who: str) -> None:
    about = made(name).about
    assert (about.name, about.model, about.pays) == (name.partition(":")[0], model, who)
    assert about.rights == "reads the conversation; calls read-only tools of the session at most"
    assert about.head == "same"


@pytest.mark.parametrize(
    "name",
    [
        "anthropic",
        "anthropic:",
        "anthropic: ",
        "gemini:m",
        "",
        "openai-chat:https://e.com/v1",
        "openai-chat:#m",
        "openai-chat:https://e.com#",
        "openai-chat:http://e.com#m",
        "openai-chat:https://key@e.com#m",
        "local:",
        "local:/nowhere/m.gguf",
        "local:" + __file__,
    ],
)
@behaviour("wire:agents")
def test_any_other_spelling_is_refused_with_the_next_step(name: str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        for_agent(name, {})
    assert raised.value.then


def test_only_the_providers_own_host_is_asked_to_compare_prefixes() -> None:
    context = Context(RequestHeader(), [Message("user", text("Hi"))], last_response="r1")
    official = made("anthropic:m").encode(context).body
    elsewhere = made("anthropic:m", ANTHROPIC_BASE_URL="https://e.com").encode(context).body
    assert official.endswith(b'"diagnostics":{"previous_message_id":"r1"}}')
    assert elsewhere.endswith(b"]}]}")


def test_the_digests_of_a_request_tell_its_parts_apart() -> None:
    def digests(system: str, words: str) -> dict[str, str]:
        header = RequestHeader(settings={"metadata": system, "prompt_cache_key": "root"})
        context = Context(header, [Message("user", text(words)), Message("user", text("q"))], 1)
        return dict(made("openai:m").wire(context))

    first, other_head, other_words = digests("a", "x"), digests("b", "x"), digests("a", "y")
    assert first.keys() == {"wire", "form", "head", "prefix", "body"}
    assert {name for name in first if first[name] != other_head[name]} == {"head", "body"}
    assert {name for name in first if first[name] != other_words[name]} == {"prefix", "body"}


def test_nothing_is_loaded_for_a_model_before_one_is_named() -> None:
    asked = "import sys, sidechat_mcp.providers.quoting.provider; print('httpx2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
