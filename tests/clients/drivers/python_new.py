"""Drives the newest Python client (`mcp` 2.x) through one plan and prints what it saw; see harness/plan.py."""

import asyncio
import json
import sys
import time

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client


async def call(client: Client, step: dict) -> dict:
    """Makes one call; a call that the plan cancels answers `{"cancelled": true}`."""
    told: list = []

    async def tell(progress: float, _total: float | None, message: str | None) -> None:
        told.append({"progress": progress, "message": message})

    callback = tell if step.get("progress") else None
    request = client.call_tool(step["tool"], step["arguments"], progress_callback=callback)
    try:
        if "cancelAfterMs" in step:
            async with asyncio.timeout(step["cancelAfterMs"] / 1000):
                result = await request
        else:
            result = await request
    except TimeoutError:
        return {"cancelled": True}
    except Exception as error:  # the report says what the client made of it
        return {"raised": f"{type(error).__name__}: {error}"}
    shown = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {**shown, "progress": told} if callback else shown


async def converse(server, mode: str, steps: list) -> dict:
    """Connects, lists the tools, and makes the calls one after another."""
    async with Client(server, mode=mode) as client:
        tools = (await client.list_tools()).model_dump(mode="json", by_alias=True, exclude_none=True)
        seen = {"protocol": client.protocol_version, "instructions": client.instructions, "list": tools, "results": {}}
        shown = {"mode": "json", "by_alias": True, "exclude_none": True}
        seen["prompts"] = (await client.list_prompts()).model_dump(**shown)
        seen["prompt"] = (await client.get_prompt("orient", {"folder": "src"})).model_dump(**shown)
        process_id = ""
        for planned in steps:
            step = json.loads(json.dumps(planned).replace("<processId>", process_id))
            began = time.monotonic()
            seen["results"][step["name"]] = await call(client, step)
            seen["results"][step["name"]]["tookMs"] = int((time.monotonic() - began) * 1000)
            data = seen["results"][step["name"]].get("structuredContent", {}).get("data") or {}
            process_id = data.get("processId", process_id)
        return seen


async def main() -> None:
    plan = json.load(sys.stdin)
    transport = plan["transport"]
    if transport["kind"] == "stdio":
        command, *arguments = transport["command"]
        server = StdioServerParameters(command=command, args=arguments, env=transport["env"])
        seen = await converse(server, plan["mode"], plan["steps"])
    else:
        headers = {"Authorization": f"Bearer {transport['token']}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            server = streamable_http_client(transport["url"], http_client=http)
            seen = await converse(server, plan["mode"], plan["steps"])
    print(json.dumps(seen))


asyncio.run(main())
