"""A function that moves to another module."""

from play.intents import Change, Run, plans
from play.job import Job, commit, runs, write

FILES = {
    "shop/__init__.py": "",
    "shop/util.py": '''import re


def slug(text):
    """Returns a text as it is in an address."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def chunks(items, size):
    """Yields parts of a list."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
''',
    "shop/text.py": '''def title(text):
    """Returns a text as it is in a heading."""
    return text.strip().capitalize()
''',
    "shop/pages.py": '''from shop.text import title
from shop.util import slug


def link(name):
    return f'<a href="/{slug(name)}">{title(name)}</a>'
''',
    "shop/feed.py": '''from shop.util import chunks, slug


def feed(names):
    return [[slug(name) for name in part] for part in chunks(names, 2)]
''',
    "test_shop.py": '''import unittest

from shop import feed, pages


class Shop(unittest.TestCase):
    def test_link(self):
        self.assertEqual(pages.link("red pen"), '<a href="/red-pen">Red pen</a>')

    def test_feed(self):
        self.assertEqual(feed.feed(["A b", "c", "d"]), [["a-b", "c"], ["d"]])
''',
}


def make(folder):
    write(folder, FILES)
    commit(folder)


def check(folder):
    if "def slug" in (folder / "shop/util.py").read_text() or "def slug" not in (folder / "shop/text.py").read_text():
        return "slug is not where it should be"
    return runs(folder, "python3", "-B", "-m", "unittest", "-q")


SLUG = FILES["shop/util.py"].split("\n\n\n")[1] + "\n"
TITLE = 'def title(text):\n'

JOB = Job(
    task="Move the function slug from shop/util.py to shop/text.py, correct the imports, and run the tests (`python3 -B -m unittest`).",
    make=make,
    check=check,
    plans=plans(
        Run("Both files, and who uses it.", "cat shop/util.py shop/text.py; grep -rnw slug --include=*.py .", shows="import chunks, slug"),
        Change("Take it out, put it in, and import it from there.", [
            ("shop/util.py", "import re\n\n\n" + SLUG + "\n\ndef chunks(items, size):\n", "def chunks(items, size):\n"),
            ("shop/text.py", TITLE, "import re\n\n\n" + SLUG + "\n\n" + TITLE),
            ("shop/pages.py", "from shop.util import slug\n", "from shop.text import slug\n"),
            ("shop/feed.py", "from shop.util import chunks, slug\n", "from shop.text import slug\nfrom shop.util import chunks\n"),
        ], check="python3 -B -m unittest 2>&1 | tail -3", shows="OK"),
    ),
)
