"""A new version, and its entry in the changelog."""

from play.intents import Change, Run, plans
from play.job import Job, commit, write

LOG = "# Changelog\n\n## 1.4.0\n\n- Labels have a currency.\n"
FILES = {
    "package.json": '{\n  "name": "shop",\n  "version": "1.4.0",\n  "dependencies": { "label": "1.4.0" }\n}\n',
    "src/version.js": 'export const VERSION = "1.4.0";\n',
    "CHANGELOG.md": LOG,
}


def make(folder):
    write(folder, FILES)
    commit(folder)
    commit_fix(folder)


def commit_fix(folder):
    write(folder, {"src/cart.js": "export const total = (prices) => prices.reduce((a, b) => a + b, 0);\n"})
    commit(folder, "Empty carts cost nothing")


def check(folder):
    texts = [(folder / name).read_text() for name in FILES]
    good = ['"version": "1.4.1",\n  "dependencies": { "label": "1.4.0" }', '"1.4.1"', "## 1.4.1\n\n- Empty carts cost nothing"]
    return next((text for text, part in zip(texts, good) if part not in text), "")


JOB = Job(
    task="Make this version 1.4.1, with an entry in CHANGELOG.md about what was committed since the last version (one commit).",
    make=make,
    check=check,
    plans=plans(
        Run("Where is the version, and what is new?", "grep -rn '1\\.4\\.0' --exclude-dir=.git .; git log --oneline -3; head -8 CHANGELOG.md", shows="Empty carts"),
        Change("Three files; the other package stays.", [
            ("package.json", '  "version": "1.4.0",', '  "version": "1.4.1",'),
            ("src/version.js", '"1.4.0"', '"1.4.1"'),
            ("CHANGELOG.md", "## 1.4.0\n", "## 1.4.1\n\n- Empty carts cost nothing.\n\n## 1.4.0\n"),
        ]),
    ),
)
