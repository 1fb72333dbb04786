"""Displays of a Wayland session, by a build with the feature `wayland`: a real compositor, and what it shows."""

import json
import os
import shutil
import subprocess
from pathlib import Path

from harness.display import pixels
from harness.patience import PATIENCE
from harness.report import Report
from harness.wayland import HEIGHT, ORDINARY_USER, WIDTH, Session, missing, picture
from harness.wire import Stdio, envelope_of, tool_call

OPEN = {"openSensitiveWindows": [{"app": "*"}]}


class Installation:
    """Bailiwick within a session, as the user of that."""

    def __init__(self, binary: Path, session: Session) -> None:
        self.session = session
        self.home = session.run / "home"
        self.binary = session.run / "bailiwick"
        shutil.copy(binary, self.binary)
        project = session.run / "project"
        project.mkdir()
        if os.geteuid() == 0:
            for path in (self.binary, project):
                os.chown(path, ORDINARY_USER, ORDINARY_USER)
        self.environment = {**session.environment, "BAILIWICK_HOME": str(self.home)}

    def cli(self, *arguments: str) -> str:
        """Runs a command of the CLI, and gives what it printed."""
        done = subprocess.run(
            self.session.command(str(self.binary), *arguments), env=self.environment, capture_output=True, text=True,
            timeout=2 * PATIENCE, stdin=subprocess.DEVNULL, cwd=self.session.run,
        )
        return done.stdout + done.stderr

    def set_policy(self, policy: dict) -> None:
        """Adds to the policy of the scope."""
        path = self.home / "config" / "config.json"
        config = json.loads(path.read_text())
        scope = next(scope for scope in config["scopes"] if scope["id"] == "screen")
        scope["policy"] |= policy
        path.write_text(json.dumps(config))

    def ask(self, op: str, **more) -> dict:
        """Calls an operation over MCP, and gives the result of the tool."""
        tool = "computer_query" if op == "screen.list" else "computer_operation"
        server = Stdio(self.session.command(str(self.binary), "mcp"), self.environment)
        try:
            reply = server.ask(tool_call(1, tool, {"scope": "screen", "op": op, **more}))
            return reply or {"result": {}, "errors": server.errors}
        finally:
            server.close()


def run(report: Report, binary: Path) -> None:
    """Lists and captures the session."""
    if missing():
        report.skip("a Wayland session", missing())
        return
    with Session() as session:
        installed = Installation(binary, session)
        added = installed.cli("setup", str(session.run / "project"), "--id", "app", "--yes")
        added += installed.cli("scope", "add", "screen", "--type", "computer", "--screen")
        listed = envelope_of(installed.ask("screen.list")).get("data", {})
        if "feature `wayland`" in json.dumps(listed):
            report.skip("a Wayland session", "this build has not the feature `wayland`")
            return
        displays = [(it["display"], it["primary"], it["bounds"]) for it in listed.get("displays", [])]
        whole = {"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT}
        seen = f"{listed}\n{added}"
        report.check("wayland: its output is listed", [(it[1], it[2]) for it in displays] == [(True, whole)], seen)
        report.check("wayland: its access is granted", listed.get("access", {}).get("state") == "granted", seen)
        if not displays:
            return
        refused = installed.ask("screen.capture")
        error = envelope_of(refused).get("error", {})
        named = "openSensitiveWindows" in json.dumps(error.get("hints"))
        report.check(
            "wayland: a policy that keeps windows out takes no picture of a session that does not tell them",
            error.get("details", {}).get("rule") == "windows-unknown" and named, error or refused,
        )
        installed.set_policy(OPEN)
        expected = picture()
        for name, target in (("primary", None), (displays[0][0], displays[0][0])):
            taken = installed.ask("screen.capture", **({"target": target} if target else {}))
            images = [block for block in taken.get("result", {}).get("content", []) if block.get("type") == "image"]
            rows = [list(row) for row in pixels(images[0]["data"])] if images else []
            report.check(f"wayland: {name}: every pixel is what the compositor shows", rows == expected, str(taken)[:2000])
        part = installed.ask("screen.capture", options={"region": {"x": 100, "y": 50, "width": 30, "height": 20}})
        images = [block for block in part.get("result", {}).get("content", []) if block.get("type") == "image"]
        rows = [list(row) for row in pixels(images[0]["data"])] if images else []
        right = rows == [row[100:130] for row in expected[50:70]]
        report.check("wayland: a part of it is that part", right, str(part)[:2000])
