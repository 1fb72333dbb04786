"""cargo build, cargo clippy, cargo test and rustc."""

import json

from .case import PROJECT, marks, record

STABLE = ["cargo", "+1.95.0"]
NIGHTLY = ["cargo", "+nightly"]
MANIFEST = '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\n'

KINDS = [
    ("type_mismatch", 'pub fn {f}() -> u32 {{\n    let value: u32 = "{n}";\n    value\n}}\n'),
    ("unknown_name", "pub fn {f}() -> u32 {{\n    quantity_{n} + 1\n}}\n"),
    ("wrong_arity", "fn helper_{n}(a: u32, b: u32) -> u32 {{ a + b }}\npub fn {f}() -> u32 {{\n    helper_{n}(1)\n}}\n"),
    ("no_method", "pub fn {f}() -> usize {{\n    vec![1, 2, 3].length_{n}()\n}}\n"),
    ("borrow", "pub fn {f}() {{\n    let text = String::new();\n    let moved = text;\n    println!(\"{{text}} {{moved}}\");\n}}\n"),
]
WARNINGS = [
    "pub fn {f}() {{\n    let unused_{n} = {n};\n}}\n",
    "pub fn {f}() -> u32 {{\n    let mut value = {n};\n    value\n}}\n",
    "fn never_called_{n}() {{}}\n",
    "pub fn {f}(x: Option<u32>) {{\n    match x {{ Some(_) => {{}}, None => {{}}, _ => {{}} }}\n}}\n",
]
LINTS = [
    "pub fn {f}(values: &Vec<u32>) -> u32 {{\n    values.len() as u32\n}}\n",
    "pub fn {f}(flag: bool) -> bool {{\n    if flag == true {{ true }} else {{ false }}\n}}\n",
    "pub fn {f}(values: &[u32]) -> u32 {{\n    let mut sum = 0;\n    for i in 0..values.len() {{\n        sum += values[i];\n    }}\n    return sum;\n}}\n",
    "pub fn {f}(text: &str) -> String {{\n    text.to_string().clone().to_string()\n}}\n",
]


def sources(snippets, each, modules=("orders", "stock", "prices"), prefix="case"):
    files, number = {}, 0
    for module in modules:
        text = ""
        for _ in range(each):
            kind = snippets[number % len(snippets)]
            kind = kind[1] if isinstance(kind, tuple) else kind
            text += kind.format(f=f"{prefix}_{number}", n=number) + "\n"
            number += 1
        files[f"src/{module}.rs"] = text
    files["src/lib.rs"] = "".join(f"pub mod {module};\n" for module in modules)
    return files


def diagnostics(command):
    """Asks cargo for the diagnostics of the same build as JSON."""
    def expect(run, _folder):
        printed = run([*command, "--message-format", "json"]).stdout.decode()
        errors, warnings = {}, {}
        for line in printed.splitlines():
            message = json.loads(line).get("message")
            if not isinstance(message, dict):
                continue
            spans = [span for span in message["spans"] if span["is_primary"]]
            if not spans:
                continue
            where = {"file": spans[0]["file_name"], "line": spans[0]["line_start"], "column": spans[0]["column_start"]}
            kept = errors if message["level"].startswith("error") else warnings
            kept[(where["file"], where["line"], where["column"], message["message"])] = where
        run(["rm", "-rf", "target"])
        return list(errors.values()), {"errors": len(errors), "warnings": len(warnings)}
    return expect


def rustc_diagnostics(command):
    def expect(run, _folder):
        printed = run([*command, "--error-format", "json"]).stderr.decode()
        errors, warnings = [], 0
        for line in printed.splitlines():
            message = json.loads(line)
            spans = [span for span in message.get("spans", []) if span["is_primary"]]
            if not spans:
                continue
            if message["level"] == "warning":
                warnings += 1
                continue
            errors.append({"file": spans[0]["file_name"], "line": spans[0]["line_start"]})
        return errors, {"errors": len(errors), "warnings": warnings}
    return expect


