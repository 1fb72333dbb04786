"""What a real client is made to do, and the programs that do it.

A plan goes to a driver as JSON on standard input:

    {"transport": {"kind": "stdio", "command": [...], "env": {...}} | {"kind": "http", "url": "…", "token": "…"},
     "mode": "…", "steps": [{"name": "…", "tool": "…", "arguments": {...}, "cancelAfterMs": 400, "progress": true}, …]}

`<processId>` in a step stands for the last process id that an answer had.

The driver connects by its own client library, lists the tools, makes the calls in order, and prints one JSON object:
`{"protocol", "instructions", "list": {"tools": […]}, "results": {name: result | {"raised"} | {"cancelled"}}}`, and where
it knows prompts `"prompts": {"prompts": […]}` and as `"prompt"` what `prompts/get` gives for `orient`.
It judges nothing: that is done once, for all clients, in checks/clients.py.
"""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .wire import plain_environment

DRIVERS = Path(__file__).parent.parent / "drivers"


@dataclass(frozen=True)
class Client:
    """One client in one way of negotiating the protocol."""

    name: str
    mode: str
    """The revisions that it may end up with."""
    protocols: tuple
    can_cancel: bool = True


CLIENTS = (
    Client("python-new", "auto", ("2026-07-28",)),
    Client("python-new", "legacy", ("2025-11-25",)),
    Client("python-old", "default", ("2025-11-25",)),
    Client("typescript-old", "default", ("2025-11-25",)),
    Client("typescript-new", "default", ("2025-11-25",)),
    Client("typescript-new", "auto", ("2026-07-28",)),
    Client("inspector", "legacy", ("2025-11-25",), can_cancel=False),
    Client("inspector", "modern", ("2026-07-28",), can_cancel=False),
)


class Clients:
    """The installed clients below one folder (tests/clients/install makes it)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.node = folder / "node" / "node"
        self.modules = folder / "packages" / "node_modules"

    def missing(self, client: Client) -> str:
        """Says what is missing of a client; empty when it is there."""
        needed = {
            "python-new": self.folder / "python-new" / "bin" / "python",
            "python-old": self.folder / "python-old" / "bin" / "python",
            "typescript-old": self.modules / "@modelcontextprotocol" / "sdk",
            "typescript-new": self.modules / "@modelcontextprotocol" / "client",
            "inspector": self.inspector(),
        }[client.name]
        if client.name.startswith("python") or self.node.exists():
            return "" if needed.exists() else f"{needed.name} is not installed; run tests/clients/install"
        return "Node is not installed; run tests/clients/install"

    def inspector(self) -> Path:
        """Gives the program of the Inspector."""
        return self.modules / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"

    def conformance(self) -> Path:
        """Gives the program of the conformance suite."""
        return self.modules / "@modelcontextprotocol/conformance/dist/index.js"

    def environment(self, home: Path) -> dict:
        """Gives the environment of a client process; its own files go below `home`."""
        return {**plain_environment(), "HOME": str(home), "CLIENT_PACKAGES": str(self.folder / "packages")}

    def converse(self, client: Client, transport: dict, steps: list, home: Path) -> dict:
        """Runs a plan and gives what the client saw, or `{"broken": why}`."""
        if client.name == "inspector":
            return self._inspect(client, transport, steps, home)
        if client.name.startswith("python"):
            program = [self.folder / client.name / "bin" / "python", DRIVERS / f"{client.name.replace('-', '_')}.py"]
        else:
            program = [self.node, DRIVERS / f"{client.name.replace('-', '_')}.mjs"]
        plan = json.dumps({"transport": transport, "mode": client.mode, "steps": steps})
        return self._run([str(part) for part in program], plan, home)

    def _run(self, command: list, given: str, home: Path, seconds: int = 120) -> dict:
        try:
            done = subprocess.run(
                command, input=given, capture_output=True, text=True, timeout=seconds, env=self.environment(home)
            )
        except subprocess.TimeoutExpired as late:
            return {"broken": f"no end after {seconds} s\n{(late.stderr or b'')[-1500:]!r}"}
        try:
            return json.loads(done.stdout)
        except ValueError:
            return {"broken": f"exit {done.returncode}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}"}

    def inspect(self, client: Client, transport: dict, home: Path, *arguments: str) -> dict:
        """Runs the Inspector CLI once; each run is a connection of its own."""
        command = [str(self.node), str(self.inspector()), "--cli", "--format", "json", "--protocol-era", client.mode]
        if transport["kind"] == "stdio":
            for name, value in transport["env"].items():
                command += ["-e", f"{name}={value}"]
            command += [*arguments, *transport["command"]]
        else:
            command += ["--server-url", transport["url"], "--transport", "http", *arguments]
            command += ["--header", f"Authorization: Bearer {transport['token']}"]
        return self._run(command, "", home)

    def _inspect(self, client: Client, transport: dict, steps: list, home: Path) -> dict:
        listed = self.inspect(client, transport, home, "--method", "tools/list")
        if "broken" in listed:
            return listed
        seen = {"list": listed.get("result", listed), "results": {}}
        process_id = ""
        for step in steps:
            arguments = json.dumps(step["arguments"]).replace("<processId>", process_id)
            called = self.inspect(
                client, transport, home, "--method", "tools/call", "--tool-name", step["tool"], "--tool-args-json", arguments
            )
            result = seen["results"][step["name"]] = called.get("result", called)
            process_id = (result.get("structuredContent", {}).get("data") or {}).get("processId", process_id)
        return seen


def client_home(folder: Path, name: str) -> Path:
    """Makes a home folder for a client's own files."""
    home = folder / name
    home.mkdir(parents=True, exist_ok=True)
    return home


def clients_folder(repository: Path) -> Path:
    """Gives the folder of the installed clients: `$CLIENTS`, or `target/clients`."""
    return Path(os.environ.get("CLIENTS", repository / "target" / "clients")).resolve()
