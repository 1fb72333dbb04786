"""Has agents of frameworks do what their model says, by a plan on standard input:

    [{"driver": name in DRIVERS, "transport": as in harness/plan.py, "models": URL of the provider}, …]

Prints a JSON list with what each agent said last, `{"said"}`, or how it broke, `{"broken"}`. What the model got is judged from
what the provider was sent: checks/frameworks.py.
"""

import asyncio
import json
import sys
import traceback
from contextlib import AsyncExitStack

TASK = "Look."
MODEL = "fake-1"
KEY = "key-of-the-fake-provider"


def bearer(transport: dict) -> dict:
    """Returns the header with the token."""
    return {"Authorization": f"Bearer {transport['token']}"}


async def openai_agents(transport: dict, models: str, strict: bool) -> str:
    """The OpenAI Agents SDK, over the Responses API."""
    from agents import Agent, OpenAIResponsesModel, Runner, set_tracing_disabled
    from agents.mcp import MCPServerStdio, MCPServerStreamableHttp
    from openai import AsyncOpenAI

    set_tracing_disabled(True)
    if transport["kind"] == "stdio":
        command, *arguments = transport["command"]
        server = MCPServerStdio({"command": command, "args": arguments, "env": transport["env"]})
    else:
        server = MCPServerStreamableHttp({"url": transport["url"], "headers": bearer(transport)})
    async with server:
        provider = AsyncOpenAI(base_url=f"{models}/v1", api_key=KEY, max_retries=0)
        model = OpenAIResponsesModel(model=MODEL, openai_client=provider)
        config = {"convert_schemas_to_strict": strict}
        agent = Agent(name="checks", model=model, mcp_servers=[server], mcp_config=config)
        return (await Runner.run(agent, TASK, max_turns=60)).final_output


async def openai_agents_strict(transport: dict, models: str) -> str:
    """The same, with every schema made strict that can be."""
    return await openai_agents(transport, models, True)


async def pydantic_agent(transport: dict, model) -> str:
    """An agent of Pydantic AI with this model."""
    from fastmcp.client.transports import StdioTransport
    from pydantic_ai import Agent
    from pydantic_ai.mcp import MCPToolset

    if transport["kind"] == "stdio":
        command, *arguments = transport["command"]
        toolset = MCPToolset(StdioTransport(command, arguments, env=transport["env"]))
    else:
        toolset = MCPToolset(transport["url"], headers=bearer(transport))
    return (await Agent(model, toolsets=[toolset], retries=2).run(TASK)).output


async def pydantic_ai(transport: dict, models: str) -> str:
    """Pydantic AI, over chat completions."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    return await pydantic_agent(transport, OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=f"{models}/v1", api_key=KEY)))


async def pydantic_ai_google(transport: dict, models: str) -> str:
    """Pydantic AI, over the Gemini API."""
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    return await pydantic_agent(transport, GoogleModel("gemini-fake", provider=GoogleProvider(base_url=models, api_key=KEY)))


async def mcp_session(stack: AsyncExitStack, transport: dict):
    """Connects by the library `mcp` 1.x."""
    import httpx
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamable_http_client

    if transport["kind"] == "stdio":
        command, *arguments = transport["command"]
        server = StdioServerParameters(command=command, args=arguments, env=transport["env"])
        read, write = await stack.enter_async_context(stdio_client(server))
    else:
        http = await stack.enter_async_context(httpx.AsyncClient(headers=bearer(transport), timeout=60))
        read, write, _ = await stack.enter_async_context(streamable_http_client(transport["url"], http_client=http))
    session = await stack.enter_async_context(ClientSession(read, write))
    await session.initialize()
    return session


async def google_genai(transport: dict, models: str) -> str:
    """Google's library, which calls the tools of a session on its own."""
    from google import genai

    async with AsyncExitStack() as stack:
        session = await mcp_session(stack, transport)
        client = genai.Client(api_key=KEY, http_options={"base_url": models})
        answer = await client.aio.models.generate_content(model="gemini-fake", contents=TASK, config={"tools": [session]})
        return answer.text


async def langchain_agent(transport: dict, model) -> str:
    """LangChain with its adapters and this model. The loop is that of every agent."""
    from langchain_core.messages import HumanMessage
    from langchain_mcp_adapters.tools import load_mcp_tools

    async with AsyncExitStack() as stack:
        tools = {tool.name: tool for tool in await load_mcp_tools(await mcp_session(stack, transport))}
        model = model.bind_tools(list(tools.values()))
        messages: list = [HumanMessage(TASK)]
        while True:
            answer = await model.ainvoke(messages)
            messages.append(answer)
            if not answer.tool_calls:
                return answer.text
            for call in answer.tool_calls:
                messages.append(await tools[call["name"]].ainvoke({**call, "type": "tool_call"}))


async def langchain(transport: dict, models: str) -> str:
    """LangChain, over chat completions."""
    from langchain_openai import ChatOpenAI

    return await langchain_agent(transport, ChatOpenAI(model=MODEL, base_url=f"{models}/v1", api_key=KEY, max_retries=0))


async def langchain_google(transport: dict, models: str) -> str:
    """LangChain, over the Gemini API."""
    from langchain_google_genai import ChatGoogleGenerativeAI

    model = ChatGoogleGenerativeAI(model="gemini-fake", api_key=KEY, base_url=models, max_retries=1)
    return await langchain_agent(transport, model)


async def mcp_use(transport: dict, models: str) -> str:
    """The agent of mcp-use, over chat completions."""
    from langchain_openai import ChatOpenAI
    from mcp_use import MCPAgent, MCPClient

    if transport["kind"] == "stdio":
        command, *arguments = transport["command"]
        server = {"command": command, "args": arguments, "env": transport["env"]}
    else:
        server = {"url": transport["url"], "headers": bearer(transport)}
    client = MCPClient.from_dict({"mcpServers": {"bailiwick": server}})
    model = ChatOpenAI(model=MODEL, base_url=f"{models}/v1", api_key=KEY, max_retries=0)
    agent = MCPAgent(llm=model, client=client, max_steps=120)
    try:
        return await agent.run(TASK)
    finally:
        await client.close_all_sessions()


DRIVERS = {
    "openai-agents": lambda transport, models: openai_agents(transport, models, False),
    "openai-agents-strict": openai_agents_strict,
    "pydantic-ai": pydantic_ai,
    "pydantic-ai-google": pydantic_ai_google,
    "google-genai": google_genai,
    "langchain": langchain,
    "langchain-google": langchain_google,
    "mcp-use": mcp_use,
}


async def main() -> None:
    """Has all conversations of the plan."""
    said = []
    for planned in json.load(sys.stdin):
        try:
            said.append({"said": await DRIVERS[planned["driver"]](planned["transport"], planned["models"])})
        except Exception:  # the report prints it
            said.append({"broken": traceback.format_exc()})
    json.dump(said, sys.__stdout__)


# What libraries print is no answer.
sys.stdout = sys.stderr
asyncio.run(main())