def tests_of(files, options=(), passed=None):
    """The failing tests as libtest's JSON names them; their lines as the source marks them."""
    lines = marks({path: text for path, text in files.items() if isinstance(text, str)})
    def expect(run, _folder):
        printed = run(["cargo", "+nightly", "test", "--no-fail-fast", *options, "--", "-Zunstable-options",
                       "--format", "json", "--test-threads", "1"]).stdout.decode(errors="replace")
        failures, counts = [], {"passed": 0, "failed": 0, "ignored": 0}
        for line in printed.splitlines():
            if not line.startswith("{"):
                continue
            event = json.loads(line)
            if event.get("type") == "suite" and event.get("event") in ("ok", "failed"):
                for count in counts:
                    counts[count] += event[count]
            if event.get("type") == "test" and event.get("event") == "failed":
                failure = {"name": event["name"]}
                tag = event["name"].split("::")[-1]
                if tag in lines:
                    failure["file"], failure["line"] = lines[tag]
                failures.append(failure)
        run(["rm", "-rf", "target"])
        counts["skipped"] = counts.pop("ignored")
        return failures, counts
    return expect


def tests(passing, failing, style="mixed", module="tests"):
    """A library with so many tests."""
    bodies = [
        "        assert_eq!(crate::total(&[{n}, 1]), {n}); // FAILS({t})\n",
        "        assert!(crate::total(&[{n}]) > 1_000_000, \"the total of {n} is too small\"); // FAILS({t})\n",
        "        let none: Option<u32> = None;\n        none.expect(\"there is a price\"); // FAILS({t})\n",
        "        panic!(\"order {n}\\nhas two lines\"); // FAILS({t})\n",
        "        println!(\"what test {n} printed\");\n        crate::total(&[1])\n            .checked_sub(2)\n            .unwrap(); // FAILS({t})\n",
    ]
    text = "pub fn total(prices: &[u32]) -> u32 {\n    prices.iter().sum()\n}\n\n#[cfg(test)]\nmod " + module + " {\n"
    for n in range(passing):
        text += f"    #[test]\n    fn adds_{n}_prices() {{\n        assert_eq!(crate::total(&[{n}, 1]), {n} + 1);\n    }}\n\n"
    for n in range(failing):
        tag = f"refuses_order_{n}"
        body = bodies[n % len(bodies)]
        line = body.format(n=n, t=tag)
        if "checked_sub" in line:
            line = "        println!(\"what test {n} printed\");\n        crate::total(&[1]).checked_sub(2).unwrap(); // FAILS({t})\n".format(n=n, t=tag)
        text += f"    #[test]\n    fn {tag}() {{\n{line}    }}\n\n"
    return text + "}\n"


def library(text, **more):
    return {"Cargo.toml": MANIFEST, "src/lib.rs": text, **more}


