"""A display of its own (`Xvfb`) with one painted window, spoken to in the X protocol by hand; and reading a PNG."""

import base64
import os
import select
import shutil
import socket
import struct
import subprocess
import tempfile
import zlib
from pathlib import Path

from .patience import PATIENCE
from .wire import plain_environment

COOKIE = os.urandom(16)
METHOD = b"MIT-MAGIC-COOKIE-1"


def missing() -> str:
    """Says what is missing for a display; empty when nothing is."""
    return "" if shutil.which("Xvfb") else "Xvfb is not installed (on Debian: apt-get install xvfb)"


class Display:
    """A display of 320x200 pixels in one colour, with a window in another."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="bailiwick-display-"))
        self.authority = self.folder / "cookies"
        self.authority.write_bytes(authority_entry())
        read, write = os.pipe()
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", "320x200x24", "-noreset", "-nolisten", "tcp", "-auth",
             str(self.authority)],
            pass_fds=(write,), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=plain_environment(),
        )
        os.close(write)
        told = b""
        while not told.endswith(b"\n") and select.select([read], [], [], PATIENCE)[0]:
            part = os.read(read, 16)
            if not part:
                break
            told += part
        os.close(read)
        if not told.endswith(b"\n"):
            self.end()
            raise RuntimeError("Xvfb does not tell its number")
        self.name = f":{told.decode().strip()}"
        self.connection = self.connect()

    @property
    def environment(self) -> dict:
        """The variables by which a program finds the display."""
        return {"DISPLAY": self.name, "XAUTHORITY": str(self.authority)}

    def connect(self) -> socket.socket:
        """Connects as a program with windows does."""
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(PATIENCE)
        connection.connect(f"/tmp/.X11-unix/X{self.name[1:]}")
        connection.sendall(struct.pack("<BxHHHHxx", 0x6C, 11, 0, len(METHOD), len(COOKIE)) + METHOD + b"\0\0" + COOKIE)
        head = receive(connection, 8)
        body = receive(connection, struct.unpack_from("<H", head, 6)[0] * 4)
        if head[0] != 1:
            raise RuntimeError("the display lets nobody in")
        self.base = struct.unpack_from("<I", body, 4)[0]
        vendor, formats = struct.unpack_from("<H", body, 16)[0], body[21]
        self.root = struct.unpack_from("<I", body, 32 + vendor + -vendor % 4 + formats * 8)[0]
        return connection

    def paint(self, x: int, y: int, width: int, height: int, colour: int, title: bytes = b"") -> int:
        """Shows a window of one colour, and gives its number."""
        self.base += 1
        window = self.base
        # CreateWindow with a background, ChangeProperty of WM_NAME (STRING), MapWindow.
        self.connection.sendall(
            struct.pack("<BBHIIhhHHHHIII", 1, 0, 9, window, self.root, x, y, width, height, 0, 1, 0, 0x2, colour)
            + struct.pack("<BBHIIIB3xI", 18, 0, 6 + (len(title) + 3) // 4, window, 39, 31, 8, len(title))
            + title + b"\0" * (-len(title) % 4)
            + struct.pack("<BxHI", 8, 2, window)
        )
        # GetInputFocus: its answer comes after all of that was done.
        self.connection.sendall(struct.pack("<BxH", 43, 1))
        while receive(self.connection, 32)[0] != 1:
            pass
        return window

    def end(self) -> None:
        """Ends the display."""
        self.server.terminate()
        self.server.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> "Display":
        return self

    def __exit__(self, *_) -> None:
        self.connection.close()
        self.end()


def authority_entry() -> bytes:
    """Gives an entry of a cookie file that holds for any display of this computer."""
    fields = (b"", b"", METHOD, COOKIE)
    return struct.pack(">H", 0xFFFF) + b"".join(struct.pack(">H", len(field)) + field for field in fields)


def receive(connection: socket.socket, count: int) -> bytes:
    """Reads that many bytes."""
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise RuntimeError("the display went away")
        data += part
    return data


def pixels(encoded: str) -> list:
    """Reads a PNG of 8-bit colours out of base64: rows of `(red, green, blue)`."""
    data = base64.b64decode(encoded, validate=True)
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError("no PNG")
    at, body, width, height = 8, b"", 0, 0
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        chunk = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colours = struct.unpack_from(">IIBB", chunk)
            if (depth, colours) != (8, 2):
                raise ValueError(f"a PNG of another kind: {depth}, {colours}")
        elif kind == b"IDAT":
            body += chunk
        at += length + 12
    raw, stride = zlib.decompress(body), width * 3
    rows, above = [], bytes(stride)
    for row in range(height):
        start = row * (stride + 1)
        above = unfilter(raw[start], bytearray(raw[start + 1 : start + 1 + stride]), above)
        rows.append([tuple(above[x : x + 3]) for x in range(0, stride, 3)])
    return rows


def unfilter(kind: int, line: bytearray, above: bytes) -> bytes:
    """Takes a row's filter back (PNG specification, section 9)."""
    for x in range(len(line)):
        left, up = (line[x - 3] if x >= 3 else 0), above[x]
        corner = above[x - 3] if x >= 3 else 0
        if kind == 1:
            line[x] = (line[x] + left) & 255
        elif kind == 2:
            line[x] = (line[x] + up) & 255
        elif kind == 3:
            line[x] = (line[x] + (left + up) // 2) & 255
        elif kind == 4:
            guess = left + up - corner
            nearest = min((left, up, corner), key=lambda value: abs(guess - value))
            line[x] = (line[x] + nearest) & 255
    return bytes(line)
