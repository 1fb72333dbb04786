"""A number that is in three modules."""

from play.intents import Change, Run, plans
from play.job import Job, commit, runs, write

FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": 'def total(nets):\n    """Returns what a cart costs."""\n    return round(sum(nets) * 1.19, 2)\n',
    "shop/invoice.py": 'def tax(net):\n    """Returns the tax in an invoice."""\n    return round(net * 1.19 - net, 2)\n',
    "shop/label.py": 'def label(name, net):\n    """Returns a label with the price."""\n    return f"{name} {net * 1.19:.2f}"\n',
    "test_shop.py": '''import unittest

from shop import cart, invoice, label


class Shop(unittest.TestCase):
    def test_prices(self):
        self.assertEqual(cart.total([1, 2]), 3.57)
        self.assertEqual(invoice.tax(100), 19.0)
        self.assertEqual(label.label("pen", 1), "pen 1.19")
''',
}
IMPORT = "from shop.tax import FACTOR\n\n\n"


def make(folder):
    write(folder, FILES)
    commit(folder)


def check(folder):
    left = [name for name in ("cart", "invoice", "label") if "1.19" in (folder / f"shop/{name}.py").read_text()]
    return f"left in {left}" if left else runs(folder, "python3", "-B", "-m", "unittest", "-q")


JOB = Job(
    task="The factor 1.19 is repeated in shop/. Put it into shop/tax.py as FACTOR, use it everywhere, and run the tests "
    "(`python3 -B -m unittest`).",
    make=make,
    check=check,
    plans=plans(
        Run("Where is it?", "cat $(grep -rlF 1.19 --include=*.py shop); ls shop", shows="1.19:.2f"),
        Change(
            "A module for it, and three that use it.",
            [
                ("shop/cart.py", "def total(nets):\n", IMPORT + "def total(nets):\n"),
                ("shop/cart.py", "sum(nets) * 1.19", "sum(nets) * FACTOR"),
                ("shop/invoice.py", "def tax(net):\n", IMPORT + "def tax(net):\n"),
                ("shop/invoice.py", "net * 1.19 - net", "net * FACTOR - net"),
                ("shop/label.py", "def label(name, net):\n", IMPORT + "def label(name, net):\n"),
                ("shop/label.py", "net * 1.19:.2f", "net * FACTOR:.2f"),
            ],
            files={"shop/tax.py": '"""The tax."""\n\nFACTOR = 1.19\n'},
            check="python3 -B -m unittest 2>&1 | tail -3", shows="OK",
        ),
    ),
)
