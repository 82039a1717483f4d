"""The suite's tools that ask the client something: in rounds, or over the older back channel."""

from __future__ import annotations

import json
from typing import Any

import mcp.types as T

from sidechat_mcp.surfaces.mcp.errors import Context
from tests.mcp.conformance.contents import Act, Answer, Params, text

Requests = dict[str, Any]


def form(message: str, **properties: str) -> T.ElicitRequest:
    schema = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": list(properties),
    }
    return T.ElicitRequest(
        params=T.ElicitRequestFormParams(message=message, requested_schema=schema)
    )


def sample(question: str) -> T.CreateMessageRequest:
    message = T.SamplingMessage(role="user", content=text(question))
    return T.CreateMessageRequest(
        params=T.CreateMessageRequestParams(messages=[message], max_tokens=50)
    )


def done(words: str = "All inputs were received.") -> T.CallToolResult:
    return T.CallToolResult(content=[text(words)])


def once(wanted: Requests, state: str | None = None) -> Act:
    """Asks for `wanted`, and is done when all of it (and the state) came back."""

    async def act(ctx: Context, params: Params) -> Answer:
        came = set(params.input_responses or {})
        if came >= set(wanted) and (state is None or params.request_state == state):
            return done("state-ok: all inputs were received.")
        return T.InputRequiredResult(input_requests=wanted, request_state=state)

    return act


async def three_rounds(ctx: Context, params: Params) -> Answer:
    state = json.loads(params.request_state or '{"round": 0}')
    came = params.input_responses or {}
    if state["round"] == 1 and "step1" in came:
        return T.InputRequiredResult(
            input_requests={"step2": form("Which color?", color="string")},
            request_state='{"round": 2}',
        )
    if state["round"] == 2 and "step2" in came:
        return done()
    return T.InputRequiredResult(
        input_requests={"step1": form("Which name?", name="string")},
        request_state='{"round": 1}',
    )


async def only_what_is_declared(ctx: Context, params: Params) -> Answer:
    able = ctx.session.client_capabilities
    wanted: Requests = {}
    if able is None or able.sampling is not None:
        wanted["sample"] = sample("Say hello.")
    if able is None or able.elicitation is not None:
        wanted["ask"] = form("Which name?", name="string")
    return T.InputRequiredResult(input_requests=wanted, request_state="declared")


async def streams_then_asks(ctx: Context, params: Params) -> Answer:
    await ctx.session.report_progress(1, 2)
    if params.input_responses:
        return done()
    return T.InputRequiredResult(input_requests={"user_name": form("Name?", name="string")})


def asks_now(schema: dict[str, Any]) -> Act:
    """Asks over the back channel of the older era."""

    async def act(ctx: Context, params: Params) -> Answer:
        message = str((params.arguments or {}).get("message", "Please fill this in."))
        answer = await ctx.session.elicit_form(message, schema, related_request_id=ctx.request_id)
        said = f"User response: action={answer.action}, content={json.dumps(answer.content)}"
        return done(said)

    return act


PLAIN = {
    "type": "object",
    "properties": {"response": {"type": "string", "description": "User's response"}},
    "required": ["response"],
}
DEFAULTS = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {
            "type": "string",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": {"type": "boolean", "default": True},
    },
}
_TITLED = [{"const": f"value{n}", "title": f"Option {n}"} for n in (1, 2, 3)]
_WORDS = [f"option{n}" for n in (1, 2, 3)]
ENUMS = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": _WORDS},
        "titledSingle": {"type": "string", "oneOf": _TITLED},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["One", "Two", "Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _WORDS}},
        "titledMulti": {"type": "array", "items": {"anyOf": _TITLED}},
    },
}
ROUNDS: dict[str, Act] = {
    "elicitation": once({"user_name": form("What is your name?", name="string")}),
    "sampling": once({"capital_question": sample("What is the capital of France?")}),
    "list_roots": once({"client_roots": T.ListRootsRequest()}),
    "request_state": once({"confirm": form("Sure?", ok="boolean")}, "one"),
    "multiple_inputs": once(
        {
            "user_name": form("Name?", name="string"),
            "greeting": sample("Greet them."),
            "client_roots": T.ListRootsRequest(),
        },
        "two",
    ),
    "multi_round": three_rounds,
    "tampered_state": once({"confirm": form("Sure?", ok="boolean")}, "three"),
    "capabilities": only_what_is_declared,
}
