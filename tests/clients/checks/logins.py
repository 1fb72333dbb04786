"""Logging in by OAuth with real clients: Codex, Claude Code and mcp-remote, each by its own way, to its first call.

The owner's browser is a few requests: it follows the client's link, types the code of `bailiwick token code`, and allows
reading alone.
"""

import html
import http.cookiejar
import json
import re
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from harness.models import KEY, LAST_WORDS, Models, codex_settings
from harness.patience import PATIENCE
from harness.plan import Clients, client_home
from harness.ports import reserve_port
from harness.product import Product
from harness.report import Report
from harness.terminal import Terminal

from .settings import Person

SERVER = "bailiwick"
READ = {"op": "file.read", "target": "README.md"}
WRITE = {"op": "file.write", "target": "by-login.txt", "input": {"content": "x"}}
ALLOWED = ["fs:read", "search:read"]
LINK = r"(http://127\.0\.0\.1:\d+/oauth/authorize\?[A-Za-z0-9._~%=&+-]+)"


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Shows where a redirect leads, and does not follow it."""

    def redirect_request(self, *_):
        """Follows nothing."""


def allow(product: Product, link: str) -> None:
    """Does what the owner does in a browser, up to the client's own page."""
    cookies = http.cookiejar.CookieJar()
    browser = urllib.request.build_opener(NoRedirect, urllib.request.HTTPCookieProcessor(cookies))
    origin = re.match(r"http://[^/]+", link)[0]
    followed = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Site": "cross-site"}

    def read(request) -> str:
        with browser.open(request, timeout=PATIENCE) as answer:
            return answer.read().decode()

    def post(page: str, *fields) -> str:
        asked = html.unescape(re.search(r'name=request value="([^"]+)"', page)[1])
        body = urllib.parse.urlencode([("request", asked), *fields]).encode()
        return read(urllib.request.Request(f"{origin}/oauth/authorize", body, {"Origin": origin}))

    code = json.loads(product.cli("token", "code", "--json"))["code"]
    page = post(read(urllib.request.Request(link, headers=followed)), ("answer", "prove"), ("code", code))
    try:
        post(page, ("answer", "allow"), ("scope", "app"), *(("capability", name) for name in ALLOWED))
    except urllib.error.HTTPError as answer:
        if answer.code != 303:
            raise
        with urllib.request.urlopen(answer.headers["Location"], timeout=PATIENCE) as done:
            done.read()


class Visitor(Person):
    """A person whose clients log in."""

    def log_in(self, *command) -> tuple:
        """Runs a program in a terminal, follows the link that it prints, and returns its exit code and what it printed."""
        # Wide, so that the link is in one piece.
        with Terminal(list(command), self.environment, self.product.project, columns=2000) as terminal:
            if link := terminal.until(lambda: re.search(LINK + r"[^A-Za-z0-9._~%=&+-]", terminal.printed)):
                allow(self.product, link[1])
            return terminal.wait(), terminal.printed


def judge(report: Report, name: str, said: str, answers: object) -> None:
    """Judges what the model of a client that has logged in got."""
    report.check(f"{name}: works to its end", LAST_WORDS in said, said[-3000:])
    report.check(f"{name}: its model reads the file", "correct" not in str(answers) and "# " in str(answers), str(answers)[:3000])


def codex(report: Report, installed: Clients, person: Visitor) -> None:
    """Codex knows itself by a published id."""
    program = installed.program("codex", "codex")
    if not program:
        report.skip("Codex: login", "is not installed; run tests/codex/install")
        return
    settings = person.home / ".codex"
    settings.mkdir()
    with Models(SERVER, ("computer_query", READ)) as models:
        (settings / "config.toml").write_text('mcp_oauth_credentials_store = "file"\n' + codex_settings(models))
        code, printed = person.log_in(program, "mcp", "add", SERVER, "--url", person.product.url)
        report.check("Codex: logs in", code == 0 and "Successfully logged in" in printed, printed[-3000:])
        done = person.run(program, "exec", "--skip-git-repo-check", "Read.", FAKE_KEY=KEY)
        judge(report, "Codex", done.stdout + done.stderr, models.results())


