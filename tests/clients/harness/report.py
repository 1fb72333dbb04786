"""Counts checks and prints one line for each."""


class Report:
    """The checks of one group. A part that is missing is skipped, which is said and counted, never passed."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0
        self.skipped = 0

    def check(self, name: str, holds: object, seen: object = "") -> bool:
        """Notes whether `holds` is true; `seen` says what was there instead and is printed only on failure."""
        if holds:
            self.passed += 1
            self._say("ok", name)
        else:
            self.failed += 1
            self._say("FAILED", name)
            for line in str(seen)[:3000].splitlines()[:30]:
                self.note(f"         {line}")
        return bool(holds)

    def skip(self, name: str, why: str) -> None:
        """Notes a check that cannot be made here."""
        self.skipped += 1
        self._say("skipped", f"{name}: {why}")

    def note(self, line: str) -> None:
        """Prints a line that is no check."""
        print(line, flush=True)

    def heading(self, title: str) -> None:
        """Begins a group."""
        self.note(f"\n{title}")

    def add(self, passed: int, failed: int, skipped: int) -> None:
        """Adds what another report counted."""
        self.passed += passed
        self.failed += failed
        self.skipped += skipped

    def close(self) -> int:
        """Prints the closing line and returns the exit code."""
        self.note(f"\n{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        return 1 if self.failed or not self.passed else 0

    def _say(self, word: str, name: str) -> None:
        self.note(f"{word:>7}  {name}")
