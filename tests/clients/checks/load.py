"""What strangers cost: memory for refused requests, time for others while slow connections fill the listener; and what a login costs a call.

Memory, that others are served, and how soon but for waiting for a processor, are judged. Times are printed: a busy computer or a debug build has others.
"""

import http.client
import http.server
import json
import multiprocessing
import multiprocessing.synchronize
import os
import resource
import socket
import statistics
import threading
import time
import urllib.parse
import urllib.request
from pathlib import Path

from harness.patience import PATIENCE
from harness.ports import reserve_port
from harness.product import Product
from harness.report import Report
from harness.wire import resident_bytes, tool_call

from .consent import CHALLENGE, VERIFIER, Callback
from .logins import allow

POSTS = 10_000
MAX_GROWTH_BYTES = 10 << 20
SLOW = 2_000
SOON_MS = 50
CALLS = 300
READ = json.dumps(tool_call(1, "computer_query", {"op": "file.read", "target": "README.md"})).encode()
HELLO = json.dumps({
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "load", "version": "1"}},
}).encode()
PLAIN = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
MODERN = {**PLAIN, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "computer_query"}


def connect(product: Product) -> http.client.HTTPConnection:
    """Opens a connection that sends at once."""
    connection = http.client.HTTPConnection("127.0.0.1", product.port, timeout=PATIENCE)
    connection.connect()
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def post(connection: http.client.HTTPConnection, body: bytes, headers: dict) -> tuple:
    """Posts a message; returns the status, the answer, and the milliseconds that it took."""
    began = time.perf_counter()
    connection.request("POST", "/mcp", body, headers)
    answer = connection.getresponse()
    text = answer.read()
    return answer.status, text, (time.perf_counter() - began) * 1_000


def strangers(report: Report, product: Product) -> None:
    """Posts without a token."""
    connection = connect(product)

    def round_of(count: int) -> set:
        return {post(connection, HELLO, PLAIN)[0] for _ in range(count)}

    round_of(500)
    before = resident_bytes(product.service.pid)
    seen = round_of(POSTS)
    grown = resident_bytes(product.service.pid) - before
    report.note(f"         {POSTS} refused `initialize`: {grown / (1 << 20):+.1f} MiB")
    report.check("load: requests of strangers are refused, each", seen == {401}, seen)
    report.check("load: they take at most 10 MiB", grown <= MAX_GROWTH_BYTES, grown)


