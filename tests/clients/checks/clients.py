"""Real clients, each over each transport: list, read, write, two denials, two malformed calls, a cancellation."""

import json
import threading
from contextlib import ExitStack
from pathlib import Path

from harness.opened import OpenedFiles
from harness.plan import CLIENTS, Client, Clients, client_home
from harness.product import SECRET, SLOW_SEARCH, Product, make_slow_folder
from harness.report import Report

HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
TOOLS = {"get_computer_info", "computer_query", "computer_operation", "get_operation_history"}
LIST_LIMIT_CHARACTERS = 2800
WAYS = ("http", "stdio", "stdio-alone")


def steps_of(client: Client, file: str, folder: str, cancel: Path) -> list:
    """Returns the calls of one client; `file` is the file that it writes, `cancel` the one that has it stop
    to search `folder`.
    """
    read = {"op": "file.read", "target": "README.md"}
    written = {"op": "file.write", "target": file, "input": {"content": f"{file}\n"}, "options": {"createParents": True}}
    steps = [
        ("info", "get_computer_info", {}),
        ("read", "computer_query", read),
        ("write", "computer_operation", written),
        ("sensitive", "computer_query", {"op": "file.read", "target": ".env"}),
        ("outside", "computer_query", {"op": "file.read", "target": "../outside.txt"}),
        ("effect", "computer_query", written),
        ("field", "computer_query", {**read, "targett": "README.md"}),
        ("option", "computer_query", {**read, "options": {"startLin": 1}}),
    ]
    plan = [{"name": name, "tool": tool, "arguments": arguments} for name, tool, arguments in steps]
    # What a model sees, from names that other tools have.
    for name, arguments in (("seen", {"op": "cat", "path": "README.md"}), ("missed", {"op": "cat", "path": "readme.md"})):
        plan.append({"name": name, "tool": "computer_query", "arguments": arguments, "asModel": True})
    if client.can_cancel:
        plan.append({"name": "cancelled", "tool": "computer_query", "arguments": {**SLOW_SEARCH, "target": folder}, "cancelWhen": str(cancel)})
        plan.append({"name": "afterwards", "tool": "computer_query", "arguments": read})
    history = {"scope": "app", "view": "timeline", "limit": 50}
    return [*plan, {"name": "history", "tool": "get_operation_history", "arguments": history}]


def envelope(result: dict) -> dict:
    """Gives the result envelope in a tool result, read as a model reads it: from the text."""
    for block in result.get("content", []):
        if block.get("type") == "text":
            try:
                return json.loads(block["text"])
            except ValueError:
                return {"text": block["text"]}
    return {}


def failed_with(result: dict, code: str, *words: str) -> bool:
    """Tells whether a result is an error with this code whose message or hints hold the words."""
    error = envelope(result).get("error", {})
    return result.get("isError") is True and error.get("code") == code and all(word in json.dumps(error) for word in words)


def judge_list(report: Report, name: str, listed: dict) -> None:
    """Judges `tools/list`: names, titles, hints, size."""
    tools = listed.get("tools", [])
    names = {tool["name"] for tool in tools}
    report.check(f"{name}: lists the four tools", names == TOOLS, names)
    bare = [
        tool["name"]
        for tool in tools
        if not (tool.get("title") or tool.get("annotations", {}).get("title"))
        or any(not isinstance(tool.get("annotations", {}).get(hint), bool) for hint in HINTS)
    ]
    report.check(f"{name}: every tool has a title and four hints", tools and not bare, bare or tools)
    kept = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
    size = len(json.dumps([{key: tool[key] for key in kept if key in tool} for tool in tools], separators=(",", ":")))
    report.check(f"{name}: the tools take at most {LIST_LIMIT_CHARACTERS} characters", size <= LIST_LIMIT_CHARACTERS, size)


def judge_prompts(report: Report, name: str, seen: dict) -> None:
    """Judges the prompts, where the client knows them: which there are, and that one says which call to make."""
    if "prompts" not in seen:
        return
    prompts = [prompt["name"] for prompt in seen["prompts"].get("prompts", [])]
    report.check(f"{name}: lists the prompt for everybody", "orient" in prompts, prompts)
    text = seen["prompt"]["messages"][0]["content"].get("text", "")
    call = '{"op":"code.context","target":"src"}'
    report.check(f"{name}: the prompt says which call to make", call in text, seen["prompt"])


def judge(report: Report, name: str, product: Product, client: Client, file: str, seen: dict) -> None:
    """Judges what one client saw."""
    if not report.check(f"{name}: connects", "broken" not in seen, seen.get("broken")):
        return
    if "protocol" in seen:
        report.check(f"{name}: speaks {client.protocols[0]}", seen["protocol"] in client.protocols, seen["protocol"])
    judge_list(report, name, seen["list"])
    judge_prompts(report, name, seen)
    results = seen["results"]
    info = envelope(results["info"])
    report.check(f"{name}: get_computer_info answers", info.get("ok") is True, results["info"])
    read = envelope(results["read"])
    content = (product.project / "README.md").read_text()
    report.check(f"{name}: reads a file", read.get("data", {}).get("content") == content, results["read"])
    on_disk = product.project / file
    wrote = envelope(results["write"]).get("ok") is True and on_disk.is_file() and on_disk.read_text() == f"{file}\n"
    report.check(f"{name}: writes a file that is then on disk", wrote, results["write"])
    denied = failed_with(results["sensitive"], "permission_denied") and SECRET not in json.dumps(results)
    report.check(f"{name}: may not read .env", denied, results["sensitive"])
    outside = failed_with(results["outside"], "path_out_of_scope")
    report.check(f"{name}: may not leave the scope", outside, results["outside"])
    effect = results["effect"].get("isError") is True and envelope(results["effect"]).get("ok") is False
    report.check(f"{name}: computer_query refuses an effect", effect, results["effect"])
    field = failed_with(results["field"], "invalid_request", "targett")
    report.check(f"{name}: an unknown field is named", field, results["field"])
    option = failed_with(results["option"], "invalid_request", "startLin", "startLine")
    report.check(f"{name}: an unknown option is named, with the nearest one", option, results["option"])
    judge_text(report, name, content, results)
    same = [
        step
        for step, result in results.items()
        if "structuredContent" in result and result["structuredContent"] != envelope(result)
    ]
    report.check(f"{name}: structured content equals the text", not same, same)
    judge_history(report, name, product, results)
    judge_cancellation(report, name, client, product, results)


