"""A failing test in a Node project."""

from play.intents import Change, Run, plans
from play.job import Job, commit, runs, write

FILES = {
    "package.json": '{\n  "name": "shop",\n  "version": "1.4.0",\n  "type": "module",\n  "scripts": { "test": "node --test" }\n}\n',
    "src/discount.js": '''// Discounts by the number of things, best first.
const STEPS = [
  { from: 100, percent: 15 },
  { from: 50, percent: 10 },
  { from: 10, percent: 5 },
];

export function percentFor(count) {
  const step = STEPS.find(({ from }) => count > from);
  return step ? step.percent : 0;
}
''',
    "src/order.js": '''import { percentFor } from "./discount.js";

export function orderTotal(lines) {
  const count = lines.reduce((sum, line) => sum + line.count, 0);
  const net = lines.reduce((sum, line) => sum + line.count * line.price, 0);
  return net * (1 - percentFor(count) / 100);
}
''',
    "test/order.test.js": '''import assert from "node:assert/strict";
import { test } from "node:test";

import { orderTotal } from "../src/order.js";

test("few things have no discount", () => {
  assert.equal(orderTotal([{ price: 2, count: 3 }]), 6);
});

test("ten things are a tenth part of a hundred cheaper by half", () => {
  assert.equal(orderTotal([{ price: 2, count: 10 }]), 19);
});

test("a hundred things", () => {
  assert.equal(orderTotal([{ price: 1, count: 101 }]), 85.85);
});
''',
}
OLD = "  const step = STEPS.find(({ from }) => count > from);\n"


def make(folder):
    write(folder, FILES)
    commit(folder)


def check(folder):
    changed = (folder / "test/order.test.js").read_text() != FILES["test/order.test.js"]
    return "the test was changed" if changed else runs(folder, "node", "--test")


JOB = Job(
    task="`npm test` fails in this project. Fix the code, not the test.",
    make=make,
    check=check,
    plans=plans(
        Run("See what fails.", "npm test 2>&1 | tail -60", shows="20 !== 19"),
        Run("What makes up the total?", "cat src/*.js", shows="count > from"),
        Change("Ten belong to the step from ten.", [("src/discount.js", OLD, OLD.replace("count > from", "count >= from"))],
               check="npm test 2>&1 | tail -8", shows="fail 0"),
    ),
)
