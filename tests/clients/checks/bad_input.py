"""Bad and huge input over stdio and HTTP: a clear error, a service that lives, a history that says so."""

import json
import socket
import threading
import time

from harness.patience import PATIENCE
from harness.product import Product
from harness.report import Report
from harness.wire import META, MODERN, Http, Stdio, envelope_of, resident_bytes, tool_call, whole

READ = {"op": "file.read", "target": "README.md"}
MIB = 1024 * 1024
# Calls that would take 73 MiB, more than is allowed, if they were all kept in memory. Their answers would take more than the
# 4 MiB of answers that Bailiwick keeps for a client.
PIPELINED, PADDING, ANSWER_BYTES = 3_000, 25 * 1024, 2_000
GROWTH_LIMIT_BYTES = 48 * MIB
MEMORY_LIMIT_BYTES = 160 * MIB


def deep(levels: int) -> dict:
    """Gives objects within objects."""
    value: dict = {}
    for _ in range(levels):
        value = {"a": value}
    return value


# What a client may send as the arguments of `computer_query`, and a word that the error has to hold.
MALFORMED = (
    ("no operation", {"target": "README.md"}, "op"),
    ("an operation that is a number", {"op": 7}, "op"),
    ("a target that is an object", {"op": "file.read", "target": {}}, "target"),
    ("options that are a list", {"op": "file.read", "target": "README.md", "options": [1]}, "options"),
    ("an unknown field", {**READ, "targett": "x"}, "targett"),
    ("an unknown option", {**READ, "options": {"startLin": 1}}, "startLin"),
    ("a number that is too large", {**READ, "options": {"startLine": 10**30}}, "startLine"),
    ("a negative number", {**READ, "options": {"startLine": -1}}, "startLine"),
    ("a fraction", {**READ, "options": {"startLine": 1.5}}, "startLine"),
    ("a path with a NUL", {"op": "file.read", "target": "a\x00b"}, ""),
    ("a path of 100,000 characters", {"op": "file.read", "target": "a" * 100_000}, ""),
    ("an empty operation name", {"op": "", "target": "README.md"}, "op"),
    ("objects 100 levels deep", {**READ, "input": deep(100)}, ""),
)
UNKNOWN = ("an unknown operation", {"op": "file.raed", "target": "README.md"}, "unknown_operation", "file.read")

