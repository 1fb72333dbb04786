//! Runs the drills of `tests/drills`: programs that measure the built program, and fail where it goes beyond a bound.

mod stress;

use std::process::Command;

use crate::needs::lacks_program;
use crate::source::repository;
use crate::temporary::TemporaryFolder;

/// Runs a drill with the program, in a folder of its own, and prints what it measured.
#[expect(clippy::print_stdout, reason = "figures are what a drill is for")]
pub fn run_drill(name: &str, programs: &[&str]) {
    if programs.iter().any(|program| lacks_program(program)) {
        return;
    }
    let folder = TemporaryFolder::new();
    let ran = Command::new(repository().join("tests/drills").join(name))
        .arg(env!("CARGO_BIN_EXE_bailiwick"))
        .arg(folder.path().join("drill"))
        .output()
        .expect("python3 runs it");
    let printed = String::from_utf8_lossy(&ran.stdout);
    println!("{printed}");
    assert!(ran.status.success(), "{printed}\n{}", String::from_utf8_lossy(&ran.stderr));
}
