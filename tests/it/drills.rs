//! Runs the drills of `tests/drills`: programs that measure the built program, and fail where it goes beyond a bound. The benches
//! that are scripts at least start.

mod stress;

use std::fs;
use std::process::Command;

use crate::needs::lacks_program;
use crate::source::repository;
use crate::temporary::TemporaryFolder;

/// Runs a drill with the program, in a folder of its own, and prints what it measured.
pub fn run_drill(name: &str, programs: &[&str]) {
    run_drill_with(name, programs, &[]);
}

/// As [`run_drill`], with more arguments.
#[expect(clippy::print_stdout, reason = "figures are what a drill is for")]
fn run_drill_with(name: &str, programs: &[&str], more: &[&str]) {
    if programs.iter().any(|program| lacks_program(program)) {
        return;
    }
    let folder = TemporaryFolder::new();
    let ran = Command::new(repository().join("tests/drills").join(name))
        .arg(env!("CARGO_BIN_EXE_bailiwick"))
        .arg(folder.path().join("drill"))
        .args(more)
        .output()
        .expect("python3 runs it");
    let printed = String::from_utf8_lossy(&ran.stdout);
    println!("{printed}");
    assert!(ran.status.success(), "{printed}\n{}", String::from_utf8_lossy(&ran.stderr));
}

/// Has each call with the pattern fail in requests that the drill knows by their names.
#[cfg(target_os = "linux")]
fn fail_calls(pattern: &str, cases: &[&str]) {
    let mode = format!("errors:{pattern}");
    run_drill_with("cuts", &["python3"], &[&[&*mode, "1"], cases].concat());
}

// Linux asks about system calls (seccomp).
#[cfg(target_os = "linux")]
#[test]
fn folders_that_were_made_for_a_write_go_if_it_fails() {
    fail_calls(
        "(fsync .*/scope|(openat2|newfstatat|fstat) .*/new(/deep)?(/new.txt)?)$",
        &["write with parents"],
    );
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_not_known_to_be_on_the_disk_is_taken_back() {
    let cases = [
        "write",
        "mkdir",
        "move",
        "move over a file",
        "move over a folder",
        "copy",
        "copy over a file",
        "copy a folder",
        "copy over a folder",
        "delete a folder",
    ];
    fail_calls("fsync .*/(scope|whole/.*)$", &cases);
}

#[cfg(target_os = "linux")]
#[test]
fn a_call_that_fails_at_a_temporary_name_leaves_nothing_there() {
    let cases =
        ["undo of a command", "undo of an undo of a command", "move over a file", "copy over a folder"];
    fail_calls("(unlinkat|newfstatat|renameat2) .*/[.]bailiwick-", &cases);
}

#[test]
fn every_drill_is_run_by_a_test_of_the_set_stress_and_described() {
    let read = |path: &str| fs::read_to_string(repository().join(path)).expect("there");
    let sources: String =
        ["tests/it/drills/stress.rs", "tests/it/edits/stress.rs", "tests/it/adapters/stress.rs"]
            .map(read)
            .concat();
    let page = read("CONTRIBUTING.md");
    for entry in fs::read_dir(repository().join("tests/drills")).expect("there").flatten() {
        let name = entry.file_name().into_string().expect("UTF-8");
        if name.ends_with(".py") {
            continue;
        }
        assert!(sources.contains(&format!("run_drill(\"{name}\"")), "no test runs tests/drills/{name}");
        assert!(page.contains(&format!("| `{name}")), "CONTRIBUTING.md has no row for {name}");
    }
}

#[test]
fn every_bench_that_is_a_script_starts() {
    if lacks_program("python3") {
        return;
    }
    for name in ["agent/run", "peers/run"] {
        let mut bench = Command::new(repository().join("benches").join(name));
        let ran = bench.arg("--help").output().expect("python3 runs it");
        assert!(ran.status.success(), "{name}: {}", String::from_utf8_lossy(&ran.stderr));
    }
}
