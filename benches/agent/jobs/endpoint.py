"""A new endpoint of a small server, with its test."""

from play.intents import Change, Run, plans
from play.job import Job, commit, runs, write

FILES = {
    "package.json": '{ "name": "shop", "type": "module", "scripts": { "test": "node --test" } }\n',
    "src/routes.js": '''import { list } from "./stock.js";

const routes = {
  "/stock": () => list(),
};

export function answer(path) {
  const route = routes[path];
  return route ? { status: 200, body: route() } : { status: 404 };
}
''',
    "src/stock.js": "const STOCK = { pen: 3, ink: 0 };\n\nexport const list = () => Object.keys(STOCK);\n",
    "test/routes.test.js": '''import assert from "node:assert/strict";
import { test } from "node:test";

import { answer } from "../src/routes.js";

test("the stock", () => {
  assert.deepEqual(answer("/stock"), { status: 200, body: ["pen", "ink"] });
});
''',
}
CASE = '''
test("what is missing", () => {
  assert.deepEqual(answer("/missing"), { status: 200, body: ["ink"] });
});
'''
END = '  assert.deepEqual(answer("/stock"), { status: 200, body: ["pen", "ink"] });\n});\n'


def make(folder):
    write(folder, FILES)
    commit(folder)


def check(folder):
    if "/missing" not in (folder / "test/routes.test.js").read_text():
        return "there is no test"
    script = 'import { answer } from "./src/routes.js"; if (answer("/missing").body + "" !== "ink") process.exit(1);'
    return runs(folder, "node", "--input-type=module", "-e", script) or runs(folder, "node", "--test")


JOB = Job(
    task="Add the endpoint /missing, which lists the things of which there are none, with a test. Run `npm test`.",
    make=make,
    check=check,
    plans=plans(
        Run("How is it made?", "cat src/*.js test/*.js; ls src test", shows="Object.keys"),
        Change("The list, the route and the test.", [
            ("src/stock.js", "export const list = () => Object.keys(STOCK);\n",
             "export const list = () => Object.keys(STOCK);\n\nexport const missing = () => list().filter((name) => !STOCK[name]);\n"),
            ("src/routes.js", 'import { list } from "./stock.js";', 'import { list, missing } from "./stock.js";'),
            ("src/routes.js", '  "/stock": () => list(),\n', '  "/stock": () => list(),\n  "/missing": () => missing(),\n'),
            ("test/routes.test.js", END, END + CASE),
        ], check="npm test 2>&1 | tail -8", shows="fail 0"),
    ),
)
