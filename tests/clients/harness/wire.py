"""Raw JSON-RPC by the standard library alone: what no well-behaved client would send can be sent by these."""

import http.client
import json
import os
import queue
import subprocess
import threading
import time
from urllib.parse import urlsplit

from .patience import PATIENCE

MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "wire", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def whole(arguments):
    """Asks for the whole envelope: what is judged here is the data. What is no object stays as it is."""
    return {**arguments, "detail": "full"} if isinstance(arguments, dict) else arguments


def tool_call(identifier, tool: str, arguments: dict) -> dict:
    """Makes a `tools/call` that works without a handshake (protocol revision 2026-07-28)."""
    params = {"name": tool, "arguments": whole(arguments), "_meta": META}
    return {"jsonrpc": "2.0", "id": identifier, "method": "tools/call", "params": params}


def envelope_of(reply: dict) -> dict:
    """Gives the result envelope in a reply to `tools/call`: the JSON text of its first content block."""
    for block in reply.get("result", {}).get("content", []):
        if block.get("type") == "text":
            return json.loads(block["text"])
    return {}


class Stdio:
    """A server process and its lines."""

    def __init__(self, command: list, environment: dict) -> None:
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.lines: queue.Queue = queue.Queue()
        self.noise: list = []
        self.errors: list = []
        self._replies: dict = {}
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._drain, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def _drain(self) -> None:
        for line in self.process.stderr:
            self.errors.append(line.decode("utf-8", "replace"))

    def send_bytes(self, data: bytes) -> None:
        """Writes bytes as they are."""
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message) -> None:
        """Writes one message as a line."""
        self.send_bytes(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    def next(self, seconds: float = PATIENCE):
        """Gives the next message, or `None` at the end or when the time is over."""
        try:
            line = self.lines.get(timeout=seconds)
        except queue.Empty:
            return None
        if line is None:
            self.lines.put(None)
            return None
        try:
            return json.loads(line)
        except ValueError:
            self.noise.append(line)
            return {}

    def reply(self, identifier, seconds: float = PATIENCE):
        """Gives the reply with this id; replies with other ids are kept for later."""
        deadline = time.monotonic() + seconds
        while identifier not in self._replies:
            message = self.next(max(0.0, deadline - time.monotonic()))
            if message is None:
                return None
            if "method" not in message and ("result" in message or "error" in message):
                self._replies[message.get("id")] = message
        return self._replies.pop(identifier)

    def unaddressed_error(self):
        """Takes the error that answered no request in particular, if one was seen."""
        return self._replies.pop(None, {}).get("error")

    def ask(self, message: dict, seconds: float = PATIENCE):
        """Sends a request and gives its reply."""
        self.send(message)
        return self.reply(message["id"], seconds)

    def initialize(self, version: str = "2025-11-25") -> dict:
        """Makes the handshake of the legacy era."""
        info = {"name": "wire", "version": "1"}
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": info}
        reply = self.ask({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return reply

    def resident_bytes(self) -> int:
        """Gives the memory that the process holds."""
        return resident_bytes(self.process.pid)

    def close(self, seconds: float = PATIENCE):
        """Ends the input and gives the exit code; a process that stays is ended by force and gives `None`."""
        try:
            self.process.stdin.close()
        except OSError:
            pass
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None


def resident_bytes(pid: int, field: str = "Rss") -> int:
    """Gives the memory that a process holds (`Rss`, counted exactly), or held at most (`VmHWM`)."""
    # VmRSS is off by up to a megabyte: Linux keeps it in counters for each processor.
    name = "smaps_rollup" if field == "Rss" else "status"
    with open(f"/proc/{pid}/{name}", encoding="utf-8", errors="replace") as facts:
        for line in facts:
            if line.startswith(f"{field}:"):
                return int(line.split()[1]) * 1024
    return 0


class Http:
    """Requests to the MCP endpoint with one token, one connection each unless kept."""

    def __init__(self, url: str, token) -> None:
        self.url = urlsplit(url)
        self.token = token

    def headers(self, message, extra: dict | None = None) -> dict:
        """Gives the headers that the protocol asks for."""
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        if isinstance(message, dict) and META.items() <= message.get("params", {}).get("_meta", {}).items():
            headers["MCP-Protocol-Version"] = MODERN
            headers["Mcp-Method"] = message["method"]
            if "name" in message["params"]:
                headers["Mcp-Name"] = message["params"]["name"]
        return {**headers, **(extra or {})}

    def open(self, seconds: float = PATIENCE) -> http.client.HTTPConnection:
        """Opens a connection."""
        return http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=seconds)

    def post(self, message, extra: dict | None = None, connection=None):
        """Posts a message (or bytes as they are) and gives `(status, headers, reply or text)`."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        kept = connection is not None
        connection = connection or self.open()
        try:
            connection.request("POST", self.url.path, body, self.headers(message, extra))
            response = connection.getresponse()
            text = response.read().decode("utf-8", "replace")
            return response.status, response.headers, self.parse(response, text)
        finally:
            if not kept:
                connection.close()

    @staticmethod
    def parse(response, text: str):
        """Gives the JSON-RPC reply in an answer, be it JSON or the last event of a stream; else the text."""
        kind = response.headers.get("Content-Type", "")
        try:
            if kind.startswith("text/event-stream"):
                events = [line[5:].strip() for line in text.splitlines() if line.startswith("data:")]
                return json.loads([event for event in events if event][-1])
            return json.loads(text)
        except (ValueError, IndexError):
            return text

    def call(self, tool: str, arguments: dict, identifier=1, connection=None) -> dict:
        """Calls a tool and gives the JSON-RPC reply."""
        reply = self.post(tool_call(identifier, tool, arguments), connection=connection)[2]
        return reply if isinstance(reply, dict) else {"text": reply}


def plain_environment() -> dict:
    """Gives the few variables that a program needs to run."""
    return {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
