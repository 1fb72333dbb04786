"""What models are shown by frameworks of agents, each with its own converter of schemas and answers.

The libraries are the real ones; their provider of models is one on the loopback (harness/models.py), which has them call
tools and keeps what it was sent. The tool list is judged after conversion; of answers, that a model reads a file as it is
and once, an error with its hint once, and sees a picture.
"""

import base64
import concurrent.futures
import json
import struct
import subprocess
import zlib
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from harness.installed import folder_of, is_installed
from harness.models import LAST_WORDS, Models
from harness.patience import PATIENCE
from harness.plan import DRIVERS, Clients, client_home
from harness.product import Product
from harness.report import Report
from harness.wire import META

from . import long_commands

SERVER = "bailiwick"
TEXT = 'A "quoted" line, a back\\slash,\ta tab: cobalt-été\n'
CALLS = (
    ("computer_query", {"op": "file.read", "target": "quoted.txt"}),
    ("computer_query", {"op": "file.read", "target": "Quoted.txt"}),
    ("computer_query", {"op": "file.read", "target": "dot.png", "options": {"image": True}}),
    ("computer_query", {"op": "file.search", "input": {"query": "cobalt-"}}),
)


@dataclass(frozen=True)
class Agent:
    """One client in one way of asking its model.

    `limits` are the checks that it cannot pass whatever a server answers, with the reason. They are seen to fail.
    """

    name: str
    ways: tuple = ("stdio", "http")
    limits: dict = field(default_factory=dict)


RESULT_AS_JSON = "the library gives its model the whole result as JSON"
# By the part that has the library; what is the converter's own is judged over one transport.
FRAMEWORKS = {
    "frameworks-mcp-2": (
        Agent("openai-agents"),
        Agent("openai-agents-strict", ("http",)),
        Agent("pydantic-ai"),
        Agent("pydantic-ai-google", ("http",)),
    ),
    "frameworks-mcp-1": (
        Agent("google-genai", limits={"plain": RESULT_AS_JSON, "picture": RESULT_AS_JSON}),
        Agent("langchain"),
        Agent("langchain-google", ("http",), {"plain": "the library gives its model a list of blocks as JSON"}),
    ),
}


def dot() -> bytes:
    """Returns a PNG of four pixels."""
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = zlib.compress(b"\0\xff\0\0\xff\0\0\0\0\0\xff\0\0\xff")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 2, 8, 2, 0, 0, 0)) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def prepare(product: Product) -> None:
    """Puts what is read into the project."""
    (product.project / "quoted.txt").write_text(TEXT)
    (product.project / "dot.png").write_bytes(dot())


def listed(product: Product, token: str) -> dict:
    """Returns the tools as the product lists them, by name."""
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
    return {tool["name"]: tool for tool in product.http(token).post(asked)[2]["result"]["tools"]}


def losses(source: dict, shown: object, path: str) -> list:
    """Returns what a converter has taken from a schema."""
    if not isinstance(shown, dict):
        return [f"{path}: is {shown!r}"]
    choices = [it for it in shown.get("anyOf", []) if it.get("type") != "null"]
    if len(choices) == 1:
        shown = {**shown, **choices[0]}
    found = []
    kind = shown.get("type")
    kinds = {str(it).lower() for it in (kind if isinstance(kind, list) else [kind])} - {"null"}
    if kinds != {source["type"]}:
        found.append(f"{path}: type {kind!r} instead of {source['type']!r}")
    if "enum" in source and shown.get("enum") != source["enum"]:
        found.append(f"{path}: enum {shown.get('enum')!r}")
    if "description" in source and shown.get("description") != source["description"]:
        found.append(f"{path}: description {shown.get('description')!r}")
    if "items" in source:
        found += losses(source["items"], shown.get("items"), f"{path}[]")
    if source.get("additionalProperties") and shown.get("additionalProperties") is False:
        found.append(f"{path}: takes no fields")
    for name, inner in source.get("properties", {}).items():
        found += losses(inner, (shown.get("properties") or {}).get(name), f"{path}.{name}")
    return found


def faults_of_strict(schema: dict, path: str) -> list:
    """Returns why OpenAI would refuse a schema that is called strict."""
    found = [] if "type" in schema or "anyOf" in schema else [f"{path}: no type"]
    if schema.get("type") == "object":
        fields = schema.get("properties", {})
        if schema.get("additionalProperties") is not False or set(schema.get("required", [])) != set(fields):
            found.append(f"{path}: is open")
        for name, inner in fields.items():
            found += faults_of_strict(inner, f"{path}.{name}")
    return found + (faults_of_strict(schema["items"], f"{path}[]") if "items" in schema else [])


