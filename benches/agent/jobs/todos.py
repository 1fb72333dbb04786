"""An inventory of what is left to do."""

from play.intents import Change, Run, plans
from play.job import Job, commit, write

FILES = {
    "src/cart.ts": "// TODO(ann): round by the rules of the country\nexport const total = (prices: number[]) => prices.reduce((a, b) => a + b, 0);\n",
    "src/mail.ts": "export function send() {\n  // FIXME: the queue has no end\n}\n",
    "src/stock.ts": "export const stock = 1;\n",
    "test/cart.test.ts": "// TODO: empty carts\n",
}
TEXT = """# To do

- src/cart.ts:1 round by the rules of the country (ann)
- src/mail.ts:2 the queue has no end
- test/cart.test.ts:1 empty carts
"""


def make(folder):
    write(folder, FILES)
    commit(folder)


def check(folder):
    path = folder / "TODO.md"
    text = path.read_text() if path.exists() else ""
    missing = [name for name in ("src/cart.ts", "src/mail.ts", "test/cart.test.ts") if name not in text]
    return f"missing: {missing}" if missing else ""


JOB = Job(
    task="List all TODO and FIXME comments of this project in TODO.md, with file and line.",
    make=make,
    check=check,
    plans=plans(
        Run("Find them.", "grep -rnE 'TODO|FIXME' --exclude-dir=.git .", shows="empty carts"),
        Change("Write them down.", files={"TODO.md": TEXT}),
    ),
)
