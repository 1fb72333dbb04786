"""Runs a program and decides about its system calls: it ends at one of them, or one fails.

The kernel asks (seccomp, `SECCOMP_RET_USER_NOTIF`) before a call is done, in all threads and children, one call after the other:
calls are counted as they come, whichever thread makes them.
"""

import ctypes
import errno
import fcntl
import os
import platform
import re
import select
import signal
import socket
import struct
import time

X86 = platform.machine() == "x86_64"
SECCOMP = 317 if X86 else 277
RECEIVE, SEND = 0xC0502100, 0xC0182101
CREATES = os.O_CREAT | os.O_TRUNC
CLONE_FILE = 0x40049409

# The number of each call that may change something (x86-64, and arm64 where it has it), and how its path is found: a
# descriptor (f), a path (p), or a folder and a path below it (d), by the number of the argument.
CHANGING = {
    "write": (1, 64, "f0"), "pwrite64": (18, 68, "f0"), "writev": (20, 66, "f0"), "pwritev": (296, 70, "f0"),
    "fsync": (74, 82, "f0"), "fdatasync": (75, 83, "f0"), "syncfs": (306, 267, "f0"), "ftruncate": (77, 46, "f0"),
    "fallocate": (285, 47, "f0"), "copy_file_range": (326, 285, "f2"), "sendfile": (40, 71, "f0"), "ioctl": (16, 29, "f0"),
    "fchmod": (91, 52, "f0"), "fchown": (93, 55, "f0"), "fsetxattr": (190, 7, "f0"), "fremovexattr": (199, 16, "f0"),
    "truncate": (76, 45, "p0"), "chmod": (90, None, "p0"), "chown": (92, None, "p0"), "setxattr": (188, 5, "p0"),
    "lsetxattr": (189, 6, "p0"), "rename": (82, None, "p0"), "link": (86, None, "p1"), "symlink": (88, None, "p1"),
    "unlink": (87, None, "p0"), "rmdir": (84, None, "p0"), "mkdir": (83, None, "p0"), "open": (2, None, "p0"),
    "openat": (257, 56, "d0"), "openat2": (437, 437, "d0"), "renameat": (264, 38, "d0"), "renameat2": (316, 276, "d0"),
    "linkat": (265, 37, "d2"), "symlinkat": (266, 36, "d1"), "unlinkat": (263, 35, "d0"), "mkdirat": (258, 34, "d0"),
    "mknodat": (259, 33, "d0"), "fchmodat": (268, 53, "d0"), "fchmodat2": (452, 452, "d0"), "fchownat": (260, 54, "d0"),
    "utimensat": (280, 88, "d0"),
}
READING = {
    "read": (0, 63, "f0"), "pread64": (17, 67, "f0"), "getdents64": (217, 61, "f0"), "fstat": (5, 80, "f0"),
    "newfstatat": (262, 79, "d0"), "statx": (332, 291, "d0"), "stat": (4, None, "p0"), "lstat": (6, None, "p0"),
    "readlinkat": (267, 78, "d0"), "flistxattr": (196, 13, "f0"), "fgetxattr": (193, 10, "f0"), "flock": (73, 32, "f0"),
}
LONGEST = 120


def number(call):
    return call[0] if X86 else call[1]


NAMES = {number(call): (name, call[2]) for name, call in {**CHANGING, **READING}.items() if number(call) is not None}


