"""Waits over real clients: a dev server that is awaited by its port in one call, and progress while a wait holds.

The server is vite from npm, in a scope that runs `node`. It is started, awaited, asked and stopped by each client.
"""

import json
import os
import shutil
from pathlib import Path

from harness.installed import folder_of, is_installed
from harness.plan import CLIENTS, Client, Clients, client_home
from harness.ports import reserve_port
from harness.product import Product
from harness.report import Report
from harness.wire import META, MODERN

from .clients import envelope

TASKS = "io.modelcontextprotocol/tasks"
# Each client over one transport or two, so that each revision of the protocol reports progress over each transport.
WAYS = {
    ("python-new", "auto"): ("http", "stdio"),
    ("python-new", "legacy"): ("stdio-alone",),
    ("python-old", "default"): ("stdio",),
    ("typescript-old", "default"): ("http",),
    ("typescript-new", "default"): ("stdio",),
    ("typescript-new", "auto"): ("stdio-alone",),
    ("inspector", "legacy"): ("http",),
    ("inspector", "modern"): ("stdio-alone",),
}
# How often a client of Python waits: it may give up after five seconds, so its waits end after three, and vite takes longer
# to start where the computer is busy.
WAITS_OF_PYTHON = 15


def make_scope(product: Product, clients: Clients) -> None:
    """Puts vite into the project, and lets the scope run it and wait for it."""
    shutil.copytree(folder_of("vite") / "node_modules", product.project / "node_modules", symlinks=True)
    (product.project / "index.html").write_text("<!doctype html><title>Sample</title>\n")
    (product.project / "package.json").write_text('{"private":true,"type":"module"}\n')
    # As projects have it: what hides `.env` from commands leaves vite a blank one then.
    (product.project / ".gitignore").write_text(".env\nnode_modules\n")
    path = product.home / "config" / "config.json"
    path = path if path.is_file() else next(product.home.rglob("config.json"))
    config = json.loads(path.read_text())
    scope = config["scopes"][0]
    scope["capabilities"] = ["fs:read", "fs:write", "command:run", "process:manage", "history:read"]
    node = str(Path(os.path.realpath(clients.node)).parent)
    search = [node, "/usr/local/bin", "/usr/bin", "/bin"]
    scope["policy"] = {"allowedCommands": ["node *"], "network": "loopback", "searchPath": search}
    path.write_text(json.dumps(config))


def steps_of(client: Client, port: int, progress: Path) -> list:
    """Returns the calls of one client, which writes the file `progress` when progress is reported."""
    vite = ["node", "node_modules/vite/bin/vite.js", "--port", str(port), "--strictPort"]
    process = {"process": "<processId>"}

    def wait(name: str, **conditions) -> dict:
        arguments = {"op": "process.wait", "input": conditions, "options": {"timeoutSeconds": 60}}
        return {"name": name, "tool": "computer_query", "arguments": arguments}

    def waits(name: str, **conditions) -> list:
        times = WAITS_OF_PYTHON if client.name.startswith("python") else 1
        return [wait(f"{name}-{number}", **conditions) for number in range(times)]

    start = {"op": "process.start", "input": {"command": vite, "label": "vite"}}
    stop = {"op": "process.stop", "target": "<processId>"}
    ready = {**process, "until": "regex", "pattern": r"ready in \d+ ms"}
    answer = {**process, "until": "http", "port": port, "path": "/", "status": 200}
    # Ends by what the client does when it hears of the wait; the Inspector hears nothing, so time ends it.
    second = {"until": "file", "path": progress.name, "state": "changed"}
    if client.name == "inspector":
        second = {"until": "time", "seconds": 2.1}
    return [
        {"name": "start", "tool": "computer_operation", "arguments": start},
        *waits("port", any=[{**process, "until": "port", "port": port}, {**process, "until": "exit"}]),
        *waits("answer", all=[answer, ready]),
        {**wait("held", all=[{"until": "time", "seconds": 0.1}, second]), "progress": str(progress)},
        {"name": "stop", "tool": "computer_operation", "arguments": stop},
        wait("gone", any=[{**process, "until": "exit"}]),
    ]


def standing(result: dict) -> tuple:
    """Gives the outcome of a wait and how each condition stands."""
    data = envelope(result).get("data", {})
    return data.get("outcome"), [condition["standing"] for condition in data.get("conditions", [])]


