"""pytest 7, 8 and 9, and unittest."""

import json

from .case import TOOLS, record

# Writes what pytest itself knows of each report; the summary line is not asked.
PLUGIN = '''
import json
import pytest

found = []

def pytest_collectreport(report):
    if report.failed:
        found.append({"name": report.nodeid})

def pytest_runtest_logreport(report):
    if report.failed and not hasattr(report, "context"):
        crash = getattr(report.longrepr, "reprcrash", None)
        failure = {"name": report.nodeid}
        if crash is not None:
            failure["file"] = crash.path.replace("/project/", "")
            failure["line"] = crash.lineno
        found.append(failure)

def pytest_sessionfinish(session):
    if not hasattr(session.config, "workerinput"):
        with open("known.json", "w") as out:
            json.dump(found, out)

def pytest_terminal_summary(terminalreporter):
    stats = terminalreporter.stats
    counts = {name: len(stats.get(name, [])) for name in ("passed", "failed", "error", "skipped", "xfailed", "xpassed")}
    with open("counts.json", "w") as out:
        json.dump(counts, out)
'''


def known(python, argv):
    def expect(run, folder):
        (folder / "known_plugin.py").write_text(PLUGIN)
        run([f"{TOOLS}/{python}/bin/python", "-m", "pytest", "-p", "known_plugin", *argv],
            {"PYTHONPATH": "/project", "PYTHONDONTWRITEBYTECODE": "1"})
        failures = json.loads((folder / "known.json").read_text())
        if "--tb=no" in argv:
            failures = [{"name": failure["name"]} for failure in failures]
        counts = json.loads((folder / "counts.json").read_text())
        counts["errors"] = counts.pop("error")
        for name in ("known_plugin.py", "known.json", "counts.json"):
            (folder / name).unlink()
        return failures, {key: value for key, value in counts.items() if value}
    return expect


def pytest(name, files, argv=(), python="py8", **more):
    version = {"py7": "pytest 7", "py8": "pytest 8", "py9": "pytest 9"}[python]
    env = {"PYTHONDONTWRITEBYTECODE": "1", **more.pop("env", {})}
    # Order and workers do not change what fails; the plugin looks at the same tests in one process.
    asked = [word for word in argv if word not in ("-n2", "--color=yes")]
    record("pytest", name, files, [f"{TOOLS}/{python}/bin/python", "-m", "pytest", "-p", "no:cacheprovider",
                                   "-p", "no:randomly", *argv],
           known(python, ["-p", "no:cacheprovider", "-p", "no:randomly", *asked]), version=version,
           how="a plugin that writes pytest's own reports", env=env, **more)


SHOP = '''"""A shop."""

def total(prices):
    """Adds prices."""
    if any(price is None for price in prices):
        raise ValueError("a price is missing")
    return sum(prices)


def parse(text):
    amount, unit = text.split(" ")
    return int(amount), unit
'''


def mixed(passing, failing):
    text = "import pytest\nfrom shop import parse, total\n\n\n"
    for n in range(passing):
        text += f"def test_adds_{n}():\n    assert total([{n}, 1]) == {n + 1}\n\n\n"
    kinds = [
        "    assert total([{n}, 1]) == {n}\n",
        "    orders = {{'apples': {n}, 'pears': [1, 2, 3], 'plums': 'many'}}\n    assert orders == {{'apples': {n}, 'pears': [1, 2, 4], 'plums': 'few'}}\n",
        "    total([1, None, {n}])\n",
        "    print('looking at order {n}')\n    assert parse('{n}pieces') == ({n}, 'pieces')\n",
        "    with pytest.raises(KeyError):\n        total([{n}])\n",
        "    pytest.fail('order {n} is not there')\n",
    ]
    for n in range(failing):
        text += f"def test_refuses_{n}():\n" + kinds[n % len(kinds)].format(n=n) + "\n\n"
    return {"shop.py": SHOP, "tests/test_shop.py": text, "conftest.py": "", "pyproject.toml": "[tool.pytest.ini_options]\n"}


UNUSUAL = '''import pytest


@pytest.mark.parametrize("text", ["größe", "a - b", "猫 und hund", "with [brackets] - in it", "", "a::b", "tab\\tand\\nline"])
def test_parse(text):
    assert text.isascii() and " " not in text


class TestÖffnen:
    @pytest.mark.parametrize("n", range(6))
    @pytest.mark.parametrize("unit", ["kg", "Stück"])
    def test_mit_einheit(self, n, unit):
        message = f"{n} {unit}"
        assert len(message) < 5, "a message - with a dash"

    def test_eine_sehr_lange_bezeichnung_die_weit_über_den_rand_hinausgeht_und_noch_weiter_und_weiter(self):
        assert 1 == 2
'''

