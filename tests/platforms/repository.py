"""Git for Windows under wine: what the client does with a repository, and what of it must never run.

Git is looked for where its installer puts it, `C:\\Program Files\\Git`; scripts/check-platforms puts one there. Each program that a
repository can name is first run by Git as it is, so that its mark would be seen.
"""

import json
import shutil
import subprocess

from attacks import ask
from harness.report import Report
from product import drive_c

GIT = "C:\\Program Files\\Git\\cmd\\git.exe"
# A program that leaves a mark, and does nothing else.
MARKER = """
#include <windows.h>
int main(void) {
  HANDLE mark = CreateFileA(MARK, GENERIC_WRITE, 7, 0, CREATE_ALWAYS, 0, 0);
  if (mark != INVALID_HANDLE_VALUE) CloseHandle(mark);
  return 0;
}
"""
READS = (
    {"op": "git.status"}, {"op": "git.changes", "input": {"since": "HEAD~1"}}, {"op": "git.diff"},
    {"op": "git.diff", "input": {"staged": True}}, {"op": "git.log"}, {"op": "git.show"}, {"op": "git.blame", "target": "README.md"},
    {"op": "git.branch_list"}, {"op": "git.worktree_list"},
)
HOOKS = ("pre-commit", "commit-msg", "post-commit", "post-index-change", "reference-transaction", "post-checkout")


def is_there() -> bool:
    """Tells whether there is a Git for Windows on drive C."""
    return (drive_c() / "Program Files" / "Git" / "cmd" / "git.exe").is_file()


def refused(report: Report, stdio) -> None:
    """Before the user says that programs run without a sandbox, Git does not run."""
    got = ask(stdio, "computer_query", {"op": "git.status"})
    error = got.get("error", {})
    shown = error.get("code") == "provider_unavailable" and '"none"' in json.dumps(error.get("hints", [])).replace("\\", "")
    report.check("git: without a word of the user it is refused, and the answer says which", shown, got)


class Ground:
    """The project's repository, the user's own Git beside it, and a program that leaves a mark."""

    def __init__(self, product) -> None:
        self.product = product
        self.mark = product.folder / "mark"
        self.marker = product.folder / "marker.exe"
        source = product.folder / "marker.c"
        source.write_text(MARKER)
        place = product.written(self.mark).replace("\\", "/")
        compiler = shutil.which("x86_64-w64-mingw32-gcc")
        if compiler:
            subprocess.run([compiler, "-Os", "-s", f'-DMARK="{place}"', "-o", self.marker, source], check=True, timeout=120)
        self.program = product.written(self.marker).replace("\\", "/")

    def git(self, *words: str) -> subprocess.CompletedProcess:
        """Runs Git as the user does, in the project's folder."""
        return self.product.windows(GIT, *words)

    def ran(self) -> bool:
        """Tells whether the program ran, and takes its mark away."""
        there = self.mark.exists()
        self.mark.unlink(missing_ok=True)
        return there


def run(report: Report, product, stdio) -> None:
    """Runs all of it, in a scope whose policy says `"sandbox": "none"`."""
    ground = Ground(product)
    ground.git("config", "user.name", "Ada")
    ground.git("config", "user.email", "ada@example.com")
    work(report, product, stdio, ground)
    if ground.marker.exists():
        programs(report, product, stdio, ground)
    else:
        report.skip("git: nothing that a repository names is run", "x86_64-w64-mingw32-gcc is missing, which makes the program")
    places(report, product, stdio)


