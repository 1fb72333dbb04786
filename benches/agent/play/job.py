"""What a job is: a project, a task, a checker of the end state, and the calls on each server."""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from harness.installed import folder_of

JOBS = Path(__file__).resolve().parent.parent / "jobs"
# Where every project is, as plans and transcripts have it: real folders are replaced by it before anything is counted.
ROOT = "/home/ann/shop"
GIT = {
    "GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.org", "GIT_AUTHOR_DATE": "2026-03-02T10:00:00Z",
    "GIT_COMMITTER_NAME": "Ann", "GIT_COMMITTER_EMAIL": "ann@example.org", "GIT_COMMITTER_DATE": "2026-03-02T10:00:00Z",
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
}


@dataclass
class Call:
    """One call of a plan. Its reason comes first: it may rest only on what the model has seen by then."""

    why: str
    tool: str
    arguments: dict
    """Texts that the answer has to have: what the reasons of later calls rest on."""
    shows: tuple = ()
    """Whether the call is a wrong guess, so that the answer is an error."""
    fails: bool = False
    """Values that later calls use as `<name>`: regular expressions with one group."""
    keep: dict = field(default_factory=dict)
    """The call is made only if the answer before it lacks this text: what it asks for may be there already."""
    unless: str = ""
    """Whether the call only asks what the server can do; such calls are counted once a session."""
    discovery: bool = False


@dataclass
class Job:
    """A job. `make` fills the folder; `check` returns what is wrong with the end state, or an empty text."""

    task: str
    make: Callable
    check: Callable
    plans: dict
    name: str = ""


def _call(why: str, tool: str, arguments: dict, shows=(), **more) -> Call:
    return Call(why, tool, arguments, (shows,) if isinstance(shows, str) else tuple(shows), **more)


def _bailiwick(tool: str) -> Callable:
    def build(why: str, op: str, target: str | None = None, *, shows=(), then=None, options=None, fails=False,
              keep=None, **input_fields) -> Call:
        arguments = _envelope(op, target, options, input_fields)
        if then:
            arguments["then"] = then
        return _call(why, tool, arguments, shows, fails=fails, keep=keep or {})
    return build


def _envelope(op: str, target: str | None, options: dict | None, input_fields: dict) -> dict:
    arguments: dict = {"op": op}
    if target:
        arguments["target"] = target
    if input_fields:
        arguments["input"] = input_fields
    if options:
        arguments["options"] = options
    return arguments


def step(op: str, target: str | None = None, *, options=None, **input_fields) -> dict:
    """A further operation of a call of Bailiwick's."""
    return _envelope(op, target, options, input_fields)


query = _bailiwick("computer_query")
operate = _bailiwick("computer_operation")


def call(why: str, tool: str, shows=(), *, fails=False, keep=None, unless="", **arguments) -> Call:
    """A call of any other tool."""
    return _call(why, tool, arguments, shows, fails=fails, keep=keep or {}, unless=unless)


def started(why: str, command: str, shows: str, timeout_ms: int = 30000) -> list:
    """A command of Desktop Commander's, which answers early where the output looks like a prompt to it."""
    more = {"pid": "<pid>", "timeout_ms": timeout_ms, "unless": shows}
    return [
        call(why, "start_process", command=f"cd {ROOT}; {command}", timeout_ms=timeout_ms, keep={"pid": r"PID (\d+)"}),
        call("The output is not all there.", "read_process_output", **more),
        call("It still is not.", "read_process_output", shows=shows, **more),
    ]


def ran(why: str, command: str, shows=(), **more) -> Call:
    """A command of the shell server's."""
    return call(why, "run_command", shows, command=command, workdir=ROOT, **more)


def load(names: list) -> list:
    """Reads the jobs, all or those of the given names, in the order of their files."""
    jobs = []
    for path in sorted(JOBS.glob("*.py")):
        if names and path.stem not in names:
            continue
        spec = importlib.util.spec_from_file_location(f"jobs.{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.JOB.name = path.stem
        jobs.append(module.JOB)
    missing = set(names) - {job.name for job in jobs}
    if missing:
        raise SystemExit(f"no such job: {', '.join(sorted(missing))}; jobs are {', '.join(p.stem for p in sorted(JOBS.glob('*.py')))}")
    return jobs


def write(folder: Path, files: dict) -> None:
    """Writes files of a project."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def git(folder: Path, *arguments: str) -> str:
    """Runs Git in a project."""
    done = subprocess.run(
        ["git", "-c", "init.defaultBranch=main", *arguments], cwd=folder, env={**os.environ, **GIT}, check=True,
        capture_output=True, text=True,
    )
    return done.stdout


def commit(folder: Path, message: str = "Start") -> None:
    """Commits all of a project; makes the repository where there is none."""
    if not (folder / ".git").exists():
        git(folder, "init", "-q")
        git(folder, "config", "user.name", "Ann")
        git(folder, "config", "user.email", "ann@example.org")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message)


def venv(folder: Path) -> None:
    """Makes a virtual environment `.venv` with pytest, without a network."""
    target = folder / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(target)], check=True)
    source = folder_of("python-tests")
    packages = next(source.glob("lib/python3*/site-packages"))
    skip = shutil.ignore_patterns("__pycache__", "pip*", "setuptools*")
    shutil.copytree(packages, next(target.glob("lib/python3*/site-packages")), ignore=skip, dirs_exist_ok=True)
    program = target / "bin" / "pytest"
    program.write_text((source / "bin" / "pytest").read_text().replace(str(source), str(target)))
    program.chmod(0o755)


def runs(folder: Path, *command: str) -> str:
    """Checks that a command ends well in a project: an empty text, or what it printed."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    return "" if done.returncode == 0 else f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}"
