//! What a stranger to the policy cannot write: each of these does not compile, for the reason that it should.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use crate::temporary::TemporaryFolder;

/// What compiles: the same calls, with what they want. Who writes has a path that was judged for writing.
const PERMITTED: &str = r#"
    pub fn read(path: &PermittedPath) { let _ = path.open_file(); }
    pub fn readable(scope: &Scope) { let _ = scope.readable(todo!()); }
    pub fn name(root: &ScopeRoot) -> &str { &root.name }
    pub fn make(path: &WritablePath) { let _ = path.open_or_make_dir(); }
    pub fn create(path: &WritablePath) {
        if let Ok((dir, name, _)) = path.open_parent() { let _ = dir.create_file(&name, 0o600); }
    }
    pub fn list(path: &PermittedPath) { if let Ok((dir, _)) = path.open_dir() { let _ = dir.entries(1); } }
    pub fn rename(path: &WritablePath) {
        if let Ok((dir, name, _)) = path.open_parent() { let _ = dir.rename(&name, &dir, &name); }
    }
    pub fn make_below(path: &WritablePath) {
        if let Ok((dir, _)) = path.open_dir() { let _ = dir.make_dir(OsStr::new("new")); }
    }
    pub fn read_what_is_written(path: &WritablePath) { read(path); }
    pub fn permit(permit: &Permit) { let _ = permit.path(); }
"#;

/// What does not, with the number of rustc's error.
const REFUSED: &[(&str, &str)] = &[
    // A path is made by nobody else.
    ("pub fn forge() -> PermittedPath { PermittedPath { located: todo!() } }", "E0451"),
    ("pub fn forge(path: PermittedPath) -> WritablePath { WritablePath(path) }", "E0423"),
    ("pub fn forge() -> Permit { Permit { scope: None, ..todo!() } }", "E0451"),
    ("pub fn forge() -> PermittedCommand { PermittedCommand { plan: todo!(), ..todo!() } }", "E0451"),
    // What was found in a scope and not judged does not leave the policy, and neither does the open folder of a root.
    ("pub fn unjudged(scope: &Scope) { let _ = scope.locate(todo!(), todo!()); }", "E0624"),
    ("pub fn folder(root: &ScopeRoot) { let _ = &root.folder; }", "E0616"),
    ("pub fn folder(root: &ScopeRoot) { let _ = root.folder(); }", "E0624"),
    // What was judged for reading is not written through.
    ("pub fn make(path: &PermittedPath) { let _ = path.open_or_make_dir(); }", "E0599"),
    (
        "pub fn create(path: &PermittedPath) {
            if let Ok((dir, name, _)) = path.open_parent() { let _ = dir.create_file(&name, 0o600); }
        }",
        "E0599",
    ),
    (
        "pub fn rename(path: &PermittedPath) {
            if let Ok((dir, name, _)) = path.open_parent() { let _ = dir.rename(&name, &dir, &name); }
        }",
        "E0599",
    ),
    (
        "pub fn make_below(path: &PermittedPath) {
            if let Ok((dir, _)) = path.open_dir() { let _ = dir.make_dir(OsStr::new(\"new\")); }
        }",
        "E0599",
    ),
    ("pub fn write(path: &PermittedPath) -> WritablePath { path.clone() }", "E0308"),
];

const USES: &str = "#![allow(unused_imports, unreachable_code)]
    use bailiwick_policy::{Permit, PermittedPath, Scope, ScopeRoot, WritablePath, command::PermittedCommand};
    use std::ffi::OsStr;
";

/// The compiled policy that this test is linked with: its newest one.
fn compiled_policy(folder: &Path) -> PathBuf {
    let entries = fs::read_dir(folder).expect("the folder of this test's program");
    let libraries = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libbailiwick_policy-") && name.ends_with(".rlib")
    });
    let made =
        |path: &PathBuf| fs::metadata(path).and_then(|it| it.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    libraries.max_by_key(made).expect("the policy was compiled for this test")
}

/// Compiles a text that uses the policy, and returns what rustc writes where it does not compile.
fn compile(text: &str) -> Result<(), String> {
    let program = std::env::current_exe().expect("the path of this test's program");
    let folder = program.parent().expect("it is in a folder");
    let place = TemporaryFolder::new();
    let file = place.path().join("case.rs");
    fs::write(&file, format!("{USES}{text}")).expect("the temporary folder can be written");
    let done = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args(["--edition=2024", "--crate-type=lib", "--emit=metadata", "--crate-name=case", "-L"])
        .arg(format!("dependency={}", folder.display()))
        .arg("--extern")
        .arg(format!("bailiwick_policy={}", compiled_policy(folder).display()))
        .arg("--out-dir")
        .arg(place.path())
        .arg(&file)
        .output()
        .expect("rustc, which has compiled this test");
    if done.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&done.stderr).into_owned()) }
}

#[test]
fn a_path_that_was_not_judged_opens_nothing_and_one_judged_for_reading_writes_nothing() {
    compile(PERMITTED).unwrap_or_else(|error| panic!("what is permitted does not compile: {error}"));
    for (text, code) in REFUSED {
        let error = compile(text).expect_err(text);
        let codes: Vec<&str> =
            error.lines().filter_map(|line| line.strip_prefix("error[")?.get(..5)).collect();
        assert_eq!(codes, [*code], "{text}\n{error}");
    }
}
