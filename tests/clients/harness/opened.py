"""Waiting until a file of a folder is opened: a search has then begun, however slow the computer is."""

import ctypes
import os
import sys
import threading
import time
from pathlib import Path

from .patience import PATIENCE

IN_OPEN, IN_IS_FOLDER = 0x20, 0x4000_0000
IN_NONBLOCK, IN_CLOEXEC = 0o4000, 0o2000000


class OpenedFiles:
    """Watches the files directly in a folder, by inotify. Elsewhere than on Linux it waits for a fixed time."""

    def __init__(self, folder: Path) -> None:
        self._lock = threading.Lock()
        self._queue = -1
        if sys.platform == "linux":
            libc = ctypes.CDLL(None, use_errno=True)
            self._queue = libc.inotify_init1(IN_NONBLOCK | IN_CLOEXEC)
            if self._queue < 0 or libc.inotify_add_watch(self._queue, os.fsencode(folder), IN_OPEN) < 0:
                raise OSError(ctypes.get_errno(), "inotify cannot watch", str(folder))

    def wait(self) -> bool:
        """Waits until a file is opened, or another thread ends the watch; returns whether one was opened."""
        if sys.platform != "linux":
            time.sleep(1)
            return True
        deadline = time.monotonic() + PATIENCE
        while not self._read():
            if self._queue < 0 or time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True

    def _read(self) -> bool:
        """Reads all events; returns whether one is of a file."""
        found = False
        while True:
            with self._lock:
                if self._queue < 0:
                    break
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
        with self._lock:
            if self._queue >= 0:
                os.close(self._queue)
            self._queue = -1
