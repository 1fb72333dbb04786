"""A merge with a conflict."""

from play.intents import Change, Run, plans
from play.job import Job, commit, git, runs, write

BASE = {
    "shop/__init__.py": "",
    "shop/ship.py": '''def cost(weight, country):
    """Returns what shipping costs."""
    if country == "DE":
        return 4.9
    return 9.9
''',
    "test_ship.py": '''import unittest

from shop.ship import cost


class Cost(unittest.TestCase):
    def test_home(self):
        self.assertEqual(cost(1, "DE"), 4.9)
''',
}
OURS = BASE["shop/ship.py"].replace("    return 9.9\n", '    if country in ("FR", "AT"):\n        return 6.9\n    return 9.9\n')
THEIRS = BASE["shop/ship.py"].replace("    return 9.9\n", "    if weight > 10:\n        return 19.9\n    return 9.9\n")


def make(folder):
    write(folder, BASE)
    commit(folder)
    git(folder, "checkout", "-q", "-b", "heavy")
    write(folder, {"shop/ship.py": THEIRS})
    commit(folder, "Heavy parcels")
    git(folder, "checkout", "-q", "main")
    write(folder, {"shop/ship.py": OURS})
    commit(folder, "Neighbours")


def check(folder):
    text = (folder / "shop/ship.py").read_text()
    if "<<<<" in text or "6.9" not in text or "19.9" not in text:
        return text
    if git(folder, "status", "--porcelain").strip() or len(git(folder, "log", "-1", "--format=%p").split()) != 2:
        return "it is not committed"
    return runs(folder, "python3", "-B", "-m", "unittest", "-q")


CONFLICT = """<<<<<<< HEAD
    if country in ("FR", "AT"):
        return 6.9
=======
    if weight > 10:
        return 19.9
>>>>>>> heavy
"""
BOTH = """    if country in ("FR", "AT"):
        return 6.9
    if weight > 10:
        return 19.9
"""

JOB = Job(
    task="Merge the branch heavy into main. Keep both changes, run the tests (`python3 -B -m unittest`), and commit.",
    make=make,
    check=check,
    plans=plans(
        Run("Try it, and see what conflicts.", "git merge heavy; cat $(git diff --name-only --diff-filter=U)", shows=">>>>>>> heavy"),
        Change("The country first, then the weight.", [("shop/ship.py", CONFLICT, BOTH)],
               check="python3 -B -m unittest 2>&1 | tail -3 && git add shop/ship.py && git commit --no-edit && git status --short", shows="OK"),
    ),
)
