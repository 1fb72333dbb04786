"""What a real client is made to do, and the programs that do it.

A plan goes to a driver as JSON on standard input:

    {"mode": "…", "conversations": [{"transport": …, "steps": […]}, …]}
    transport: {"kind": "stdio", "command": [...], "env": {...}} | {"kind": "http", "url": "…", "token": "…"}
    step: {"name": "…", "tool": "…", "arguments": {...}}

`<processId>` in a step means the last process id that an answer had. A step with `"cancelWhen": FILE` calls, and cancels
the call as soon as FILE is there. A step with `"progress": FILE` asks for progress, and writes FILE at each report.

The driver has the conversations one after another. In each it connects by its own client library, lists the tools, and makes the
calls in order. It prints one JSON list with an object for each conversation: `{"broken": why}` or
`{"protocol", "instructions", "list": {"tools": […]}, "results": {name: result | {"raised"} | {"cancelled"}}}`, and where
it knows prompts `"prompts": {"prompts": […]}` and as `"prompt"` what `prompts/get` gives for `orient`.
It judges nothing: that is done once, for all clients, in checks/clients.py.
"""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .installed import PYTHON_PARTS, folder_of, is_installed
from .patience import PATIENCE
from .wire import plain_environment, whole

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


def in_full(step: dict) -> dict:
    """Has a step ask for the whole envelope, unless it is about what a model sees: `"asModel": True`."""
    step = dict(step)
    as_model = step.pop("asModel", False)
    return step if as_model else {**step, "arguments": whole(step["arguments"])}


class Clients:
    """The installed clients (tests/clients/install and tests/codex/install install them)."""

    def __init__(self) -> None:
        self.node = folder_of("node") / "node"
        self.modules = folder_of("packages") / "node_modules"

    def missing(self, client: Client) -> str:
        """Says what is missing of a client; empty when it is there."""
        needed = [client.name] if client.name.startswith("python") else ["node", "packages"]
        lacking = [part for part in needed if not is_installed(part)]
        return f"{' and '.join(lacking)} not installed; run tests/clients/install" if lacking else ""

    @staticmethod
    def program(part: str, name: str) -> Path | None:
        """Returns a program of an installed part, or `None`."""
        folder = "bin" if part in PYTHON_PARTS else "node_modules/.bin"
        return folder_of(part) / folder / name if is_installed(part) else None

    def inspector(self) -> Path:
        """Gives the program of the Inspector."""
        return self.modules / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"

    def conformance(self) -> Path:
        """Gives the program of the conformance suite."""
        return self.modules / "@modelcontextprotocol/conformance/dist/index.js"

    def environment(self, home: Path) -> dict:
        """Gives the environment of a client process; its own files go below `home`."""
        return {**plain_environment(), "HOME": str(home), "CLIENT_PACKAGES": str(folder_of("packages"))}

    def converse(self, client: Client, conversations: list, home: Path) -> list:
        """Has conversations `(transport, steps)` and returns what the client saw in each, or `{"broken": why}`."""
        driver = f"{client.name.replace('-', '_')}"
        if client.name.startswith("python"):
            program = [folder_of(client.name) / "bin" / "python", DRIVERS / f"{driver}.py"]
        else:
            program = [self.node, DRIVERS / f"{driver}.mjs"]
        planned = [{"transport": transport, "steps": [in_full(step) for step in steps]} for transport, steps in conversations]
        seen = self._run([str(part) for part in program], json.dumps({"mode": client.mode, "conversations": planned}), home)
        return seen if isinstance(seen, list) else [seen for _ in conversations]

    def _run(self, command: list, given: str, home: Path):
        seconds = 6 * PATIENCE
        try:
            done = subprocess.run(
                command, input=given, capture_output=True, text=True, timeout=seconds, env=self.environment(home)
            )
        except subprocess.TimeoutExpired as late:
            return {"broken": f"no end after {seconds:.0f} s\n{(late.stderr or b'')[-1500:]!r}"}
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


def client_home(folder: Path, name: str) -> Path:
    """Makes a home folder for a client's own files."""
    home = folder / name
    home.mkdir(parents=True, exist_ok=True)
    return home
