"""A program that crashes on its data."""

from play.intents import Change, Run, plans
from play.job import Job, commit, runs, write

FILES = {
    "import_orders.py": '''"""Imports orders: import_orders.py FILE"""

import json
import sys


def amount(order):
    """Returns what an order costs."""
    return order["count"] * order["price"]


def main(path):
    """Prints the sum of all orders."""
    with open(path, encoding="utf-8") as file:
        orders = json.load(file)
    print(f"{sum(amount(order) for order in orders):.2f}")


main(sys.argv[1])
''',
    "orders.json": '[\n  {"id": 1, "count": 2, "price": 1.5},\n  {"id": 2, "price": 4},\n  {"id": 3, "count": 1, "price": "2.50"}\n]\n',
}
OLD = '    return order["count"] * order["price"]\n'
NEW = '    return order.get("count", 1) * float(order["price"])\n'


def make(folder):
    write(folder, FILES)
    commit(folder)


def check(folder):
    if (folder / "orders.json").read_text() != FILES["orders.json"]:
        return "the data was changed"
    return runs(folder, "sh", "-c", 'test "$(python3 import_orders.py orders.json)" = 9.50')


RUN = "python3 import_orders.py orders.json"

JOB = Job(
    task=f"`{RUN}` crashes. Orders without a count are of one thing, and prices may be texts; fix the program.",
    make=make,
    check=check,
    plans=plans(
        Run("See where it crashes.", RUN, shows=OLD.strip()),
        Change("The line is in the traceback.", [("import_orders.py", OLD.strip(), NEW.strip())], check=RUN, shows="9.50"),
    ),
)
