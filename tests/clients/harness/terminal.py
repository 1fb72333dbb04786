"""A program on a terminal: what it prints, and the keys that are pressed."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
from collections.abc import Callable
from pathlib import Path

from .patience import PATIENCE

# Colours, places and titles.
CONTROLS = re.compile(r"\x1b\][^\x07\x1b]*(\x07|\x1b\\)|\x1b\[[0-9;?<>=]*[ -/]*[@-~]|\x1b.")

# After how many pieces of output keys were without effect: what a program prints again and again, as it works.
WITHOUT_EFFECT = 8


class Terminal:
    """Runs a program on a terminal of its own until it is closed, or for `seconds` at most."""

    def __init__(self, command: list, environment: dict, folder: Path, columns: int = 120, seconds: float = 3 * PATIENCE) -> None:
        self._main, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        self._process = subprocess.Popen(
            [str(word) for word in command], stdin=other, stdout=other, stderr=other, env=environment, cwd=folder, start_new_session=True,
        )
        os.close(other)
        self._limit = threading.Timer(seconds, self._kill)
        self._limit.start()
        self.printed = ""

    def _kill(self) -> None:
        # With what it has started: the terminal is closed when nobody has it.
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)

    def until(self, holds: Callable):
        """Reads until `holds()` is true, and returns what it returned; `None` at the end."""
        while not (value := holds()):
            if not self._read():
                return None
        return value

    def press(self, keys: str, holds: Callable) -> bool:
        """Presses keys until `holds()` is true; `False` at the end. A program that has just begun to ask may take none."""
        while True:
            os.write(self._main, keys.encode())
            for _ in range(WITHOUT_EFFECT):
                if not self._read():
                    return False
                if holds():
                    return True

    @property
    def words(self) -> str:
        """What was printed, without blanks and ends of lines: those are wherever the program breaks lines."""
        return "".join(CONTROLS.sub("", self.printed).split())

    def wait(self) -> int:
        """Reads to the end, and returns the exit code."""
        self.until(lambda: False)
        return self._process.wait()

    def _read(self) -> bool:
        try:
            piece = os.read(self._main, 65_536)
        except OSError:  # the terminal is closed
            return False
        self.printed += piece.decode(errors="replace")
        return bool(piece)

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_) -> None:
        self._limit.cancel()
        self._kill()
        self._process.wait()
        os.close(self._main)
