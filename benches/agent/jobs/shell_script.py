"""A script that breaks on names with blanks."""

from play.intents import Change, Run, plans
from play.job import Job, commit, runs, write

SCRIPT = """#!/bin/sh
# Copies all pictures of a folder: collect.sh FROM TO
set -eu
mkdir -p $2
for picture in $(find $1 -name '*.png'); do
  cp $picture $2/
done
ls $2 | wc -l
"""


def make(folder):
    write(folder, {"collect.sh": SCRIPT, "in/red pen.png": "r", "in/ink.png": "i", "in/more/big box.png": "b"})
    (folder / "collect.sh").chmod(0o755)
    commit(folder)


def check(folder):
    return runs(folder, "sh", "-c", 'rm -rf out && test "$(./collect.sh in out | tr -d " ")" = 3 && test -f "out/red pen.png"')


OLD = """mkdir -p $2
for picture in $(find $1 -name '*.png'); do
  cp $picture $2/
done
ls $2 | wc -l
"""
NEW = """mkdir -p "$2"
find "$1" -name '*.png' -exec cp {} "$2"/ \\;
ls "$2" | wc -l
"""

JOB = Job(
    task="`./collect.sh in out` fails. Fix the script.",
    make=make,
    check=check,
    plans=plans(
        Run("See how it fails, and what it does.", "./collect.sh in out; cat collect.sh", shows="No such file"),
        Change("Names with blanks are torn apart.", [("collect.sh", OLD, NEW)], check="./collect.sh in out", shows="3"),
    ),
)