FIXTURES = '''import pytest


@pytest.fixture
def shop():
    raise ConnectionError("the shop is closed")


@pytest.fixture
def broken_end():
    yield 1
    raise RuntimeError("the end of the fixture fails")


def test_needs_the_shop(shop):
    pass


def test_needs_it_too(shop):
    pass


def test_ends_badly(broken_end):
    assert broken_end == 1


def test_fails_and_ends_badly(broken_end):
    assert broken_end == 2


@pytest.mark.skip(reason="no time")
def test_left_out():
    pass


@pytest.mark.xfail(reason="known")
def test_expected_to_fail():
    assert 0


class TestInAClass:
    def test_fails(self):
        values = {"a": 1}
        assert values["b"] == 2

    def test_passes(self):
        pass
'''


def warnings():
    text = "import warnings\n\n\n"
    for n in range(25):
        text += f"def test_warns_{n}():\n    warnings.warn('order {n} is old', DeprecationWarning)\n    assert True\n\n\n"
    return {"test_warnings.py": text}


def fixtures(python):
    return {f"test_fixtures.py": FIXTURES}


def deep():
    text = "def level_0(n):\n    raise OverflowError('too deep')\n\n"
    for n in range(1, 12):
        text += f"def level_{n}(value):\n    # A comment that the traceback shows.\n    other = value + {n}\n    return level_{n - 1}(other)\n\n"
    tests = "import deep\n\n" + "".join(f"def test_deep_{n}():\n    deep.level_11({n})\n\n" for n in range(4))
    return {"deep.py": text, "test_deep.py": tests}


def uncollected():
    return {
        "test_syntax.py": "def test_one(:\n    pass\n",
        "test_import.py": "import not_there\n\ndef test_two():\n    pass\n",
        "test_name.py": "value = undefined_name + 1\n",
        "sub/test_raises.py": "raise RuntimeError('at import')\n",
        "sub/test_fine.py": "def test_three():\n    assert 1\n",
        "test_long.py": "\n".join(f"# line {n}" for n in range(40)) + "\nfrom shop.deep.module import something_that_is_not_there\n",
    }


def slow():
    text = "import time\n\n" + "".join(f"def test_fast_{n}():\n    pass\n\n" for n in range(60))
    return {"test_slow.py": text + "def test_hangs():\n    time.sleep(60)\n\ndef test_hangs_deeper():\n    wait()\n\ndef wait():\n    while True:\n        time.sleep(0.05)\n"}


def subtests():
    text = "import pytest\n\n" + "".join(
        f"def test_with_parts_{n}(subtests):\n    for part in range(4):\n        with subtests.test('part', part=part):\n            assert part % 3 != {n % 3}\n\n" for n in range(6))
    return {"test_parts.py": text}


UNIT_RESULT = '''
import json, sys, traceback, unittest

found = []

def frame(error):
    frames = traceback.extract_tb(error[2])
    own = [f for f in frames if "/project/" in f.filename]
    last = (own or frames or [None])[-1]
    return {"file": last.filename.replace("/project/", ""), "line": last.lineno} if last else {}

class Result(unittest.TextTestResult):
    def addFailure(self, test, err):
        found.append({"name": test.id(), **frame(err)})
        super().addFailure(test, err)
    def addError(self, test, err):
        found.append({"name": test.id(), **frame(err)})
        super().addError(test, err)
    def addSubTest(self, test, subtest, err):
        if err is not None:
            found.append({"name": subtest.id(), **frame(err)})
        super().addSubTest(test, subtest, err)

class Runner(unittest.TextTestRunner):
    resultclass = Result

words = [word for word in sys.argv[1:] if word != "-v"]
done = unittest.main(module=None, argv=["unittest", *words], testRunner=Runner, exit=False).result
counts = {"failed": len(done.failures), "errors": len(done.errors), "skipped": len(done.skipped), "run": done.testsRun}
json.dump([found, counts], open("known.json", "w"))
'''


def unittest(name, files, argv, merged=False):
    def expect(run, folder):
        (folder / "known.py").write_text(UNIT_RESULT)
        run(["python3", "known.py", *argv], {"PYTHONDONTWRITEBYTECODE": "1"})
        failures, counts = json.loads((folder / "known.json").read_text())
        (folder / "known.py").unlink()
        (folder / "known.json").unlink()
        for failure in failures:
            # A module that cannot be loaded has frames of unittest only.
            if "unittest/" in failure.get("file", "") or failure.get("file", "").startswith("/"):
                failure.pop("file")
                failure.pop("line")
        return failures, counts
    record("unittest", name, files, ["python3", "-m", "unittest", *argv], expect, version="Python 3.11",
           how="a result class that writes what unittest hands it", env={"PYTHONDONTWRITEBYTECODE": "1"}, merged=merged)


