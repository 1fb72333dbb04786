"""What `bailiwick client` writes, read back by the real programs: Claude Code, Codex, and the tools for bundles.

Each starts or reaches the real binary by what is in its settings, and nothing else tells it where Bailiwick is.
"""

import json
import os
import shlex
import subprocess
import threading
from pathlib import Path

from harness.patience import PATIENCE
from harness.plan import Clients, client_home
from harness.product import Product
from harness.report import Report

MISSING = "is not installed; run tests/clients/install"
REGISTRY_NAME = "io.github.example/bailiwick"
PUBLISHED = "https://example.org/bailiwick.mcpb"


class Person:
    """A person with a home folder, clients in it, and Bailiwick."""

    def __init__(self, installed: Clients, product: Product, home: Path) -> None:
        self.product = product
        self.home = home
        path = f"{installed.node.parent}:{product.environment['PATH']}"
        self.environment = {**product.environment, "HOME": str(home), "PATH": path, "CODEX_HOME": str(home / ".codex")}

    def run(self, *command, given: str = "", cwd: Path = None, token: str = "", **variables) -> subprocess.CompletedProcess:
        """Runs a program as the user, with these variables."""
        environment = {**self.environment, **({"BAILIWICK_TOKEN": token} if token else {}), **variables}
        return subprocess.run(
            [str(part) for part in command], input=given, capture_output=True, text=True, timeout=3 * PATIENCE, env=environment,
            cwd=cwd or self.product.project,
        )

    def bailiwick(self, *arguments: str) -> subprocess.CompletedProcess:
        """Runs a command of Bailiwick."""
        return self.run(self.product.binary, *arguments)

    def state(self, client: str) -> str:
        """Gives the state of the connection of a client, as `client list` tells it."""
        listed = json.loads(self.bailiwick("client", "list", "--json").stdout)
        return next(it["state"] for it in listed["clients"] if it["client"] == client)


def claude_code(report: Report, installed: Clients, person: Person, token: str) -> None:
    """Claude Code connects by its settings, rewrites them, and they are still ours to take out."""
    claude = installed.program("applications", "claude")
    if not claude:
        report.skip("Claude Code", MISSING)
        return
    for way, flags in (("stdio", ()), ("http", ("--http",))):
        done = person.bailiwick("client", "install", "claude-code", *flags, "--yes")
        report.check(f"claude-code {way}: is installed", done.returncode == 0, done.stdout + done.stderr)
        seen = person.run(claude, "mcp", "get", "bailiwick", token=token)
        report.check(f"claude-code {way}: connects", "Connected" in seen.stdout, seen.stdout + seen.stderr)
        report.check(f"claude-code {way}: reads the way", f"Type: {way}" in seen.stdout, seen.stdout)
        report.check(f"claude-code {way}: `client list` says so too", person.state("claude-code") == "connected")
    written = (person.home / ".claude.json").read_text()
    report.check("claude-code: its settings hold no token", token not in written)
    done = person.bailiwick("client", "remove", "claude-code", "--yes")
    report.check("claude-code: is taken out", done.returncode == 0, done.stdout + done.stderr)
    seen = person.run(claude, "mcp", "get", "bailiwick")
    report.check("claude-code: finds nothing any more", seen.returncode != 0, seen.stdout)
    # What Claude Code itself adds is known as Bailiwick's.
    environment = [part for name in ("BAILIWICK_HOME",) for part in ("-e", f"{name}={person.environment[name]}")]
    added = person.run(claude, "mcp", "add", "bailiwick", "-s", "user", *environment, "--", person.product.binary, "mcp")
    report.check("claude-code: `claude mcp add` gives the same", person.state("claude-code") == "connected", added.stderr)
    nothing = person.bailiwick("client", "install", "claude-code")
    report.check("claude-code: there is nothing to change then", "nothing to change" in nothing.stdout, nothing.stdout)
    person.bailiwick("client", "remove", "claude-code", "--yes")
    # A project's settings: read, and left to the user's approval.
    done = person.bailiwick("client", "install", "claude-code", "--project", ".", "--yes")
    seen = person.run(claude, "mcp", "list")
    report.check("claude-code project: the entry is read", "bailiwick" in seen.stdout, done.stderr + seen.stdout)
    person.bailiwick("client", "remove", "claude-code", "--project", ".", "--yes")
    report.check("claude-code project: the file is gone again", not (person.product.project / ".mcp.json").exists())


def codex(report: Report, installed: Clients, person: Person, token: str) -> None:
    """Codex reads the entry, and its app server connects by it and lists the tools."""
    program = installed.program("codex", "codex")
    if not program:
        report.skip("Codex", "is not installed; run tests/codex/install")
        return
    settings = person.home / ".codex" / "config.toml"
    settings.parent.mkdir()
    before = '# mine\nmodel = "gpt-x"  # for now\n'
    settings.write_text(before)
    for way, flags in (("stdio", ()), ("http", ("--http",))):
        done = person.bailiwick("client", "install", "codex", *flags, "--yes")
        report.check(f"codex {way}: is installed", done.returncode == 0, done.stdout + done.stderr)
        listed = person.run(program, "mcp", "get", "bailiwick", "--json")
        expected = str(person.product.binary) if way == "stdio" else person.product.url
        report.check(f"codex {way}: reads the entry", expected in listed.stdout, listed.stdout + listed.stderr)
        server = codex_status(person, program, token)
        tools = set(server.get("tools", {}))
        report.check(f"codex {way}: connects and lists the tools", {"computer_operation", "computer_query"} <= tools, server)
        report.check(f"codex {way}: `client list` says so too", person.state("codex") == "connected")
    report.check("codex: its settings hold no token", token not in settings.read_text())
    person.bailiwick("client", "remove", "codex", "--yes")
    report.check("codex: the file is as it was", settings.read_text() == before, settings.read_text())
    variable = f"BAILIWICK_HOME={person.environment['BAILIWICK_HOME']}"
    person.run(program, "mcp", "add", "bailiwick", "--env", variable, "--", person.product.binary, "mcp")
    report.check("codex: `codex mcp add` gives the same", person.state("codex") == "connected", settings.read_text())
    person.bailiwick("client", "remove", "codex", "--yes")
    report.check("codex: comments are kept", before.strip() in settings.read_text(), settings.read_text())


