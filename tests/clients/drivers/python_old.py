"""Drives the older Python client (`mcp` 1.30) through a plan and prints what it saw; see harness/plan.py."""

import json
import sys
import time
import traceback
from pathlib import Path

import anyio
import httpx
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


async def expire(scope: anyio.CancelScope, file: Path) -> None:
    """Cancels a scope when a file is there."""
    while not file.exists():
        await anyio.sleep(0.02)
    scope.cancel()


async def call(session: ClientSession, step: dict) -> dict:
    """Makes one call; a call that the plan cancels answers `{"cancelled": true}`. How: harness/plan.py."""
    try:
        if "cancelWhen" not in step:
            told: list = []

            async def tell(progress: float, _total: float | None, message: str | None) -> None:
                told.append({"progress": progress, "message": message})
                Path(step["progress"]).write_text("reported\n")

            callback = tell if step.get("progress") else None
            result = await session.call_tool(step["tool"], step["arguments"], progress_callback=callback)
            shown = result.model_dump(mode="json", by_alias=True, exclude_none=True)
            return {**shown, "progress": told} if callback else shown
        # This client has no cancellation of its own: the plain notification of the protocol is sent by hand.
        request_id = session._request_id
        result = None
        async with anyio.create_task_group() as group:
            group.start_soon(expire, group.cancel_scope, Path(step["cancelWhen"]))
            result = await session.call_tool(step["tool"], step["arguments"])
            group.cancel_scope.cancel()
        if result is not None:
            return result.model_dump(mode="json", by_alias=True, exclude_none=True)
        params = types.CancelledNotificationParams(requestId=request_id, reason="the client's user stopped it")
        await session.send_notification(types.ClientNotification(types.CancelledNotification(params=params)))
        return {"cancelled": True}
    except Exception as error:  # the report says what the client made of it
        return {"raised": f"{type(error).__name__}: {error}"}


async def converse(read, write, steps: list) -> dict:
    """Connects, lists the tools, and makes the calls one after another."""
    async with ClientSession(read, write) as session:
        hello = await session.initialize()
        tools = (await session.list_tools()).model_dump(mode="json", by_alias=True, exclude_none=True)
        seen = {"protocol": hello.protocolVersion, "instructions": hello.instructions, "list": tools, "results": {}}
        shown = {"mode": "json", "by_alias": True, "exclude_none": True}
        seen["prompts"] = (await session.list_prompts()).model_dump(**shown)
        seen["prompt"] = (await session.get_prompt("orient", {"folder": "src"})).model_dump(**shown)
        process_id = ""
        for planned in steps:
            step = json.loads(json.dumps(planned).replace("<processId>", process_id))
            began = time.monotonic()
            seen["results"][step["name"]] = await call(session, step)
            seen["results"][step["name"]]["tookMs"] = int((time.monotonic() - began) * 1000)
            data = seen["results"][step["name"]].get("structuredContent", {}).get("data") or {}
            process_id = data.get("processId", process_id)
        return seen


async def connect(transport: dict, steps: list) -> dict:
    """Has one conversation over a transport."""
    if transport["kind"] == "stdio":
        command, *arguments = transport["command"]
        server = StdioServerParameters(command=command, args=arguments, env=transport["env"])
        async with stdio_client(server) as (read, write):
            return await converse(read, write, steps)
    else:
        headers = {"Authorization": f"Bearer {transport['token']}"}
        async with httpx.AsyncClient(headers=headers, timeout=60) as http:
            async with streamable_http_client(transport["url"], http_client=http) as (read, write, _):
                return await converse(read, write, steps)


async def main() -> None:
    """Has all conversations of the plan."""
    plan = json.load(sys.stdin)
    conversations = []
    for planned in plan["conversations"]:
        try:
            conversations.append(await connect(planned["transport"], planned["steps"]))
        except Exception:  # the report prints it
            conversations.append({"broken": traceback.format_exc()})
    print(json.dumps(conversations))


anyio.run(main)
