//! The parse check: a broken edit in each language is reported, an intact one is not, a repair is praised.

use std::fs;
use std::time::Instant;

use bailiwick::providers::syntax::{Language, Side, SyntaxInput, check};
use serde_json::{Value, json};

use super::sources::pairs;
use crate::patience::PATIENCE;
use crate::system::{Need, lacks};
use support::scope::TestScope;
use support::service::call;

/// A file of a language, an edit that is well, and one that breaks it.
struct Sample {
    name: &'static str,
    text: &'static str,
    intact: (&'static str, &'static str),
    broken: (&'static str, &'static str),
    /// The line in which the error is told.
    line: u64,
}

const SAMPLES: &[Sample] = &[
    Sample {
        name: "a.rs",
        text: "fn one(a: u32) -> u32 {\n    if a > 1 {\n        return 2;\n    }\n    1\n}\n\nfn two() {}\n",
        intact: ("return 2;", "return a * 2;"),
        broken: ("    }\n    1", "    1"),
        line: 1,
    },
    Sample {
        name: "a.py",
        text: "def one(a):\n    if a:\n        return [1, 2]\n    return {}\n",
        intact: ("[1, 2]", "[1, 2, a]"),
        broken: ("[1, 2]", "[1, 2"),
        line: 3,
    },
    Sample {
        name: "a.ts",
        text: "interface A { b: string }\nexport function one(a: A): string {\n  return a.b;\n}\n",
        intact: ("return a.b;", "return <string>a.b;"),
        broken: ("(a: A)", "(a: A"),
        line: 2,
    },
    Sample {
        name: "a.tsx",
        text: "export function One(a: { b: string }) {\n  return <p className=\"x\">{a.b}</p>;\n}\n",
        intact: ("{a.b}", "{a.b}!"),
        broken: ("</p>", "<p>"),
        line: 2,
    },
    Sample {
        name: "a.js",
        text: "const one = (a) => {\n  return a ? { b: 1 } : [];\n};\nmodule.exports = one;\n",
        intact: ("{ b: 1 }", "{ b: `${a}` }"),
        broken: ("[];", "[;"),
        line: 2,
    },
    Sample {
        name: "a.go",
        text: "package main\n\nfunc one(a int) int {\n\treturn a + 1\n}\n",
        intact: ("a + 1", "a + 2"),
        broken: ("a + 1", "a +"),
        line: 4,
    },
    Sample {
        name: "A.java",
        text: "class A {\n    int one(int a) {\n        return a + 1;\n    }\n}\n",
        intact: ("a + 1;", "a + 2;"),
        broken: ("a + 1;", "a + 1"),
        line: 3,
    },
    Sample {
        name: "a.c",
        text: "#include <stdio.h>\n\nint main(void) {\n    printf(\"%d\", 1);\n    return 0;\n}\n",
        intact: ("\"%d\", 1", "\"%d\", 2"),
        broken: ("1);", "1;"),
        line: 4,
    },
    Sample {
        name: "a.h",
        text: "class A {\n public:\n    int one() const;\n};\n",
        intact: ("int one() const;", "virtual int one() const = 0;"),
        broken: ("one()", "one("),
        line: 3,
    },
    Sample {
        name: "a.cpp",
        text: "template <typename T> T one(T a) {\n    return a + 1;\n}\n",
        intact: ("a + 1;", "[&] { return a; }();"),
        broken: ("return a + 1;", "return a + ;"),
        line: 2,
    },
    Sample {
        name: "a.cs",
        text: "class A\n{\n    int One(int a)\n    {\n        return a + 1;\n    }\n}\n",
        intact: ("a + 1;", "a + 2;"),
        broken: ("a + 1;", "a + 1"),
        line: 5,
    },
    Sample {
        name: "a.rb",
        text: "class A\n  def one(a)\n    [a, 1]\n  end\nend\n",
        intact: ("[a, 1]", "[a, 2]"),
        broken: ("[a, 1]", "[a, 1"),
        line: 3,
    },
    Sample {
        name: "a.php",
        text: "<?php\nfunction one($a) {\n    return $a + 1;\n}\n",
        intact: ("$a + 1;", "$a + 2;"),
        broken: ("$a + 1;", "$a + ;"),
        line: 3,
    },
    Sample {
        name: "a.swift",
        text: "func one(a: Int) -> Int {\n    return a + 1\n}\n",
        intact: ("a + 1", "a + 2"),
        broken: ("a + 1", "(a + 1"),
        line: 2,
    },
    Sample {
        name: "a.kt",
        text: "fun one(a: Int): Int {\n    return a + 1\n}\n",
        intact: ("a + 1", "a + 2"),
        broken: ("a + 1", "(a + 1"),
        line: 2,
    },
    Sample {
        name: "a.sh",
        text: "one() {\n  if true; then\n    echo 1\n  fi\n}\n",
        intact: ("echo 1", "echo 2"),
        broken: ("  fi\n", ""),
        line: 1,
    },
    Sample {
        name: "a.json",
        text: "{\n  \"a\": [1, 2],\n  \"b\": null\n}\n",
        intact: ("[1, 2]", "[1, 2, 3]"),
        broken: ("[1, 2],", "[1, 2]"),
        line: 2,
    },
    Sample {
        name: "a.yaml",
        text: "a:\n  - 1\n  - b: 'two'\nc: {d: 1}\n",
        intact: ("'two'", "'three'"),
        broken: ("{d: 1}", "{d: 1"),
        line: 4,
    },
    Sample {
        name: "a.toml",
        text: "[a]\nb = 1\nc = [\"x\", \"y\"]\n",
        intact: ("b = 1", "b = 0x2"),
        broken: ("b = 1", "b = "),
        line: 2,
    },
    Sample {
        name: "a.html",
        text: "<html>\n<body>\n<p>one <b>two</b></p>\n</body>\n</html>\n",
        intact: ("one", "one<br>"),
        broken: ("</b>", "</i>"),
        line: 3,
    },
    Sample {
        name: "a.css",
        text: "a {\n  color: red;\n}\n\n.b > c { margin: 0 }\n",
        intact: ("red", "#f00"),
        broken: ("color: red;\n}", "color: red;\n"),
        line: 5,
    },
];

