"""A table that becomes JSON."""

import json

from play.intents import Run, plans
from play.job import Job, write

TABLE = "name;price;count\n" + "".join(f"thing {number};{number / 4:.2f};{number % 5}\n" for number in range(1, 61))


def make(folder):
    write(folder, {"data/stock.csv": TABLE})


def check(folder):
    try:
        read = json.loads((folder / "data/stock.json").read_text())
    except (OSError, ValueError) as why:
        return str(why)
    good = [{"name": f"thing {n}", "price": n / 4, "count": n % 5} for n in range(1, 61) if n % 5]
    return "" if read == good else "the content is another one"


CONVERT = """python3 - <<'EOF'
import csv, json
rows = csv.DictReader(open("data/stock.csv"), delimiter=";")
out = [{"name": r["name"], "price": float(r["price"]), "count": int(r["count"])} for r in rows if int(r["count"])]
json.dump(out, open("data/stock.json", "w"), indent=1)
print(len(out), out[0])
EOF"""

JOB = Job(
    task="Convert data/stock.csv to data/stock.json: a list of objects with numbers as numbers, without the things of which there are none.",
    make=make,
    check=check,
    plans=plans(
        Run("What does it look like?", "head -4 data/stock.csv; wc -l data/stock.csv", shows="name;price;count"),
        Run("Convert it.", CONVERT, shows="48"),
    ),
)
