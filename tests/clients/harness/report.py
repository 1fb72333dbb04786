"""Counts checks and prints one line for each."""

import time


class Report:
    """The checks of one run. A part that is missing is skipped, which is said and counted, never passed."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0
        self.skipped = 0
        self._began = time.monotonic()

    def check(self, name: str, holds: object, seen: object = "") -> bool:
        """Notes whether `holds` is true; `seen` says what was there instead and is printed only on failure."""
        if holds:
            self.passed += 1
            self._say("ok", name)
        else:
            self.failed += 1
            self._say("FAILED", name)
            for line in str(seen)[:3000].splitlines()[:30]:
                print(f"         {line}", flush=True)
        return bool(holds)

    def skip(self, name: str, why: str) -> None:
        """Notes a check that cannot be made here."""
        self.skipped += 1
        self._say("skipped", f"{name}: {why}")

    def heading(self, title: str) -> None:
        """Begins a group."""
        print(f"\n{title} ({time.monotonic() - self._began:.0f} s)", flush=True)

    def close(self) -> int:
        """Prints the closing line and gives the exit code."""
        print(f"\n{self.passed} passed, {self.failed} failed, {self.skipped} skipped", flush=True)
        return 1 if self.failed or not self.passed else 0

    @staticmethod
    def _say(word: str, name: str) -> None:
        print(f"{word:>7}  {name}", flush=True)
