"""Ends in the middle: clients that leave, cancellations, signals, and SIGKILL at any moment."""

import contextlib
import json
import random
import signal
import threading
import time

from harness.opened import OpenedFiles
from harness.patience import PATIENCE, wait_until
from harness.product import SLOW_SEARCH, Product
from harness.report import Report
from harness.wire import envelope_of, tool_call

READ = {"op": "file.read", "target": "README.md"}
# Bailiwick gives a search 0.5 s to stop and ends within about 2 s; the rest is for a busy computer. A search that nobody cancels
# takes much longer, and an idle connection is closed after 10 s.
END_LIMIT_SECONDS = 8.0
# How many operations are answered before a server is killed.
ANSWERED_BEFORE_KILL = 15
KILL_ROUNDS = 8


@contextlib.contextmanager
def reading(product: Product):
    """Waits, at the end of the block, until the search that the block asks for reads files."""
    with OpenedFiles(product.project / "slow") as opened:
        yield
        opened.wait()


def newest_search(product: Product, before: set):
    """Waits for the finished row of a search that was not there before."""
    return product.await_history(lambda row: row["op"] == "file.search" and row["operationId"] not in before)


def searches(product: Product) -> set:
    """Gives the ids of the searches that ended."""
    return {row["operationId"] for row in product.history() if row["op"] == "file.search"}


def is_cancelled(report: Report, name: str, product: Product, before: set) -> None:
    """The history says that the one new search was cancelled."""
    row = newest_search(product, before)
    report.check(f"{name}: the history says that the search was cancelled", row and row["code"] == "cancelled", row)


def leave_http(report: Report, product: Product, token: str) -> None:
    """A client that closes its connection in the middle of a search, in both eras."""
    http = product.http(token)
    plain = tool_call(1, "computer_query", SLOW_SEARCH)
    legacy = {**plain, "params": {key: value for key, value in plain["params"].items() if key != "_meta"}}
    for era, message, extra in (("modern", plain, {}), ("legacy", legacy, {"MCP-Protocol-Version": "2025-11-25"})):
        before = searches(product)
        connection = http.open()
        with reading(product):
            connection.request("POST", http.url.path, json.dumps(message).encode(), http.headers(message, extra))
        connection.sock.close()
        connection.close()
        is_cancelled(report, f"http {era}: a client leaves", product, before)
        answered = envelope_of(http.call("computer_query", READ)).get("ok") is True
        report.check(f"http {era}: a client leaves: the service answers others", answered)


def cancel_stdio(report: Report, way: str, product: Product) -> None:
    """A cancellation by notification, and an end of input in the middle."""
    stdio = product.stdio()
    stdio.initialize()
    before = searches(product)
    call = tool_call(1, "computer_query", SLOW_SEARCH)
    del call["params"]["_meta"]
    with reading(product):
        stdio.send(call)
    stdio.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, "reason": "enough"}})
    is_cancelled(report, f"{way}: a cancellation arrives", product, before)
    reply = stdio.ask({**call, "id": 2, "params": {"name": "computer_query", "arguments": {**READ, "detail": "full"}}})
    report.check(f"{way}: a cancellation arrives: the session lives", envelope_of(reply or {}).get("ok") is True, reply)
    before = searches(product)
    with reading(product):
        stdio.send({**call, "id": 3})
    began = time.monotonic()
    code = stdio.close()
    seconds = time.monotonic() - began
    ended = code == 0 and seconds <= END_LIMIT_SECONDS
    report.check(f"{way}: the end of input during a search ends it with 0 in {seconds:.1f} s", ended, code)
    is_cancelled(report, f"{way}: the end of input", product, before)


def time_limit(report: Report, product: Product, token: str) -> None:
    """A search that reaches its time limit says so, to the client and in the history."""
    hurried = {**SLOW_SEARCH, "options": {"timeoutSeconds": 1}}
    outcome = envelope_of(product.http(token).call("computer_query", hurried))
    code = outcome.get("error", {}).get("code")
    report.check("http: a search that reaches its time limit answers `timeout`", code == "timeout", outcome)
    row = product.await_history(lambda row: row["operationId"] == outcome.get("operationId"))
    report.check("http: a search that reaches its time limit: the history says so", row and row["code"] == "timeout", row)


def signals_stdio(report: Report, way: str, product: Product) -> None:
    """Ctrl-C and SIGTERM during a search."""
    for name, number in (("Ctrl-C", signal.SIGINT), ("SIGTERM", signal.SIGTERM)):
        before = searches(product)
        stdio = product.stdio()
        with reading(product):
            stdio.send(tool_call(1, "computer_query", SLOW_SEARCH))
        began = time.monotonic()
        stdio.process.send_signal(number)
        try:
            stdio.process.wait(PATIENCE)
        except Exception:  # judged by the time
            stdio.process.kill()
            stdio.process.wait()
        seconds = time.monotonic() - began
        report.check(f"{way}: {name} during a search ends it in {seconds:.1f} s", seconds <= END_LIMIT_SECONDS, seconds)
        is_cancelled(report, f"{way}: {name}", product, before)
        stdio.close()


