"""The rules of play: what a model wants to do next, and the calls that it makes for that on each server.

They are the same for all servers: what is decided at one time is sent in one call where the server has a way for it. A command
is a line for bash on every server; files are read by the tool for reading, changed by the tool for editing, written by the tool
for writing. One-line changes that are alike in several files are a command with sed, on every server.
"""

from dataclasses import dataclass, field

from .job import ROOT, call, operate, query, ran, started, step


@dataclass
class Run:
    """A command line for bash."""

    why: str
    command: str
    shows: str = ""

    def bailiwick(self) -> list:
        """The tool text names command.run."""
        return [operate(self.why, "command.run", command=self.command, shows=self.shows)]

    def commander(self) -> list:
        """It may take several calls: see `started`."""
        return started(self.why, self.command, shows=self.shows)

    def shell(self) -> list:
        """The server's only tool."""
        return [ran(self.why, self.command, shows=self.shows)]


@dataclass
class Read:
    """Some files."""

    why: str
    paths: list
    shows: str = ""

    def bailiwick(self) -> list:
        """The tool text names file.read and file.read_many."""
        if len(self.paths) == 1:
            return [query(self.why, "file.read", self.paths[0], shows=self.shows)]
        return [query(self.why, "file.read_many", paths=self.paths, shows=self.shows)]

    def commander(self) -> list:
        """It has a tool for one, and one for several."""
        return self._by("read_file")

    def shell(self) -> list:
        """It has a tool for one, and one for several."""
        return self._by("read_text_file")

    def _by(self, tool: str) -> list:
        paths = [f"{ROOT}/{path}" for path in self.paths]
        if len(paths) == 1:
            return [call(self.why, tool, self.shows, path=paths[0])]
        return [call(self.why, "read_multiple_files", self.shows, paths=paths)]


@dataclass
class Change:
    """Edits `(path, old, new)`, files that are written, and the command that checks it all."""

    why: str
    edits: list = field(default_factory=list)
    files: dict = field(default_factory=dict)
    check: str = ""
    shows: str = ""

    def bailiwick(self) -> list:
        """One file.patch takes all edits; `then` takes what follows."""
        steps = []
        if self.edits:
            steps.append(step("file.patch", edits=[{"path": path, "old": old, "new": new} for path, old, new in self.edits]))
        steps += [step("file.write", path, content=content) for path, content in self.files.items()]
        if self.check:
            steps.append(step("command.run", command=self.check))
        first = steps[0]
        return [
            operate(self.why, first["op"], first.get("target"), then=steps[1:], shows=self.shows, **first["input"]),
        ]

    def commander(self) -> list:
        """edit_block takes one edit."""
        calls = [
            call(self.why, "edit_block", file_path=f"{ROOT}/{path}", old_string=old, new_string=new)
            for path, old, new in self.edits
        ]
        calls += [call(self.why, "write_file", path=f"{ROOT}/{path}", content=content) for path, content in self.files.items()]
        return calls + (started("Check it.", self.check, shows=self.shows) if self.check else [])

    def shell(self) -> list:
        """edit_file takes the edits of one file."""
        by_file: dict = {}
        for path, old, new in self.edits:
            by_file.setdefault(path, []).append({"oldText": old, "newText": new})
        calls = [call(self.why, "edit_file", path=f"{ROOT}/{path}", edits=edits) for path, edits in by_file.items()]
        calls += [call(self.why, "write_file", path=f"{ROOT}/{path}", content=content) for path, content in self.files.items()]
        return calls + ([ran("Check it.", self.check, shows=self.shows)] if self.check else [])


def plans(*intents, **others) -> dict:
    """Makes the plans of a job; a server that needs another way gets it by name, with the reason in its calls."""
    made = {key: [one for intent in intents for one in getattr(intent, key)()] for key in ("bailiwick", "commander", "shell")}
    return {**made, **others}