fn patch(name: &str, edit: (&str, &str), options: Value) -> Value {
    let edits = json!([{"old": edit.0, "new": edit.1}]);
    json!({"op": "file.patch", "target": name, "input": {"edits": edits}, "options": options})
}

fn warned(answer: &Value) -> bool {
    answer["warnings"].as_array().is_some_and(|warnings| !warnings.is_empty())
}

#[test]
fn a_broken_edit_in_each_language_is_reported_and_an_intact_one_is_not() {
    let world = TestScope::new();
    let service = world.boot();
    for Sample { name, text, intact, broken, line } in SAMPLES {
        let file = world.root().join(name);
        fs::write(&file, text).expect("the scope can be written");
        let answer = call(&service, patch(name, *intact, json!({})));
        assert_eq!(answer["ok"], true, "{name}: {answer}");
        assert!(answer["data"]["files"][0]["syntax"].is_null() && !warned(&answer), "{name}: {answer}");

        fs::write(&file, text).expect("the scope can be written");
        let answer = call(&service, patch(name, *broken, json!({})));
        let errors = &answer["data"]["files"][0]["syntax"]["errors"];
        assert_eq!(answer["ok"], true, "{name}: {answer}");
        assert!(warned(&answer), "{name}: {answer}");
        assert_eq!(errors[0]["line"], json!(line), "{name}: {answer}");

        // Another edit of the broken file brings nothing new.
        let other = call(&service, patch(name, *intact, json!({})));
        if other["ok"] == true {
            assert!(!warned(&other), "{name}: {other}");
        }

        fs::write(&file, text).expect("the scope can be written");
        let answer = call(&service, patch(name, *broken, json!({"check": "refuse"})));
        assert_eq!(answer["error"]["details"]["rule"], "syntax-errors", "{name}: {answer}");
        assert_eq!(answer["error"]["details"]["syntax"]["errors"][0]["line"], json!(line), "{name}");
        assert_eq!(fs::read_to_string(&file).expect("it is there"), *text, "{name} is as it was");

        let answer = call(&service, patch(name, *broken, json!({"check": "off"})));
        assert!(answer["ok"] == true && !warned(&answer), "{name}: {answer}");
    }
}

