"""jest 29 and 30, vitest 2 and 3, mocha 10 and 11, tsc, eslint 8 and 9."""

import json
import re

from .case import PROJECT, TOOLS, in_project, record

OLD, NEW = TOOLS / "node-a", TOOLS / "node-b"


def mounted(tools):
    return [("node_modules", tools / "node_modules")]


def local(path):
    return path.replace(PROJECT + "/", "")


def suite(passing, failing, head="", top="prices", offset=0):
    """A file of tests; failing ones have their line marked."""
    text = head + f"const total = prices => prices.reduce((sum, price) => sum + price.amount, 0);\n\ndescribe('{top}', () => {{\n"
    for n in range(passing):
        text += f"  it('adds {n}', () => {{\n    expect(total([{{ amount: {n} }}])).toBe({n});\n  }});\n\n"
    kinds = [
        "    expect(total([{{ amount: {n} }}])).toBe({n} + 1); // FAILS({t})\n",
        "    expect({{ order: {n}, of: ['apples', 'pears'], at: 'noon' }}).toEqual({{ order: {n}, of: ['apples'], at: 'noon' }}); // FAILS({t})\n",
        "    total([null]); // a price is missing\n",
        "    throw new Error('order {n} is not there'); // FAILS({t})\n",
        "    expect('a long text about order {n}').toContain('pears'); // FAILS({t})\n",
    ]
    if not failing:
        return text + "});\n"
    text += "  describe('orders', () => {\n"
    for n in range(offset, offset + failing):
        text += f"  it('refuses order {n}', () => {{\n" + kinds[n % len(kinds)].format(n=n, t=f"refuses order {n}") + "  });\n\n"
    return text + "  });\n});\n"


UNUSUAL = """describe('größen › und mehr', () => {
  describe('mit "Anführung" and \\'quotes\\'', () => {
    it.each([['猫', 1], ['a b', 2], ['x > y', 3], ['', 4]])('misst %s (%i)', (text, n) => {
      expect(text.length).toBe(n + 10);
    });
  });
  it('eine sehr lange bezeichnung '.repeat(3), () => {
    expect(1).toBe(2);
  });
  it('● looks like a heading', () => {
    console.log('● suite › printed by a test');
    expect([1, 2, 3]).toEqual([1, 2]);
  });
  it.skip('is left out', () => {});
  it.todo('comes later');
});
it('without a suite', () => {
  expect(undefined).toBeDefined();
});
"""


def jest_known(argv=()):
    def expect(run, folder):
        run(["node_modules/.bin/jest", "--json", "--outputFile", "/project/known.json", *argv])
        known = json.loads((folder / "known.json").read_text())
        (folder / "known.json").unlink()
        failures = []
        for file in known["testResults"]:
            failed = [one for one in file["assertionResults"] if one["status"] == "failed"]
            for one in failed:
                failure = {"name": " › ".join([*one["ancestorTitles"], one["title"]]).strip(), "file": local(file["name"])}
                failures.append(failure)
                frames = re.findall(r"(/project/[^()\n]*?):(\d+):\d+", "\n".join(
                    line for message in one["failureMessages"] for line in message.split("\n") if line.strip().startswith("at ") and "node_modules" not in line and "node:" not in line))
                if frames:
                    failure["file"], failure["line"] = local(frames[0][0]), int(frames[0][1])
            if file["status"] == "failed" and not failed:
                failures.append({"file": local(file["name"])})
        counts = {"passed": known["numPassedTests"], "failed": known["numFailedTests"], "skipped": known["numPendingTests"] + known["numTodoTests"]}
        return failures, counts
    return expect


def jest(name, files, argv=(), tools=NEW, **more):
    env = {"CI": "1", **more.pop("env", {})}
    record("jest", name, {"package.json": '{"name": "shop"}', **files}, ["node_modules/.bin/jest", *argv], jest_known(argv),
           mounts=mounted(tools), version="jest 29" if tools == OLD else "jest 30", how="jest --json of the same tests", env=env, **more)


def vitest_known(argv=()):
    def expect(run, folder):
        run(["node_modules/.bin/vitest", "run", "--reporter", "json", "--outputFile", "/project/known.json", *argv])
        known = json.loads((folder / "known.json").read_text())
        (folder / "known.json").unlink()
        failures = []
        for file in known["testResults"]:
            failed = [one for one in file["assertionResults"] if one["status"] == "failed"]
            for one in failed:
                failure = {"name": " > ".join([*[title for title in one["ancestorTitles"] if title], one["title"]]), "file": local(file["name"])}
                frames = re.findall(r"(/project/[^()\n]*?):(\d+):\d+", "\n".join(
                    line for message in one["failureMessages"] for line in message.split("\n") if line.strip().startswith("at ") and "node_modules" not in line and "node:" not in line))
                if frames:
                    failure["file"], failure["line"] = local(frames[0][0]), int(frames[0][1])
                failures.append(failure)
            if file["status"] == "failed" and not failed:
                failures.append({"file": local(file["name"])})
        return failures, {"passed": known["numPassedTests"], "failed": known["numFailedTests"],
                          "skipped": known["numPendingTests"] + known["numTodoTests"]}
    return expect


