"""How much a model takes is asked of its own server or file, in bounded time, and never guessed."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidechat_mcp.bootstrap import known_window
from sidechat_mcp.config import Config
from sidechat_mcp.providers.exchange.windows import Window
from sidechat_mcp.providers.local import gguf
from sidechat_mcp.providers.local.engine import Engine
from sidechat_mcp.providers.local.provider import Local
from sidechat_mcp.providers.named import for_agent
from sidechat_mcp.providers.wire.windows import listed
from sidechat_mcp.sidechat.reports import Caller
from tests.behaviours import behaviour
from tests.feature.workshop import Shelf, shelved, workshop
from tests.providers_wire.loopback import Say, complaint, loopback
from tests.providers_wire.wires import KEY, SPOKEN, Spoken

EACH = pytest.mark.parametrize("spoken", SPOKEN, ids=lambda spoken: spoken.name)
CHAT = SPOKEN[2]


def said(found: Any, status: int = 200) -> Say:
    return complaint(status, json.dumps(found).encode())


def model(**more: Any) -> dict[str, Any]:
    return {"data": [{"id": "other", "max_model_len": 7}, {"id": "m", **more}]}


@pytest.mark.parametrize(
    ("found", "tokens"),
    [
        ({"id": "m", "max_input_tokens": 1_000_000, "max_tokens": 128_000}, 1_000_000),
        (model(max_model_len=32_768), 32_768),
        (model(context_length=262_144, top_provider={"context_length": 131_072}), 131_072),
        (model(context_length=0), None),
        (model(context_length="many"), None),
        (model(context_length=True), None),
        (model(meta={"n_ctx_train": 65_536}), None),
        ({"data": [{"id": "other", "max_model_len": 7}]}, None),
        ({"data": "m"}, None),
        ({}, None),
    ],
)
@behaviour("window:asked")
def test_a_list_of_models_is_read_in_every_known_spelling(
    found: dict[str, Any], tokens: int | None
) -> None:
    assert listed(found, "m") == tokens


def test_a_variant_that_is_not_listed_is_its_model() -> None:
    assert listed(model(context_length=9), "m:free") == 9
    both = {"data": [{"id": "m", "context_length": 9}, {"id": "m:free", "context_length": 5}]}
    assert listed(both, "m:free") == 5


def owned(by: str, **more: Any) -> Say:
    return said({"data": [{"id": "m", "owned_by": by, **more}]})


@pytest.mark.parametrize(
    ("script", "paths", "tokens"),
    [
        ([said(model(max_model_len=9))], ["/v1/models"], 9),
        (
            [owned("llamacpp"), said({"default_generation_settings": {"n_ctx": 8192}})],
            ["/v1/models", "/props"],
            8192,
        ),
        (
            [owned("library"), said({"models": [{"name": "m:latest", "context_length": 4096}]})],
            ["/v1/models", "/api/ps"],
            4096,
        ),
        (
            [owned("library"), said({"models": []})],
            ["/v1/models", "/api/ps"],
            None,
        ),
        (
            [
                owned("organization_owner"),
                said({"data": [{"id": "m", "max_context_length": 9, "loaded_context_length": 7}]}),
            ],
            ["/v1/models", "/api/v0/models"],
            7,
        ),
        ([owned("system")], ["/v1/models"], None),
        ([said({}, 404)], ["/v1/models"], None),
        ([said(model(max_model_len=9), 500)], ["/v1/models"], None),
        ([complaint(200, b"<html>")], ["/v1/models"], None),
        ([complaint(200, b"[" * 100_000)], ["/v1/models"], None),
        ([Say(cut=True)], ["/v1/models"], None),
        ([Say(307, headers=[("location", "http://127.0.0.1:1/")])], ["/v1/models"], None),
    ],
)
@behaviour("window:asked")
async def test_a_server_is_asked_once_at_places_that_cost_nothing(
    script: Sequence[Say], paths: list[str], tokens: int | None
) -> None:
    async with loopback(models=script) as server:
        agent = f"openai-chat:{server.url}/v1#m"
        provider = for_agent(agent, {"SIDECHAT_API_KEY": KEY})
        for _ in range(2):
            config = Config(Path("unused"), "unused", agent)
            assert await known_window(config, agent, provider) == tokens
        assert [asked.line for asked in server.looked] == [f"GET {path} HTTP/1.1" for path in paths]
        assert {asked.headers["authorization"] for asked in server.looked} == {f"Bearer {KEY}"}


@behaviour("window:asked")
async def test_who_speaks_like_anthropic_elsewhere_is_asked_for_its_list() -> None:
    async with loopback(
        models=[said({"data": [{"id": "m", "max_input_tokens": 200_000}]})]
    ) as server:
        environ = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
        provider = for_agent("anthropic:m", environ)
        config = Config(Path("unused"), "unused", "anthropic:m")
        assert await known_window(config, "anthropic:m", provider) == 200_000
        (asked,) = server.looked
        assert asked.line == "GET /v1/models HTTP/1.1"
        assert (asked.headers["x-api-key"], asked.headers["anthropic-version"][:2]) == (KEY, "20")


def test_anthropic_itself_is_asked_for_the_one_model() -> None:
    assert SPOKEN[0].wire.models == "/v1/models/claude-m"


@EACH
@behaviour("window:bounded")
async def test_a_server_that_says_nothing_is_not_waited_for(spoken: Spoken) -> None:
    async with loopback(models=[Say(hang=True)]) as server:
        provider = spoken.at(server.url)
        provider.told = Window(patience=0.2)
        with anyio.fail_after(5):
            assert await provider.window() is None
            assert await provider.window() is None
        assert len(server.looked) == 1, "and is left alone for a while"


@behaviour("window:bounded")
async def test_without_the_key_that_is_needed_nobody_is_asked() -> None:
    async with loopback(models=[said(model(max_model_len=9))]) as server:
        provider = for_agent("anthropic:m", {"ANTHROPIC_BASE_URL": server.url})
        config = Config(Path("unused"), "unused", "anthropic:m")
        assert await known_window(config, "anthropic:m", provider) is None
        assert server.looked == []


@behaviour("window:setting")
async def test_the_setting_wins_and_then_nobody_is_asked() -> None:
    async with loopback(models=[said(model(max_model_len=9))]) as server:
        agent = f"openai-chat:{server.url}/v1#m"
        config = Config(Path("unused"), "unused", agent, window=5)
        assert await known_window(config, agent, for_agent(agent, {})) == 5
        assert server.looked == []


@EACH
@behaviour("fork:long")
async def test_a_history_over_what_the_server_says_is_told_before_anything_is_sent(
    spoken: Spoken,
) -> None:
    window = said({"data": [{"id": spoken.model, "max_model_len": 300}]})
    shelf = Shelf({"r1": shelved(("Q?", "word " * 400))})
    async with loopback(models=[window]) as server:
        sidechat = workshop(agents={"speaker": spoken.at(server.url)}, shelf=shelf)
        report = await sidechat.fork(Caller(), parent="shelf:r1")
        assert f"is more than the window of {spoken.model} (300)" in report.notice
        assert (len(server.looked), server.asked) == (1, [])


def pair(name: str, kind: int, value: bytes) -> bytes:
    return struct.pack("<Q", len(name)) + name.encode() + struct.pack("<I", kind) + value


def text(words: str) -> bytes:
    return struct.pack("<Q", len(words)) + words.encode()


PAIRS = (
    pair("general.architecture", 8, text("llama")),
    pair("general.tags", 9, struct.pack("<IQ", 8, 2) + text("a") + text("bc")),
    pair("llama.rope.scaling.original_context_length", 4, struct.pack("<I", 2048)),
    pair("numbers", 9, struct.pack("<IQ", 5, 3) + b"\0" * 12),
    pair("llama.rope.freq_base", 6, b"\0" * 4),
    pair("llama.context_length", 4, struct.pack("<I", 8192)),
)


def gguf_file(*pairs: bytes, version: int = 3, claimed: int | None = None) -> bytes:
    count = len(pairs) if claimed is None else claimed
    return struct.pack("<4sIQQ", b"GGUF", version, 0, count) + b"".join(pairs)


@behaviour("window:file")
def test_a_models_file_says_what_it_was_trained_for(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf_file(*PAIRS))
    assert gguf.window(path) == 8192
    for damaged in (
        gguf_file(*PAIRS[:-1]),
        gguf_file(*PAIRS, version=1),
        gguf_file(*PAIRS[:2], claimed=9),
        gguf_file(pair("x", 99, b""), *PAIRS),
        gguf_file(pair("x", 9, struct.pack("<IQ", 9, 1)), *PAIRS),
        gguf_file(pair("x", 8, struct.pack("<Q", 2**63)), *PAIRS),
        gguf_file(struct.pack("<Q", 2**63)),
        b"GGUF",
        b"",
    ):
        path.write_bytes(damaged)
        assert gguf.window(path) is None
    assert gguf.window(tmp_path / "nowhere") is None


@given(st.binary(max_size=200))
def test_whatever_is_in_a_file_its_reading_ends(tail: bytes) -> None:
    found = gguf.said(io.BytesIO(gguf_file(PAIRS[0], claimed=2**63) + tail))
    assert found is None or found > 0


@behaviour("window:file")
async def test_a_local_model_takes_what_its_file_says_and_its_server_is_started_with(
    tmp_path: Path,
) -> None:
    path = tmp_path / "m.gguf"
    for trained, window in ((8192, 8192), (1_000_000, 32_768)):
        path.write_bytes(
            gguf_file(PAIRS[0], pair("llama.context_length", 4, struct.pack("<I", trained)))
        )
        local = Local(Engine(path, tmp_path), CHAT.at("http://127.0.0.1:1"))
        assert await local.window() == window
        assert local.engine._process is None, "nothing was started"  # pyright: ignore[reportPrivateUsage]