def work(report: Report, product, stdio, ground: Ground) -> None:
    """The day's work with a repository, and line ends as the user has them."""

    def does(name: str, op: str, holds: str, **fields) -> dict:
        tool = "computer_query" if {"op": op} in [{"op": read["op"]} for read in READS] else "computer_operation"
        got = ask(stdio, tool, {"op": op, **fields})
        shown = json.dumps(got)
        report.check(f"git: {name}", got.get("ok") is True and holds in shown and "\\\\\\\\?" not in shown, got)
        return got.get("data", {})

    (product.project / "lines.txt").write_bytes(b"one\r\ntwo\r\n")
    (product.project / "größer file.txt").write_bytes(b"one\n")
    does("git.status shows what is new", "git.status", "lines.txt")
    does("git.stage stages it", "git.stage", "lines.txt", input={"paths": ["lines.txt", "größer file.txt"]})
    does("git.diff shows what is staged", "git.diff", "+two", input={"staged": True})
    does("git.commit commits it by the user's name", "git.commit", "Ada", input={"message": "lines: two of them"})
    does("git.log lists the commit", "git.log", "lines: two of them")
    does("git.show shows it", "git.show", "+two")
    does("git.blame tells who wrote a line", "git.blame", "Ada", target="lines.txt")
    does("git.branch_list lists the branches", "git.branch_list", "branches")
    stored = ground.git("cat-file", "-p", "HEAD:lines.txt").stdout
    # Text of a pipe is read with its line ends made plain, so that the size tells.
    size = ground.git("cat-file", "-s", "HEAD:lines.txt").stdout.strip()
    report.check("git: lines are stored as Git's installer was told", size == "8", (stored, size))
    status = does("a file with the line ends of Windows is not changed", "git.status", "entries")
    named = [entry["path"] for entry in status.get("entries", [])]
    report.check("git: git.status lists no file that is as it was committed", not {"lines.txt", "README.md"} & set(named), named)
    theirs = ground.git("status", "--short").stdout.split()
    report.check("git: Git itself says the same", "lines.txt" not in theirs and "README.md" not in theirs, theirs)
    does("git.worktree_create makes a working tree", "git.worktree_create", "fix", input={"path": "trees/fix", "branch": "fix"})
    made = product.project / "trees" / "fix" / "lines.txt"
    report.check("git: it has its files", made.is_file() and made.read_bytes() == b"one\r\ntwo\r\n", made)
    does("git.worktree_list lists it by its path", "git.worktree_list", "trees/fix")
    does("git.status works in it", "git.status", "## fix", target="trees/fix")
    does("git.worktree_remove removes it", "git.worktree_remove", "trees/fix", input={"path": "trees/fix"})
    report.check("git: it is gone", not made.exists(), made)


def programs(report: Report, product, stdio, ground: Ground) -> None:
    """Programs that a repository names, by way of its configuration, its hooks and its attributes."""
    program, project = ground.program, product.project
    attributes, readme = project / ".gitattributes", project / "README.md"
    attributes.write_text("*.md filter=x diff=x merge=x\n")
    ground.git("commit", "-q", "--allow-empty", "-m", "something to look at")
    text = readme.read_text()
    readme.write_text(text + "more\n")

    # A way by which Git as it is runs the program, and the settings that a repository needs for it.
    ways = (
        ("core.fsmonitor", {"core.fsmonitor": program}, ("status",)),
        ("a text conversion", {"diff.x.textconv": program}, ("diff",)),
        ("a filter", {"filter.x.clean": program, "filter.x.required": "true"}, ("add", "--renormalize", "README.md")),
        ("a filter that stays", {"filter.x.process": program}, ("add", "--renormalize", "README.md")),
        ("diff.external", {"diff.external": program}, ("diff",)),
        ("core.sshCommand", {"core.sshCommand": program, "remote.origin.url": "ssh://127.0.0.1/x"}, ("ls-remote", "origin")),
        ("core.editor", {"core.editor": program}, ("commit", "--allow-empty")),
        ("a signature", {"gpg.program": program, "commit.gpgSign": "true"}, ("commit", "--allow-empty", "-m", "x")),
    )
    # Where nothing is a terminal, some are run by nobody.
    hostile = {"core.pager": program, "core.askPass": program, "alias.status": f"!{program}", "core.hooksPath": ".git/hooks"}
    for name, settings, words in ways:
        named = [word for setting in settings.items() for word in ("-c", "=".join(setting))]
        ground.git(*named, *words)
        ground.git("reset", "-q")
        report.check(f"git: as it is, Git runs {name} of a repository", ground.ran(), words)
        hostile.update(settings)
    for setting in hostile.items():
        ground.git("config", *setting)

    hooks = project / ".git" / "hooks"
    # Where Git is told to look for them in `/dev/null`, which is a place on the drive.
    on_the_drive = drive_c() / "dev" / "null"
    on_the_drive.mkdir(parents=True, exist_ok=True)
    try:
        for folder in (hooks, on_the_drive):
            folder.mkdir(exist_ok=True)
            for hook in HOOKS:
                shutil.copy(ground.marker, folder / f"{hook}.exe")
        for name, path in (("a hook of the repository", ".git/hooks"), ("a hook of C:\\dev\\null", "/dev/null")):
            done = ground.git("-c", f"core.hooksPath={path}", "-c", "commit.gpgSign=false", "-c", "core.fsmonitor=false", "commit", "-q",
                              "--allow-empty", "-m", "by a hook")
            # Wine starts no program by a path without a drive; that Git wanted to is told.
            wanted = "cannot spawn /dev/null/" in done.stderr
            report.check(f"git: as it is, Git wants to run {name}", ground.ran() or wanted, done.stderr)
        for read in READS:
            got = ask(stdio, "computer_query", dict(read))
            report.check(f"git: {read['op']} runs nothing of them", got.get("ok") is True and not ground.ran(), got)
        (project / "plain.txt").write_text("plain\n")
        stage = {"op": "git.stage", "input": {"paths": ["plain.txt"]}}
        unstage = {"op": "git.unstage", "input": {"paths": ["plain.txt"]}}
        tree = {"path": "hostile", "branch": "hostile"}
        for call in (stage, unstage, stage, {"op": "git.commit", "input": {"message": "plain"}},
                     {"op": "git.worktree_create", "input": tree}, {"op": "git.worktree_remove", "input": {"path": "hostile"}}):
            got = ask(stdio, "computer_operation", call)
            report.check(f"git: {call['op']} runs nothing of them", got.get("ok") is True and not ground.ran(), got)
            if call["op"] == "git.commit":
                told = json.dumps(got.get("warnings", []))
                report.check("git: it shows which hooks were not run", "pre-commit" in told and "post-commit" in told, got)
        got = ask(stdio, "computer_operation", {"op": "git.stage", "input": {"paths": ["README.md"]}})
        rule = got.get("error", {}).get("details", {}).get("rule")
        report.check("git: a file with a filter is not staged", rule == "git-filter" and not ground.ran(), got)
    finally:
        shutil.rmtree(on_the_drive.parent)
        for hook in HOOKS:
            (hooks / f"{hook}.exe").unlink(missing_ok=True)
        for setting in hostile:
            ground.git("config", "--unset-all", setting)
        attributes.unlink()
        readme.write_text(text)


