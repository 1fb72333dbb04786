"""A new flag of a program, with its test."""

from play.intents import Change, Read, plans
from play.job import Job, commit, runs, write

REPORT = '''"""Prints what is in stock."""

import argparse

STOCK = {"pen": 3, "ink": 0}


def lines(only_missing=False):
    """Yields a line for each thing."""
    for name, count in STOCK.items():
        if count and only_missing:
            continue
        yield f"{name}: {count}"


def main(words=None):
    """Runs the program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--missing", action="store_true", help="only what is missing")
    asked = parser.parse_args(words)
    print("\\n".join(lines(asked.missing)))


if __name__ == "__main__":
    main()
'''
TEST = '''import contextlib
import io
import unittest

import report


def printed(*words):
    with contextlib.redirect_stdout(io.StringIO()) as text:
        report.main(words)
    return text.getvalue()


class Report(unittest.TestCase):
    def test_missing(self):
        self.assertEqual(printed("--missing"), "ink: 0\\n")


if __name__ == "__main__":
    unittest.main()
'''


def make(folder):
    write(folder, {"report.py": REPORT, "test_report.py": TEST})
    commit(folder)


def check(folder):
    if "--json" not in (folder / "test_report.py").read_text():
        return "there is no test"
    wrong = runs(folder, "python3", "-B", "-c", "import json, subprocess as s; assert json.loads(s.check_output(['python3', '-B', 'report.py', '--json'])) == {'pen': 3, 'ink': 0}")
    return wrong or runs(folder, "python3", "-B", "-m", "unittest", "-q")


FLAG = '    parser.add_argument("--missing", action="store_true", help="only what is missing")\n'
PRINT = '    print("\\n".join(lines(asked.missing)))\n'
CASE = '        self.assertEqual(printed("--missing"), "ink: 0\\n")\n'

JOB = Job(
    task="Add a flag --json to report.py that prints the stock as a JSON object, with a test in test_report.py.",
    make=make,
    check=check,
    plans=plans(
        Read("Both files are named, so read both.", ["report.py", "test_report.py"], shows="only_missing"),
        Change("The flag, the output, and a test.", [
            ("report.py", "import argparse\n", "import argparse\nimport json\n"),
            ("report.py", FLAG, FLAG + '    parser.add_argument("--json", action="store_true", help="print JSON")\n'),
            ("report.py", PRINT, "    if asked.json:\n        print(json.dumps(STOCK))\n        return\n" + PRINT),
            ("test_report.py", "import io\n", "import io\nimport json\n"),
            ("test_report.py", CASE, CASE + '\n    def test_json(self):\n        self.assertEqual(json.loads(printed("--json")), report.STOCK)\n'),
        ], check="python3 -B -m unittest 2>&1 | tail -4", shows="OK"),
    ),
)
