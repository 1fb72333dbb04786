"""Two changes, of which one is to be committed."""

from play.intents import Run, plans
from play.job import Job, commit, git, write

FILES = {
    "shop/cart.py": "def total(prices):\n    return sum(prices) * 1.16\n",
    "shop/report.py": "def title():\n    return 'Report'\n",
    "README.md": "# Shop\n",
}


def make(folder):
    write(folder, FILES)
    commit(folder)
    write(folder, {
        "shop/cart.py": FILES["shop/cart.py"].replace("1.16", "1.19"),
        "shop/report.py": FILES["shop/report.py"].replace("'Report'", "'Report (draft)'"),
        "notes.txt": "ask Bob\n",
    })


def check(folder):
    shown = git(folder, "show", "--stat", "--format=%s", "HEAD")
    left = git(folder, "status", "--porcelain")
    good = "cart.py" in shown and "report.py" not in shown and "notes.txt" not in shown and shown.startswith("Correct the tax")
    return "" if good and left == " M shop/report.py\n?? notes.txt\n" else shown + left


JOB = Job(
    task='Commit the correction of the tax, and nothing else, as "Correct the tax".',
    make=make,
    check=check,
    plans=plans(
        Run("What is changed?", "git status --short && git diff", shows="1.19"),
        Run("Only the cart is about the tax.", 'git commit -m "Correct the tax" shop/cart.py && git status --short', shows="?? notes.txt"),
    ),
)
