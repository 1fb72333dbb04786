"""Approvals that are asked for in Claude Code and Codex, by their own elicitation: accepted, declined and cancelled.

The programs are the real ones; their provider of models is one on the loopback that has them write a file, which needs
approval. Claude Code on a terminal shows the question, which keys answer; without one it answers by a hook of its settings,
and cancels without a hook. `codex exec` declines; `codex app-server` asks the editor that it serves.
"""

import json
import shlex
import subprocess
import threading
from pathlib import Path

from harness.models import KEY, Models, codex_server, codex_settings
from harness.patience import PATIENCE
from harness.plan import Clients, client_home
from harness.product import Product
from harness.report import Report
from harness.terminal import Terminal

from .pictures import SERVER, TOOL, run_program

NAME, CONTENT = "asked.txt", "written once it was approved"
ENTER, DOWN, ESCAPE = "\r", "\x1b[B", "\x1b"
WRITE = {"scope": "app", "op": "file.write", "target": NAME, "input": {"content": CONTENT}}


def let_clients_approve(product: Product, kinds: list) -> None:
    """Has writing need approval, which an answer in the client can give for these kinds of operations."""
    path = next(product.home.rglob("config.json"))
    config = json.loads(path.read_text())
    scope = config["scopes"][0]
    scope["ask"] = ["fs:write"]
    scope["policy"]["clientApprovals"] = kinds
    path.write_text(json.dumps(config))


def judge(report: Report, name: str, product: Product, expected: str) -> None:
    """Judges what came of a call: `written`, `refused`, or `waiting` for the user."""
    file = product.project / NAME
    content = file.read_text() if file.exists() else None
    tickets = json.loads(product.cli("approve", "--list", "--json"))["approvals"]
    rows = [row["summary"] for row in product.history() if row["op"] == "approval"]
    seen = f"{content=} {tickets=} {rows=}"
    report.check(f"{name}: the file is {'there' if expected == 'written' else 'not there'}", content == (CONTENT if expected == "written" else None), seen)
    report.check(f"{name}: {'one request waits' if expected == 'waiting' else 'nothing waits'} for the user", len(tickets) == (expected == "waiting"), seen)
    words = {"written": ["approved once in the client"], "refused": ["refused in the client"], "waiting": []}[expected]
    told = len(rows) == len(words) and all(row.startswith(word) for row, word in zip(rows, words))
    report.check(f"{name}: the history has the answer", told, seen)
    for ticket in tickets:
        product.cli("approve", ticket["id"], "--deny")
    file.unlink(missing_ok=True)


def claude_code_flags(product: Product, home: Path) -> list:
    """Writes Bailiwick's entry for Claude Code, and returns the words by which it has that alone, without questions of its own."""
    server = {"command": str(product.binary), "args": ["mcp"], "env": product.client_environment}
    (home / "mcp.json").write_text(json.dumps({"mcpServers": {SERVER: server}}))
    return ["--mcp-config", home / "mcp.json", "--strict-mcp-config", "--allowedTools", f"mcp__{SERVER}"]