def places(report: Report, product, stdio) -> None:
    """Places that a repository names: outside the scope, and on another computer, which would be told who asks."""
    git, outside = product.project / ".git", product.folder / "outside"
    shutil.copytree(git, outside / ".git")
    inner = product.project / "inner"
    inner.mkdir()
    for place in (product.written(outside / ".git").replace("\\", "/"), product.written(outside / ".git"), "../../outside/.git",
                  "//localhost/share/.git", "\\\\localhost\\share\\.git", "\\??\\UNC\\localhost\\share\\.git", "\\\\?\\UNC\\localhost\\share\\x"):
        (inner / ".git").write_text(f"gitdir: {place}\n")
        got = ask(stdio, "computer_query", {"op": "git.log", "target": "inner"})
        report.check(f"git: a `.git` file that leads to {place} is refused", got.get("error", {}).get("code") == "path_out_of_scope", got)
    shutil.rmtree(inner)
    remote = "//localhost/share/x"
    for claim, file, text in (
        ("an included configuration", "config", f"\n[include]\n\tpath = {remote}\n"),
        ("one that is included by a condition", "config", f'\n[INCLUDEIF "gitdir/i:C:/"] path = {remote}\n'),
        ("a list of other objects", "objects/info/alternates", f"{remote}\n"),
        ("a common folder", "commondir", f"{remote}\n"),
        ("a working tree that was noted", "worktrees/other/gitdir", f"{remote}/.git\n"),
    ):
        path = git / file
        before = path.read_bytes() if path.exists() else None
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((before or b"") + text.encode())
        got = ask(stdio, "computer_query", {"op": "git.status"})
        report.check(f"git: {claim} on another computer is refused", got.get("error", {}).get("code") == "path_out_of_scope", got)
        path.unlink()
        if before is not None:
            path.write_bytes(before)
    shutil.rmtree(git / "worktrees", ignore_errors=True)
    config = git / "config"
    before = config.read_bytes()
    config.write_bytes(before + f"\n[blame]\n\tignoreRevsFile = {product.written(outside)}\\secret\n".replace("\\", "/").encode())
    (outside / "secret").write_text("secret words\n")
    got = ask(stdio, "computer_query", {"op": "git.blame", "target": "README.md"})
    report.check("git: a list for git.blame that is outside is not read", got.get("ok") is False and "secret words" not in json.dumps(got), got)
    config.write_bytes(before)
    got = ask(stdio, "computer_query", {"op": "git.status"})
    report.check("git: afterwards it works again", got.get("ok") is True, got)