def vitest(name, files, argv=(), tools=NEW, **more):
    config = "export default { test: { globals: true, exclude: ['node_modules/**'] }, cacheDir: '/tmp/vite-cache' };\n"
    record("vitest", name, {"package.json": '{"name": "shop", "type": "module"}', "vitest.config.mjs": config, **files},
           ["node_modules/.bin/vitest", "run", *argv], vitest_known(), mounts=mounted(tools),
           version="vitest 2" if tools == OLD else "vitest 3", how="vitest --reporter json of the same tests",
           env=more.pop("env", {}), **more)


def mocha_known(argv=()):
    def expect(run, folder):
        run(["node_modules/.bin/mocha", *[word for word in argv if not word.startswith("--reporter")], "--reporter", "json", "--reporter-option", "output=known.json"])
        known = json.loads((folder / "known.json").read_text())
        (folder / "known.json").unlink()
        failures = []
        for one in known["failures"]:
            failure = {"name": one["fullTitle"]}
            frames = [re.search(r"\(?([^\s()]+\.(?:js|mjs)):(\d+):(\d+)\)?$", line) for line in one["err"].get("stack", "").split("\n") if line.strip().startswith("at ")]
            frames = [frame for frame in frames if frame and "node:" not in frame[1] and "node_modules" not in frame[1]]
            if frames:
                failure["file"], failure["line"] = local(frames[0][1].replace("file://", "")), int(frames[0][2])
            failures.append(failure)
        stats = known["stats"]
        return failures, {"passed": stats["passes"], "failed": stats["failures"], "skipped": stats["pending"]}
    return expect


def mocha(name, files, argv=(), tools=NEW, **more):
    record("mocha", name, {"package.json": '{"name": "shop"}', **files}, ["node_modules/.bin/mocha", *argv], mocha_known(argv),
           mounts=mounted(tools), version="mocha 10" if tools == OLD else "mocha 11", how="mocha --reporter json of the same tests",
           env=more.pop("env", {}), **more)


def mocha_suite(passing, failing, top="prices"):
    text = f"const assert = require('assert');\nconst total = prices => prices.reduce((sum, price) => sum + price.amount, 0);\n\ndescribe('{top}', () => {{\n"
    for n in range(passing):
        text += f"  it('adds {n}', () => {{\n    assert.strictEqual(total([{{ amount: {n} }}]), {n});\n  }});\n"
    kinds = [
        "      assert.strictEqual(total([{{ amount: {n} }}]), {n} + 1);\n",
        "      assert.deepStrictEqual({{ order: {n}, of: ['apples', 'pears'] }}, {{ order: {n}, of: ['apples'] }});\n",
        "      total([null]);\n",
        "      throw new Error('order {n} is not there\\nand has two lines');\n",
    ]
    text += "  describe('orders: all of them', () => {\n"
    for n in range(failing):
        text += f"    it('refuses order {n}:', () => {{\n" + kinds[n % len(kinds)].format(n=n) + "    });\n"
    return text + "  });\n});\n"


MOCHA_UNUSUAL = """const assert = require('assert');
describe('größen', () => {
  describe('1) numbered', () => {
    for (const text of ['猫', 'a b', 'x: y', '  indented'])
      it('misst ' + text, () => assert.ok(text.length > 100, 'zu kurz: ' + text));
  });
  it('eine sehr lange bezeichnung '.repeat(3).trim(), () => { assert.equal(1, 2); });
  it.skip('is left out', () => {});
});
describe('hooks', () => {
  before('the shop opens', () => { throw new Error('it is closed'); });
  it('never runs', () => {});
});
describe('more hooks', () => {
  afterEach(() => { throw new TypeError('cannot tidy up'); });
  it('runs once', () => {});
  it('does not run', () => {});
});
it('hangs', done => {}).timeout(20);
it('without a suite', async () => { await Promise.reject(new Error('refused')); });
"""

