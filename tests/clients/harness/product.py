"""The product under test: a temporary installation of the real binary, its service, its tokens, its history."""

import json
import random
import re
import shutil
import signal
import subprocess
import time
import urllib.request
from pathlib import Path

from .patience import PATIENCE, wait_until
from .wire import Http, Stdio, plain_environment

SECRET = "correct-horse-battery-staple"


class Product:
    """One `BAILIWICK_HOME` with one scope `app` on a small real git repository."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self.binary = binary
        self.home = folder / "home"
        self.project = folder / "project"
        self.folder = folder
        # The port of the running service; each start takes a free one.
        self.port = 0
        self.service = None
        make_project(self.project)
        (folder / "outside.txt").write_text("outside\n")
        self.cli("setup", self.written(self.project), "--id", "app", "--preset", "coding", "--yes")

    @property
    def program(self) -> list:
        """The words by which the product is started."""
        return [str(self.binary)]

    def written(self, path: Path) -> str:
        """Writes a path as the product knows it."""
        return str(path)

    @property
    def environment(self) -> dict:
        """The environment of every process of this installation."""
        return {**plain_environment(), "BAILIWICK_HOME": str(self.home)}

    @property
    def url(self) -> str:
        """Where the service answers MCP."""
        return f"http://127.0.0.1:{self.port}/mcp"

    def run(self, *arguments: str, seconds: float = 2 * PATIENCE) -> subprocess.CompletedProcess:
        """Runs a command of the CLI, whatever its exit code."""
        return subprocess.run(
            [*self.program, *arguments], env=self.environment, capture_output=True, text=True, timeout=seconds,
            stdin=subprocess.DEVNULL,
        )

    def cli(self, *arguments: str) -> str:
        """Runs a command of the CLI that has to succeed, and gives what it printed."""
        done = self.run(*arguments)
        if done.returncode != 0:
            raise RuntimeError(f"bailiwick {' '.join(arguments)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def start(self, port: int = 0) -> None:
        """Starts the service, on a free port unless one is named, and waits until it answers."""
        path = self.folder / "service.log"
        with open(path, "wb") as log:
            self.service = subprocess.Popen(
                [*self.program, "start", "--port", str(port)], env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        wait_until(lambda: self._answers(path) or self.service.poll() is not None, pause=0.02)
        if not self.lives() or not self._answers(path):
            raise RuntimeError(f"bailiwick serve does not answer:\n{path.read_text(errors='replace')[-2000:]}")

    def _answers(self, log: Path) -> bool:
        """Reads the port that the service prints, and asks there."""
        printed = re.search(r"http://127\.0\.0\.1:(\d+)/mcp", log.read_text(errors="replace"))
        if not printed:
            return False
        self.port = int(printed[1])
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=PATIENCE) as answer:
                return answer.status == 200
        except OSError:
            return False

    def lives(self) -> bool:
        """Tells whether the service runs."""
        return self.service is not None and self.service.poll() is None

    def stop(self, how: int = signal.SIGTERM, seconds: float = PATIENCE):
        """Ends the service by a signal; gives `(exit code, seconds)`, or `None` where it had to be killed."""
        service, self.service = self.service, None
        if service is None:
            return None
        began = time.monotonic()
        service.send_signal(how)
        try:
            code = service.wait(seconds)
            return code, time.monotonic() - began
        except subprocess.TimeoutExpired:
            service.kill()
            service.wait()
            return None

    def token(self, name: str, *options: str) -> str:
        """Makes a token and gives its secret."""
        return json.loads(self.cli("token", "create", name, *options, "--json"))["token"]["secret"]

    def http(self, token) -> Http:
        """Gives raw access to the MCP endpoint."""
        return Http(self.url, token)

    def let_sleep(self, *capabilities: str) -> None:
        """Lets the scope run `sleep`, wherever rules decide and wherever a sandbox does."""
        path = next(self.home.rglob("config.json"))
        config = json.loads(path.read_text())
        scope = config["scopes"][0]
        scope["capabilities"] = list(dict.fromkeys([*scope["capabilities"], *capabilities]))
        scope.setdefault("policy", {})["allowedCommands"] = ["sleep *"]
        path.write_text(json.dumps(config))

    def command(self, *options: str) -> list:
        """Gives the command of a stdio server."""
        return [*self.program, "mcp", *options]

    def stdio(self, *options: str) -> Stdio:
        """Starts a stdio server."""
        return Stdio(self.command(*options), self.environment)

    def transport(self, way: str, label: str) -> dict:
        """Returns how a client connects: over `http` with a token of this name, or over `stdio`."""
        if way == "http":
            return {"kind": "http", "url": self.url, "token": self.token(label)}
        return {"kind": "stdio", "command": self.command(), "env": self.client_environment}

    @property
    def client_environment(self) -> dict:
        """The variables that a client has to give to a stdio server."""
        return {"BAILIWICK_HOME": str(self.home)}

    def history(self, limit: int = 1000) -> list:
        """Gives the newest operations of the history, newest first, by the CLI."""
        rows: list = []
        cursor: tuple = ()
        while len(rows) < limit:
            wanted = str(min(1000, limit - len(rows)))
            page = json.loads(self.cli("history", "--limit", wanted, *cursor, "--json"))
            rows += page["operations"]
            if not page["nextCursor"]:
                break
            cursor = ("--cursor", page["nextCursor"])
        return [row for row in rows if row["state"] == "finished"]

    def await_history(self, holds):
        """Waits for a row of the history for which `holds(row)`, and returns it or `None`."""
        return wait_until(lambda: next((row for row in self.history() if holds(row)), None))

    def __enter__(self) -> "Product":
        return self

    def __exit__(self, *_) -> None:
        self.stop(signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)


def make_project(project: Path) -> None:
    """Makes a small git repository with a secret in it that must stay closed."""
    project.mkdir(parents=True)
    (project / "README.md").write_text("# Sample\n\nA line to find: cobalt\n")
    (project / ".env").write_text(f"PASSWORD={SECRET}\n")
    (project / "src").mkdir()
    (project / "src" / "main.rs").write_text('fn main() {\n    println!("cobalt");\n}\n')
    git = ["git", "-c", "user.name=Sample", "-c", "user.email=sample@example.invalid"]
    for arguments in (["init", "-q"], ["add", "README.md", "src"], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *arguments], cwd=project, check=True, env=plain_environment())


def make_slow_folder(folder: Path, files: int = 2_000) -> None:
    """Makes files on which `SLOW_SEARCH` takes long, so that there is a middle to cancel in.

    They are small, as a search that is cancelled finishes the files at hand: half a second for each in a debug build.
    """
    folder.mkdir(parents=True)
    chance = random.Random(7)
    letters = bytes(97 + value % 26 for value in range(256))
    for index in range(files):
        (folder / f"part-{index:04}.txt").write_bytes(chance.randbytes(1_000).translate(letters) + b"\n")


# Finds nothing, and at every place has to remember which of the last 400 letters were early ones.
SLOW_SEARCH = {
    "op": "file.search",
    "target": "slow",
    "input": {"query": "[a-m].{400}[0-9]"},
    "options": {"timeoutSeconds": 120},
}