def main():
    how = "cargo --message-format json of the same build"
    build = [*STABLE, "build"]
    errors = {"Cargo.toml": MANIFEST, **sources(KINDS, 7)}
    record("cargo", "build-errors", errors, build, diagnostics(build), version="1.95.0", how=how)
    record("cargo", "build-errors-coloured", errors, [*build, "--color", "always"], diagnostics(build),
           version="1.95.0", how=how)
    record("cargo", "build-errors-nightly", errors, [*NIGHTLY, "build"], diagnostics([*NIGHTLY, "build"]),
           version="nightly", how=how, merged=True)
    record("cargo", "build-errors-short", {"Cargo.toml": MANIFEST, **sources(KINDS, 30)},
           [*build, "--message-format", "short"], diagnostics(build), version="1.95.0", how=how)
    record("cargo", "build-warnings", {"Cargo.toml": MANIFEST, **sources(WARNINGS, 12)}, build,
           diagnostics(build), version="1.95.0", how=how)
    record("cargo", "build-one-error-many-warnings",
           {"Cargo.toml": MANIFEST, **sources(WARNINGS, 12, prefix="w"),
            "src/lib.rs": "pub mod orders;\npub mod stock;\npub mod prices;\n#[macro_use] mod last;\n",
            "src/last.rs": "pub fn last() -> u32 {\n    \"a\"\n}\n"},
           build, diagnostics(build), version="1.95.0", how=how)
    members = [f"part-{n}" for n in range(8)]
    space = {"Cargo.toml": '[workspace]\nresolver = "2"\nmembers = [' + ", ".join(f'"{m}"' for m in members) + "]\n"}
    for at, member in enumerate(members):
        space[f"{member}/Cargo.toml"] = MANIFEST.replace("shop", member)
        broken = at in (2, 5)
        for path, text in sources(KINDS if broken else WARNINGS, 3 if broken else 2).items():
            space[f"{member}/{path}"] = text
    going = [*build, "--workspace", "--keep-going"]
    record("cargo", "build-workspace", space, going, diagnostics(going), version="1.95.0", how=how)
    many = [f"crate-number-{n}" for n in range(90)]
    fine = {"Cargo.toml": '[workspace]\nresolver = "2"\nmembers = [' + ", ".join(f'"{m}"' for m in many) + "]\n"}
    for member in many:
        fine[f"{member}/Cargo.toml"] = MANIFEST.replace("shop", member)
        fine[f"{member}/src/lib.rs"] = "pub fn one() -> u32 {\n    1\n}\n"
    record("cargo", "build-passing", fine, [*build, "--workspace"], diagnostics([*build, "--workspace"]),
           version="1.95.0", how=how)
    clippy = [*STABLE, "clippy"]
    lints = {"Cargo.toml": MANIFEST, **sources(LINTS, 8)}
    record("cargo", "clippy-warnings", lints, clippy, diagnostics(clippy), version="1.95.0", how=how)
    deny = [*STABLE, "clippy", "--", "-Dwarnings"]
    def denied(run, folder):
        printed = diagnostics([*STABLE, "clippy"])(run, folder)[0]
        return printed, {}
    def denied(run, folder):
        found = run([*STABLE, "clippy", "--message-format", "json", "--", "-Dwarnings"]).stdout.decode()
        errors = {}
        for line in found.splitlines():
            message = json.loads(line).get("message")
            for span in (message or {}).get("spans", []):
                if span["is_primary"] and message["level"] == "error":
                    where = {"file": span["file_name"], "line": span["line_start"], "column": span["column_start"]}
                    errors.setdefault(json.dumps([message["message"], message["spans"][0]["line_start"], span["file_name"]]), where)
                    break
        run(["rm", "-rf", "target"])
        return list(errors.values()), {"errors": len(errors)}
    record("cargo", "clippy-denied", lints, deny, denied, version="1.95.0", how=how)

    told = "libtest's JSON of the same tests; lines by marks in the source"
    test = [*STABLE, "test"]
    def ran(name, files, argv=test, options=(), version="1.95.0", **more):
        record("cargo", name, files, argv, tests_of(files, options), version=version, how=told, **more)
    ran("test-passing", library(tests(180, 0)))
    ran("test-failing", library(tests(60, 3)))
    ran("test-many-failures", library(tests(20, 60)))
    ran("test-only-failures", library(tests(0, 30)))
    ran("test-coloured", library(tests(60, 5)), [*test, "--color", "always", "--", "--color", "always"])
    ran("test-backtrace", library(tests(30, 4)), env={"RUST_BACKTRACE": "1"})
    ran("test-quiet", library(tests(400, 6)), [*test, "-q"])
    ran("test-nightly", library(tests(80, 6)), [*NIGHTLY, "test"], version="nightly", merged=True)
    ran("test-nocapture", library(tests(80, 5)), [*test, "--", "--nocapture"])
    unusual = "pub fn total(prices: &[u32]) -> u32 {\n    prices.iter().sum()\n}\n\n"
    unusual += "#[cfg(test)]\nmod prüfungen_für_größen {\n    mod tief {\n        mod noch_tiefer {\n"
    for n in range(40):
        unusual += f"            #[test]\n            fn erhöht_die_menge_猫_um_eine_sehr_lange_bezeichnung_mit_vielen_wörtern_{n}() {{\n"
        if n % 4 == 0:
            unusual += f"                assert_eq!(crate::total(&[{n}]), 猫({n})); // FAILS(erhöht_die_menge_猫_um_eine_sehr_lange_bezeichnung_mit_vielen_wörtern_{n})\n"
        unusual += "            }\n"
    unusual += "            fn 猫(n: u32) -> u32 { n + 1 }\n        }\n    }\n}\n"
    ran("test-unusual-names", library(unusual))
    several = library(tests(30, 2))
    for at in range(3):
        several[f"tests/suite_{at}.rs"] = tests(25, at, module=f"suite{at}").replace("refuses_order_", f"suite_{at}_refuses_").replace("crate::total", "crate::total")
    ran("test-several-binaries", several, [*test, "--no-fail-fast"], version="1.95.0")
    ran("test-several-binaries-merged", several, [*test, "--no-fail-fast"], version="1.95.0", merged=True)
    panics = library("pub fn total(prices: &[u32]) -> u32 {\n    prices.iter().sum()\n}\n\n#[cfg(test)]\nmod tests {\n"
        + "".join(f"    #[test]\n    #[should_panic(expected = \"order {n}\")]\n    fn panics_{n}() {{\n        panic!(\"order {n}\");\n    }}\n\n" for n in range(40))
        + "    #[test]\n    #[should_panic]\n    fn does_not_panic() {}\n\n"
        + "    #[test]\n    #[should_panic(expected = \"one thing\")]\n    fn panics_otherwise() {\n        panic!(\"another thing\"); // FAILS(panics_otherwise)\n    }\n\n"
        + "    #[test]\n    fn gives_an_error() -> Result<(), String> {\n        Err(\"no such order\".to_owned())\n    }\n\n"
        + "    #[test]\n    #[ignore = \"needs a shop\"]\n    fn is_left_out() {}\n\n"
        + "    #[test]\n    fn fails_in_a_thread() {\n        std::thread::Builder::new().name(\"worker\".into()).spawn(|| {\n            let empty: Vec<u32> = Vec::new();\n            empty[total(&[0]) as usize] // FAILS(fails_in_a_thread)\n        }).unwrap().join().expect(\"the worker ends\");\n    }\n    use super::total;\n}\n")
    def in_threads(run, folder):
        failures, counts = tests_of(panics)(run, folder)
        return failures, counts
    record("cargo", "test-panics", panics, test, in_threads, version="1.95.0", how=told)
    docs = "".join(
        f"/// Adds {n}.\n///\n/// ```\n/// assert_eq!(shop::add_{n}(1), {n + 1 if n % 5 else 0});\n/// ```\npub fn add_{n}(to: u32) -> u32 {{\n    to + {n}\n}}\n\n"
        for n in range(30))
    record("cargo", "test-doc-tests", library(docs), test, tests_of({}), version="1.95.0", how="libtest's JSON of the same tests")
    uncompiled = library(tests(30, 0) + "\n#[cfg(test)]\nmod broken {\n"
        + "".join(f"    #[test]\n    fn does_not_compile_{n}() {{\n        let price: u32 = crate::totals(&[{n}]);\n        let text: String = price;\n    }}\n" for n in range(8)) + "}\n")
    checked = [*STABLE, "test", "--no-run"]
    record("cargo", "test-does-not-compile", uncompiled, test, diagnostics(checked), version="1.95.0", how=how)

    direct = ["rustc", "+1.95.0", "--edition", "2021", "--crate-type", "lib", "main.rs", "--emit", "metadata"]
    def alone(snippets, each):
        return {"main.rs": "\n".join(sources(snippets, each, ("only",)).popitem()[1] if False else
                                      sources(snippets, each, ("only",))["src/only.rs"].split("\n"))}
    told = "rustc --error-format json of the same source"
    record("rustc", "errors", alone(KINDS, 24), direct, rustc_diagnostics(direct), version="1.95.0", how=told)
    record("rustc", "warnings", alone(WARNINGS, 24), direct, rustc_diagnostics(direct), version="1.95.0", how=told)
    record("rustc", "errors-coloured", alone(KINDS + WARNINGS, 28), [*direct, "--color", "always"],
           rustc_diagnostics(direct), version="1.95.0", how=told)
    macros = "macro_rules! price {\n    ($name:ident) => {\n        pub fn $name() -> u32 {\n            $name + 1\n        }\n    };\n}\n" \
        + "".join(f"price!(price_of_{n});\n" for n in range(16)) \
        + "trait Sells { fn sell(&self) -> u32; }\nstruct Shop<'a> { name: &'a str }\nimpl Sells for Shop<'_> {}\n" \
        + "fn longest(a: &str, b: &str) -> &str {\n    if a.len() > b.len() { a } else { b }\n}\n" \
        + "async fn later() { let x = std::rc::Rc::new(1); }\nfn main() { let y: i32 = later(); }\n"
    record("rustc", "errors-in-macros", {"main.rs": macros}, direct, rustc_diagnostics(direct), version="1.95.0", how=told)
    direct = ["rustc", "+nightly", *direct[2:]]
    record("rustc", "errors-nightly", alone(KINDS, 24), direct, rustc_diagnostics(direct), version="nightly", how=told)
