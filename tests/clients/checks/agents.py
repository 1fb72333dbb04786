"""What agents that run at night show their models: Gemini CLI, Qwen Code, opencode, Continue and mcp-use.

The programs are the real ones, as in checks/frameworks.py, which judges. Gemini CLI, Qwen Code and opencode have Bailiwick
over stdio as `bailiwick client add` writes it, and so has Continue's `cn`. Not here, since no registry of Python or Node
has them as programs that run without a screen: goose, Cline, Junie and LM Studio.
"""

import json
import subprocess
from pathlib import Path

from harness.models import KEY
from harness.patience import PATIENCE
from harness.plan import Clients, client_home
from harness.product import Product
from harness.report import Report

from . import frameworks, long_commands
from .frameworks import SERVER, Agent, judge, listed, prepare

# What is fetched beside the provider would leave this computer.
NOWHERE = "http://127.0.0.1:9"
# Gemini CLI and Qwen Code send nothing home and fetch no newer version.
QUIET = {
    "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False},
    "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
}


def install(product: Product, home: Path, client: str) -> None:
    """Has Bailiwick write its entry into the settings file of a client."""
    words = [*product.program, "client", "install", client, "--yes"]
    subprocess.run(words, env={**product.environment, "HOME": str(home)}, check=True, capture_output=True)


def connect(product: Product, home: Path, client: str, file: str, settings: dict) -> None:
    """Has Bailiwick write its entry into the settings file of a client, and adds further settings."""
    install(product, home, client)
    path = home / file
    path.write_text(json.dumps({**json.loads(path.read_text()), **settings}))


def gemini_cli(product: Product, home: Path, models: str) -> tuple:
    """Gemini CLI: its words and variables."""
    connect(product, home, "gemini", ".gemini/settings.json", {
        "security": {"auth": {"selectedType": "gemini-api-key"}}, **QUIET,
    })
    variables = {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": models, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    return ("gemini", "-m", "gemini-2.5-flash", "--yolo", "-p", "Look."), variables


def qwen_code(product: Product, home: Path, models: str) -> tuple:
    """Qwen Code: its words and variables."""
    connect(product, home, "qwen", ".qwen/settings.json", {"security": {"auth": {"selectedType": "openai"}}, **QUIET})
    variables = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{models}/v1", "OPENAI_MODEL": "qwen3-vl-plus"}
    return ("qwen", "--auth-type", "openai", "--yolo", "-p", "Look."), variables


def opencode(product: Product, home: Path, models: str) -> tuple:
    """opencode: its words and variables."""
    provider = {
        "npm": "@ai-sdk/openai-compatible", "name": "Fake", "options": {"baseURL": f"{models}/v1", "apiKey": KEY},
        "models": {"fake-1": {"name": "Fake", "attachment": True, "tool_call": True, "modalities": {"input": ["text", "image"], "output": ["text"]}}},
    }
    connect(product, home, "opencode", ".config/opencode/opencode.json", {
        "$schema": "https://opencode.ai/config.json", "autoupdate": False, "share": "disabled", "model": "fake/fake-1",
        "small_model": "fake/fake-1", "provider": {"fake": provider}, "permission": "allow",
    })
    variables = {
        "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1", "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    }
    return ("opencode", "run", "Look."), variables


def continue_cli(product: Product, home: Path, models: str) -> tuple:
    """Continue's `cn`: its words and variables."""
    settings = home / ".continue" / "config.yaml"
    settings.parent.mkdir()
    settings.write_text(CONTINUE_SETTINGS.replace("MODELS", f"{models}/v1").replace("KEY", KEY))
    install(product, home, "cn")
    variables = {"CONTINUE_TELEMETRY_ENABLED": "0", "CONTINUE_ALLOW_ANONYMOUS_TELEMETRY": "0"}
    return ("cn", "--config", str(settings), "--auto", "-p", "Look."), variables


CONTINUE_SETTINGS = """# What a user has.
name: checks
version: 1.0.0
schema: v1
models:
  - name: fake # the only one
    provider: openai
    model: fake-1
    apiBase: MODELS
    apiKey: KEY
    roles: [chat]
    capabilities: [tool_use, image_input]
"""
QWEN = {
    "list": "it names tools in a text, and shows them once its model searches for them",
    "schemas": "it shows schemas once its model searches for them",
    "error": "it writes the whole result beside the text of an error",
}
CONTINUE = {"plain": "it gives its model the list of blocks as JSON", "picture": "it gives its model base64 as text"}
MCP_USE = {
    "schemas": "it makes classes of schemas, without `enum`",
    "error": "it writes the message of an error three times, with a stack of its own",
}
PROGRAMS = (
    ("gemini-cli", Agent("Gemini CLI"), gemini_cli),
    ("qwen-code", Agent("Qwen Code", limits=QWEN), qwen_code),
    ("opencode", Agent("opencode"), opencode),
    ("continue", Agent("Continue", limits=CONTINUE), continue_cli),
)


def run_program(command: tuple, variables: dict, program: Path, clients: Clients, product: Product, home: Path) -> dict:
    """Runs an agent to its end and returns what it said."""
    environment = {
        **product.environment, "PATH": f"{clients.node.parent}:{product.environment['PATH']}", "HOME": str(home),
        "HTTPS_PROXY": NOWHERE, "NO_PROXY": "127.0.0.1,localhost", "NO_COLOR": "1", "TERM": "dumb", **variables,
    }
    try:
        done = subprocess.run(
            [str(program), *command[1:]], env=environment, cwd=product.project, capture_output=True, text=True, errors="replace",
            timeout=6 * PATIENCE, stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired as late:
        return {"broken": f"no end: {late.stdout!r}\n{late.stderr!r}"}
    said = {"said": done.stdout + done.stderr}
    return said if done.returncode == 0 else {"broken": f"exit {done.returncode}\n{done.stdout[-1500:]}\n{done.stderr[-2500:]}"}


def run(report: Report, clients: Clients, product: Product, folder: Path) -> None:
    """Runs every agent."""
    prepare(product)
    product.let_sleep(*long_commands.CAPABILITIES)
    tools = listed(product, product.token("agents"))
    for part, agent, make in PROGRAMS:
        program = clients.program(part, {"gemini-cli": "gemini", "qwen-code": "qwen", "continue": "cn"}.get(part, part))
        if not program:
            report.skip(agent.name, f"{part} is not installed; run tests/clients/install --at-night")
            continue
        for kind, models in (("usual", frameworks.usual()), ("long", long_commands.models(SERVER, long_commands.AT_NIGHT))):
            home = client_home(folder, f"home-{part}-{kind}")
            with models:
                command, variables = make(product, home, models.url)
                said = run_program(command, variables, program, clients, product, home)
                if kind == "usual":
                    judge(report, agent, agent.name, said, models, tools)
                else:
                    long_commands.judge(report, agent.name, said, models)
    others = {"frameworks-mcp-1": (Agent("mcp-use", limits=MCP_USE),)}
    frameworks.run(report, clients, product, folder, others, long_commands.AT_NIGHT)
