"""One recorded run: a project is laid out, a tool runs in it at /project, and what it printed is kept.

Beside each log stands what is known of the run from somewhere else than the printed text: a reporter of the tool
for machines, or marks in the source of the project.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

TOOLS = Path(os.environ.get("DIGEST_TOOLS", "/tmp/digest-tools"))
LOGS = Path(__file__).resolve().parent.parent / "logs"
# Packages of Debian, unpacked, and the home of what is run.
DEBIAN = TOOLS / "debian"
TOOLS_HOME = TOOLS / "home"
PROJECT = "/project"
HOME = re.escape(str(Path.home()))

# What would tell of this machine, and what stands in its place.
SCRUBBED = [
    (re.compile(re.escape(str(TOOLS)) + r"/py\d"), "/opt/python"),
    (re.compile(re.escape(str(DEBIAN))), ""),
    (re.compile(re.escape(str(TOOLS))), "/opt"),
    (re.compile(HOME + r"/\.pyenv/versions/[^/\s]+"), "/usr"),
    (re.compile(HOME + r"/\.(cargo|rustup)(/toolchains/[^/\s]+)?"), "/opt/rust"),
    (re.compile(HOME), "/home/user"),
]


def in_project(folder, argv, env=None, mounts=(), timeout=900):
    """Runs `argv` with `folder` seen as /project, and with `mounts` {inside: outside} bound into it."""
    binds = [f'mount --bind "{folder}" {PROJECT}']
    for inside, outside in mounts:
        binds.append(f'mkdir -p "{PROJECT}/{inside}" && mount --bind "{outside}" "{PROJECT}/{inside}"')
    script = f'mkdir -p {PROJECT} && {" && ".join(binds)} && cd {PROJECT} && exec "$@"'
    full = dict(os.environ, HOME=str(TOOLS_HOME), LANG="C.UTF-8", LC_ALL="C.UTF-8", COLUMNS="80")
    for name in ("CI", "FORCE_COLOR", "NO_COLOR", "PYTEST_ADDOPTS", "RUSTFLAGS", "CARGO_TARGET_DIR", "RUST_BACKTRACE"):
        full.pop(name, None)
    full["CARGO_HOME"] = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
    full["RUSTUP_HOME"] = os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup"))
    full.update(env or {})
    os.makedirs(full["HOME"], exist_ok=True)
    return subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", *argv],
        stdin=subprocess.DEVNULL, capture_output=True, env=full, timeout=timeout,
    )


def scrub(data):
    text = data.decode("utf-8", "surrogateescape")
    for pattern, instead in SCRUBBED:
        text = pattern.sub(instead, text)
    return text.encode("utf-8", "surrogateescape")


def lay_out(name, files):
    folder = TOOLS / "projects" / name
    shutil.rmtree(folder, ignore_errors=True)
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            place.write_bytes(text)
        else:
            place.write_text(text, encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def marks(files, word="FAILS"):
    """Gives every line of the sources that has the mark: {tag: (file, line)}."""
    found = {}
    for path, text in files.items():
        for number, line in enumerate(text.split("\n"), 1):
            mark = re.search(word + r"\((.*?)\)", line)
            if mark:
                found[mark.group(1)] = (path, number)
    return found


def record(tool, name, files, argv, expect, *, env=None, mounts=(), before=(), merged=False, version="", how=""):
    """Records one run. `expect(folder, run)` gives the failures as [{name?, file?, line?}] and counts."""
    only = os.environ.get("ONLY")
    if only and only not in f"{tool}/{name}":
        return
    folder = lay_out(f"{tool}-{name}", files)
    run = lambda words, more=None: in_project(folder, words, dict(env or {}, **(more or {})), mounts)
    failures, counts = expect(run, folder)
    for words in before:
        run(words)
    shown = argv if not merged else ["sh", "-c", 'exec "$@" 2>&1', "sh", *argv]
    done = run(shown)
    place = LOGS / tool
    place.mkdir(parents=True, exist_ok=True)
    for ending, data in (("out", done.stdout), ("err", done.stderr)):
        path = place / f"{name}.{ending}"
        path.unlink(missing_ok=True)
        if data:
            path.write_bytes(scrub(data))
    words = [re.sub(r"^.*/", "", argv[0]), *argv[1:]]
    facts = {
        "tool": tool, "argv": [scrub(word.encode()).decode() for word in words], "version": version,
        "exitCode": done.returncode, "knownBy": how, "counts": counts, "failures": failures,
    }
    (place / f"{name}.json").write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    size = len(done.stdout) + len(done.stderr)
    print(f"{tool}/{name}: {size} bytes, exit {done.returncode}, {len(failures)} failures {counts}", flush=True)
