"""Drives the newest Python client (`mcp` 2.x) through a plan and prints what it saw; see harness/plan.py."""

import asyncio
import json
import sys
import time
import traceback
from pathlib import Path

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client


async def expire(limit: asyncio.Timeout, file: Path) -> None:
    """Ends a limit when a file is there."""
    while not file.exists():
        await asyncio.sleep(0.02)
    limit.reschedule(asyncio.get_running_loop().time())


async def call(client: Client, step: dict) -> dict:
    """Makes one call; a call that the plan cancels answers `{"cancelled": true}`. How: harness/plan.py."""
    told: list = []

    async def tell(progress: float, _total: float | None, message: str | None) -> None:
        told.append({"progress": progress, "message": message})
        Path(step["progress"]).write_text("reported\n")

    callback = tell if step.get("progress") else None
    request = client.call_tool(step["tool"], step["arguments"], progress_callback=callback)
    try:
        if "cancelWhen" in step:
            async with asyncio.timeout(None) as limit:
                waiting = asyncio.create_task(expire(limit, Path(step["cancelWhen"])))
                try:
                    result = await request
                finally:
                    waiting.cancel()
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


async def connect(transport: dict, mode: str, steps: list) -> dict:
    """Has one conversation over a transport."""
    if transport["kind"] == "stdio":
        command, *arguments = transport["command"]
        server = StdioServerParameters(command=command, args=arguments, env=transport["env"])
        return await converse(server, mode, steps)
    else:
        headers = {"Authorization": f"Bearer {transport['token']}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            server = streamable_http_client(transport["url"], http_client=http)
            return await converse(server, mode, steps)


async def main() -> None:
    """Has all conversations of the plan."""
    plan = json.load(sys.stdin)
    conversations = []
    for planned in plan["conversations"]:
        try:
            conversations.append(await connect(planned["transport"], plan["mode"], planned["steps"]))
        except Exception:  # the report prints it
            conversations.append({"broken": traceback.format_exc()})
    print(json.dumps(conversations))


asyncio.run(main())
