from __future__ import annotations

from sidechat_mcp.core import content
from sidechat_mcp.core.assemble import Message
from sidechat_mcp.core.content import Media, Text, Thinking, ToolUse, Verbatim
from sidechat_mcp.core.tokens import estimate


def test_an_estimate_is_a_quarter_of_the_code_points_and_a_fixed_count_for_media() -> None:
    image = Media("image", "image/png", "digest", 10**6, data="A" * 1000)
    messages = [
        Message("user", content.text("é😀ab")),
        Message("assistant", (Thinking("12"), ToolUse("c1", "read", '{"a":1}'))),
        Message("tool", (Text("12345"), Verbatim("wire", "{}")), call="c1"),
    ]

    assert estimate([]) == 0
    assert estimate(messages[:1]) == 1
    assert estimate(messages) == 6
    assert estimate([*messages, Message("user", (image, image))]) == 3006
    assert estimate([Message("user", (Thinking("12", "wire", "12345678"),))]) == 2
