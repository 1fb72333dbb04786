"""The servers, each as a model meets it: tool texts, instructions, and answers as text."""

import json
import os
from pathlib import Path

from harness.installed import folder_of
from harness.patience import PATIENCE
from harness.product import Product
from harness.wire import Stdio, plain_environment

# A network of its own with nothing but the loopback: Desktop Commander reports to its maker, and ports do not collide.
ALONE = ["unshare", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]


class Server:
    """One MCP server on one project, over stdio, or several whose tools a model has together."""

    def __init__(self, processes: list, folder: Path) -> None:
        self._processes = processes
        self._folder = folder
        self._owner: dict = {}
        self._number = 0
        self.instructions = ""
        self.tools: list = []
        self.listed: list = []
        for process in processes:
            self.instructions += process.initialize()["result"].get("instructions", "")
            listed = process.ask({"jsonrpc": "2.0", "id": "list", "method": "tools/list"})["result"]
            self.listed.append(listed)
            for tool in listed["tools"]:
                self._owner[tool["name"]] = process
                self.tools.append(tool)

    def call(self, tool: str, arguments: dict) -> tuple:
        """Calls a tool; returns the text as a model reads it, and whether it is an error."""
        self._number += 1
        process = self._owner[tool]
        params = {"name": tool, "arguments": arguments}
        reply = process.ask({"jsonrpc": "2.0", "id": self._number, "method": "tools/call", "params": params}, 3 * PATIENCE)
        if reply is None:
            raise RuntimeError(f"{tool} did not answer: {''.join(process.errors[-20:])}")
        if "error" in reply:
            return reply["error"]["message"], True
        result = reply["result"]
        text = "\n".join(block["text"] for block in result["content"] if block["type"] == "text")
        return text, bool(result.get("isError"))

    def close(self) -> None:
        """Ends the processes."""
        for process in self._processes:
            process.close(5)


class Bailiwick:
    """The product with the preset for agents that run commands."""

    name = "Bailiwick"

    def __init__(self, binary: Path, home: Path) -> None:
        self.binary = binary
        self.home = home

    def open(self, project: Path) -> Server:
        """Sets the product up for a project and starts it as a client does."""
        installation = self.home / project.parent.name
        environment = {**plain_environment(), "BAILIWICK_HOME": str(installation)}
        product = Installation(self.binary, project, environment)
        product.cli("setup", str(project), "--id", "shop", "--preset", "full", "--yes")
        return Server([Stdio([str(self.binary), "mcp"], environment)], project)


class Installation(Product):
    """An installation on a project that is there."""

    def __init__(self, binary: Path, project: Path, environment: dict) -> None:
        self.binary = binary
        self.project = project
        self._environment = environment
        self.service = None

    @property
    def environment(self) -> dict:
        """The environment of every process of this installation."""
        return self._environment


class Peer:
    """A server of npm, in a network of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        home.mkdir(parents=True, exist_ok=True)
        self.modules = folder_of("agent-peers") / "node_modules"
        self.node = str(folder_of("node") / "node")
        # Desktop Commander runs login shells; whoever has cargo has it on their path there, too.
        (home / ".profile").write_text(f"export PATH='{os.environ['PATH']}'\n")

    def start(self, script: str, *arguments: str) -> Stdio:
        """Starts a script of a package."""
        environment = {**plain_environment(), "HOME": str(self.home)}
        for name in ("CARGO_HOME", "RUSTUP_HOME"):
            environment[name] = os.environ.get(name, str(Path.home() / f".{name.split('_')[0].lower()}"))
        return Stdio([*ALONE, self.node, str(self.modules / script), *arguments], environment)


class Commander(Peer):
    """Desktop Commander, as after its first days: no greeting, no telemetry."""

    name = "Desktop Commander"

    def open(self, project: Path) -> Server:
        """Starts the server."""
        folder = self.home / ".claude-server-commander"
        folder.mkdir(exist_ok=True)
        (folder / "config.json").write_text(json.dumps({"telemetryEnabled": False, "allowedDirectories": [], "defaultShell": "bash"}))
        return Server([self.start("@wonderwhy-er/desktop-commander/dist/index.js", "--no-onboarding")], project)


class FilesystemAndShell(Peer):
    """The reference server for files, and a server that runs commands."""

    name = "filesystem + shell"

    def open(self, project: Path) -> Server:
        """Starts both servers."""
        files = self.start("@modelcontextprotocol/server-filesystem/dist/index.js", str(project))
        return Server([files, self.start("mcp-server-commands/build/index.js")], project)
