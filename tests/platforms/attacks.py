"""Ways in which Windows lets a path mean something else, each sent as a request, and the verdict it has to have."""

import json

from harness.report import Report
from harness.wire import Stdio, envelope_of, tool_call

OUTSIDE = "what is outside"
INSIDE = "A line to find: cobalt"

# What it is, the paths, and the codes of which one has to come.
REFUSED = (
    ("a device's name is no file", ("CON", "NUL.txt", "COM1", "aux.c", "src/LPT1.log", "CONIN$", "com\u00b9"), {"invalid_request"}),
    ("a stream of a file is no file", ("README.md:s", "README.md::$DATA", "src/main.rs:$DATA", "src:x/main.rs"), {"invalid_request"}),
    ("a trailing dot or blank does not vanish", ("README.md.", "README.md ", "src./main.rs", "src /main.rs", ".env."),
     {"invalid_request", "permission_denied"}),
    ("a path of devices leads nowhere", ("\\\\?\\{outside}", "\\\\.\\{outside}", "\\??\\{outside}", "//?/{outside}", "\\\\?\\{project}\\README.md"),
     {"path_out_of_scope", "invalid_request"}),
    ("a path of another computer leads nowhere", ("\\\\server\\share\\a", "//server/share/a", "\\\\?\\UNC\\server\\share\\a", "\\\\localhost\\C$\\a"),
     {"path_out_of_scope", "invalid_request"}),
    ("a drive and the top of one lead nowhere", ("{outside}", "C:outside.txt", "C:", "Z:/etc/passwd", "\\outside.txt", "/outside.txt", "c:"),
     {"path_out_of_scope", "invalid_request"}),
    ("slashes of both kinds do not climb out", ("..\\outside.txt", "../outside.txt", "src\\..\\..\\outside.txt", "src/..\\../outside.txt",
     "{project}\\..\\outside.txt", "{project}/../outside.txt", "..\\/..\\"), {"path_out_of_scope"}),
    ("a closed name is closed in every case and form", (".env", ".ENV", ".Env", "src\\..\\.ENV", "{PROJECT}\\.env", ".\\.env"),
     {"permission_denied"}),
    ("a file in another case is another name", ("readme.md", "README.MD", "SRC/main.rs"), {"not_found"}),
)
WRITTEN = (
    ("Git's own files are closed to writing in every case and form",
     (".git/hooks/post-commit", ".Git/HOOKS/post-commit", ".GIT\\hooks\\post-commit", "src/..\\.git/config"), {"permission_denied"}),
    ("nothing is written to devices, streams and other places",
     ("NUL", "README.md:s", "..\\written.txt", "C:/written.txt", "\\\\?\\C:\\written.txt", "C:written.txt", "src/com1.txt", "new.txt."),
     {"invalid_request", "path_out_of_scope"}),
)


def run(report: Report, product, stdio: Stdio) -> None:
    """Sends every path as a target to read, and some as one to write."""
    words = {
        "outside": product.written(product.folder / "outside.txt"),
        "project": product.written(product.project),
        "PROJECT": product.written(product.project).upper(),
    }
    (product.folder / "outside.txt").write_text(f"{OUTSIDE}\n")
    for claim, paths, codes in REFUSED:
        wrong = []
        for path in paths:
            path = path.format(**words)
            got = ask(stdio, "computer_query", {"op": "file.read", "target": path})
            if got.get("error", {}).get("code") not in codes or OUTSIDE in json.dumps(got):
                wrong.append((path, got))
        report.check(f"attacks: {claim} ({len(paths)} paths)", not wrong, wrong)
    before = tree(product)
    for claim, paths, codes in WRITTEN:
        wrong = []
        for path in paths:
            arguments = {"op": "file.write", "target": path, "input": {"content": "x"}, "options": {"createParents": True}}
            got = ask(stdio, "computer_operation", arguments)
            if got.get("error", {}).get("code") not in codes:
                wrong.append((path, got))
        report.check(f"attacks: {claim} ({len(paths)} paths)", not wrong, wrong)
    report.check("attacks: no file was made or changed by any of them", tree(product) == before, sorted(tree(product) - before))
    short_names(report, product, stdio)
    own_paths(report, product, stdio, words)


def short_names(report: Report, product, stdio: Stdio) -> None:
    """The name that the system makes up for a long one is another name for a file that was judged by its own."""
    (product.project / "credentials of mine.json").write_text("{}\n")
    listed = product.windows("cmd", "/c", "dir", "/x", "*.json").stdout
    short = next((word for word in listed.split() if "~" in word), "")
    if not short:
        report.skip("attacks: a made-up short name opens nothing", f"the system made none up: {listed}")
        return
    for path in (short, short.lower()):
        got = ask(stdio, "computer_query", {"op": "file.read", "target": path})
        report.check(f"attacks: a made-up short name opens nothing ({path})", got.get("error", {}).get("code") == "not_found", got)


def own_paths(report: Report, product, stdio: Stdio, words: dict) -> None:
    """What Windows programs write is understood: both slashes, and the whole path in any case."""
    wrong = []
    for path in ("{project}\\README.md", "{PROJECT}\\README.md", "{PROJECT}/README.md", ".\\README.md", "src\\..\\README.md"):
        path = path.format(**words)
        got = ask(stdio, "computer_query", {"op": "file.read", "target": path})
        if INSIDE not in json.dumps(got) or got.get("target", {}).get("path", "README.md") != "README.md":
            wrong.append((path, got))
    report.check("attacks: paths as Windows programs write them are read, and shown with `/`", not wrong, wrong)
    junction = product.windows("cmd", "/c", "mklink", "/J", "way", words["project"] + "\\..")
    if junction.returncode != 0 or not (product.project / "way").exists():
        report.skip("attacks: a junction out of the folder is refused", "wine 8 makes none (`mklink /J`)")
        return
    got = ask(stdio, "computer_query", {"op": "file.read", "target": "way/outside.txt"})
    report.check("attacks: a junction out of the folder is refused", got.get("error", {}).get("code") == "path_out_of_scope", got)


def ask(stdio: Stdio, tool: str, arguments: dict) -> dict:
    """Makes a call and gives its envelope."""
    ask.number += 1
    return envelope_of(stdio.ask(tool_call(ask.number, tool, {"scope": "app", **arguments})) or {})


ask.number = 0


def tree(product) -> set:
    """Gives every file below the folder of the installation but its own, with its content."""
    files = (path for path in product.folder.rglob("*") if path.is_file() and product.home not in path.parents)
    return {(str(path.relative_to(product.folder)), path.read_bytes()) for path in files}
