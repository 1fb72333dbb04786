"""Tokens: wrong, missing, expired, revoked while the service runs, and restricted ones."""

import json
import time
from datetime import datetime, timedelta, timezone

from harness.patience import wait_until
from harness.product import Product
from harness.report import Report
from harness.wire import META, envelope_of, tool_call

READ = {"op": "file.read", "target": "README.md"}
WRITE = {"op": "file.write", "target": "by-token.txt", "input": {"content": "x"}}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}


def status_with(product: Product, token) -> tuple:
    """Gives the status of a call with a token, and its challenge."""
    status, headers, _ = product.http(token).post(tool_call(1, "computer_query", READ))
    return status, headers.get("WWW-Authenticate", "")


def tools_of(product: Product, token: str) -> tuple:
    """Gives the names of the tools that a token sees, and whether others may cache the list."""
    listed = product.http(token).post(LIST)[2]["result"]
    return {tool["name"] for tool in listed["tools"]}, listed.get("cacheScope")


def refused(report: Report, product: Product, owner: str) -> None:
    """Callers without a good token get 401 with a challenge, and nothing else."""
    bad = {
        "no token": None,
        "a wrong token": "bwl_" + "A" * 43,
        "an empty token": "",
        "half of a good token": owner[: len(owner) // 2],
        "a good token with more behind it": owner + "x",
    }
    for name, token in bad.items():
        status, challenge = status_with(product, token)
        report.check(f"tokens: {name} gives 401 with a challenge", status == 401 and challenge.startswith("Bearer"), status)
    http = product.http(None)
    http.url = http.url._replace(path=f"/mcp?token={owner}")
    status = http.post(tool_call(1, "computer_query", READ))[0]
    report.check("tokens: a token in the address opens nothing", status == 401, status)


def expire_soon(product: Product, name: str, seconds: int) -> float:
    """Moves the expiry of a token, and returns when it is: the command line knows hours and days only."""
    file = product.home / "config" / "tokens.json"
    stored = json.loads(file.read_text())
    at = (datetime.now(timezone.utc) + timedelta(seconds=seconds)).replace(microsecond=0)
    for token in stored["tokens"]:
        if token["name"] == name:
            token["expiresAt"] = at.strftime("%Y-%m-%dT%H:%M:%SZ")
    fresh = file.with_suffix(".new")
    fresh.touch(mode=0o600)
    fresh.write_text(json.dumps(stored))
    fresh.rename(file)
    return at.timestamp()


def endings(report: Report, product: Product) -> None:
    """Expired and revoked tokens stop to work while the service runs."""
    short = product.token("short", "--expires", "1h")
    made, _ = status_with(product, short)
    expiry = expire_soon(product, "short", 2)
    expired = wait_until(lambda: (status := status_with(product, short)[0]) != 200 and status, pause=0.1)
    early = expiry - time.time()
    report.check("tokens: one that expires works, and then gives 401", (made, expired) == (200, 401), (made, expired))
    report.check("tokens: it works until it expires", early <= 0, f"refused {early:.3f} s before")
    revoked = product.token("revoked")
    before, _ = status_with(product, revoked)
    product.cli("token", "revoke", "revoked")
    after = wait_until(lambda: (status := status_with(product, revoked)[0]) != 200 and status, pause=0.1)
    report.check("tokens: one that is revoked gives 401 without a restart", (before, after) == (200, 401), (before, after))


def restricted(report: Report, product: Product) -> None:
    """A token opens its scopes and capabilities only, and sees only the tools that it can use."""
    other = product.folder / "other"
    other.mkdir()
    (other / "README.md").write_text("other\n")
    product.cli("scope", "add", str(other), "--id", "other")
    for call in (READ, WRITE):
        call["scope"] = "app"
    all_tools, cached = tools_of(product, product.token("everything"))
    report.check("tokens: an unrestricted one sees four tools", len(all_tools) == 4, all_tools)
    report.check("tokens: the list is private to the caller", cached == "private", cached)
    reader = product.token("reader", "--scope", "app", "--capability", "fs:read")
    seen, _ = tools_of(product, reader)
    report.check("tokens: a reader sees no tool for effects or history", seen == {"get_computer_info", "computer_query"}, seen)
    http = product.http(reader)
    report.check("tokens: a reader reads", envelope_of(http.call("computer_query", READ)).get("ok") is True)
    written = envelope_of(http.call("computer_operation", WRITE))
    code = written.get("error", {}).get("code")
    untouched = not (product.project / "by-token.txt").exists()
    report.check("tokens: a reader does not write", written.get("ok") is not True and untouched, code)
    row = next((row for row in product.history() if row["caller"] == "reader" and row["op"] == "file.write"), None)
    report.check("tokens: the history names the reader and the denial", row and row["code"] == "permission_denied", row)
    elsewhere = envelope_of(http.call("computer_query", {**READ, "scope": "other"})).get("error", {})
    closed = elsewhere.get("code") in ("unknown_scope", "permission_denied")
    report.check("tokens: a reader of one scope is refused in another", closed, elsewhere)
    nowhere = envelope_of(http.call("computer_query", {**READ, "scope": "nowhere"})).get("error", {})
    same = (elsewhere.get("code"), elsewhere.get("message", "").replace("other", "*")) == (
        nowhere.get("code"), nowhere.get("message", "").replace("nowhere", "*")
    )
    report.check("tokens: and cannot tell a closed scope from none", same, (elsewhere, nowhere))
    both = envelope_of(product.http(product.token("both")).call("computer_query", {**READ, "scope": "other"}))
    report.check("tokens: an unrestricted one reads there", both.get("data", {}).get("content") == "other\n", both)


def throttled(report: Report, product: Product, owner: str) -> None:
    """Guessing is slowed down, and does not lock good tokens out."""
    seen = {status_with(product, f"bwl_{number:043}")[0] for number in range(60)}
    report.check("tokens: many wrong ones are throttled (429)", 429 in seen and seen <= {401, 429}, seen)
    status, _ = status_with(product, owner)
    report.check("tokens: a good one works meanwhile", status == 200, status)


def run(report: Report, product: Product) -> None:
    """Runs all of it; the throttle comes last."""
    owner = product.token("owner-like")
    refused(report, product, owner)
    endings(report, product)
    restricted(report, product)
    throttled(report, product, owner)
