"""The official conformance suite, for both protocol eras, through a proxy that adds the token.

The suite's own verdict is not used: by its requirements it scores some scenarios only. Each file conformance/<revision>.txt
lists every check that the suite makes, with how it ends, and the reason where it does not pass. Every check of a run has to
be listed, has to end as listed, and none may be missing. That this finds what is broken is tried each time: on a run whose
proxy hides faulty headers from the product, and on results that lack something.

Tasks are driven by real commands: the proxy turns the suite's tools for them into operations.
"""

import collections
import json
import math
import re
import subprocess
import threading
import urllib.request
from pathlib import Path

from harness.installed import is_installed
from harness.patience import PATIENCE
from harness.plan import Clients, client_home
from harness.ports import reserve_port
from harness.product import Product
from harness.proxy import TokenProxy
from harness.report import Report

from .logins import LINK, allow

REVISIONS = ("2025-11-25", "2026-07-28")
LISTS = Path(__file__).parent.parent / "conformance"
# The suite's words for how a check ends, and those of the lists.
WORDS = {"SUCCESS": "passes", "FAILURE": "fails", "WARNING": "warns", "SKIPPED": "skips", "INFO": "informs"}
# Longer than a call may take before it becomes a task.
LONG_SECONDS = 2.2
# What a server without fixture tools has to pass; none of it may be listed as anything else.
REQUIRED = (
    "server-initialize", "ping", "tools-list", "dns-rebinding-protection", "http-header-validation",
    "server-session-lifecycle", "input-required-result-unsupported-methods", "input-required-result-validate-input",
)


def read_list(revision: str) -> dict:
    """Reads a list: for each check its endings, sorted, and the reason."""
    listed: dict = {}
    for line in (LISTS / f"{revision}.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            entry, _, why = line.partition(" # ")
            name, *endings = entry.split()
            listed[name] = (sorted(endings), why.strip())
    return listed


def read_results(folder: Path) -> dict:
    """Reads what a run has written: for each check of each scenario how it ended, each time."""
    found = collections.defaultdict(list)
    for file in sorted(folder.glob("*/checks.json")):
        scenario = re.sub(r"-\d{4}-\d\d-\d\dT[\d-]+Z$", "", file.parent.name).removeprefix("server-")
        for check in json.loads(file.read_text()):
            found[f"{scenario}:{check['id']}"].append((WORDS[check["status"]], check.get("errorMessage", "")))
    return dict(found)


def faults(listed: dict, found: dict) -> list:
    """Returns where a run and its list differ."""
    told = []
    for name in sorted({*listed, *found}):
        wanted = listed.get(name, ([], ""))[0]
        endings = sorted(ending for ending, _ in found.get(name, []))
        if wanted != endings:
            said = "; ".join(message for _, message in found.get(name, []) if message)
            told.append(f"{name}: {' '.join(endings) or 'was not made'}, listed: {' '.join(wanted) or 'nothing'} {said}".rstrip())
    return told


def judge_list(report: Report, revision: str, listed: dict) -> None:
    """Whatever does not pass has a reason, and is none of what has to pass."""
    lacking = {name: why for name, (endings, why) in listed.items() if set(endings) != {"passes"}}
    silent = [name for name, why in lacking.items() if not why]
    report.check(f"conformance {revision}: each of the {len(lacking)} checks that do not pass says why", not silent, silent)
    excused = [name for name in lacking if name.split(":")[0] in REQUIRED and set(listed[name][0]) != {"informs"}]
    report.check(f"conformance {revision}: what has to pass is not excused", not excused, excused)


def drive_tasks(headers: dict, body: bytes) -> bytes:
    """Turns a call of the suite's tools for tasks into an operation that takes as long."""
    try:
        asked = json.loads(body)
        params = asked["params"]
        name, given = params["name"], params.get("arguments", {})
    except (ValueError, KeyError, TypeError):
        return body
    if asked.get("method") != "tools/call":
        return body
    short = {"op": "file.read", "target": "README.md"}
    # A minute is cancelled; a second or two only means "not at once".
    seconds = 60 if given.get("seconds") == 60 else LONG_SECONDS
    long = {"op": "command.run", "input": {"command": ["sleep", str(seconds)]}}
    tool, arguments = {
        "greet": ("computer_query", short),
        "slow_compute": ("computer_operation", long if given.get("seconds") else short),
        # Its time is over before it ends. That is a result for Bailiwick, but a task it is.
        "failing_job": (
            "computer_operation",
            {"op": "command.run", "input": {"command": ["sleep", "60"]}, "options": {"timeoutSeconds": math.ceil(LONG_SECONDS)}},
        ),
    }.get(name, (name, given))
    if headers.get("mcp-name") == name:
        headers["mcp-name"] = tool
    return json.dumps({**asked, "params": {**params, "name": tool, "arguments": arguments}}).encode()


def hide_faults(headers: dict, body: bytes) -> bytes:
    """Makes faulty headers right, so that the product cannot refuse them: what is behind this proxy is broken."""
    try:
        asked = json.loads(body)
        if "mcp-method" in headers:
            headers["mcp-method"] = asked["method"]
        if "mcp-name" in headers:
            headers["mcp-name"] = asked["params"]["name"]
    except (ValueError, KeyError, TypeError):
        pass
    return body


def run_suite(clients: Clients, product: Product, token: str, folder: Path, change, *words: str) -> tuple:
    """Runs the suite and returns the results, and what it printed."""
    home = client_home(folder.parent, "client-home")
    with TokenProxy(product.port, token, change) as proxy:
        command = [
            str(clients.node), str(clients.conformance()), "server", "--url", f"http://localhost:{proxy.port}/mcp", *words,
            "-o", str(folder),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=clients.environment(home), cwd=home)
    said = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)
    folder.with_suffix(".log").write_text(said)
    return read_results(folder), said


