"""Counts tokens (o200k)."""

import json
import subprocess
from pathlib import Path

from harness.installed import folder_of


class Tokens:
    """The counter; one process for all texts."""

    def __init__(self) -> None:
        script = Path(__file__).with_name("tokens.mjs")
        command = [folder_of("node") / "node", script, folder_of("agent-peers") / "node_modules"]
        self._process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._known: dict = {}

    def count(self, text: str) -> int:
        """Returns how many tokens a text has."""
        if text not in self._known:
            self._process.stdin.write(json.dumps(text) + "\n")
            self._process.stdin.flush()
            self._known[text] = int(self._process.stdout.readline())
        return self._known[text]

    def __enter__(self) -> "Tokens":
        return self

    def __exit__(self, *_) -> None:
        self._process.stdin.close()
        self._process.wait()


def compact(value) -> str:
    """Returns arguments as a model writes them."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