def judge_text(report: Report, name: str, content: str, results: dict) -> None:
    """Judges what a model sees: what it asked for, once."""
    blocks = [result.get("content", []) for result in (results["seen"], results["missed"])]
    texts = [block[0].get("text", "") if len(block) == 1 else "" for block in blocks]
    head, _, rest = texts[0].partition("\n")
    shown = head.startswith("[README.md · 3 lines · version ") and head.endswith("]") and rest == content
    report.check(f"{name}: a model sees a file as it is, below one line about it", shown, results["seen"])
    near = texts[1].startswith("not_found: ") and "`README.md`" in texts[1] and results["missed"].get("isError") is True
    report.check(f"{name}: a model is told the near name of a file that does not exist", near, results["missed"])
    twice = [step for step in ("seen", "missed") if results[step].get("structuredContent")]
    report.check(f"{name}: a model sees nothing twice", not twice, twice)


def judge_history(report: Report, name: str, product: Product, results: dict) -> None:
    """Every answered call is in the history that the client itself gets, and in what the CLI shows."""
    right = {
        "read": None, "write": None, "sensitive": "permission_denied", "outside": "path_out_of_scope",
        "option": "invalid_request", "field": "invalid_request",
    }
    asked = {step: envelope(results[step]).get("operationId") for step in right}
    held = {row.get("operationId") for row in envelope(results["history"]).get("data", {}).get("operations", [])}
    # A request that could not be read names no scope, so the history of a scope does not have it.
    lost = [step for step, identifier in asked.items() if identifier not in held and step != "field"]
    report.check(f"{name}: its history holds every call", not lost, f"lost {lost} of {asked}: {results['history']}")
    shown = {row["operationId"]: row["code"] for row in product.history()}
    codes = {step: shown.get(identifier, "lost") for step, identifier in asked.items()}
    report.check(f"{name}: `bailiwick log` shows how each ended", codes == right, codes)


def judge_cancellation(report: Report, name: str, client: Client, product: Product, results: dict) -> None:
    """A search that the client stops is ended, and the history says so."""
    if not client.can_cancel:
        report.skip(f"{name}: cancels a search", "this client has no way to cancel")
        return
    stopped = results["cancelled"].get("cancelled") is True
    report.check(f"{name}: stops waiting for a search", stopped, results["cancelled"])
    afterwards = envelope(results["afterwards"]).get("ok") is True
    report.check(f"{name}: the next call works", afterwards, results["afterwards"])
    last_read = envelope(results["read"]).get("operationId", "")
    next_read = envelope(results["afterwards"]).get("operationId", "")
    row = product.await_history(lambda row: row["op"] == "file.search" and last_read < row["operationId"] < next_read)
    report.check(f"{name}: the history says that the search was cancelled", row and row["code"] == "cancelled", row)


def cancel_when_opened(opened: OpenedFiles, file: Path) -> None:
    """Has a client cancel its search once that search reads files."""
    opened.wait()
    file.touch()


def run(report: Report, clients: Clients, running: Product, embedded: Product, folder: Path) -> None:
    """Runs every client over HTTP, over stdio into the running service, and over stdio on its own."""
    for way in WAYS:
        make_slow_folder(product_of(way, running, embedded).project / f"slow-{way}")
    for client in CLIENTS:
        missing = clients.missing(client)
        names = [f"{client.name} {client.mode} {way}" for way in WAYS]
        if missing:
            for name in names:
                report.skip(name, missing)
            continue
        with ExitStack() as watched:
            conversations, judged = [], []
            for way, name in zip(WAYS, names):
                product, label = product_of(way, running, embedded), name.replace(" ", "-")
                file, cancel = f"notes/{label}.txt", folder / f"{label}.cancel"
                conversations.append((product.transport(way, label), steps_of(client, file, f"slow-{way}", cancel)))
                judged.append((name, product, file))
                if client.can_cancel:
                    opened = watched.enter_context(OpenedFiles(product.project / f"slow-{way}"))
                    threading.Thread(target=cancel_when_opened, args=(opened, cancel), daemon=True).start()
            seen = clients.converse(client, conversations, client_home(folder, "client-home"))
        for (name, product, file), one in zip(judged, seen):
            judge(report, name, product, client, file, one)


def product_of(way: str, running: Product, embedded: Product) -> Product:
    """Returns the installation for a way to connect."""
    return embedded if way == "stdio-alone" else running
