"""The suite's tools that answer at once, its prompts and its resources."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
import mcp.types as T
from mcp.server.subscriptions import PromptsListChanged, ToolsListChanged
from mcp.shared.exceptions import MCPError

from sidechat_mcp.surfaces.mcp.errors import Context
from sidechat_mcp.surfaces.mcp.hub import Hub

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8"
    "z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
SILENCE = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="

Params = T.CallToolRequestParams
Answer = T.CallToolResult | T.InputRequiredResult
Act = Callable[[Context, Params], Awaitable[Answer]]


def text(words: str) -> T.TextContent:
    return T.TextContent(text=words)


def image() -> T.ImageContent:
    return T.ImageContent(data=PIXEL, mime_type="image/png")


def embedded(uri: str, words: str = "embedded", mime: str = "text/plain") -> T.EmbeddedResource:
    return T.EmbeddedResource(resource=T.TextResourceContents(uri=uri, mime_type=mime, text=words))


def says(*blocks: T.ContentBlock) -> Act:
    """A tool that always answers the same."""

    async def act(ctx: Context, params: Params) -> Answer:
        return T.CallToolResult(content=list(blocks))

    return act


async def failing(ctx: Context, params: Params) -> Answer:
    return T.CallToolResult(content=[text("This tool always fails.")], is_error=True)


async def with_progress(ctx: Context, params: Params) -> Answer:
    for done in (0, 50, 100):
        await ctx.session.report_progress(done, 100)
        await anyio.sleep(0.05)
    return T.CallToolResult(content=[text("done")])


async def with_logging(ctx: Context, params: Params) -> Answer:
    for words in ("started", "processing", "completed"):
        await ctx.session.send_log_message(  # pyright: ignore[reportDeprecated]
            "info", words, related_request_id=ctx.request_id
        )
        await anyio.sleep(0.05)
    return T.CallToolResult(content=[text("done")])


async def with_sampling(ctx: Context, params: Params) -> Answer:
    words = str((params.arguments or {}).get("prompt", ""))
    answer = await ctx.session.create_message(  # pyright: ignore[reportDeprecated]
        [T.SamplingMessage(role="user", content=text(words))],
        max_tokens=100,
        related_request_id=ctx.request_id,
    )
    return T.CallToolResult(content=[text(f"LLM response: {answer.content}")])


async def needs_sampling(ctx: Context, params: Params) -> Answer:
    able = ctx.session.client_capabilities
    if able is None or able.sampling is None:
        needed: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(T.MISSING_REQUIRED_CLIENT_CAPABILITY, "Sampling is needed.", needed)
    return T.CallToolResult(content=[text("ok")])


async def region(ctx: Context, params: Params) -> Answer:
    return T.CallToolResult(content=[text(str((params.arguments or {}).get("region", "none")))])


def changing(hub: Hub, event: ToolsListChanged | PromptsListChanged) -> Act:
    async def act(ctx: Context, params: Params) -> Answer:
        await hub.publish("local", event)
        return T.CallToolResult(content=[text("changed")])

    return act


def prompt(name: str, *arguments: str) -> T.Prompt:
    return T.Prompt(
        name=name,
        description=f"Fixture {name}",
        arguments=[T.PromptArgument(name=one, required=True) for one in arguments],
    )


PROMPTS = (
    prompt("test_simple_prompt"),
    prompt("test_prompt_with_arguments", "arg1", "arg2"),
    prompt("test_prompt_with_embedded_resource", "resourceUri"),
    prompt("test_prompt_with_image"),
    prompt("test_input_required_result_prompt"),
)


def prompt_blocks(name: str, given: Mapping[str, str]) -> list[T.ContentBlock]:
    match name:
        case "test_simple_prompt":
            return [text("This is a simple prompt for testing.")]
        case "test_prompt_with_arguments":
            first, second = given["arg1"], given["arg2"]
            return [text(f"Prompt with arguments: arg1='{first}', arg2='{second}'")]
        case "test_prompt_with_embedded_resource":
            return [embedded(given["resourceUri"]), text("Please process it.")]
        case _:
            return [image(), text("Please analyze it.")]


RESOURCES = (
    T.Resource(uri="test://static-text", name="static-text", mime_type="text/plain"),
    T.Resource(uri="test://static-binary", name="static-binary", mime_type="image/png"),
    T.Resource(uri="test://watched-resource", name="watched", mime_type="text/plain"),
)
TEMPLATE = T.ResourceTemplate(uri_template="test://template/{id}/data", name="template")


def resource(uri: str) -> T.ReadResourceResult | None:
    match uri:
        case "test://static-binary":
            blob = T.BlobResourceContents(uri=uri, mime_type="image/png", blob=PIXEL)
            return T.ReadResourceResult(contents=[blob])
        case "test://static-text" | "test://watched-resource":
            return _text(uri, "This is the content of the static text resource.", "text/plain")
        case _ if uri.startswith("test://template/") and uri.endswith("/data"):
            id = uri.removeprefix("test://template/").removesuffix("/data")
            words = f'{{"id":"{id}","templateTest":true,"data":"Data for ID: {id}"}}'
            return _text(uri, words, "application/json")
        case _:
            return None


def _text(uri: str, words: str, mime: str) -> T.ReadResourceResult:
    contents = T.TextResourceContents(uri=uri, mime_type=mime, text=words)
    return T.ReadResourceResult(contents=[contents])


def simple_schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}
