"""Waiting until a file of a folder is opened: a search has then begun, however slow the computer is."""

import ctypes
import os
import select
import sys
import time
from pathlib import Path

from .patience import PATIENCE

IN_OPEN, IN_IS_FOLDER = 0x20, 0x4000_0000
IN_NONBLOCK, IN_CLOEXEC = 0o4000, 0o2000000


class OpenedFiles:
    """Watches the files directly in a folder, by inotify. Elsewhere than on Linux it waits for a fixed time."""

    def __init__(self, folder: Path) -> None:
        self._queue = -1
        if sys.platform == "linux":
            libc = ctypes.CDLL(None, use_errno=True)
            self._queue = libc.inotify_init1(IN_NONBLOCK | IN_CLOEXEC)
            if self._queue < 0 or libc.inotify_add_watch(self._queue, os.fsencode(folder), IN_OPEN) < 0:
                raise OSError(ctypes.get_errno(), "inotify cannot watch", str(folder))

    def clear(self) -> None:
        """Forgets what was opened until now."""
        self._read()

    def wait(self) -> bool:
        """Waits until a file is opened; returns whether one was."""
        if self._queue < 0:
            time.sleep(1)
            return True
        deadline = time.monotonic() + PATIENCE
        while not self._read():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            select.select([self._queue], [], [], left)
        return True

    def _read(self) -> bool:
        """Reads all events; returns whether one is of a file."""
        found = False
        while self._queue >= 0:
            try:
                data = os.read(self._queue, 65_536)
            except BlockingIOError:
                break
            at = 0
            while at < len(data):
                mask = int.from_bytes(data[at + 4 : at + 8], sys.byteorder)
                at += 16 + int.from_bytes(data[at + 12 : at + 16], sys.byteorder)
                found = found or not mask & IN_IS_FOLDER
        return found

    def __enter__(self) -> "OpenedFiles":
        return self

    def __exit__(self, *_) -> None:
        if self._queue >= 0:
            os.close(self._queue)
