"""The product for Windows under wine: the same installation as in tests/clients, on wine's drive C."""

import os
import subprocess
import time
from pathlib import Path

from harness.product import Product
from harness.wire import plain_environment

WINE_VARIABLES = ("WINEPREFIX", "WINEDEBUG", "WINEDLLOVERRIDES")


class WindowsProduct(Product):
    """One `BAILIWICK_HOME` on drive C, with a scope `app` beside it."""

    @property
    def program(self) -> list:
        """The words by which the product is started."""
        return ["wine", str(self.binary)]

    def written(self, path: Path) -> str:
        """Writes a path of drive C as Windows does."""
        return "C:\\" + str(path.relative_to(drive_c())).replace("/", "\\")

    @property
    def environment(self) -> dict:
        """The environment of every process of this installation."""
        return {**wine_environment(), "BAILIWICK_HOME": self.written(self.home)}

    def start(self) -> None:
        """Starts the service and waits until it answers."""
        last = None
        # Wine may be slow to start on a busy computer: the second attempt finds it warm.
        for _ in range(2):
            try:
                return super().start()
            except RuntimeError as error:
                last = error
                self.stop(9)
        raise last

    def windows(self, *words: str, seconds: int = 60) -> subprocess.CompletedProcess:
        """Runs a program of Windows in the project's folder."""
        return subprocess.run(
            ["wine", *words], env=wine_environment(), cwd=self.project, capture_output=True, text=True, timeout=seconds,
            stdin=subprocess.DEVNULL, errors="replace",
        )


def drive_c() -> Path:
    """Gives the folder that is drive C."""
    return Path(os.environ["WINEPREFIX"]) / "drive_c"


def wine_environment() -> dict:
    """Gives the variables that wine needs to run."""
    named = {name: os.environ[name] for name in WINE_VARIABLES if name in os.environ}
    return {**plain_environment(), **named}


def await_true(holds, seconds: float = 20) -> bool:
    """Waits until something holds; tells whether it came to."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True
