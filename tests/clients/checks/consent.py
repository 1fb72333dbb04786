"""The page of a login in a real browser over TLS: a user without a mouse, at the sizes of a phone and a desk, in light and dark.

`BAILIWICK_PICTURE=docs/pictures/consent.png tests/clients/run consent` renews the picture of the documents.
"""

import base64
import hashlib
import http.server
import json
import os
import re
import ssl
import subprocess
import threading
import urllib.parse
import urllib.request
from pathlib import Path

from harness import browser
from harness.patience import PATIENCE, wait_until
from harness.product import Product
from harness.report import Report

HOST = "bw.example"
ORIGIN = f"https://{HOST}"
VERIFIER = "a-verifier-of-43-characters-at-the-very-least"
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
KNOWN = ("https://chatgpt.com/oauth/demo/client.json", "https://chatgpt.com/connector/oauth/demo")
# The contrast of every text with what is behind it, as WCAG 2.2 counts it; the least of them.
CONTRAST = """(() => {
  const parts = color => color.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = node => { for (; node; node = node.parentElement) {
    const color = parts(getComputedStyle(node).backgroundColor); if (color.length === 3 || color[3] === 1) return color; }
    return [255, 255, 255]; };
  let least = [99, ''];
  for (const node of document.querySelectorAll('body *')) {
    const text = [...node.childNodes].filter(it => it.nodeType === 3).map(it => it.data.trim()).join('');
    if (!text || node.tagName === 'STYLE') continue;
    const [a, b] = [light(parts(getComputedStyle(node).color)), light(behind(node))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < least[0]) least = [ratio, text];
  }
  return least;
})()"""


class Callback(http.server.BaseHTTPRequestHandler):
    """Where the client waits for its answer."""

    def do_GET(self) -> None:  # noqa: N802
        """Keeps the query. Browsers ask for an icon, too."""
        asked = urllib.parse.urlsplit(self.path)
        if asked.path == "/callback":
            self.server.answers.append(dict(urllib.parse.parse_qsl(asked.query)))
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<title>done</title><p>done")

    def log_message(self, *_) -> None:
        """Says nothing."""


def start(product: Product) -> None:
    """Starts the service over TLS."""
    log = product.folder / "service.log"
    with open(log, "wb") as out:
        words = [*product.program, "start", "--tls", "--port", "0"]
        product.service = subprocess.Popen(
            words, env=product.environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out
        )
    printed = wait_until(lambda: re.search(r"https://127\.0\.0\.1:(\d+)/mcp", log.read_text(errors="replace")))
    if not printed:
        raise RuntimeError(log.read_text(errors="replace"))
    product.port = int(printed[1])


def post(product: Product, path: str, body: bytes, kind: str) -> dict:
    """Asks the service as a client does, trusting the certificate that it has made."""
    trust = ssl.create_default_context(cafile=next(product.home.rglob("tls/certificate.pem")))
    request = urllib.request.Request(
        f"https://localhost:{product.port}{path}", body, {"Content-Type": kind, "Host": HOST}
    )
    with urllib.request.urlopen(request, timeout=PATIENCE, context=trust) as answer:
        return json.load(answer)


def link(client: str, redirect: str) -> str:
    """Makes the link by which a client sends its user here."""
    query = {
        "response_type": "code", "client_id": client, "redirect_uri": redirect, "state": "its state",
        "code_challenge": CHALLENGE, "code_challenge_method": "S256", "resource": f"{ORIGIN}/mcp",
    }
    return f"{ORIGIN}/oauth/authorize?{urllib.parse.urlencode(query)}"


def code(product: Product) -> str:
    """Makes a login code, as the owner does in a terminal."""
    return json.loads(product.cli("token", "code", "--json"))["code"]


def prove(page: browser.Page, product: Product) -> None:
    """Types a code, and waits for the second page."""
    page.focus("it.name === 'code'")
    page.type(code(product))
    page.press("Enter")
    page.await_value("document.querySelectorAll('[name=scope]').length > 0 && document.readyState === 'complete'")