def claude_code(report: Report, installed: Clients, person: Visitor) -> None:
    """Claude Code knows itself by a published id."""
    program = installed.program("applications", "claude")
    if not program:
        report.skip("Claude Code: login", "is not installed; run tests/clients/install")
        return
    person.run(program, "mcp", "add", "--transport", "http", SERVER, person.product.url)
    code, printed = person.log_in(program, "mcp", "login", SERVER, "--no-browser")
    report.check("Claude Code: logs in", code == 0 and "Authenticated" in printed, printed[-3000:])
    with Models(SERVER, ("computer_query", READ)) as models:
        done = person.run(
            program, "-p", "Read.", "--allowedTools", f"mcp__{SERVER}", ANTHROPIC_BASE_URL=models.url, ANTHROPIC_API_KEY=KEY,
            DISABLE_TELEMETRY="1", DISABLE_AUTOUPDATER="1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        )
        judge(report, "Claude Code", done.stdout + done.stderr, models.results())


def mcp_remote(report: Report, installed: Clients, person: Visitor) -> None:
    """mcp-remote registers itself, and passes messages on for a client over stdio."""
    program = installed.program("remote", "mcp-remote")
    if not program:
        report.skip("mcp-remote: login", "is not installed; run tests/clients/install")
        return
    process = subprocess.Popen(
        [str(program), person.product.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=person.environment, cwd=person.home, start_new_session=True,
    )
    limit = threading.Timer(2 * PATIENCE, process.kill)
    limit.start()
    printed = []

    def follow() -> None:
        followed = False
        for line in process.stderr:
            printed.append(line)
            if not followed and (link := re.search(LINK, line)):
                followed = True
                allow(person.product, link[1])

    threading.Thread(target=follow, daemon=True).start()

    def ask(message: dict) -> dict:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline() or "{}") if "id" in message else {}

    try:
        info = {"name": "check", "version": "1"}
        began = time.monotonic()
        hello = ask({"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}})
        report.check("mcp-remote: logs in", "serverInfo" in hello.get("result", {}), "".join(printed)[-3000:])
        ask({"method": "notifications/initialized"})
        read = ask({"id": 2, "method": "tools/call", "params": {"name": "computer_query", "arguments": READ}})
        text = json.dumps(read)
        report.check("mcp-remote: reads", "isError" in text and '"isError": true' not in text and "#" in text, text[:3000])
        report.note(f"         from its start to its first answer: {time.monotonic() - began:.1f} s")
        write = json.dumps(ask({"id": 3, "method": "tools/call", "params": {"name": "computer_operation", "arguments": WRITE}}))
        report.check("mcp-remote: may not do what was not allowed", not (person.product.project / "by-login.txt").exists(), write)
        name = next((it["name"] for it in tokens(person.product) if it["login"]), "")
        person.product.cli("token", "revoke", name)
        refused = person.product.run("token", "list", "--json").stdout
        report.check("mcp-remote: its login is gone once it is revoked", name not in refused, refused)
    finally:
        limit.cancel()
        process.kill()
        process.wait()


def tokens(product: Product) -> list:
    """Lists the tokens."""
    return json.loads(product.cli("token", "list", "--json"))["tokens"]


def run(report: Report, installed: Clients, product: Product, folder: Path) -> None:
    """Has each client log in to a service with a public URL, on the loopback."""
    port = reserve_port()
    product.cli("tunnel", "manual", f"http://127.0.0.1:{port}", "--yes")
    product.start(port)
    mcp_remote(report, installed, Visitor(installed, product, client_home(folder, "home-remote")))
    codex(report, installed, Visitor(installed, product, client_home(folder, "home-codex-login")))
    claude_code(report, installed, Visitor(installed, product, client_home(folder, "home-claude-login")))
    logins = {it["name"]: it for it in tokens(product) if it["login"]}
    report.check("logins: each has the name of its client", set(logins) <= {"Codex", "Claude Code"} and logins, logins)
    for name, login in logins.items():
        report.check(f"{name}: may do what was allowed and no more", sorted(login["capabilities"]) == ALLOWED, login)
