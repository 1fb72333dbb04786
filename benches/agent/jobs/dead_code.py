"""A function that nobody calls any more."""

from play.intents import Change, Run, plans
from play.job import Job, commit, runs, write

FILES = {
    "package.json": '{ "name": "shop", "type": "module", "scripts": { "test": "node --test" } }\n',
    "src/price.js": '''export function gross(net) {
  return Math.round(net * 119) / 100;
}

/** The price by the tax of 2006. */
export function oldGross(net) {
  return Math.round(net * 116) / 100;
}

export function label(net) {
  return `${gross(net)} EUR`;
}
''',
    "src/index.js": 'export { gross, label } from "./price.js";\n',
    "test/price.test.js": '''import assert from "node:assert/strict";
import { test } from "node:test";

import { label, oldGross } from "../src/price.js";

test("a label", () => {
  assert.equal(label(1), "1.19 EUR");
});

test("the old price", () => {
  assert.equal(oldGross(1), 1.16);
});
''',
}
FUNCTION = FILES["src/price.js"].split("\n\n")[1] + "\n\n"
CASE = '\ntest("the old price", () => {\n  assert.equal(oldGross(1), 1.16);\n});\n'


def make(folder):
    write(folder, FILES)
    commit(folder)


def check(folder):
    left = [name for name in FILES if "oldGross" in (folder / name).read_text()]
    return f"left in {left}" if left else runs(folder, "node", "--test")


JOB = Job(
    task="oldGross is not used any more. Remove it with its test, and run the tests (`npm test`).",
    make=make,
    check=check,
    plans=plans(
        Run("Where is it?", "grep -rnw -B4 -A4 oldGross --include=*.js .", shows="2006"),
        Change("The function, the import and the test.", [
            ("src/price.js", FUNCTION, ""),
            ("test/price.test.js", "import { label, oldGross } from", "import { label } from"),
            ("test/price.test.js", CASE, ""),
        ], check="npm test 2>&1 | tail -8", shows="fail 0"),
    ),
)
