"""Ports of the loopback interface that belong to one test run.

Binding port 0 and closing the listener frees the port for everyone: another program can take it before it is used. These
ports are below the range that systems hand out, and each is locked for as long as this process runs. tests/it/ports.rs locks
the same files.
"""

import fcntl
import os
import socket
import tempfile
from pathlib import Path

# Below 32768, where Linux begins to hand out ports; macOS and Windows begin at 49152.
FIRST, LAST = 20_000, 23_999
_locks: list = []


def reserve_port() -> int:
    """Returns a port on which nothing listens. No other test gets it while this process runs."""
    folder = Path(tempfile.gettempdir()) / "bailiwick-test-ports"
    try:
        folder.mkdir()
        folder.chmod(0o1777)  # other users' tests lock ports too
    except FileExistsError:
        pass
    count = LAST - FIRST + 1
    # Processes begin at different ports, so that they rarely try the same ones.
    start = os.getpid() * 61 % count
    for step in range(count):
        port = FIRST + (start + step) % count
        try:
            lock = open(folder / str(port), "a", encoding="utf-8")
        except PermissionError:
            continue  # another user's
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            lock.close()
            continue
        _locks.append(lock)
        return port
    raise RuntimeError(f"no port from {FIRST} to {LAST} can be reserved in {folder}")