def judge_gate(report: Report, clients: Clients, product: Product, token: str, folder: Path, listed: dict, found: dict) -> None:
    """Breaks things on purpose, and expects to hear of each."""
    scenario = "http-header-validation"
    words = ("--scenario", scenario, "--spec-version", "2026-07-28")
    broken, said = run_suite(clients, product, token, folder / "broken", hide_faults, *words)
    of_scenario = {name: entry for name, entry in listed.items() if name.startswith(f"{scenario}:")}
    seen = faults(of_scenario, broken)
    refusals = [fault for fault in seen if "reject" in fault.partition(":")[2].partition(":")[0]]
    report.check("conformance: a product that takes faulty headers is found out", broken and refusals, f"{seen}\n{said[-1500:]}")
    passing = next(name for name, (endings, _) in listed.items() if endings == ["passes"])
    failing = next(name for name, (endings, _) in listed.items() if endings == ["fails"])
    for what, name, endings in (
        ("a check that fails", passing, [("fails", "")]),
        ("a check that warns", passing, [("warns", "")]),
        ("a check that is skipped", passing, [("skips", "")]),
        ("a check that was not made", passing, []),
        ("a listed failure that passes", failing, [("passes", "")]),
        ("a listed failure that was not made", failing, []),
        ("a check that is not listed", f"{passing}-new", [("fails", "")]),
        ("a check that is made twice", passing, [("passes", ""), ("passes", "")]),
    ):
        changed = {key: value for key, value in {**found, name: endings}.items() if value}
        seen = [fault for fault in faults(listed, changed) if fault.startswith(f"{name}:")]
        report.check(f"conformance: {what} is reported", len(seen) == 1, seen)


def run(report: Report, clients: Clients, product: Product, login: Product, folder: Path) -> None:
    """Runs the requirements of each revision, and the scenarios for authorization servers."""
    authorize(report, clients, login, folder)
    product.let_sleep("command:run")
    for revision in REVISIONS:
        name = f"conformance {revision}"
        listed = read_list(revision)
        judge_list(report, revision, listed)
        if not (is_installed("node") and is_installed("packages")):
            report.skip(name, "the suite is not installed; run tests/clients/install")
            continue
        token = product.token(f"conformance-{revision}")
        found, said = run_suite(clients, product, token, folder / f"conformance-{revision}", drive_tasks, "--requirements", revision)
        seen = faults(listed, found)
        passed = sum(ending == "passes" for endings in found.values() for ending, _ in endings)
        told = "\n".join(seen) if found else said[-2500:]
        held = report.check(f"{name}: {len(found)} checks end as they are listed, {passed} times with success", found and not seen, told)
        if held and revision == REVISIONS[-1]:
            judge_gate(report, clients, product, token, folder, listed, found)
        report.check(f"{name}: the service lives", product.lives())


def authorize(report: Report, clients: Clients, product: Product, folder: Path) -> None:
    """Runs the scenarios for authorization servers, up to a token, on a service with a public URL on the loopback."""
    name = "conformance authorization"
    if not (is_installed("node") and is_installed("packages")):
        report.skip(name, "the suite is not installed; run tests/clients/install")
        return
    port, back = reserve_port(), reserve_port()
    origin = f"http://127.0.0.1:{port}"
    product.cli("tunnel", "manual", origin, "--yes")
    product.start(port)
    asked = json.dumps({"client_name": "Suite", "redirect_uris": [f"http://127.0.0.1:{back}/callback"]}).encode()
    request = urllib.request.Request(f"{origin}/oauth/register", asked, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        client = json.load(answer)["client_id"]
    home, results = client_home(folder, "authorization-home"), folder / "authorization"
    command = [
        str(clients.node), str(clients.conformance()), "authorization", "--url", origin, "--client-id", client,
        "--resource", f"{origin}/mcp", "-p", str(back), "-o", str(results),
    ]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=clients.environment(home), cwd=home
    )
    limit = threading.Timer(2 * PATIENCE, process.kill)
    limit.start()
    printed, followed = [], False
    try:
        for line in process.stdout:
            printed.append(line)
            if not followed and (link := re.search(LINK, line)):
                followed = True
                allow(product, link[1])
        process.wait()
    finally:
        limit.cancel()
        process.kill()
        process.wait()
    listed, found = read_list("authorization"), read_results(results)
    seen = faults(listed, found)
    report.check(f"{name}: {len(found)} checks end as they are listed", found and not seen, "\n".join(seen) or "".join(printed)[-2500:])
    # That a check is missing or fails would be noticed.
    for missing in listed:
        less = faults(listed, {key: value for key, value in found.items() if key != missing})
        worse = faults(listed, {**found, missing: [("fails", "")]})
        report.check(f"{name}: {missing.partition(':')[2]} is held", less and worse, (less, worse))