def cases(passing, failing, errors):
    text = "import unittest\nfrom shop import parse, total\n\n\nclass TestShop(unittest.TestCase):\n"
    for n in range(passing):
        text += f"    def test_adds_{n}(self):\n        self.assertEqual(total([{n}, 1]), {n + 1})\n\n"
    for n in range(failing):
        doc = f'        """Order {n} is refused: FAIL: not this."""\n' if n % 3 == 0 else ""
        text += f"    def test_refuses_{n}(self):\n{doc}        self.assertEqual({{'order': {n}, 'of': ['apples', 'pears']}}, {{'order': {n + 1}, 'of': ['apples']}})\n\n"
    for n in range(errors):
        text += f"    def test_breaks_{n}(self):\n        parse('{n}pieces')\n\n"
    return {"shop.py": SHOP, "test_shop.py": text}


def main():
    pytest("passing-verbose", mixed(90, 0), ["-v"])
    pytest("failing", mixed(40, 6))
    pytest("failing-7", mixed(40, 6), python="py7")
    pytest("failing-9", mixed(40, 6), python="py9")
    pytest("many-failures", mixed(30, 90))
    pytest("many-failures-line", mixed(30, 60), ["--tb=line"], python="py7")
    pytest("short-tracebacks", mixed(40, 24), ["--tb=short"])
    pytest("native-tracebacks", mixed(40, 12), ["--tb=native"])
    pytest("no-tracebacks", mixed(10, 60), ["--tb=no"])
    pytest("auto-verbose-7", mixed(40, 12), ["-vv"], python="py7")
    pytest("coloured", mixed(40, 12), ["--color=yes", "-v"])
    pytest("parallel", mixed(40, 12), ["-n2", "-v"])
    pytest("quiet", mixed(200, 12), ["-q"])
    pytest("unusual-names", {"test_unusual.py": UNUSUAL, "tests/mit leerzeichen/test_pfad mit leerzeichen.py":
                             "def test_im_pfad():\n    assert 'a' == 'b'\n"})
    pytest("unusual-names-7", {"test_unusual.py": UNUSUAL}, ["-v"], python="py7")
    pytest("fixtures", fixtures("py8"))
    pytest("fixtures-9", fixtures("py9"), python="py9")
    pytest("not-collected", uncollected())
    pytest("not-collected-7", uncollected(), python="py7")
    pytest("warnings-only", warnings())
    pytest("deep-tracebacks", deep())
    pytest("timeout", slow(), ["--timeout=1", "-v"])
    pytest("stops-at-first", mixed(150, 6), ["-x", "-v"])
    pytest("subtests-9", subtests(), python="py9")

    unittest("passing-verbose", cases(90, 0, 0), ["-v"])
    unittest("failing", cases(30, 6, 3), [])
    unittest("many-failures", cases(30, 50, 20), [])
    unittest("failing-verbose", cases(30, 8, 4), ["-v"])
    parts = "import unittest\n\n\nclass TestParts(unittest.TestCase):\n" + "".join(
        f"    def test_parts_{n}(self):\n        for part, unit in ((1, 'kg'), (2, 'Stück'), (3, 'a b')):\n            with self.subTest(part=part, unit=unit):\n                self.assertEqual({{'part': part * {n}, 'of': ['apples', 'pears', 'plums'], 'unit': unit}}, {{'part': part, 'of': ['apples', 'pears', 'plums'], 'unit': unit}})\n\n" for n in range(6))
    unittest("subtests", {"test_parts.py": parts}, [])
    broken = {"test_setup.py": "import unittest\n\nclass TestSetUp(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls):\n        raise RuntimeError('no shop')\n    def test_one(self):\n        pass\n"
              + "".join(f"\nclass Test{n}(unittest.TestCase):\n    def setUp(self):\n        raise ValueError('no order {n}')\n    def test_a(self):\n        pass\n    @unittest.expectedFailure\n    def test_passes(self):\n        pass\n    @unittest.skip('later')\n    def test_later(self):\n        pass\n" for n in range(6)),
              "test_import.py": "import not_there\n", "test_syntax.py": "def a(:\n", "test_fine.py": "import unittest\nclass TestFine(unittest.TestCase):\n    def test_ok(self):\n        try:\n            {}['a']\n        except KeyError:\n            raise ValueError('from a key')\n"}
    unittest("not-loaded", broken, ["-v"], merged=True)