def codex_status(person: Person, program: Path, token: str) -> dict:
    """Asks Codex's app server about its MCP servers; gives what it says of Bailiwick."""
    process = subprocess.Popen(
        [str(program), "app-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True, env={**person.environment, "BAILIWICK_TOKEN": token}, cwd=person.product.project,
    )
    # Codex that says nothing is ended, which ends the lines.
    limit = threading.Timer(2 * PATIENCE, process.kill)
    limit.start()
    try:
        info = {"name": "check", "title": "check", "version": "1"}
        for message in (
            {"method": "initialize", "id": 0, "params": {"clientInfo": info}},
            {"method": "initialized"},
            {"method": "mcpServerStatus/list", "id": 1, "params": {}},
        ):
            process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        for line in process.stdout:
            answer = json.loads(line)
            if answer.get("id") == 1:
                servers = answer.get("result", {}).get("data", [])
                return next((it for it in servers if it["name"] == "bailiwick"), answer)
        return {}
    finally:
        limit.cancel()
        process.kill()
        process.wait()


def bundles(report: Report, installed: Clients, person: Person, folder: Path) -> None:
    """The bundle is valid, unpacks, and its program answers; the registry's entry follows the registry's rules."""
    mcpb = installed.program("applications", "mcpb")
    if not mcpb:
        report.skip("bundles", MISSING)
        return
    folder.mkdir()
    # A small program in place of Bailiwick, which it starts: a debug build takes half a minute to compress.
    program = folder / "bailiwick"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(str(person.product.binary))} "$@"\n')
    program.chmod(0o755)
    entry = folder / "registry" / "server.json"
    entry.parent.mkdir()
    out = folder / "bailiwick.mcpb"
    done = person.bailiwick(
        "client", "mcpb", "--out", str(out), "--binary", str(program), "--platform", "linux", "--json",
        "--server-json", str(entry), "--registry-name", REGISTRY_NAME, "--url", PUBLISHED,
    )
    report.check("mcpb: the bundle is made", done.returncode == 0, done.stdout + done.stderr)
    unpacked = folder / "unpacked"
    done = person.run(mcpb, "unpack", out, unpacked)
    report.check("mcpb: its own tool unpacks it", done.returncode == 0, done.stdout + done.stderr)
    done = person.run(mcpb, "validate", unpacked / "manifest.json")
    report.check("mcpb: its own tool finds the manifest valid", done.returncode == 0, done.stdout + done.stderr)
    manifest = json.loads((unpacked / "manifest.json").read_text())
    packed = unpacked / manifest["server"]["entry_point"]
    same = packed.read_bytes() == program.read_bytes() and os.access(packed, os.X_OK)
    report.check("mcpb: the program in it is the one that was named, and can be started", same, packed)
    config = manifest["server"]["mcp_config"]
    command = config["command"].replace("${__dirname}", str(unpacked))
    info = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    said = (
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": info},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    )
    try:
        done = person.run(command, *config["args"], given="".join(json.dumps(message) + "\n" for message in said))
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        listed = next(it["result"]["tools"] for it in answers if it.get("id") == 2)
        seen = {tool["name"] for tool in listed}
    except (OSError, StopIteration, ValueError) as error:
        seen = error
    named = {tool["name"] for tool in manifest["tools"]}
    report.check("mcpb: the unpacked program answers, and has the tools that the manifest names", seen == named, seen)
    rules = installed.program("registry-rules", "skillsaw")
    if not rules:
        report.skip("server.json", MISSING)
        return
    done = person.run(rules, "lint", entry.parent)
    valid = done.returncode == 0 and "mcp-registry" in done.stdout and "Errors:   0" in done.stdout
    report.check("server.json: follows the registry's schema and rules", valid, done.stdout + done.stderr)
    entry.write_text(entry.read_text().replace(REGISTRY_NAME, "bailiwick"))
    done = person.run(rules, "lint", entry.parent)
    report.check("server.json: these rules do refuse a wrong one", done.returncode != 0, done.stdout)


def run(report: Report, installed: Clients, running: Product, folder: Path) -> None:
    """Runs the group against a product whose service runs."""
    # The entry names the port of the config, not the one that this service was started with.
    config = running.home / "config" / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "port": running.port}))
    token = running.token("settings")
    person = Person(installed, running, client_home(folder, "person"))
    claude_code(report, installed, person, token)
    codex(report, installed, person, token)
    bundles(report, installed, person, folder / "bundle")
