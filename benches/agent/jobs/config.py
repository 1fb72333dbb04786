"""Settings of three environments, which change in different ways."""

from play.intents import Change, Run, plans
from play.job import Job, commit, write

TEMPLATE = """service: shop
database:
  host: {host}
  pool: {pool}
  timeout: 5s
cache:
  size: 64
log:
  level: {level}
"""
FILES = {
    "config/development.yaml": TEMPLATE.format(host="localhost", pool=2, level="debug"),
    "config/staging.yaml": TEMPLATE.format(host="db.staging.local", pool=10, level="info"),
    "config/production.yaml": TEMPLATE.format(host="db.local", pool=20, level="warn"),
}
AFTER = {
    "config/development.yaml": FILES["config/development.yaml"],
    "config/staging.yaml": FILES["config/staging.yaml"].replace("  pool: 10\n", "  pool: 20\n  replica: ro.staging.local\n"),
    "config/production.yaml": FILES["config/production.yaml"].replace("  pool: 20\n", "  pool: 40\n  replica: ro.local\n"),
}


def make(folder):
    write(folder, FILES)
    commit(folder)


def check(folder):
    return next((name for name, text in AFTER.items() if (folder / name).read_text() != text), "")


JOB = Job(
    task="Double the size of the database pool in staging and production (config/), and add the key `replica` below it: "
    "ro.staging.local in staging, ro.local in production.",
    make=make,
    check=check,
    plans=plans(
        Run("What is there?", "tail -n +1 config/*.yaml", shows="pool: 20"),
        Change("Twice as many, and the replica.", [
            ("config/staging.yaml", "  pool: 10\n", "  pool: 20\n  replica: ro.staging.local\n"),
            ("config/production.yaml", "  pool: 20\n", "  pool: 40\n  replica: ro.local\n"),
        ]),
    ),
)
