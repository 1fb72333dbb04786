"""A line that somebody removed long ago."""

from play.intents import Run, plans
from play.job import Job, commit, git, write


def make(folder):
    for number in range(12):
        text = "import time\n\n\ndef send(order):\n"
        text += "    for attempt in range(5):\n        post(order)\n" if number < 7 else "    post(order)\n"
        write(folder, {"shop/mail.py": text, "shop/orders.py": f"COUNT = {number}\n"})
        commit(folder, f"Work {number}" if number != 7 else "Simplify mail")


def check(folder):
    path = folder / "ANSWER.txt"
    found = git(folder, "log", "--format=%h", "--grep=Simplify mail").strip()
    return "" if path.exists() and path.read_text().strip().startswith(found) else f"it is {found}"


LOOK = "git log --oneline -S'range(5)' -- shop/mail.py"

JOB = Job(
    task="Which commit removed the five attempts (`range(5)`) from shop/mail.py? Write its short hash into ANSWER.txt.",
    make=make,
    check=check,
    plans=plans(
        Run("When did it come and go?", LOOK, shows="Simplify mail"),
        Run("The newer one removed it.", "git log --format=%h -1 -S'range(5)' -- shop/mail.py > ANSWER.txt"),
    ),
)
