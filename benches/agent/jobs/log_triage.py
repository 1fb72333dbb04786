"""A log in which the first error has to be found."""

from play.intents import Change, Run, plans
from play.job import Job, write

def lines():
    for number in range(20_000):
        clock = f"{10 + number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}"
        if number >= 2467 and number % 93 == 49:
            yield f"2026-03-02 {clock} ERROR payment: connection to bank.example refused (order {number})"
        elif number >= 9000 and number % 900 == 1:
            yield f"2026-03-02 {clock} ERROR mail: queue is full"
        else:
            yield f"2026-03-02 {clock} INFO shop: served order {number} in {number % 37} ms"


def make(folder):
    write(folder, {"logs/shop.log": "\n".join(lines()) + "\n"})


def check(folder):
    path = folder / "incident.md"
    if not path.exists():
        return "there is no incident.md"
    first = next(line for line in lines() if "ERROR" in line).split()[1]
    counts = [sum(f"ERROR {part}" in line for line in lines()) for part in ("payment", "mail")]
    text = path.read_text()
    return "" if first in text and all(str(count) in text for count in counts) else f"not {first} {counts}: {text}"


FOUND = "grep -m3 ERROR logs/shop.log; grep -o 'ERROR [a-z]*' logs/shop.log | sort | uniq -c"
FIRST = next(line for line in lines() if "ERROR" in line).split()[1]
COUNTS = [sum(f"ERROR {part}" in line for line in lines()) for part in ("payment", "mail")]
TEXT = f"# Incident\n\n- First error: {FIRST}, payment: connection to bank.example refused\n- {COUNTS[0]} errors of payment, {COUNTS[1]} of mail\n"

JOB = Job(
    task="Look at logs/shop.log: write into incident.md when the first error came, what it was, and how many errors each part had.",
    make=make,
    check=check,
    plans=plans(
        Run("The first errors, and how many of each part.", FOUND, shows=f"{COUNTS[1]} ERROR mail"),
        Change("Write it down.", files={"incident.md": TEXT}),
    ),
)
