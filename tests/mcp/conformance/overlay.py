"""Puts the suite's names beside the shipped ones on a built server; every other request goes to
the shipped handler."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import mcp.types as T
from mcp.server.subscriptions import PromptsListChanged, ToolsListChanged

from sidechat_mcp.surfaces.mcp.errors import Context
from sidechat_mcp.surfaces.mcp.server import SidechatServer
from tests.mcp.conformance import contents, rounds
from tests.mcp.conformance.contents import Act, embedded, image, says, simple_schema, text

TEXT = {"type": "string"}


def put_around(server: SidechatServer) -> None:
    tools = _Tools(server)
    _beside(server, "tools/list", tools.list)
    _beside(server, "tools/call", tools.call)
    _beside(server, "prompts/list", _list_prompts)
    _beside(server, "prompts/get", _get_prompt)
    _beside(server, "resources/list", _list_resources)
    _beside(server, "resources/templates/list", _list_templates)
    _beside(server, "resources/read", _read_resource)

    async def watch(ctx: Context, params: Any, shipped: Shipped) -> Any:
        if params.uri != "test://watched-resource":
            return await shipped(ctx, params)
        server.hub.subscribe("local", ctx.session, params.uri)
        return T.EmptyResult()

    _beside(server, "resources/subscribe", watch)
    server.add_request_handler("logging/setLevel", T.SetLevelRequestParams, _set_level)
    shipped_schema = server.get_tool_input_schema

    def schema(name: str) -> Any:
        return tools.schemas.get(name) or (shipped_schema(name) if shipped_schema else None)

    server.get_tool_input_schema = schema


Shipped = Callable[[Context, Any], Awaitable[Any]]
Beside = Callable[[Context, Any, Shipped], Awaitable[Any]]


def _beside(server: SidechatServer, method: str, handler: Beside) -> None:
    entry = server.get_request_handler(method)
    assert entry is not None
    shipped = entry.handler

    async def handle(ctx: Context, params: Any) -> Any:
        return await handler(ctx, params, shipped)

    server.add_request_handler(method, entry.params_type, handle)


class _Tools:
    def __init__(self, server: SidechatServer) -> None:
        self.acts = _acts(server)
        self.schemas: dict[str, Any] = {
            "test_sampling": simple_schema(prompt=TEXT),
            "test_elicitation": simple_schema(message=TEXT),
            "test_x_mcp_header": simple_schema(region={**TEXT, "x-mcp-header": "Region"}),
            "json_schema_2020_12_tool": SCHEMA_2020_12,
        }

    async def list(self, ctx: Context, params: Any, shipped: Shipped) -> Any:
        result = await shipped(ctx, params)
        ours = [
            T.Tool(
                name=name,
                description=f"Fixture {name}",
                input_schema=self.schemas.get(name, simple_schema()),
            )
            for name in self.acts
        ]
        return result.model_copy(update={"tools": [*result.tools, *ours]})

    async def call(self, ctx: Context, params: Any, shipped: Shipped) -> Any:
        act = self.acts.get(params.name)
        return await (shipped(ctx, params) if act is None else act(ctx, params))


def _acts(server: SidechatServer) -> dict[str, Act]:
    sound = T.AudioContent(data=contents.SILENCE, mime_type="audio/wav")
    mixed = embedded("test://mixed-content-resource", '{"test":"data"}', "application/json")
    acts: dict[str, Act] = {
        "test_simple_text": says(text("This is a simple text response for testing.")),
        "test_image_content": says(image()),
        "test_audio_content": says(sound),
        "test_embedded_resource": says(embedded("test://embedded-resource")),
        "test_multiple_content_types": says(text("Several kinds of content:"), image(), mixed),
        "test_error_handling": contents.failing,
        "test_tool_with_progress": contents.with_progress,
        "test_tool_with_logging": contents.with_logging,
        "test_logging_tool": contents.with_logging,
        "test_sampling": contents.with_sampling,
        "test_missing_capability": contents.needs_sampling,
        "test_elicitation": rounds.asks_now(rounds.PLAIN),
        "test_elicitation_sep1034_defaults": rounds.asks_now(rounds.DEFAULTS),
        "test_elicitation_sep1330_enums": rounds.asks_now(rounds.ENUMS),
        "test_streaming_elicitation": rounds.streams_then_asks,
        "test_x_mcp_header": contents.region,
        "json_schema_2020_12_tool": says(text("ok")),
        "test_trigger_tool_change": contents.changing(server.hub, ToolsListChanged()),
        "test_trigger_prompt_change": contents.changing(server.hub, PromptsListChanged()),
    }
    for name, act in rounds.ROUNDS.items():
        acts[f"test_input_required_result_{name}"] = act
    return acts


async def _list_prompts(ctx: Context, params: Any, shipped: Shipped) -> Any:
    result = await shipped(ctx, params)
    return result.model_copy(update={"prompts": [*result.prompts, *contents.PROMPTS]})


async def _get_prompt(ctx: Context, params: Any, shipped: Shipped) -> Any:
    if params.name not in {prompt.name for prompt in contents.PROMPTS}:
        return await shipped(ctx, params)
    if params.name == "test_input_required_result_prompt":
        if "user_context" not in (params.input_responses or {}):
            wanted: rounds.Requests = {
                "user_context": rounds.form("Which context?", context="string")
            }
            return T.InputRequiredResult(input_requests=wanted)
        blocks: list[T.ContentBlock] = [text("Use the context.")]
    else:
        blocks = contents.prompt_blocks(params.name, params.arguments or {})
    return T.GetPromptResult(
        messages=[T.PromptMessage(role="user", content=block) for block in blocks]
    )


async def _list_resources(ctx: Context, params: Any, shipped: Shipped) -> Any:
    result = await shipped(ctx, params)
    return result.model_copy(update={"resources": [*result.resources, *contents.RESOURCES]})


async def _list_templates(ctx: Context, params: Any, shipped: Shipped) -> Any:
    result = await shipped(ctx, params)
    every = [*result.resource_templates, contents.TEMPLATE]
    return result.model_copy(update={"resource_templates": every})


async def _read_resource(ctx: Context, params: Any, shipped: Shipped) -> Any:
    found = contents.resource(params.uri)
    return await shipped(ctx, params) if found is None else found


async def _set_level(ctx: Context, params: T.SetLevelRequestParams) -> T.EmptyResult:
    return T.EmptyResult()


SCHEMA_2020_12 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": TEXT, "city": TEXT},
        }
    },
    "properties": {
        "name": TEXT,
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {**TEXT, "enum": ["phone", "email"]},
        "phone": TEXT,
        "email": TEXT,
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
