"""A server's results as content: bounded, and nothing that a later request would choke on."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import mcp.types as types
import pytest

from sidechat_mcp.core.content import Content, Media, Text
from sidechat_mcp.core.events import Header
from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.tools.served import MOST_BLOCKS, MOST_MEDIA, MOST_TEXT, Served, name
from tests.behaviours import behaviour

SESSION = Header(SessionId("s"), 0, "native", "local", "quoting")
PDF = base64.b64encode(b"%PDF-1.7").decode()


def blob(data: str, media_type: str) -> types.EmbeddedResource:
    held = types.BlobResourceContents(uri="file:///x", mime_type=media_type, blob=data)
    return types.EmbeddedResource(resource=held)


async def content(*blocks: Any, structured: dict[str, Any] | None = None) -> Content:
    async def call(tool: Served, given: dict[str, Any]) -> types.CallToolResult:
        return types.CallToolResult(content=list(blocks), structured_content=structured)

    return (await Served("a__b", "", {}, True, "b", call).run("{}", SESSION)).content


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (types.TextContent(text="Hi."), Text("Hi.")),
        (types.AudioContent(data="", mime_type="audio/wav"), Text("[audio]")),
        (
            types.EmbeddedResource(resource=types.TextResourceContents(uri="file:///x", text="T")),
            Text("T"),
        ),
        (blob("AA==", "application/zip"), Text("[resource file:///x]")),
        (
            types.ResourceLink(name="n", uri="file:///x", description="About it."),
            Text("[resource file:///x: About it.]"),
        ),
        (
            types.ImageContent(data="no base64", mime_type="image/png"),
            Text("[image/png left out: it is damaged]"),
        ),
        (
            types.ImageContent(data="A" * (MOST_MEDIA + 4), mime_type="image/png"),
            Text("[image/png left out: 3932163 bytes are too many]"),
        ),
    ],
)
async def test_each_kind_of_block_becomes_what_a_model_can_take(block: Any, expected: Text) -> None:
    assert await content(block) == (expected,)


async def test_a_document_is_kept_as_one() -> None:
    (document,) = await content(blob(PDF, "application/pdf"))
    assert isinstance(document, Media)
    assert (document.kind, document.size, document.data) == ("document", 8, PDF)


@behaviour("tools:bounded")
async def test_a_long_result_is_cut_and_says_so() -> None:
    long = types.TextContent(text="x" * (MOST_TEXT - 1))
    more = types.TextContent(text="yz")
    assert await content(long, more, more) == (
        Text("x" * (MOST_TEXT - 1)),
        Text("y\n[cut here; 2 characters]"),
        Text("\n[cut here; 2 characters]"),
    )
    many = await content(*[types.TextContent(text="x")] * (MOST_BLOCKS + 3))
    assert (len(many), many[-1]) == (MOST_BLOCKS + 1, Text("[left out: 3 more parts]"))


@pytest.mark.parametrize(
    ("structured", "expected"), [(None, "(no content)"), ({"a": "ü"}, '{"a": "ü"}')]
)
async def test_a_result_without_blocks_still_says_something(
    structured: dict[str, Any] | None, expected: str
) -> None:
    assert await content(structured=structured) == (Text(expected),)


@pytest.mark.parametrize(
    ("parts", "called"),
    [
        (("a", "b"), "a__b"),
        (("a_b", "c.d/e f"), "a_b__c_d_e_f"),
        (("a", "rеad"), "a__r_ad"),
    ],
)
def test_a_name_has_only_what_every_wire_takes(parts: Sequence[str], called: str) -> None:
    assert name(*parts) == called
