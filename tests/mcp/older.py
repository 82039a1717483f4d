# type: ignore - it is checked by running it against an SDK that is not installed here
"""The whole journey with the protocol's older SDK (mcp 1.x), run by a Python that has only that.

`stdio COMMAND…`, `http URL` or `sse URL`; prints one JSON document of what it saw."""

import json
import os
import sys

import anyio
import mcp.types as T
from mcp import ClientSession, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


async def journey(read, write) -> dict:
    heard: list[str] = []
    changed = anyio.Event()

    async def on_message(message) -> None:
        if isinstance(message, T.ServerNotification):
            heard.append(message.root.method)
            if message.root.method == "notifications/resources/updated":
                changed.set()

    async def person(context, params):
        (name,) = params.requestedSchema["properties"]
        return T.ElicitResult(action="accept", content={name: "typed into the form"})

    async with ClientSession(
        read, write, message_handler=on_message, elicitation_callback=person
    ) as client:
        hello = await client.initialize()
        page = await client.list_resources()
        before = page.resources
        while page.nextCursor is not None:
            page = await client.list_resources(cursor=page.nextCursor)
            before += page.resources
        fork = await client.call_tool("fork", {})
        session = fork.structuredContent["session"]
        await client.subscribe_resource(fork.structuredContent["uri"])
        asked = await client.get_prompt("converse", {"session": session})
        answer = await client.call_tool("converse", {"session": session, "message": "hello"})
        with anyio.fail_after(5):
            await changed.wait()
        note = await client.call_tool("merge", {"session": session, "note": "mine"})
        page = await client.read_resource(fork.structuredContent["uri"])
        template = T.ResourceTemplateReference(type="ref/resource", uri="sidechat://sessions/{id}")
        values = await client.complete(template, {"name": "id", "value": session[:4]})
        prompt = await client.get_prompt("merge", {"session": session})
        return {
            "version": hello.protocolVersion,
            "tools": [tool.name for tool in (await client.list_tools()).tools],
            "before": len({one.uri for one in before}),
            "asked": "You said: typed into the form" in asked.messages[0].content.text,
            "answer": answer.structuredContent["answer"],
            "note": note.structuredContent["text"],
            "read": "hello" in page.contents[0].text,
            "completed": session in values.completion.values,
            "prompt": "sidechat-note" in prompt.messages[0].content.text,
            "heard": sorted(set(heard)),
        }


async def main() -> None:
    kind, *rest = sys.argv[1:]
    if kind == "stdio":
        server = stdio_client(
            StdioServerParameters(command=rest[0], args=rest[1:], env={**os.environ})
        )
    elif kind == "sse":
        server = sse_client(rest[0])
    else:
        server = streamablehttp_client(rest[0])
    seen = None
    try:
        async with server as streams:
            seen = await journey(*streams[:2])
    except* anyio.BrokenResourceError:
        pass  # This client falls over a message that arrives while it closes.
    print(json.dumps(seen))  # noqa: T201 - what it is for


anyio.run(main)
