//! Python's own parser finds the same functions and classes, at the same lines, in all of its library.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use bailiwick::providers::code::{Kind, definitions};
use bailiwick::providers::syntax::Language;

/// Prints a line for each function and class of the standard library: path, line and name.
const LISTING: &str = r#"
import ast, os, sysconfig
library = sysconfig.get_path("stdlib")
for folder, folders, names in os.walk(library):
    folders[:] = sorted(it for it in folders if it not in ("site-packages", "dist-packages", "test", "tests", "lib2to3", "idlelib"))
    for name in sorted(names):
        path = os.path.join(folder, name)
        if not name.endswith(".py") or os.path.getsize(path) > 200_000:
            continue
        try:
            with open(path, "rb") as file:
                tree = ast.parse(file.read())
        except (SyntaxError, ValueError):
            continue
        print("file", path, sep="\t")
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                print("is", node.lineno, node.name, sep="\t")
"#;

#[test]
fn pythons_own_parser_finds_the_same_functions_and_classes() {
    let output = Command::new("python3").arg("-c").arg(LISTING).output().expect("python3 is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("the names are UTF-8");
    let mut compared = 0;
    for part in text.split("file\t").skip(1) {
        let (path, rest) = part.split_once('\n').expect("each line ends");
        let expected: BTreeSet<(u32, &str)> = rest
            .lines()
            .filter_map(|line| line.strip_prefix("is\t")?.split_once('\t'))
            .map(|(line, name)| (line.parse().expect("lines are numbers"), name))
            .collect();
        let source = fs::read(path).expect("Python has read it");
        let found = definitions(Language::Python, &source, &|| false).expect("a person wrote it");
        let is_wanted = |kind: Kind| kind.is_callable() || matches!(kind, Kind::Class | Kind::Property);
        let found: BTreeSet<(u32, &str)> = found
            .list
            .iter()
            .filter(|it| is_wanted(it.kind))
            .map(|it| (it.name_at.line, it.name.as_str()))
            .collect();
        assert_eq!(found, expected, "{path}");
        compared += expected.len();
    }
    assert!(compared > 1_000, "only {compared} were compared: where is Python's library?");
}
