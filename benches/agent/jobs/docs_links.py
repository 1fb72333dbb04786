"""A page that was moved, and the links to it."""

from play.intents import Run, plans
from play.job import Job, commit, write

FILES = {
    "README.md": "# Shop\n\nStart with [the setup](docs/setup.md) or [the guide](docs/guide/first.md).\n",
    "docs/setup.md": "# Setup\n\nRun `make`.\n",
    "docs/guide/first.md": "# First steps\n\nAfter [the setup](../setup.md) run `shop`. See [more](second.md).\n",
    "docs/guide/second.md": "# More\n\nAs in [the setup](../setup.md#tools), but by hand.\n",
    "docs/faq.md": "# Questions\n\nSee [the setup](setup.md). The script `web-setup.md.sh` is older.\n",
}
AFTER = {
    "README.md": FILES["README.md"].replace("docs/setup.md", "docs/guide/setup.md"),
    "docs/guide/setup.md": FILES["docs/setup.md"],
    "docs/guide/first.md": FILES["docs/guide/first.md"].replace("../setup.md", "setup.md"),
    "docs/guide/second.md": FILES["docs/guide/second.md"].replace("../setup.md", "setup.md"),
    "docs/faq.md": FILES["docs/faq.md"].replace("(setup.md", "(guide/setup.md"),
}


def make(folder):
    write(folder, FILES)
    commit(folder)


def check(folder):
    if (folder / "docs/setup.md").exists():
        return "docs/setup.md is still there"
    return next((name for name, text in AFTER.items() if (folder / name).read_text() != text), "")


MOVE = (
    "git mv docs/setup.md docs/guide/setup.md && sed -i 's#(docs/setup\\.md#(docs/guide/setup.md#' README.md && "
    "sed -i 's#(\\.\\./setup\\.md#(setup.md#' docs/guide/first.md docs/guide/second.md && "
    "sed -i 's#(setup\\.md#(guide/setup.md#' docs/faq.md && grep -rn 'setup\\.md' --include=*.md ."
)

JOB = Job(
    task="Move docs/setup.md to docs/guide/setup.md and repair the links to it.",
    make=make,
    check=check,
    plans=plans(
        Run("Which links are there?", "grep -rn 'setup\\.md' --include=*.md .", shows="second.md"),
        Run("Move it, repair each link, and look again.", MOVE, shows="(guide/setup.md"),
    ),
)
