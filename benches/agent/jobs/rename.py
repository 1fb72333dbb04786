"""A function with a new name in six files; another one's name begins alike."""

from play.intents import Run, plans
from play.job import Job, commit, runs, write

FILES = {
    "README.md": "# Shop\n\n`calc_price` is the heart of it. Tests: `python3 -m unittest`.\n",
    "shop/__init__.py": "from .pricing import calc_price, calc_price_list\n\n__all__ = [\"calc_price\", \"calc_price_list\"]\n",
    "shop/pricing.py": '''"""Prices."""

TAX = 1.19


def calc_price(net, count=1):
    """Returns the price of some things."""
    return round(net * count * TAX, 2)


def calc_price_list(nets):
    """Returns the prices of several things."""
    return [calc_price(net) for net in nets]
''',
    "shop/cart.py": '''from .pricing import calc_price


def total(lines):
    """Returns what a cart costs."""
    return sum(calc_price(net, count) for net, count in lines)
''',
    "shop/invoice.py": '''from . import pricing


def line(name, net):
    """Returns a line of an invoice."""
    return f"{name}: {pricing.calc_price(net):.2f}"
''',
    "shop/report.py": '''from .pricing import calc_price_list


def mean(nets):
    """Returns the mean price."""
    prices = calc_price_list(nets)
    return sum(prices) / len(prices)
''',
    "tests/__init__.py": "",
    "tests/test_pricing.py": '''import unittest

from shop import cart, invoice, report
from shop.pricing import calc_price


class Prices(unittest.TestCase):
    def test_price(self):
        self.assertEqual(calc_price(100), 119.0)
        self.assertEqual(cart.total([(100, 2)]), 238.0)
        self.assertEqual(invoice.line("pen", 1), "pen: 1.19")
        self.assertEqual(report.mean([100, 200]), 178.5)
''',
}


def make(folder):
    write(folder, FILES)
    commit(folder)


def check(folder):
    for name, content in FILES.items():
        expected = content.replace("calc_price_list", "\0").replace("calc_price", "price_of").replace("\0", "calc_price_list")
        if (folder / name).read_text() != expected:
            return f"{name} is not as it should be"
    return runs(folder, "python3", "-m", "unittest", "-q")


RENAME = "grep -rlw calc_price --exclude-dir=.git . | xargs sed -i 's/\\bcalc_price\\b/price_of/g' && git diff --stat && python3 -m unittest 2>&1 | tail -3"

JOB = Job(
    task="Rename the function calc_price to price_of everywhere in this project, also in the README, and run the tests.",
    make=make,
    check=check,
    plans=plans(
        Run("Where is it used?", "grep -rn calc_price .", shows="test_pricing"),
        Run("calc_price_list is another function, so whole words only; then the tests.", RENAME, shows="OK"),
    ),
)
