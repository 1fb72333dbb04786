#!/usr/bin/env python3
"""Words about the module."""
from __future__ import annotations
import os, sys

# How many there are.
MAX_SIZE: int = 10
names = [
    "one",
    "two",
]
a, b = 1, 2
names = []
__all__ = ["Größe"]

type Pair[T] = tuple[T, T]


# A decorator.
def traced(level=1):
    """Traces."""
    def decorate(function):
        def inner(*args, **kwargs):
            return function(*args, **kwargs)
        return inner
    return decorate


@traced(level=2)
@staticmethod
async def fetch(
    url: str,  # where
    *,
    tries: int = 3,
) -> bytes | None:
    local = 1
    return None


class Größe(dict[str, int], metaclass=type):
    """Documented."""
    unit = "m"
    LIMIT = 3
    count: int

    def __init__(self, value: int = 0) -> None:
        self.value = value

    @property
    def größer(self) -> "Größe":
        return self

    @größer.setter
    def größer(self, other): pass

    @classmethod
    def of(cls, text): return cls(int(text))

    class Inner:
        def method(self):
            class Local:
                pass

    if sys.platform == "win32":
        def only_there(self): ...
    else:
        def only_here(self): ...


try:
    import json
except ImportError:
    json = None
    def fallback(): pass
finally:
    with open(os.devnull) as f:
        class InWith: pass

match sys.argv:
    case [_]:
        def in_case(): pass

square = lambda x: x * x
def one_line(x): return x; y = 2