#[test]
fn an_edit_that_repairs_is_praised_without_a_warning() {
    let world = TestScope::new();
    let service = world.boot();
    for Sample { name, text, broken, .. } in SAMPLES {
        let file = world.root().join(name);
        fs::write(&file, text.replacen(broken.0, broken.1, 1)).expect("the scope can be written");
        let answer = call(&service, patch(name, (broken.1, broken.0), json!({"check": "refuse"})));
        // Where the broken text is in several places, the whole file is written instead.
        let answer = match answer["ok"] == true {
            true => answer,
            false => call(
                &service,
                json!({"op": "file.write", "target": name, "input": {"content": text},
                    "options": {"check": "refuse"}}),
            ),
        };
        let data = match &answer["data"]["files"] {
            Value::Array(files) => &files[0],
            _ => &answer["data"],
        };
        assert!(data["syntax"]["repaired"].as_u64().is_some_and(|it| it > 0), "{name}: {answer}");
        assert!(data["syntax"]["errors"].is_null() && !warned(&answer), "{name}: {answer}");
    }
}

#[test]
fn what_cannot_be_checked_is_said_and_not_written_where_it_must_be_checked() {
    let world = TestScope::new();
    let service = world.boot();
    let long = format!("[{}1]\n", "1,\n".repeat(600_000));
    fs::write(world.root().join("a.json"), &long).expect("the scope can be written");
    let edit = ("[1,\n1,\n1,", "[2,\n1,\n1,");
    let refused = call(&service, patch("a.json", edit, json!({"check": "refuse"})));
    assert_eq!(refused["error"]["details"]["rule"], "syntax-unchecked", "{refused}");
    let answer = call(&service, patch("a.json", edit, json!({})));
    assert!(answer["data"]["files"][0]["syntax"]["notChecked"].is_string() && warned(&answer), "{answer}");
}

#[test]
fn new_files_and_whole_files_are_checked_too() {
    let world = TestScope::new();
    let service = world.boot();
    let send = |op: &str, content: &str, options: Value| {
        call(
            &service,
            json!({"op": op, "target": "a.json", "input": {"content": content}, "options": options}),
        )
    };
    assert_eq!(
        send("file.create", "{", json!({"check": "refuse"}))["error"]["details"]["rule"],
        "syntax-errors"
    );
    let made = send("file.create", "{\"a\": }", json!({}));
    assert!(made["data"]["syntax"]["errors"][0]["line"] == 1 && warned(&made), "{made}");
    // The error was there before.
    let same = send("file.write", "{\"a\": }\n\n", json!({"check": "refuse"}));
    assert!(same["ok"] == true && same["data"]["syntax"].is_null(), "{same}");
    let repaired = send("file.write", "{\"a\": 1}\n", json!({}));
    assert_eq!(repaired["data"]["syntax"]["repaired"], 1, "{repaired}");
}

#[test]
fn real_changes_bring_no_syntax_errors() {
    some_real_changes_bring_no_syntax_errors(5);
}

/// Checks one of so many real changes. All of them: `edits::stress`.
pub(super) fn some_real_changes_bring_no_syntax_errors(one_of: usize) {
    // The changes are those of the repository's history.
    if lacks(Need::Git) {
        return;
    }
    /// How long a text can be for this test, whose grammars are not optimized.
    const LONGEST: usize = 60_000;
    let (mut checked, mut reported) = (0, Vec::new());
    for pair in pairs().into_iter().step_by(one_of) {
        // Those that are made out of sources have lines that are no lines of their language.
        let path = pair.name.strip_suffix(" in history").unwrap_or(&pair.name).to_owned();
        if Language::of_path(&path).is_empty() || pair.old.len().max(pair.new.len()) > LONGEST {
            continue;
        }
        let before = Some(Side { text: &pair.old, version: "old" });
        let after = Side { text: &pair.new, version: "new" };
        let until = Instant::now() + *PATIENCE;
        let found =
            check(&SyntaxInput { path: &path, before, after, regions: &[] }, until).expect("a grammar");
        checked += 1;
        let new = found.new.expect("it can be checked");
        if let Some(first) = new.first() {
            reported.push(format!("{}: {} of {}: {first:?}", pair.name, new.len(), found.after));
        }
    }
    if let Some(file) = std::env::var_os("SYNTAX_REPORT") {
        let report = format!("{checked} checked, {} reported\n{}\n", reported.len(), reported.join("\n"));
        fs::write(file, report).expect("the report can be written");
    }
    // Grammars lag behind their languages a little.
    assert!(
        checked >= 60 / one_of && reported.len() * 50 <= checked,
        "{checked} checked: {}",
        reported.join("\n")
    );
}