# Lines that are no request at all.
BROKEN_LINES = (
    ("half an object", b'{"jsonrpc":"2.0","id":1,"method":"tools/call",\n'),
    ("bad UTF-8", b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":"\xff\xfe"}}\n'),
    ("a number beyond all floats", b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":1e999}}\n'),
    ("objects 5,000 levels deep", b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"\n"),
    ("plain words", b"hello there\n"),
    ("NUL bytes", b"\x00\x00\x00\n"),
    ("an empty line", b"\n"),
    ("a batch", b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]\n'),
    ("an id that is an object", b'{"jsonrpc":"2.0","id":{},"method":"ping"}\n'),
)


def answers(stdio: Stdio, identifier) -> bool:
    """Tells whether a plain read is answered."""
    return envelope_of(stdio.ask(tool_call(identifier, "computer_query", READ)) or {}).get("ok") is True


def malformed_is_told(report: Report, way: str, product: Product, call) -> None:
    """Each malformed envelope is a result with `isError`, `invalid_request` and a row in the history."""
    identifiers = {}
    for name, arguments, word in MALFORMED:
        reply = call(arguments) or {}
        outcome = envelope_of(reply)
        error = outcome.get("error", {})
        told = reply.get("result", {}).get("isError") is True and error.get("code") == "invalid_request"
        report.check(f"{way}: {name} is an invalid request that names it", told and word in json.dumps(error), reply)
        identifiers[name] = outcome.get("operationId")
    name, arguments, code, word = UNKNOWN
    error = envelope_of(call(arguments) or {}).get("error", {})
    report.check(f"{way}: {name} is told, with the nearest one", error.get("code") == code and word in json.dumps(error), error)
    codes = {row["operationId"]: row.get("code") for row in product.history()}
    wrong = {name: codes.get(one) for name, one in identifiers.items() if codes.get(one) != "invalid_request"}
    report.check(f"{way}: the history holds every malformed request", identifiers and not wrong, wrong)


def duplicate_keys(report: Report, way: str, product: Product, send_raw) -> None:
    """A read-only tool stays read-only, whichever of two equal names counts."""
    victim = product.project / "victim.txt"
    victim.write_text("still here\n")
    for first, second in (("file.read", "file.delete"), ("file.delete", "file.read")):
        meta = json.dumps(META)
        arguments = f'{{"op":"{first}","op":"{second}","target":"victim.txt"}}'
        body = (
            f'{{"jsonrpc":"2.0","id":"{first}","method":"tools/call",'
            f'"params":{{"name":"computer_query","arguments":{arguments},"_meta":{meta}}}}}'
        )
        send_raw(body.encode(), first)
    report.check(f"{way}: two fields of one name get no effect past a read-only tool", victim.exists())
    victim.unlink(missing_ok=True)


def stdio_input(report: Report, way: str, product: Product) -> None:
    """Bad input on standard input."""
    stdio = product.stdio()
    try:
        numbers = iter(range(100, 100_000))
        malformed_is_told(
            report, way, product, lambda arguments: stdio.ask(tool_call(next(numbers), "computer_query", arguments))
        )
        duplicate_keys(report, way, product, lambda body, identifier: (stdio.send_bytes(body + b"\n"), stdio.reply(identifier)))
        for name, line in BROKEN_LINES:
            stdio.send_bytes(line)
            report.check(f"{way}: {name}: the session lives", answers(stdio, f"after {name}"), stdio.errors[-5:])
            error = stdio.unaddressed_error()
            told = error and error["code"] in (-32700, -32600) and error["message"]
            report.check(f"{way}: {name}: is told", told or not line.strip(), error)
        before = stdio.resident_bytes()
        huge = tool_call(1, "computer_query", {**READ, "input": {"x": "y" * (17 * MIB)}})
        stdio.send(huge)
        report.check(f"{way}: a line of 17 MiB: the session lives", answers(stdio, "after 17 MiB"), stdio.errors[-5:])
        error = stdio.unaddressed_error()
        report.check(f"{way}: a line of 17 MiB: is told", error and error["code"] == -32700, error)
        grown = (stdio.resident_bytes() - before) / MIB
        report.check(f"{way}: a line of 17 MiB leaves the memory small ({grown:.0f} MiB more)", grown < 80, grown)
        stdio.send_bytes(b"x" * (40 * MIB) + b"\n")
        report.check(f"{way}: a line of 40 MiB: the session lives", answers(stdio, "after 40 MiB"), stdio.errors[-5:])
        report.check(f"{way}: nothing but JSON on standard output", not stdio.noise, stdio.noise[:3])
    finally:
        code = stdio.close()
    report.check(f"{way}: the end of input ends it with 0", code == 0, code)


def deep_and_plain_errors(report: Report, way: str, product: Product) -> None:
    """Requests that cannot be routed are answered as JSON-RPC errors with their id, where it can be read."""
    stdio = product.stdio()
    try:
        reply = stdio.ask({"jsonrpc": "2.0", "id": 5, "method": "no/such", "params": {"_meta": META}})
        report.check(f"{way}: an unknown method is -32601", (reply or {}).get("error", {}).get("code") == -32601, reply)
        reply = stdio.ask(tool_call(6, "no_such_tool", {}))
        report.check(f"{way}: an unknown tool is -32602", (reply or {}).get("error", {}).get("code") == -32602, reply)
        # What is too deep to be read has no id that could be answered; JSON-RPC 2.0 §5 then leaves it out.
        stdio.send(tool_call(7, "computer_query", {**READ, "input": deep(200)}))
        report.check(f"{way}: objects 200 levels deep: the session lives", answers(stdio, 8))
        error = stdio.unaddressed_error()
        report.check(f"{way}: objects 200 levels deep: is told", error and error["code"] == -32700, error)
    finally:
        stdio.close()


def pipelined(report: Report, way: str, product: Product) -> None:
    """Many calls at once are all answered, in bounded memory, to a client that first reads no answers and then all."""
    name = f"{way}: {PIPELINED:,} pipelined calls of {PADDING // 1024} KiB"
    (product.project / "long.txt").write_text("long\n" * (ANSWER_BYTES // 5))
    arguments = whole({"op": "file.read", "target": "long.txt"})
    params = {"name": "computer_query", "arguments": arguments, "_meta": {"padding": "x" * PADDING}}
    head, tail = json.dumps({"jsonrpc": "2.0", "method": "tools/call", "params": params, "id": 0}).encode().rsplit(b"0", 1)
    stdio = product.stdio()
    sent = 0

    def write() -> None:
        nonlocal sent
        for number in range(PIPELINED):
            stdio.send_bytes(b"%b%d%b\n" % (head, number, tail))
            sent += 1

    writer = threading.Thread(target=write, daemon=True)
    try:
        stdio.initialize()
        before = stdio.resident_bytes()
        stdio.lines.maxsize = 1  # the reader stops, then the pipe is full
        began = time.monotonic()
        writer.start()
        stalled = await_stall(lambda: sent)
        report.check(f"{name}: a client that reads no answers has to wait", stalled < PIPELINED, stalled)
        stdio.lines.maxsize = 1_000_000
        answered = set()
        while len(answered) < PIPELINED and (message := stdio.next()):
            if envelope_of(message).get("ok") is True:
                answered.add(message["id"])
        seconds = time.monotonic() - began
        peak = resident_bytes(stdio.process.pid, "VmHWM")
        every = len(answered) == PIPELINED
        report.check(f"{name} are answered ({seconds:.0f} s)", every, len(answered))
        grown = peak - before
        bounded = peak <= MEMORY_LIMIT_BYTES and grown <= GROWTH_LIMIT_BYTES
        shown = f"{peak / MIB:.0f} MiB, {grown / MIB:.0f} MiB more than before"
        report.check(f"{name} stay in bounded memory ({shown})", bounded, shown)
    finally:
        if writer.is_alive():
            stdio.process.kill()  # it takes no input any more, and would not see the end of it
        stdio.close()


def await_stall(count) -> int:
    """Waits until `count()` rises no more for a second, and returns it."""
    last, since = count(), time.monotonic()
    while time.monotonic() - since < 1:
        time.sleep(0.05)
        if (now := count()) != last:
            last, since = now, time.monotonic()
    return last


def http_input(report: Report, product: Product, token: str) -> None:
    """Bad input to the MCP endpoint."""
    http = product.http(token)
    malformed_is_told(report, "http", product, lambda arguments: http.call("computer_query", arguments))
    duplicate_keys(report, "http", product, lambda body, _: http.post(body, headers_of("tools/call", "computer_query")))
    modern = headers_of("tools/list")
    statuses = (
        ("half an object", b'{"jsonrpc":"2.0","id":1,', modern, range(400, 500)),
        ("bad UTF-8", b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":"\xff"}}', modern, range(400, 500)),
        ("objects 5,000 levels deep", b'{"a":' * 5000 + b"1" + b"}" * 5000, modern, range(400, 500)),
        ("an empty body", b"", modern, range(400, 500)),
        ("a body of 17 MiB", b'{"a":"' + b"x" * (17 * MIB) + b'"}', modern, (413,)),
        ("another content type", json.dumps(tool_call(1, "computer_query", READ)).encode(), {"Content-Type": "text/plain"}, (415,)),
        ("an `Accept` that takes no answer", b"{}", {"Accept": "text/html"}, (406,)),
        ("a foreign `Origin`", b"{}", {"Origin": "https://attacker.example"}, (403,)),
        ("`Origin: null`", b"{}", {"Origin": "null"}, (403,)),
        ("a foreign `Host`", b"{}", {"Host": "attacker.example"}, (403, 421)),
        ("a header of 200 kB", b"{}", {"X-Large": "x" * 200_000}, (400, 413, 431)),
        ("a header that contradicts the body", json.dumps(tool_call(1, "computer_query", READ)).encode(),
         headers_of("tools/call", "get_computer_info"), (400,)),
    )
    for name, body, extra, accepted in statuses:
        try:
            status = http.post(body, extra)[0]
        except OSError as error:  # a server may close on a client that still sends
            status = 413 if name.startswith(("a body", "a header of")) and isinstance(error, ConnectionError) else repr(error)
        report.check(f"http: {name} gives {status}", status in accepted, status)
    report.check("http: the service lives and answers", envelope_of(http.call("computer_query", READ)).get("ok") is True)


def headers_of(method: str, name: str | None = None) -> dict:
    """Gives the headers of the modern era for a body that is sent as bytes."""
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
    return {**headers, "Mcp-Name": name} if name else headers


def http_connections(report: Report, product: Product, token: str) -> None:
    """Slow, silent and many connections."""
    http = product.http(token)
    address = ("127.0.0.1", product.port)
    silent = [socket.create_connection(address) for _ in range(200)]
    half = socket.create_connection(address)
    half.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Le")
    began = time.monotonic()
    alive = envelope_of(http.call("computer_query", READ)).get("ok") is True
    report.check("http: 200 silent connections do not keep others out", alive)
    half.settimeout(2 * PATIENCE)
    try:
        ended = b" 408 " in (answer := half.recv(4096)) or answer == b""
    except OSError as error:
        ended = not isinstance(error, TimeoutError)
    report.check(f"http: a head that never ends is ended ({time.monotonic() - began:.0f} s)", ended)
    for connection in (*silent, half):
        connection.close()
    peak = resident_bytes(product.service.pid, "VmHWM")
    report.check(f"http: the service stays in bounded memory ({peak / MIB:.0f} MiB)", peak <= MEMORY_LIMIT_BYTES, peak)


def http_load(report: Report, product: Product, token: str, connections: int = 32, calls: int = 60) -> None:
    """Many connections at once: every call is answered, and every answer is in the history."""
    answered: list = []

    def work() -> None:
        http: Http = product.http(token)
        connection = http.open()
        for number in range(calls):
            outcome = envelope_of(http.call("computer_query", READ, number, connection))
            if outcome.get("ok") is True:
                answered.append(outcome["operationId"])
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    total = connections * calls
    report.check(f"http: {total:,} calls over {connections} connections are answered", len(answered) == total, len(answered))
    held = {row["operationId"] for row in product.history(total + 1000)}
    lost = len(set(answered) - held)
    report.check(f"http: all {total:,} are in the history", answered and not lost, f"{lost} are lost")


def run(report: Report, running: Product, embedded: Product) -> None:
    """Runs all of it."""
    token = running.token("bad-input")
    for way, product in (("stdio", running), ("stdio-alone", embedded)):
        stdio_input(report, way, product)
        deep_and_plain_errors(report, way, product)
        pipelined(report, way, product)
    http_input(report, running, token)
    http_load(report, running, token)
    http_connections(report, running, token)