def awaited(results: dict, name: str) -> dict:
    """Gives the first answer that says more than that the time of a wait was over, or the last."""
    answers = [result for key, result in results.items() if key.startswith(f"{name}-")]
    return next((answer for answer in answers if standing(answer)[0] != "timeOver"), answers[-1])


def judge(report: Report, name: str, client: Client, seen: dict) -> None:
    """Judges what one client saw."""
    if not report.check(f"{name}: connects", "broken" not in seen, seen.get("broken")):
        return
    results = seen["results"]
    if not report.check(f"{name}: starts vite", envelope(results["start"]).get("ok"), results["start"]):
        return
    port, answer = awaited(results, "port"), awaited(results, "answer")
    listens = standing(port) == ("held", ["held", "waiting"])
    report.check(f"{name}: waits until vite listens", listens, port)
    answers = standing(answer) == ("held", ["held", "held"])
    report.check(f"{name}: waits for its answer and its line", answers, answer)
    held = standing(results["held"]) == ("held", ["held", "held"])
    report.check(f"{name}: a wait of some seconds is answered", held, results["held"])
    report.check(f"{name}: vite is stopped", standing(results["gone"]) == ("held", ["held"]), results["gone"])
    if client.name == "inspector":
        report.skip(f"{name}: is told of progress", "this client shows none")
        return
    told = results["held"].get("progress", [])
    rises = all(one["progress"] < other["progress"] for one, other in zip(told, told[1:]))
    words = all(note["message"] == "1 of 2 conditions: time has held, file not yet" for note in told)
    at_most = results["held"]["tookMs"] // 1000 + 1
    report.check(f"{name}: is told of progress, at most once a second", 1 <= len(told) <= at_most and rises and words, told)


def judge_tasks(report: Report, product: Product) -> None:
    """A long wait becomes a task for anyone who declares the extension; no other caller knows it."""
    meta = {**META, "io.modelcontextprotocol/clientCapabilities": {"extensions": {TASKS: {}}}}
    own, other = product.http(product.token("tasks-own")), product.http(product.token("tasks-other"))

    def post(http, method: str, named: str, params: dict) -> dict:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        return http.post(message, {"MCP-Protocol-Version": MODERN, "Mcp-Method": method, "Mcp-Name": named})[2]

    def ask(http, method: str, task: str) -> dict:
        return post(http, method, task, {"taskId": task})

    long = {"op": "process.wait", "input": {"any": [{"until": "time", "seconds": 600}]}}
    call = {"name": "computer_query", "arguments": long}
    begun = post(own, "tools/call", "computer_query", call).get("result", {})
    task = begun.get("taskId", "")
    report.check("tasks: a long wait becomes one", begun.get("resultType") == "task" and task, begun)
    working = ask(own, "tasks/get", task)
    report.check("tasks: it is told its state", working.get("result", {}).get("status") == "working", working)
    foreign = ask(other, "tasks/get", task)
    report.check("tasks: another caller knows no such task", foreign.get("error", {}).get("code") == -32602, foreign)
    ask(own, "tasks/cancel", task)
    row = product.await_history(lambda row: row["op"] == "process.wait" and row["code"] == "cancelled")
    report.check("tasks: it can be cancelled, and the history says so", row, product.history(5))


def run(report: Report, clients: Clients, folder: Path, binary: Path) -> None:
    """Runs each client, over HTTP, over stdio into the running service, or over stdio on its own."""
    if not is_installed("vite"):
        report.skip("waits", "vite is not installed; run tests/clients/install")
        return
    with Product(binary, folder / "waits") as running, Product(binary, folder / "waits-alone") as alone:
        for product in (running, alone):
            make_scope(product, clients)
        running.start()
        for client in CLIENTS:
            missing = clients.missing(client)
            for way in WAYS[client.name, client.mode]:
                name = f"{client.name} {client.mode} {way}"
                if missing:
                    report.skip(name, missing)
                    continue
                product = alone if way == "stdio-alone" else running
                label = f"waits-{name.replace(' ', '-')}"
                steps = steps_of(client, reserve_port(), product.project / f"{label}.progress")
                seen = clients.converse(client, [(product.transport(way, label), steps)], client_home(folder, "client-home"))
                judge(report, name, client, seen[0])
        judge_tasks(report, running)
        for product in (running, alone):
            product.run("processes", "stop", "--all")
