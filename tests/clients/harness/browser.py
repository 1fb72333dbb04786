"""A real Chromium without a window, driven by keys and clicks over its debugging pipe. The standard library is enough."""

import base64
import fcntl
import json
import os
import queue
import shutil
import subprocess
import threading
from pathlib import Path

from .patience import PATIENCE, wait_until

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
)
KEYS = {"Tab": 9, "Enter": 13, " ": 32}


def find() -> str | None:
    """Finds Chromium: Debian's package, or what $BAILIWICK_CHROMIUM names."""
    return os.environ.get("BAILIWICK_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """A browser with a profile of its own."""

    def __init__(self, program: str, profile: Path, *flags: str) -> None:
        inner, self._to = os.pipe()
        self._from, outer = os.pipe()
        # Numbers that are not 3 and 4, which the browser wants.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 20) for end in (inner, outer)]
        line = f'exec "$@" 3<&{ends[0]} 4>&{ends[1]} {ends[0]}<&- {ends[1]}>&-'
        environment = {"HOME": str(profile), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        profile.mkdir()
        self.process = subprocess.Popen(
            ["bash", "-c", line, "browser", program, *FLAGS, f"--user-data-dir={profile}", *flags, "about:blank"],
            env=environment, pass_fds=ends, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        for end in (inner, outer, *ends):
            os.close(end)
        self._answers: dict = {}
        self.events: list = []
        self._count = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        pending = b""
        while piece := os.read(self._from, 1 << 16):
            *whole, pending = (pending + piece).split(b"\0")
            for message in map(json.loads, whole):
                if "id" in message:
                    self._answers[message["id"]].put(message)
                else:
                    self.events.append(message)

    def ask(self, method: str, session: str | None = None, **params) -> dict:
        """Sends a command of the DevTools protocol, and returns its result."""
        self._count += 1
        number = self._count
        self._answers[number] = queue.Queue()
        message = {"id": number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        os.write(self._to, json.dumps(message).encode() + b"\0")
        answer = self._answers[number].get(timeout=PATIENCE)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def page(self, width: int = 1280, height: int = 900, dark: bool = False) -> "Page":
        """Opens a page of a size, in light or dark colours."""
        context = self.ask("Target.createBrowserContext")["browserContextId"]
        target = self.ask("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable", session)
        self.ask(
            "Emulation.setDeviceMetricsOverride", session, width=width, height=height, deviceScaleFactor=2, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", session, features=[scheme])
        return Page(self, session)

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.wait()


class Page:
    """A page, used as a person uses it."""

    def __init__(self, browser: Browser, session: str) -> None:
        self.browser = browser
        self.session = session

    def ask(self, method: str, **params) -> dict:
        """Sends a command for this page."""
        return self.browser.ask(method, self.session, **params)

    def open(self, url: str) -> None:
        """Goes to an address, and waits until it is there."""
        self.ask("Page.navigate", url=url)
        self.await_value(f"location.href !== 'about:blank' && document.readyState === 'complete' && document.body.innerText.length > 0")

    def value(self, expression: str):
        """Returns what an expression is in the page."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def await_value(self, expression: str):
        """Waits until an expression is true, and returns it. A page that is just being left has no values."""

        def look():
            try:
                return self.value(expression)
            except RuntimeError:
                return None

        return wait_until(look)

    def press(self, key: str) -> None:
        """Presses a key."""
        text = {"Enter": "\r", " ": " "}.get(key)
        code = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": KEYS[key]}
        self.ask("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **code, **({"text": text} if text else {}))
        self.ask("Input.dispatchKeyEvent", type="keyUp", **code)

    def type(self, text: str) -> None:
        """Types into what has the focus."""
        self.ask("Input.insertText", text=text)

    def focus(self, expression: str, most: int = 60) -> bool:
        """Continues by Tab until the expression holds of what has the focus, called `it`."""
        for _ in range(most):
            if self.value(f"(it => Boolean({expression}))(document.activeElement)"):
                return True
            self.press("Tab")
        return False

    def picture(self, path: Path) -> None:
        """Writes a picture of the whole page."""
        size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        data = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
        path.write_bytes(base64.b64decode(data))

    def complaints(self) -> list:
        """Returns what the console has said of it."""
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            method, params = event["method"], event["params"]
            if method == "Log.entryAdded" and params["entry"]["level"] in ("warning", "error"):
                found.append(params["entry"]["text"])
            elif method == "Runtime.consoleAPICalled" or method == "Runtime.exceptionThrown":
                found.append(json.dumps(params)[:300])
        return found

    def requests(self) -> list:
        """Returns the addresses that it has asked for."""
        return [
            event["params"]["request"]["url"] for event in self.browser.events
            if event.get("sessionId") == self.session and event["method"] == "Network.requestWillBeSent"
        ]