def besiege(port: int, ready: multiprocessing.synchronize.Event) -> None:
    """Fills the listener with connections that send a head byte by byte, and come back when they are dropped. Runs until it is killed."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    def open_one() -> socket.socket:
        one = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        one.sendall(b"POST /mcp HTTP/1.1\r\nHost: local")
        return one

    crowd = [open_one() for _ in range(SLOW)]
    ready.set()
    while True:
        for index, one in enumerate(crowd):
            try:
                one.sendall(b"h")
            except OSError:
                one.close()
                crowd[index] = open_one()


def waited(process: int) -> float:
    """The milliseconds that threads of a process have waited for a processor that other programs had."""
    total = 0
    for path in Path(f"/proc/{process}/task").glob("*/schedstat"):
        try:
            total += int(path.read_text().split()[1])
        except OSError:
            pass  # a thread that ended
    return total / 1e6


def newcomers(product: Product, token: str) -> tuple:
    """Calls on new connections; returns the statuses and, sorted, the milliseconds of each, connecting included: as they are, and without
    those in which the service or this program waited for a processor."""
    headers = {**MODERN, "Authorization": f"Bearer {token}"}
    statuses, times, own = set(), [], []
    processes = (product.service.pid, os.getpid())
    for _ in range(CALLS):
        before, began = sum(map(waited, processes)), time.perf_counter()
        connection = connect(product)
        statuses.add(post(connection, READ, headers)[0])
        took = (time.perf_counter() - began) * 1_000
        connection.close()
        times.append(took)
        own.append(max(0.0, took - (sum(map(waited, processes)) - before)))
    return statuses, sorted(times), sorted(own)


def slow(report: Report, product: Product, token: str) -> None:
    """Calls beside slow connections, which a process of its own makes: threads of this one would be measured with the service."""
    fork = multiprocessing.get_context("fork")
    ready = fork.Event()
    alone = newcomers(product, token)
    crowd = fork.Process(target=besiege, args=(product.port, ready), daemon=True)
    crowd.start()
    try:
        filled = ready.wait(PATIENCE)
        beside = newcomers(product, token)
        still = crowd.is_alive()
    finally:
        crowd.kill()
        crowd.join()
    for what, (_, times, own) in (("alone", alone), (f"beside {SLOW} slow ones", beside)):
        median, nearly = statistics.median(times), times[len(times) * 99 // 100]
        report.note(
            f"         a call on a new connection {what}: median {median:.1f} ms, 99 of 100 within {nearly:.1f} ms, worst {times[-1]:.1f} ms; "
            f"without waiting for a processor {statistics.median(own):.1f}, {own[len(own) * 99 // 100]:.1f} and {own[-1]:.1f} ms"
        )
    report.check(f"load: {SLOW} slow connections are made, and stay", filled and still)
    report.check(f"load: beside {SLOW} slow connections every call is answered", beside[0] == {200}, beside[0])
    report.check(f"load: 99 of 100 of them take at most {SOON_MS} ms, but for waiting for a processor", beside[2][CALLS * 99 // 100] <= SOON_MS, beside[2][-5:])


def log_in(product: Product) -> str:
    """Logs in, and returns the access token."""
    callback = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Callback)
    callback.answers = []
    threading.Thread(target=callback.serve_forever, daemon=True).start()
    origin, redirect = f"http://127.0.0.1:{product.port}", f"http://127.0.0.1:{callback.server_port}/callback"

    def ask(path: str, body: bytes, kind: str) -> dict:
        with urllib.request.urlopen(urllib.request.Request(origin + path, body, {"Content-Type": kind}), timeout=PATIENCE) as answer:
            return json.load(answer)

    asked = {"client_name": "Load", "redirect_uris": [redirect]}
    client = ask("/oauth/register", json.dumps(asked).encode(), "application/json")["client_id"]
    query = {
        "response_type": "code", "client_id": client, "redirect_uri": redirect, "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
    }
    allow(product, f"{origin}/oauth/authorize?{urllib.parse.urlencode(query)}")
    form = {
        "grant_type": "authorization_code", "code": callback.answers[0]["code"], "redirect_uri": redirect, "client_id": client,
        "code_verifier": VERIFIER,
    }
    tokens = ask("/oauth/token", urllib.parse.urlencode(form).encode(), "application/x-www-form-urlencoded")
    callback.shutdown()
    return tokens["access_token"]


def logins(report: Report, product: Product, token: str) -> None:
    """Compares calls with a login's token and with one that was made by hand, which take turns."""
    tokens = {"login": log_in(product), "token": token}
    connections = {name: connect(product) for name in tokens}
    times: dict = {name: [] for name in tokens}
    statuses = set()
    for _ in range(CALLS):
        for name, secret in tokens.items():
            status, _, took = post(connections[name], READ, {**MODERN, "Authorization": f"Bearer {secret}"})
            statuses.add(status)
            times[name].append(took)
    medians = {name: statistics.median(values) for name, values in times.items()}
    report.note(
        f"         a call: {medians['login']:.2f} ms with a login, {medians['token']:.2f} ms with a token, "
        f"{medians['login'] / medians['token']:.2f} times"
    )
    report.check("load: calls of both are answered", statuses == {200}, statuses)


def run(report: Report, product: Product) -> None:
    """Measures a service with a public URL."""
    token = product.token("load")
    port = reserve_port()
    product.cli("tunnel", "manual", f"http://127.0.0.1:{port}", "--yes")
    product.start(port)
    strangers(report, product)
    logins(report, product, token)
    slow(report, product, token)
    report.check("load: the service lives", product.lives())