def claude_code_environment(models: Models) -> dict:
    """Returns the variables by which Claude Code asks these models, and nobody else."""
    return {
        "ANTHROPIC_BASE_URL": models.url, "ANTHROPIC_API_KEY": KEY, "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }


def claude_code(installed: Clients, product: Product, home: Path, answer: str | None) -> str:
    """Has Claude Code make the call, with a hook that gives an answer, and returns what was said."""
    output = {"hookSpecificOutput": {"hookEventName": "Elicitation", "action": answer, "content": {}}}
    hook = {"type": "command", "command": f"echo {shlex.quote(json.dumps(output))}"}
    (home / "settings.json").write_text(json.dumps({"hooks": {"Elicitation": [{"hooks": [hook]}]}} if answer else {}))
    with Models(SERVER, (TOOL, WRITE)) as models:
        flags = [*claude_code_flags(product, home), "--settings", home / "settings.json"]
        program = installed.program("applications", "claude")
        done = run_program([program, "-p", "Look.", *flags], installed, product, home, claude_code_environment(models))
        return f"{done.stdout}{done.stderr}{models.results()}"


def claude_code_on_a_terminal(report: Report, name: str, installed: Clients, product: Product, home: Path, answer: str) -> str:
    """Has Claude Code make the call on a terminal, answers its question by keys, and returns what its model was told."""
    # Nothing is asked of a user for the first time: an account, a key, colours, whether the folder is trusted.
    started = {
        "hasCompletedOnboarding": True, "theme": "dark", "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
        "projects": {str(product.project): {"hasTrustDialogAccepted": True}},
    }
    (home / ".claude.json").write_text(json.dumps(started))
    with Models(SERVER, (TOOL, WRITE)) as models:
        environment = {
            "PATH": f"{installed.node.parent}:{product.environment['PATH']}", "HOME": str(home), "TERM": "xterm-256color",
            "LANG": "C.UTF-8", **claude_code_environment(models),
        }
        command = [installed.program("applications", "claude"), "Look.", *claude_code_flags(product, home)]
        with Terminal(command, environment, product.project) as terminal:
            def is_gone() -> bool:
                """Returns whether the line is back that was in the place of the question."""
                return terminal.words.rfind("automodeon") > terminal.words.rfind("requestsyourinput")

            target = "".join(f"target: {product.project / NAME}".split())
            asked = terminal.until(lambda: "requestsyourinput" in terminal.words and target in terminal.words and "❯Accept" in terminal.words)
            report.check(f"{name}: the question shows who asks, and what about", asked, terminal.words[-3000:])
            report.check(f"{name}: nothing is written before the answer", not (product.project / NAME).exists())
            if answer == "decline":
                terminal.press(DOWN, lambda: terminal.words.rfind("❯Decline") > terminal.words.rfind("❯Accept"))
            answered = terminal.press(ESCAPE if answer == "cancel" else ENTER, is_gone) and terminal.until(models.results)
            report.check(f"{name}: keys answer the question", answered, terminal.words[-3000:])
        return str(models.results())


def codex(installed: Clients, product: Product, home: Path, answer: str | None) -> str:
    """Has Codex make the call, and returns what was said: `codex exec`, or its server for editors where there is an answer."""
    settings = home / ".codex"
    settings.mkdir()
    with Models(SERVER, (TOOL, WRITE)) as models:
        (settings / "config.toml").write_text(codex_settings(models) + codex_server(SERVER, product))
        environment = {"CODEX_HOME": str(settings), "FAKE_KEY": KEY}
        program = installed.program("codex", "codex")
        if answer is None:
            done = run_program([program, "exec", "--skip-git-repo-check", "Look."], installed, product, home, environment)
            return f"{done.stdout}{done.stderr}{models.results()}"
        said = converse(program, installed, product, home, environment, answer)
        return f"{said}{models.results()}"


def converse(program: Path, installed: Clients, product: Product, home: Path, environment: dict, answer: str) -> list:
    """Speaks with `codex app-server` as an editor does: one turn, in which each question gets this answer."""
    path = f"{installed.node.parent}:{product.environment['PATH']}"
    server = subprocess.Popen(
        [program, "app-server"], env={"PATH": path, "HOME": str(home), **environment}, cwd=product.project, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )
    limit = threading.Timer(3 * PATIENCE, server.kill)
    limit.start()
    said: list = []

    def say(message: dict) -> None:
        """Sends a message."""
        server.stdin.write(json.dumps(message) + "\n")
        server.stdin.flush()

    def await_message(holds) -> dict:
        """Reads until a message for which `holds(message)`, and answers every question before it."""
        for line in server.stdout:
            message = json.loads(line)
            said.append(message)
            if message.get("method") == "mcpServer/elicitation/request":
                content = {} if answer == "accept" else None
                say({"id": message["id"], "result": {"action": answer, "content": content, "_meta": None}})
            elif holds(message):
                return message
        return {}

    try:
        say({"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "checks", "version": "1"}}})
        await_message(lambda it: it.get("id") == 1)
        say({"method": "initialized"})
        say({"id": 2, "method": "thread/start", "params": {"cwd": str(product.project), "approvalPolicy": "on-request"}})
        thread = await_message(lambda it: it.get("id") == 2).get("result", {}).get("thread", {}).get("id")
        turn = {"threadId": thread, "input": [{"type": "text", "text": "Look."}]}
        say({"id": 3, "method": "turn/start", "params": turn})
        await_message(lambda it: it.get("method") == "turn/completed")
    except BrokenPipeError:
        pass
    finally:
        limit.cancel()
        server.kill()
        server.wait()
    return said


def run(report: Report, installed: Clients, folder: Path, make_product) -> None:
    """Runs both programs: each case has an installation of its own."""
    if not installed.program("applications", "claude"):
        report.skip("Claude Code: elicitation", "is not installed; run tests/clients/install")
    else:
        for name, kinds, answer, expected in (
            ("accept", ["writes"], "accept", "written"), ("decline", ["writes"], "decline", "refused"),
            ("cancel", ["writes"], None, "waiting"), ("accept that does not count", [], "accept", "waiting"),
        ):
            product = make_product(f"claude {name}")
            let_clients_approve(product, kinds)
            said = claude_code(installed, product, client_home(folder, f"home-claude-{name}"), answer)
            report.check(f"Claude Code, {name}: its model is told", ("approv" in said or "refused" in said) != (expected == "written"), said)
            judge(report, f"Claude Code, {name}", product, expected)
        for answer, expected in (("accept", "written"), ("decline", "refused"), ("cancel", "waiting")):
            name = f"Claude Code on a terminal, {answer}"
            product = make_product(f"claude terminal {answer}")
            let_clients_approve(product, ["writes"])
            said = claude_code_on_a_terminal(report, name, installed, product, client_home(folder, f"home-claude-terminal-{answer}"), answer)
            report.check(f"{name}: its model is told", ("approv" in said or "refused" in said) != (expected == "written"), said)
            judge(report, name, product, expected)
    if not installed.program("codex", "codex"):
        report.skip("Codex: elicitation", "is not installed; run tests/codex/install")
        return
    for name, answer, expected in (
        ("without anybody, declines", None, "refused"), ("accept", "accept", "written"),
        ("decline", "decline", "refused"), ("cancel", "cancel", "waiting"),
    ):
        product = make_product(f"codex {name}")
        let_clients_approve(product, ["writes"])
        said = codex(installed, product, client_home(folder, f"home-codex-{name}"), answer)
        report.check(f"Codex, {name}: its model is told", ("approval_required" in said or "refused" in said) != (expected == "written"), said)
        judge(report, f"Codex, {name}", product, expected)