TYPES = [
    "export const price{n}: number = 'a text';\n",
    "export function add{n}(a: number, b: number): number {{\n  return a + missing{n};\n}}\n",
    "interface Order{n} {{ name: string; amount: number }}\nexport const order{n}: Order{n} = {{ name: 'apples' }};\n",
    "export const length{n} = [1, 2, 3].lenght;\n",
    "export const call{n} = Math.max('1', {{ a: 1 }}, [2]);\n",
    "export const nested{n}: {{ a: {{ b: {{ c: number }} }} }} = {{ a: {{ b: {{ c: 'x' }} }} }};\n",
]


def typescript(each, files=("src/orders.ts", "src/stock.ts", "src/deep/prices.ts")):
    project, n = {"tsconfig.json": '{"compilerOptions": {"strict": true, "noEmit": true, "target": "es2020", "module": "esnext", "moduleResolution": "bundler", "types": []}, "include": ["src"]}'}, 0
    for path in files:
        text = ""
        for _ in range(each):
            text += TYPES[n % len(TYPES)].format(n=n) + "\n"
            n += 1
        project[path] = text
    return project


# Asks the compiler itself, through its interface, where the errors are.
TSC_KNOWN = """
const ts = require('typescript'), fs = require('fs');
const read = ts.readConfigFile('tsconfig.json', ts.sys.readFile);
const config = ts.parseJsonConfigFileContent(read.config, ts.sys, '/project');
const program = ts.createProgram(config.fileNames, config.options);
const found = ts.getPreEmitDiagnostics(program).filter(d => d.category === 1).map(d => {
  if (!d.file) return {};
  const at = d.file.getLineAndCharacterOfPosition(d.start);
  return { file: d.file.fileName.replace('/project/', ''), line: at.line + 1, column: at.character + 1 };
});
fs.writeFileSync('known.json', JSON.stringify(found));
"""


def tsc(name, files, argv=(), tools=OLD, **more):
    def expect(run, folder):
        (folder / "known.js").write_text(TSC_KNOWN)
        # The newest has no such interface; what is wrong with these files is the same.
        in_project(folder, ["node", "known.js"], mounts=mounted(OLD))
        (folder / "known.js").unlink()
        failures = json.loads((folder / "known.json").read_text())
        (folder / "known.json").unlink()
        return failures, {"errors": len(failures)}
    record("tsc", name, {"package.json": '{"name": "shop"}', **files}, ["node_modules/.bin/tsc", *argv], expect,
           mounts=mounted(tools), version=more.pop("version", "TypeScript 5"), how="the compiler's own interface", **more)


LINT = [
    "var kept{n} = {n};\n",
    "function unused{n}(a, b) {{ return a }}\n",
    "if (typeof x{n} == 'strnig') {{ console.log(x{n}) }}\n",
    "const twice{n} = {{ a: 1, a: 2 }};\n",
    "for (;;) {{ if (undefined{n}) break; }}\n",
    "let text{n} = 'never changed'; export {{ text{n} }};\n",
]
RULES = '{"no-var": "error", "no-unused-vars": "warn", "eqeqeq": "error", "valid-typeof": "error", "no-dupe-keys": "error", "no-undef": "error", "prefer-const": "warn", "semi": "error", "no-console": "warn"}'


def lint(each, old=False, files=("src/orders.js", "src/stock.js", "src/deep/größen und mehr.js")):
    project = {"package.json": '{"name": "shop"}',
               "eslint.config.js": f"module.exports = [{{ files: ['**/*.js'], ignores: ['eslint.config.js'], rules: {RULES} }}];\n",
               ".eslintrc.json": '{"root": true, "parserOptions": {"ecmaVersion": 2022, "sourceType": "module"}, "rules": ' + RULES + "}"}
    project.pop("eslint.config.js" if old else ".eslintrc.json")
    n = 0
    for path in files:
        text = ""
        for _ in range(each):
            text += LINT[n % len(LINT)].format(n=n)
            n += 1
        project[path] = text
    return project


def eslint(name, files, argv=(), tools=NEW, **more):
    def expect(run, folder):
        known = json.loads(run(["node_modules/.bin/eslint", "src", "--format", "json"]).stdout.decode())
        failures, warnings = [], 0
        for file in known:
            for message in file["messages"]:
                if message["severity"] == 2:
                    failures.append({"file": file["filePath"], "line": message["line"], "column": message["column"]})
                else:
                    warnings += 1
        return failures, {"errors": len(failures), "warnings": warnings}
    record("eslint", name, files, ["node_modules/.bin/eslint", "src", *argv], expect, mounts=mounted(tools),
           version="eslint 8" if tools == OLD else "eslint 9", how="eslint --format json of the same files", **more)


