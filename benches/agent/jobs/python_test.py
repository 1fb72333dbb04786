"""A failing test in a Python project with a virtual environment."""

from play.intents import Change, Read, Run, plans
from play.job import Job, commit, runs, venv, write

FILES = {
    "README.md": "# Shop\n\nPrices and carts of a small shop.\n\nTests: `.venv/bin/python -m pytest`\n",
    ".gitignore": ".venv/\n__pycache__/\n.pytest_cache/\n",
    "shop/__init__.py": "",
    "shop/cart.py": '''"""A cart and what it costs."""

from shop.tax import with_tax


class Cart:
    """Things that somebody wants to buy."""

    def __init__(self):
        self.lines = []

    def add(self, name, price, count=1):
        """Adds a thing."""
        self.lines.append((name, price, count))

    def total(self, country="DE"):
        """Returns what all of it costs, with tax."""
        net = sum(price for _, price, count in self.lines)
        return with_tax(net, country)
''',
    "shop/tax.py": '''"""Taxes by country, in percent."""

RATES = {"DE": 19, "FR": 20, "CH": 8}


def with_tax(net, country):
    """Returns a price with the tax of a country."""
    return round(net * (100 + RATES[country]) / 100, 2)
''',
    "tests/test_cart.py": '''from shop.cart import Cart


def test_one_thing():
    cart = Cart()
    cart.add("pen", 10)
    assert cart.total() == 11.9


def test_several_of_a_thing():
    cart = Cart()
    cart.add("pen", 10, count=3)
    cart.add("ink", 5)
    assert cart.total("FR") == 42.0
''',
    "tests/test_tax.py": '''from shop.tax import with_tax


def test_switzerland():
    assert with_tax(100, "CH") == 108.0
''',
}


def make(folder):
    write(folder, FILES)
    commit(folder)
    venv(folder)


def check(folder):
    if (folder / "tests/test_cart.py").read_text() != FILES["tests/test_cart.py"]:
        return "the test was changed"
    return runs(folder, ".venv/bin/python", "-m", "pytest", "-q")


OLD = "        net = sum(price for _, price, count in self.lines)"
NEW = "        net = sum(price * count for _, price, count in self.lines)"
RUN = ".venv/bin/python -m pytest -q"

JOB = Job(
    task="A test of this project fails. Find out why and fix the code. It has its packages in .venv.",
    make=make,
    check=check,
    plans=plans(
        Run("See what fails.", RUN, shows="1 failed"),
        Read("The total is wrong, so read the cart.", ["shop/cart.py"], shows=OLD),
        Change("The count is forgotten.", [("shop/cart.py", OLD, NEW)], check=RUN, shows="3 passed"),
    ),
)