def install(calls, sender):
    """Has the kernel ask about these calls of this process; whoever has the other end of `sender` answers."""
    numbers = [number(call) for call in calls.values() if number(call) is not None]
    steps = [struct.pack("HBBI", 0x20, 0, 0, 0)]
    steps += [struct.pack("HBBI", 0x15, len(numbers) - at, 0, it) for at, it in enumerate(numbers)]
    steps += [struct.pack("HBBI", 6, 0, 0, 0x7FFF0000), struct.pack("HBBI", 6, 0, 0, 0x7FC00000)]
    code = ctypes.create_string_buffer(b"".join(steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    # Where nobody answers any more, each of these calls fails: the program ends with who answers (PR_SET_PDEATHSIG).
    libc.prctl(1, signal.SIGKILL, 0, 0, 0)
    if os.geteuid() != 0:
        libc.prctl(38, 1, 0, 0, 0)
    # The mode is a filter; the flag asks for a descriptor.
    listener = libc.syscall(SECCOMP, 1, 8, program)
    if listener < 0:
        raise OSError(ctypes.get_errno(), "seccomp")
    socket.send_fds(sender, [b"."], [listener])


class Call:
    """A call that waits for what is decided about it."""

    def __init__(self, raw):
        self.id, self.thread, _, self.number, _, _, *self.arguments = struct.unpack("QIIiIQ6Q", raw)
        self.name, self.where = NAMES[self.number]

    def text(self, at):
        with open(f"/proc/{self.thread}/mem", "rb", 0) as memory:
            text = b""
            while b"\0" not in text:
                memory.seek(self.arguments[at] + len(text))
                # Never over the end of a page.
                text += memory.read(256 - (self.arguments[at] + len(text)) % 256)
        return os.fsdecode(text[: text.index(b"\0")])

    def path(self):
        """Returns the path that it is about; empty if nobody knows."""
        kind, at = self.where[0], int(self.where[1])
        try:
            if kind == "f":
                return os.readlink(f"/proc/{self.thread}/fd/{self.arguments[at] & 0xFFFFFFFF}")
            text = self.text(at + (kind == "d"))
            folder = self.arguments[at] & 0xFFFFFFFF
            if os.path.isabs(text) or (text == "" and kind == "p"):
                return text
            is_here = kind == "p" or folder == 0xFFFFFF9C
            start = os.readlink(f"/proc/{self.thread}/{'cwd' if is_here else f'fd/{folder}'}")
            return os.path.normpath(os.path.join(start, text))
        except (OSError, ValueError):
            return ""

    def is_of(self, program):
        """Returns whether a thread of this program makes it."""
        try:
            return os.path.samefile(f"/proc/{self.thread}/exe", program)
        except OSError:
            return False

    def changes(self):
        """Returns whether it may change something, rather than only look."""
        if self.name in ("open", "openat"):
            return bool(self.arguments[1 if self.name == "open" else 2] & CREATES)
        if self.name == "ioctl":
            return self.arguments[1] & 0xFFFFFFFF == CLONE_FILE
        return self.name in CHANGING and self.name != "openat2"


class Run:
    """What became of a program."""

    def __init__(self):
        self.status, self.calls, self.cut, self.output = None, 0, None, ""


def run(words, environment, below, kill_at=None, fail=None, reads=False, only=""):
    """Runs a program, and counts its calls that change something below one of some folders, with `reads` also those that look there.
    With `only`, a pattern that names calls, those count whose name and path have it.

    Right before the call `kill_at` the program gets SIGKILL. `fail` is a function of the number of a call and the call, which
    returns the error that it ends with, or None.
    """
    calls = {**CHANGING, **READING} if reads else CHANGING
    if only:
        # Each call that the kernel asks about waits for this process to get a processor, and back.
        calls = {name: call for name, call in calls.items() if re.search(rf"\b{name}\b", only)}
        if not calls:
            raise SystemExit(f"{only} names no call that is asked about")
    ours, theirs = socket.socketpair()
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            os.dup2(writer, 1)
            os.dup2(os.open(os.devnull, os.O_RDWR), 2)
            os.dup2(2, 0)
            install(calls, theirs)
            os.execve(words[0], words, environment)
        finally:
            os._exit(127)
    os.close(writer)
    theirs.close()
    done = Run()
    listeners = socket.recv_fds(ours, 1, 1)[1]
    ours.close()
    if not listeners:
        raise SystemExit("the kernel does not ask about system calls here (seccomp)")
    listener = listeners[0]
    waiting = select.poll()
    waiting.register(listener, select.POLLIN)
    waiting.register(reader, select.POLLIN)
    end, output, open_ends = time.monotonic() + LONGEST, b"", {listener, reader}
    while open_ends:
        ready = waiting.poll(max(0, end - time.monotonic()) * 1000)
        if not ready:
            os.kill(process, signal.SIGKILL)
            raise SystemExit(f"{words} hangs")
        for descriptor, events in ready:
            if descriptor == reader:
                part = os.read(reader, 65_536)
                output += part
                if not part:
                    waiting.unregister(reader)
                    open_ends.discard(reader)
            elif events & select.POLLIN:
                answer(listener, process, done, below, kill_at, fail, reads, only)
            else:
                # Nobody lives any more who could ask.
                waiting.unregister(listener)
                open_ends.discard(listener)
    os.close(listener)
    os.close(reader)
    done.status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    done.output = output.decode(errors="replace")
    return done


def answer(listener, process, done, below, kill_at, fail, reads, only):
    raw = bytearray(80)
    try:
        fcntl.ioctl(listener, RECEIVE, raw)
    except OSError:
        # It has ended meanwhile.
        return
    call, error = Call(raw), None
    if reads or call.changes():
        path = call.path()
        is_below = any(path == it or path.startswith(it + "/") for it in below)
        if is_below and re.search(only, f"{call.name} {path}"):
            done.calls += 1
            if done.calls == kill_at:
                done.cut = f"{call.name} {path}"
                os.kill(process, signal.SIGKILL)
            error = fail(done.calls, call) if fail else None
            if error is not None and done.cut is None:
                done.cut = f"{call.name} {path}"
    response = struct.pack("QqiI", call.id, 0, -error, 0) if error else struct.pack("QqiI", call.id, 0, 0, 1)
    try:
        fcntl.ioctl(listener, SEND, response)
    except OSError as gone:
        if gone.errno not in (errno.ENOENT, errno.EINPROGRESS):
            raise