def signals_service(report: Report, product: Product, token: str) -> None:
    """Ctrl-C and SIGTERM while a search runs and connections are open."""
    for name, number in (("Ctrl-C", signal.SIGINT), ("SIGTERM", signal.SIGTERM)):
        before = searches(product)
        http = product.http(token)
        idle, busy = http.open(), http.open()
        http.call("computer_query", READ, 1, idle)
        message = tool_call(2, "computer_query", SLOW_SEARCH)
        with reading(product):
            busy.request("POST", http.url.path, json.dumps(message).encode(), http.headers(message))
        code, seconds = product.stop(number) or (None, 99.0)
        ended = code == 0 and seconds <= END_LIMIT_SECONDS
        report.check(f"service: {name} during a search ends it with 0 in {seconds:.1f} s", ended, (code, seconds))
        idle.close()
        busy.close()
        product.start()
        is_cancelled(report, f"service: {name}", product, before)


class Load:
    """Writers and readers that note which operations were answered, until the server is gone."""

    def __init__(self) -> None:
        self.answered: set = set()
        self.written: set = set()

    def note(self, reply: dict, target: str | None) -> bool:
        """Notes an answer; shows whether there was one."""
        outcome = envelope_of(reply or {})
        if outcome.get("ok") is not True:
            return False
        self.answered.add(outcome["operationId"])
        if target:
            self.written.add(target)
        return True

    @staticmethod
    def call(worker: int, number: int) -> tuple:
        """Gives the next call of a worker: writes of whole letters, so that a half-written file shows, and reads."""
        if number % 3 == 2:
            return "computer_query", READ, None
        target = f"load/file-{worker}-{number % 4}.txt"
        content = chr(97 + number % 26) * (20_000 + 7_919 * (number % 11))
        arguments = {"op": "file.write", "target": target, "input": {"content": content}, "options": {"createParents": True}}
        return "computer_operation", arguments, target

    def over_http(self, product: Product, token: str, worker: int) -> None:
        """Calls over one kept connection until it breaks."""
        http = product.http(token)
        connection = http.open()
        try:
            for number in range(1_000_000):
                tool, arguments, target = self.call(worker, number)
                self.note(http.call(tool, arguments, number, connection), target)
        except Exception:  # the server was killed: what was answered until then counts
            connection.close()

    def over_stdio(self, stdio) -> None:
        """Calls one after another until the end."""
        try:
            for number in range(1_000_000):
                tool, arguments, target = self.call(9, number)
                if not self.note(stdio.ask(tool_call(number, tool, arguments)), target) and stdio.process.poll() is not None:
                    return
        except OSError:
            return


def whole(product: Product) -> list:
    """Gives the files that are not one letter in one of the lengths written."""
    lengths = {20_000 + 7_919 * step for step in range(11)}
    wrong = []
    for file in sorted((product.project / "load").iterdir()):
        if file.name.startswith(".bailiwick-") and file.name.endswith(".tmp"):
            continue  # content on its way, which clients do not see and the service removes later
        text = file.read_text()
        if len(text) not in lengths or len(set(text)) != 1:
            wrong.append(f"{file.name}: {len(text)} characters of {sorted(set(text))}")
    return wrong


def kill(report: Report, product: Product, token: str) -> None:
    """SIGKILL at random moments under load: what was answered is in the history, and no file is half."""
    chance = random.Random(20261121)
    lost, half, broken, answered = [], [], [], 0
    for number in range(KILL_ROUNDS):
        load = Load()
        if number % 2 == 0:
            if not product.lives():
                product.start()
            process = product.service
            threads = [threading.Thread(target=load.over_http, args=(product, token, worker)) for worker in range(4)]
        else:
            product.stop()
            stdio = product.stdio()
            process = stdio.process
            threads = [threading.Thread(target=load.over_stdio, args=(stdio,))]
        for thread in threads:
            thread.start()
        wait_until(lambda: len(load.answered) >= ANSWERED_BEFORE_KILL, pause=0.01)
        time.sleep(chance.random() / 2)  # so that each round kills at another moment
        process.kill()
        process.wait()
        for thread in threads:
            thread.join()
        answered += len(load.answered)
        held = {row["operationId"] for row in product.history(len(load.answered) * 2 + 1000)}
        lost += sorted(load.answered - held)
        half += whole(product)
        verified = product.run("history", "verify")
        if verified.returncode != 0:
            broken.append(verified.stdout + verified.stderr)
    if not product.lives():
        product.start()
    rounds = f"SIGKILL under load, {KILL_ROUNDS} times"
    report.check(f"{rounds}: all {answered:,} answered operations are in the history", answered >= KILL_ROUNDS * ANSWERED_BEFORE_KILL and not lost, lost[:9])
    report.check(f"{rounds}: no file is half-written", not half, half[:9])
    listing = {"op": "file.list", "target": "load", "options": {"includeHidden": True, "includeIgnored": True}}
    listed = json.dumps(product.http(token).call("computer_query", listing))
    report.check(f"{rounds}: clients see whole files alone", "file-0-0.txt" in listed and ".bailiwick-" not in listed, listed)
    report.check(f"{rounds}: the history opens and verifies", not broken, broken[:1])
    alive = envelope_of(product.http(token).call("computer_query", READ)).get("ok") is True
    report.check(f"{rounds}: the service starts and answers", alive)


def run(report: Report, running: Product, embedded: Product) -> None:
    """Runs all of it."""
    token = running.token("endings")
    leave_http(report, running, token)
    time_limit(report, running, token)
    for way, product in (("stdio", running), ("stdio-alone", embedded)):
        cancel_stdio(report, way, product)
        signals_stdio(report, way, product)
    signals_service(report, running, token)
    kill(report, running, token)
