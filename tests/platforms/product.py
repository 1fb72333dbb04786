"""The product for Windows under wine: the same installation as in tests/clients, on wine's drive C."""

import os
import subprocess
from pathlib import Path

from harness.patience import PATIENCE, wait_until
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

    def windows(self, *words: str, seconds: float = 2 * PATIENCE) -> subprocess.CompletedProcess:
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


def await_true(holds) -> bool:
    """Waits until something holds; returns whether it did."""
    return bool(wait_until(holds, pause=0.1))