def main():
    several = {f"src/part{n}.test.js": suite(8, n % 3, offset=n) for n in range(6)}
    jest("passing-verbose", {f"src/part{n}.test.js": suite(40, 0) for n in range(4)}, ["--verbose"])
    jest("failing", several)
    jest("failing-29", several, tools=OLD)
    jest("many-failures", {"src/prices.test.js": suite(10, 60)})
    jest("many-files", {f"src/part{n}.test.js": suite(6, 1 if n % 4 == 0 else 0, offset=n) for n in range(32)})
    jest("many-files-29", {f"src/part{n}.test.js": suite(6, 1 if n % 4 == 0 else 0, offset=n) for n in range(32)}, tools=OLD)
    jest("coloured", several, ["--color"], env={"FORCE_COLOR": "1"})
    jest("unusual-names", {"src/größen und mehr.test.js": UNUSUAL}, ["--verbose"])
    jest("not-run", {"src/syntax.test.js": "it('a', () => {\n  const = 1;\n});\n", "src/missing.test.js": "const shop = require('./not-there');\nit('b', () => {});\n",
                     "src/empty.test.js": "\n", "src/throws.test.js": "throw new Error('at import');\n", "src/fine.test.js": suite(3, 1)})
    jest("timeouts", {"src/slow.test.js": "".join(f"it('hangs {n}', () => new Promise(() => {{}}), 30);\n" for n in range(12))}, merged=True)
    jest("snapshots", {"src/snap.test.js": "".join(f"it('looks {n}', () => {{\n  expect({{ order: {n}, of: ['apples', 'pears', 'plums'] }}).toMatchInlineSnapshot(`{{}}`);\n}});\n" for n in range(8))}, ["--ci"])

    head = "import { describe, it, expect } from 'vitest';\n"
    files = {f"src/part{n}.test.js": suite(8, n % 3, offset=n) for n in range(6)}
    vitest("passing-verbose", {f"src/part{n}.test.js": suite(40, 0) for n in range(4)}, ["--reporter=verbose"])
    vitest("failing", files)
    vitest("failing-2", files, tools=OLD)
    vitest("failing-merged", files, merged=True)
    vitest("many-failures", {"src/prices.test.js": suite(10, 60)})
    vitest("many-failures-2", {"src/prices.test.js": suite(10, 40)}, tools=OLD)
    vitest("coloured", files, env={"FORCE_COLOR": "1"})
    vitest("unusual-names", {"src/größen und mehr.test.js": UNUSUAL})
    vitest("not-run", {"src/syntax.test.js": "it('a', () => {\n  const = 1;\n});\n", "src/missing.test.js": "import './not-there';\nit('b', () => {});\n",
                       "src/empty.test.js": "\n", "src/throws.test.js": "throw new Error('at import');\n", "src/fine.test.js": suite(3, 1)})

    mocha("passing", {f"test/part{n}.js": mocha_suite(60, 0, f"part {n}") for n in range(4)})
    mocha("failing", {"test/prices.js": mocha_suite(60, 8)})
    mocha("failing-10", {"test/prices.js": mocha_suite(60, 8)}, tools=OLD)
    mocha("many-failures", {"test/prices.js": mocha_suite(20, 70)})
    mocha("dots", {"test/prices.js": mocha_suite(300, 20)}, ["--reporter=dot"])
    mocha("coloured", {"test/prices.js": mocha_suite(40, 12)}, ["--color"])
    mocha("unusual-names", {"test/unusual.js": MOCHA_UNUSUAL + mocha_suite(140, 0).split("\n", 1)[1]})
    mocha("parallel-10", {f"test/part{n}.js": mocha_suite(20, n, f"part {n}") for n in range(5)}, ["--parallel"], tools=OLD)

    tsc("errors", typescript(20))
    tsc("errors-pretty", typescript(8), ["--pretty"])
    tsc("errors-pretty-new", typescript(8), ["--pretty"], tools=NEW, version="TypeScript, the newest")
    tsc("errors-new", typescript(20), tools=NEW, version="TypeScript, the newest")
    tsc("many-errors", typescript(150))
    tsc("unusual-paths", typescript(14, ("src/größen/mit leerzeichen.ts", "src/a (1).ts", "src/猫.ts")))
    tsc("one-file", typescript(70, ("src/orders.ts",)))

    eslint("problems", lint(24))
    eslint("problems-8", lint(24, old=True), tools=OLD)
    eslint("many-problems", lint(140))
    eslint("coloured", lint(24), ["--color"])
    fine = lint(0)
    fine.update({f"src/fine{n}.js": "".join(f"let text{m} = {m}; export {{ text{m} }};\n" for m in range(20)) for n in range(6)})
    eslint("warnings-only", fine)
    broken = lint(18)
    broken.update({f"src/broken{n}.js": "const = 1;\n" for n in range(10)})
    eslint("not-parsed", broken)
