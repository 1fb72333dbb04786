"""What drills share: an installation of their own, its service, and clients of it."""

import http.client
import json
import os
import shutil
import subprocess
import sys
import threading
import time

STARTED_WITHIN = 120
# What a scope needs whose commands run anywhere, and are taken back.
WITH_COMMANDS = (
    ("scope", "edit", "scope", "--sandbox", "none", "--undo", "commands", "--yes"),
    ("scope", "allow", "scope", "command:run", "--yes"),
    ("scope", "allow", "scope", "--command", "python3 *", "--yes"),
)


def command(script):
    """A request that runs a script of bash, also where no text is handed to a shell."""
    program = "import os, sys; os.execvp('bash', ['bash', '-c', sys.argv[1]])"
    return {"op": "command.run", "input": {"command": ["python3", "-c", program, script]}}


class Installation:
    """The program as a user sets it up, with one scope, in a folder of its own."""

    def __init__(self, program, around, preset="coding", home=None):
        self.program, self.around = os.path.abspath(program), os.path.realpath(around)
        self.scope = f"{self.around}/scope"
        self.home = home or f"{self.around}/home"
        os.makedirs(self.scope, exist_ok=True)
        self.environment = {**os.environ, "BAILIWICK_HOME": self.home, "HOME": self.around}
        self.service, self.address = None, None
        self.run("setup", "--yes", self.scope, "--preset", preset)

    @property
    def state(self):
        return f"{self.home}/state"

    def run(self, *words, check=True):
        ran = subprocess.run([self.program, *words], env=self.environment, capture_output=True, text=True)
        if check and ran.returncode != 0:
            raise SystemExit(f"{words}: {ran.stdout} {ran.stderr}")
        return ran.stdout

    def call(self, op, target, **fields):
        """Asks without a service: the process is one itself."""
        words = [word for name, value in fields.items() for word in (f"--{name}", json.dumps(value))]
        return json.loads(self.run("call", op, "--json", "--target", target, *words, check=False))

    def token(self, name):
        return json.loads(self.run("token", "create", name, "--json"))["token"]["secret"]

    def start(self, **popen):
        """Starts the service, and returns how long it took until it could be asked."""
        began = time.monotonic()
        words = [self.program, "start", "--port", "0", "--json"]
        environment = popen.pop("environment", self.environment)
        self.service = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **popen)
        # A service that never says where it is has to be found out.
        watchdog = threading.Timer(STARTED_WITHIN, self.service.kill)
        watchdog.start()
        line = self.service.stdout.readline()
        watchdog.cancel()
        self.address = json.loads(line).get("address") if line else None
        if not self.address:
            raise SystemExit(f"the service does not start: {line} {self.service.stderr.read()}")
        # Whatever it prints further is not waited for.
        for stream in (self.service.stdout, self.service.stderr):
            threading.Thread(target=stream.read, daemon=True).start()
        return time.monotonic() - began

    def stop(self):
        self.service.terminate()
        self.service.wait()

    def kill(self):
        self.service.kill()
        self.service.wait()

    def verify(self):
        """The history, as the program judges it."""
        return json.loads(self.run("history", "verify", "--json", check=False))

    def memory(self):
        """The service's own memory, in MiB."""
        with open(f"/proc/{self.service.pid}/status") as lines:
            return int(next(line for line in lines if line.startswith("RssAnon:")).split()[1]) / 1024

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.service.pid}/fd"))

    def disk(self):
        """What the state folder takes, in MiB."""
        total = 0
        for folder, _, files in os.walk(self.state):
            for name in files:
                try:
                    total += os.lstat(os.path.join(folder, name)).st_blocks * 512
                except OSError:
                    pass
        return total / (1 << 20)

    def left(self):
        """The names in the scope that only a cut-off write leaves."""
        found = []
        for _, folders, files in os.walk(self.scope):
            found += [name for name in folders + files if name.startswith(".bailiwick-") and name.endswith(".tmp")]
        return found


class Client:
    """A client over HTTP that keeps its connection."""

    def __init__(self, installation, token, timeout=120):
        self.token = token
        self.connection = http.client.HTTPConnection(installation.address, timeout=timeout)

    def send(self, op, target=None, **fields):
        envelope = {"scope": "scope", "op": op, **({"target": target} if target is not None else {}), **fields}
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        self.connection.request("POST", "/api/v1/operations", json.dumps(envelope), headers)
        answer = self.connection.getresponse()
        return json.loads(answer.read())

    def close(self):
        self.connection.close()


def get(installation, path, headers=None, timeout=60):
    """Asks on a connection of its own; returns the status and the seconds that it took."""
    began = time.monotonic()
    connection = http.client.HTTPConnection(installation.address, timeout=timeout)
    try:
        connection.request("GET", path, headers=headers or {})
        answer = connection.getresponse()
        answer.read()
        return answer.status, time.monotonic() - began
    finally:
        connection.close()


def figures(name, seconds):
    """Says what times were like, and what part of them was within 50 ms."""
    times = sorted(seconds)
    in_time = sum(1 for it in times if it <= 0.05)
    print(
        f"{name}: {len(times)} times, median {times[len(times) // 2] * 1000:.1f} ms, slowest {times[-1] * 1000:.0f} ms,"
        f" within 50 ms {100 * in_time / len(times):.1f} %"
    )
    return times[len(times) // 2]


def drill(run):
    """Runs a drill in an empty folder: `PROGRAM FOLDER`. Exits with 1 if it returns faults."""
    program, around = sys.argv[1], os.path.realpath(sys.argv[2])
    shutil.rmtree(around, ignore_errors=True)
    os.makedirs(around)
    faults = run(program, around, *sys.argv[3:])
    shutil.rmtree(around)
    print("\n".join(faults))
    sys.exit(1 if faults else 0)
