"""Starts a program where the computer has no full sandbox (`partial`), or none (`none`).

Without user namespaces below this one there is no full sandbox; without Landlock there is none at all. In a user
namespace the files of root belong to nobody, unless root runs this: at `none`, commands need them.
"""

import ctypes
import os
import struct
import sys

CLONE_NEWUSER = 0x10000000
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
# The number is the same on every architecture.
LANDLOCK_CREATE_RULESET = 444
ENOSYS = 38
# Load the number of the system call; if it is Landlock's, answer that there is no such call; else allow it.
FILTER = [
    (0x20, 0, 0, 0),
    (0x15, 0, 1, LANDLOCK_CREATE_RULESET),
    (0x06, 0, 0, 0x00050000 | ENOSYS),
    (0x06, 0, 0, 0x7FFF0000),
]


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def called(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


level, *words = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
user, group = os.getuid(), os.getgid()
if level == "partial":
    called(libc.unshare(CLONE_NEWUSER))
    write("/proc/self/setgroups", "deny")
    write("/proc/self/uid_map", f"{user} {user} 1")
    write("/proc/self/gid_map", f"{group} {group} 1")
    write("/proc/sys/user/max_user_namespaces", "0")
else:
    steps = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in FILTER))
    program = Program(len(FILTER), ctypes.addressof(steps))
    called(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    called(libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0))
os.execv(words[0], words)
