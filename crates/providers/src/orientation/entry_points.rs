//! Where programs and libraries begin: as manifests say, and as names of files say.

use schemars::JsonSchema;
use serde::Serialize;

use bailiwick_contract::path::encode_name;
use bailiwick_policy::PermittedPath;

use super::excerpt::clip;
use super::source::beneath;
use super::{Manifests, Survey};

/// How deep files are checked whose names alone say that something begins there.
const MAX_DEPTH: usize = 5;
/// Names of such files, and what begins there.
const NAMES: &[(&str, &str)] = &[
    ("__main__.py", "program"),
    ("manage.py", "program"),
    ("main.py", "program"),
    ("app.py", "program"),
    ("wsgi.py", "service"),
    ("asgi.py", "service"),
    ("main.go", "program"),
    ("Program.cs", "program"),
    ("Main.java", "program"),
    ("Application.java", "program"),
    ("Main.kt", "program"),
    ("main.c", "program"),
    ("main.cc", "program"),
    ("main.cpp", "program"),
    ("main.swift", "program"),
    ("main.ts", "program"),
    ("main.tsx", "program"),
    ("main.js", "program"),
    ("server.ts", "service"),
    ("server.js", "service"),
    ("index.ts", "library"),
    ("index.js", "library"),
    ("index.html", "page"),
    ("main.dart", "program"),
    ("config.ru", "service"),
];
/// Folders in which nothing of the project itself begins.
const ASIDE: &[&[u8]] = &[
    b"test",
    b"tests",
    b"__tests__",
    b"spec",
    b"examples",
    b"example",
    b"fixtures",
    b"testdata",
    b"benches",
    b"benchmarks",
    b"docs",
    b"doc",
    b"vendor",
    b"third_party",
    b"templates",
    b"dist",
    b"build",
];

/// Where something begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EntryPoint {
    /// What begins there: `program`, `library`, `script`, `service`, `page`.
    pub what: &'static str,
    /// Its name, where a manifest gives it one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The file, relative to the scope's folder; a script of Python is named as its manifest names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// Returns whether something may begin in a file, by its path below the target.
pub(super) fn is_beginning(path: &[u8]) -> bool {
    // Asked of every file: most are told apart by their names alone.
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    if !name.ends_with(b".rs") && !NAMES.iter().any(|(known, _)| known.as_bytes() == name) {
        return false;
    }
    let mut parts: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
    if parts.len() > MAX_DEPTH {
        return false;
    }
    parts.pop();
    let shallow = parts.len() < 3;
    what(&parts, name).is_some_and(|what| shallow || what != "library")
        && !parts.iter().any(|part| ASIDE.contains(part))
}

/// Returns what begins in a file.
fn what(folders: &[&[u8]], name: &[u8]) -> Option<&'static str> {
    match (folders, name) {
        ([.., b"src"], b"main.rs") => return Some("program"),
        ([.., b"src"], b"lib.rs") => return Some("library"),
        ([.., b"src", b"bin"], name) if name.ends_with(b".rs") => return Some("program"),
        ([.., b"src", b"bin", _], b"main.rs") => return Some("program"),
        // Deep in a library, a file of this name is a part of it.
        (folders, b"server.ts" | b"server.js") => {
            let is_near = matches!(folders, [] | [b"src" | b"app" | b"server"] | [_, b"src"]);
            return is_near.then_some("service");
        }
        _ => {}
    }
    NAMES.iter().find(|(known, _)| known.as_bytes() == name).map(|(_, what)| *what)
}

/// Returns where programs and libraries begin: what manifests say first, then what names say.
pub fn entry_points(target: &PermittedPath, manifests: &Manifests, survey: &Survey) -> Vec<EntryPoint> {
    let mut points: Vec<EntryPoint> = Vec::new();
    for (folder, (what, name, file)) in &manifests.begins {
        let place = file.as_ref().and_then(|file| folder.join(file.as_bytes()).ok());
        // A file that is not there is named as it is stated: it may be built, or be no file at all.
        let there = place.as_ref().and_then(|rel| beneath(target, rel)).filter(|place| place.stat().is_ok());
        // What is built is named by where it will be; a script of Python is a module's name.
        let built = place.as_ref().filter(|_| *what != "script").map(|rel| target.show(rel));
        let path = there.map(|place| place.shown()).or(built);
        let path = path.or_else(|| file.as_deref().map(|file| clip(file, 120)));
        points.push(EntryPoint { what, name: name.as_deref().map(|name| clip(name, 80)), path });
    }
    for path in &survey.beginnings {
        let parts: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
        let Some((name, folders)) = parts.split_last() else { continue };
        let (Some(what), Ok(rel)) = (what(folders, name), target.rel().join(path)) else { continue };
        let shown = target.show(&rel);
        if points.iter().any(|point| point.path.as_deref() == Some(&shown)) {
            continue;
        }
        let name = match folders {
            // A program of Cargo's or Go's has the name of its file or folder.
            [.., b"src", b"bin"] => name.strip_suffix(b".rs").map(encode_name),
            [b"cmd", program] | [.., b"cmd", program] => Some(encode_name(program)),
            _ => None,
        };
        points.push(EntryPoint { what, name, path: Some(shown) });
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_where_programs_begin() {
        for (path, expected) in [
            ("src/main.rs", true),
            ("crates/a/src/bin/tool.rs", true),
            ("cmd/tool/main.go", true),
            ("a/b/c/index.ts", false),
            ("tests/main.py", false),
            ("main.rs", false),
            ("a/b/c/d/e/main.go", false),
            ("server.ts", true),
            ("src/jsx/dom/server.ts", false),
        ] {
            assert_eq!(is_beginning(path.as_bytes()), expected, "{path}");
        }
    }
}