def judge(report: Report, agent: Agent, name: str, said: dict, models: Models, tools: dict) -> None:
    """Judges what the model of one agent was shown."""
    def check(key: str, label: str, holds: object, seen: object) -> None:
        if key not in agent.limits:
            report.check(f"{name}: {label}", holds, seen)
        elif holds:
            report.check(f"{name}: {label}: is listed as a limit of the client, and holds", False, agent.limits[key])
        else:
            report.skip(f"{name}: {label}", agent.limits[key])

    results = models.results()
    done = said.get("said") is not None and LAST_WORDS in said["said"] and len(results) == len(CALLS)
    if not report.check(f"{name}: works to its end", done, f"{said}\n{results}\n{models.lost}"):
        return
    shown = {tool: next((it for its, it in models.tools().items() if its.endswith(tool)), None) for tool in tools}
    check("list", "its model is shown the four tools", len(tools) == 4 and all(shown.values()), list(models.tools()))
    lost = [
        loss
        for tool, it in tools.items()
        if shown[tool]
        for loss in losses(it["inputSchema"], shown[tool]["schema"], tool)
        + ([] if it["description"] in shown[tool]["description"] else [f"{tool}: description {shown[tool]['description']!r}"])
    ]
    check("schemas", "its model is shown the schemas without loss", all(shown.values()) and not lost, "\n".join(lost))
    strict = [fault for tool, it in shown.items() if it and it["strict"] for fault in faults_of_strict(it["schema"], tool)]
    check("strict", "what is called strict is strict", not strict, strict)
    texts = ["\n".join(part[1] for part in result if part[0] == "text") for result in results]
    once = texts[0].count("cobalt-") == 1 and texts[0].count("version s-") == 1
    check("once", "its model reads a file once", once, texts[0])
    check("plain", "its model reads a file without escapes", TEXT in texts[0], texts[0])
    taught = texts[1].count("does not exist") == 1 and texts[1].count("`quoted.txt`") == 1
    check("error", "its model reads an error with its hint once", taught, texts[1])
    # The Gemini API writes base64 for URLs.
    images = [part[2].translate(str.maketrans("-_", "+/")) for result in results for part in result if part[0] == "image"]
    same = images == [base64.b64encode(dot()).decode()] and len(texts[2]) < 200
    check("picture", "its model sees a picture once", same, (images, texts[2]))
    found = texts[3].count("cobalt-") == 1 and "quoted.txt:1" in texts[3]
    check("object", "its model can send an object", found, texts[3])


def usual() -> Models:
    """Returns the models of most conversations."""
    return Models(SERVER, *CALLS)


def converse(part: str, agents: tuple, product: Product, tokens: dict, home: Path, environment: dict, make=usual) -> list:
    """Has the agents of a part their conversations, and returns `(agent, name, what it said, its models)`."""
    with ExitStack() as stack:
        planned, talks = [], []
        for agent in agents:
            for way in agent.ways:
                models = stack.enter_context(make())
                transport = {"kind": "http", "url": product.url, "token": tokens[way]} if way == "http" else {
                    "kind": "stdio", "command": product.command(), "env": product.client_environment,
                }
                planned.append({"driver": agent.name, "transport": transport, "models": models.url})
                talks.append((agent, f"{agent.name} {way}", models))
        command = [str(folder_of(part) / "bin" / "python"), str(DRIVERS / "frameworks.py")]
        # Nothing of what libraries send home is for this test.
        quiet = {"MCP_USE_ANONYMIZED_TELEMETRY": "false", "LANGSMITH_TRACING": "false", "NO_PROXY": "*"}
        try:
            done = subprocess.run(
                command, input=json.dumps(planned), capture_output=True, text=True, timeout=6 * PATIENCE,
                env={**environment, **quiet}, cwd=home,
            )
            said = json.loads(done.stdout)
        except subprocess.TimeoutExpired as late:
            said = [{"broken": f"no end: {late.stderr!r}"}] * len(planned)
        except ValueError:
            said = [{"broken": f"exit {done.returncode}\n{done.stdout[-500:]}\n{done.stderr[-2000:]}"}] * len(planned)
        return [(agent, name, one, models) for (agent, name, models), one in zip(talks, said)]


def run(
    report: Report, clients: Clients, product: Product, folder: Path, parts: dict | None = None,
    seconds: int = long_commands.IN_THE_GATE,
) -> None:
    """Runs the frameworks, those of each part in a process; their long commands take `seconds`."""
    parts = FRAMEWORKS if parts is None else parts
    prepare(product)
    product.let_sleep(*long_commands.CAPABILITIES)
    tokens = {"http": product.token("frameworks")}
    tools = listed(product, tokens["http"])
    home = client_home(folder, "client-home")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        running, waiting = [], []
        for part, agents in parts.items():
            if is_installed(part):
                environment = clients.environment(home)
                running.append(pool.submit(converse, part, agents, product, tokens, home, environment))
                patient = pool.submit(converse, part, agents, product, tokens, home, environment, lambda: long_commands.models(SERVER, seconds))
                waiting.append(patient)
            else:
                for agent in agents:
                    report.skip(agent.name, f"{part} is not installed; run tests/clients/install")
        for done in running:
            for agent, name, said, models in done.result():
                judge(report, agent, name, said, models, tools)
        for done in waiting:
            for _, name, said, models in done.result():
                long_commands.judge(report, name, said, models)
