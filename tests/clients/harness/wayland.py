"""A Wayland session of its own: headless sway with Xwayland and a bus, as an ordinary user, with a picture on it."""

import os
import shutil
import struct
import subprocess
import tempfile
import zlib
from pathlib import Path

from .patience import PATIENCE, wait_until

WIDTH, HEIGHT = 640, 400
ORDINARY_USER = 65534
PROGRAMS = ("sway", "swaybg", "Xwayland", "dbus-daemon", "grim", "setpriv")


def missing() -> str:
    """Says what is missing for a session; empty when nothing is."""
    lacking = [program for program in PROGRAMS if not shutil.which(program)]
    return f"{', '.join(lacking)} not installed (on Debian: apt-get install sway xwayland grim dbus)" if lacking else ""


class Session:
    """A session with one output, on which every pixel has another colour than its neighbours."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="bailiwick-wayland-"))
        self.folder.chmod(0o755)
        self.run = self.folder / "run"
        self.run.mkdir(mode=0o700)
        (self.folder / "picture.png").write_bytes(png(picture()))
        (self.folder / "bus.conf").write_text(
            f"<busconfig><type>session</type><listen>unix:path={self.run}/bus</listen><policy context='default'>"
            "<allow send_destination='*'/><allow receive_sender='*'/><allow own='*'/></policy></busconfig>"
        )
        (self.folder / "sway.conf").write_text(
            f"output HEADLESS-1 resolution {WIDTH}x{HEIGHT} position 0 0 bg {self.folder}/picture.png fill\n"
            f"xwayland force\nexec env > {self.run}/told && mv {self.run}/told {self.run}/environment\n"
        )
        if os.geteuid() == 0:
            os.chown(self.run, ORDINARY_USER, ORDINARY_USER)
        self._bus = self._start("dbus-daemon", "--nofork", "--nopidfile", f"--config-file={self.folder}/bus.conf")
        self._await(self.run / "bus")
        self._sway = self._start("sway", "-c", str(self.folder / "sway.conf"))
        self._await(self.run / "environment")
        told = dict(line.split("=", 1) for line in (self.run / "environment").read_text().splitlines() if "=" in line)
        self.environment = {**self._environment, "XDG_SESSION_TYPE": "wayland"}
        self.environment |= {name: told[name] for name in ("WAYLAND_DISPLAY", "DISPLAY")}
        if wait_until(lambda: self.shown() == picture()):
            return
        self.end()
        raise RuntimeError("the session does not come to show its picture")

    @property
    def _environment(self) -> dict:
        return {
            "PATH": os.environ["PATH"], "HOME": str(self.run), "XDG_RUNTIME_DIR": str(self.run),
            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={self.run}/bus", "WLR_BACKENDS": "headless",
            "WLR_LIBINPUT_NO_DEVICES": "1", "WLR_RENDERER": "pixman",
        }

    @staticmethod
    def command(*words: str) -> list:
        """Gives a command that runs as an ordinary user, who alone may have such a session."""
        if os.geteuid() != 0:
            return list(words)
        user = [f"--reuid={ORDINARY_USER}", f"--regid={ORDINARY_USER}", "--clear-groups"]
        return ["setpriv", *user, *words]

    def _start(self, *words: str) -> subprocess.Popen:
        log = open(self.folder / f"{words[0]}.log", "ab")
        process = subprocess.Popen(
            self.command(*words), env=self._environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.run
        )
        log.close()
        return process

    def _await(self, path: Path) -> None:
        if wait_until(path.exists):
            return
        logs = "\n".join(log.read_text()[-1500:] for log in self.folder.glob("*.log"))
        self.end()
        raise RuntimeError(f"the session does not start: no {path.name}\n{logs}")

    def shown(self) -> list:
        """Gives what the compositor says it shows: rows of `(red, green, blue)`."""
        done = subprocess.run(
            self.command("grim", "-t", "ppm", "-"), env=self.environment, capture_output=True, timeout=PATIENCE, check=True
        )
        return ppm_rows(done.stdout)

    def end(self) -> None:
        """Ends the session."""
        for process in (getattr(self, "_sway", None), self._bus):
            if process is not None:
                process.terminate()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_) -> None:
        self.end()


def picture() -> list:
    """Gives the rows of a picture in which neighbours differ."""
    return [[(x * 7 % 256, y * 5 % 256, (x ^ y) % 256) for x in range(WIDTH)] for y in range(HEIGHT)]


def png(rows: list) -> bytes:
    """Makes a PNG."""
    data = b"".join(b"\0" + b"".join(bytes(pixel) for pixel in row) for row in rows)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")


def ppm_rows(ppm: bytes) -> list:
    """Reads a binary PPM: rows of `(red, green, blue)`."""
    kind, width, height = ppm.split(maxsplit=3)[:3]
    if kind != b"P6":
        raise ValueError("no binary PPM")
    stride, size = int(width) * 3, int(width) * int(height) * 3
    data = ppm[len(ppm) - size :]
    return [[tuple(data[at : at + 3]) for at in range(row, row + stride, 3)] for row in range(0, size, stride)]