def use(report: Report, page: browser.Page, product: Product, client: str, callback) -> None:
    """Logs in by the keyboard alone: a wrong code, the right one, less than what is offered, allowed."""
    redirect = f"http://127.0.0.1:{callback.server_port}/callback"
    page.open(link(client, redirect))
    first = page.value("document.body.innerText")
    shown = all(word in first for word in ("Test client", "a program on the computer of your browser", "Nobody has checked", "bailiwick token code"))
    report.check("consent: the first page names the client and where it goes, and how to prove oneself", shown, first)
    hidden = str(product.project) not in first and "studio" not in first
    report.check("consent: the first page says nothing about the computer", hidden, first)
    # The browser gives it with the first picture of the page, which may come after the page is there.
    focused = page.await_value("document.activeElement.name === 'code'")
    report.check("consent: the field for the code has the focus", focused)
    page.type("AAAA-AAAA-AAAA")
    page.press("Enter")
    wrong = page.await_value("document.querySelector('[role=alert]')?.innerText")
    report.check("consent: a wrong code is said to be wrong", wrong and "not valid" in wrong, wrong)
    prove(page, product)
    second = page.value("document.body.innerText")
    told = all(word in second for word in ("Test client", "app", str(product.project), "Read files", "Run commands"))
    report.check("consent: the second page names scopes, folders and what each choice means", told, second)
    report.check("consent: Tab reaches a box", page.focus("it.name === 'scope'"))
    page.press("Enter")
    report.check("consent: Enter on a box allows nothing", page.value("document.querySelectorAll('[name=scope]').length") > 0)
    for unwanted in ("fs:write", "command:run"):
        found = page.focus(f"it.value === '{unwanted}'")
        outline = page.value("getComputedStyle(document.activeElement.closest('label')).outlineStyle")
        report.check(f"consent: the focus on {unwanted} can be seen", found and outline == "solid", outline)
        page.press(" ")
        report.check(f"consent: Space takes {unwanted} away", not page.value("document.activeElement.checked"))
    offered = page.value("[...document.querySelectorAll('[name=capability]:checked')].map(it => it.value)")
    report.check("consent: Tab reaches the button that allows", page.focus("it.value === 'allow'"))
    page.press("Enter")
    page.await_value("document.title === 'done'")
    answer = callback.answers[-1] if callback.answers else {}
    good = answer.get("state") == "its state" and answer.get("iss") == ORIGIN and answer.get("code")
    report.check("consent: the browser goes back with a code and the issuer", good, answer)
    form = urllib.parse.urlencode({
        "grant_type": "authorization_code", "code": answer.get("code", ""), "redirect_uri": redirect, "client_id": client,
        "code_verifier": VERIFIER,
    })
    tokens = post(product, "/oauth/token", form.encode(), "application/x-www-form-urlencoded")
    report.check("consent: the client gets its tokens over TLS", "access_token" in tokens, list(tokens))
    login = next((it for it in json.loads(product.cli("token", "list", "--json"))["tokens"] if it["login"]), {})
    report.check("consent: the login has what was left ticked", sorted(login.get("capabilities", [])) == sorted(offered), login)
    complaints = page.complaints()
    report.check("consent: the console has nothing to say", not complaints, complaints)


def look(report: Report, page: browser.Page, product: Product, client: str, callback, name: str) -> None:
    """Judges how the pages look, and refuses."""

    def judge(which: str) -> None:
        wide = page.value("[document.documentElement.scrollWidth, innerWidth]")
        report.check(f"consent, {name}: the {which} page fits", wide[0] <= wide[1], wide)
        contrast = page.value(CONTRAST)
        report.check(f"consent, {name}: every text of the {which} page can be read", contrast[0] >= 4.5, contrast)

    page.open(link(client, f"http://127.0.0.1:{callback.server_port}/callback"))
    judge("first")
    prove(page, product)
    judge("second")
    before = len(callback.answers)
    report.check(f"consent, {name}: Tab reaches the button that refuses", page.focus("it.value === 'refuse'"))
    page.press("Enter")
    page.await_value("document.title === 'done'")
    answer = callback.answers[before:]
    refused = answer and answer[0].get("error") == "access_denied" and "code" not in answer[0]
    report.check(f"consent, {name}: a refusal goes back as one", refused, answer)
    foreign = [url for url in page.requests() if urllib.parse.urlsplit(url).hostname not in (HOST, "127.0.0.1")]
    report.check(f"consent, {name}: nothing comes from elsewhere", not foreign and page.requests(), foreign)
    complaints = page.complaints()
    report.check(f"consent, {name}: the console has nothing to say", not complaints, complaints)


def pictures(report: Report, page: browser.Page, product: Product, path: Path) -> None:
    """Makes the picture of the documents: ChatGPT asks, on a desk."""
    page.open(link(*KNOWN))
    prove(page, product)
    page.picture(path)
    report.check(f"consent: {path} is made", path.stat().st_size > 0)


def run(report: Report, product: Product, folder: Path) -> None:
    """Uses the page in a real browser."""
    program = browser.find()
    if not program:
        report.skip("consent: a real browser", "Chromium is not installed; run `apt-get install chromium`")
        return
    product.cli("tunnel", "manual", ORIGIN, "--yes")
    path = next(product.home.rglob("config.json"))
    config = json.loads(path.read_text())
    config["machineName"] = "studio"
    config["scopes"][0]["capabilities"].append("command:run")
    if wanted := os.environ.get("BAILIWICK_PICTURE"):
        config["scopes"][0]["roots"] = ["/home/me/code/app"]
    path.write_text(json.dumps(config))
    start(product)
    callback = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Callback)
    callback.answers = []
    threading.Thread(target=callback.serve_forever, daemon=True).start()
    asked = {"client_name": "Test client", "redirect_uris": ["http://127.0.0.1/callback"]}
    client = post(product, "/oauth/register", json.dumps(asked).encode(), "application/json")["client_id"]
    flags = (f"--host-resolver-rules=MAP {HOST} 127.0.0.1:{product.port}", "--ignore-certificate-errors")
    with browser.Browser(program, folder / "browser", *flags) as chromium:
        if wanted:
            pictures(report, chromium.page(760, 900), product, Path(wanted).resolve())
            return
        use(report, chromium.page(), product, client, callback)
        for name, width, dark in (("phone", 390, False), ("phone, dark", 390, True), ("desk", 1280, False), ("desk, dark", 1280, True)):
            look(report, chromium.page(width, dark=dark), product, client, callback, name)
    callback.shutdown()
