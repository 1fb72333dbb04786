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

/// Runs the drill that ends the program at calls, or has them fail: in requests that it knows by their names, at each call whose
/// name and path have the pattern.
#[cfg(target_os = "linux")]
fn cut(mode: &str, pattern: &str, cases: &[&str]) {
    let mode = format!("{mode}:{pattern}");
    run_drill_with("cuts", &["python3"], &[&[&*mode, "1"], cases].concat());
}

// Linux asks about system calls (seccomp).
#[cfg(target_os = "linux")]
#[test]
fn folders_that_were_made_for_a_write_go_if_it_fails() {
    let pattern = "(fsync .*/scope|(openat2|newfstatat|fstat) .*/new(/deep)?(/new.txt)?)$";
    cut("errors", pattern, &["write with parents"]);
}

// As above.
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
        "delete without undo",
    ];
    cut("errors", "fsync .*/(scope|whole/.*)$", &cases);
}

// As above.
#[cfg(target_os = "linux")]
#[test]
fn a_call_that_fails_at_a_temporary_name_leaves_nothing_there() {
    let cases =
        ["undo of a command", "undo of an undo of a command", "move over a file", "copy over a folder"];
    cut("errors", "(unlinkat|newfstatat|renameat2) .*/[.]bailiwick-", &cases);
}

// As above.
#[cfg(target_os = "linux")]
#[test]
fn attributes_that_cannot_be_set_are_said_to_be_lost_or_nothing_is_done() {
    cut("errors", "fsetxattr .*/scope", &["write", "copy", "copy a folder", "undo of a command"]);
}

// As above.
#[cfg(target_os = "linux")]
#[test]
fn two_folders_of_which_one_replaces_the_other_never_keep_each_others_name() {
    let cases = ["move over a folder", "move over a folder, kept elsewhere"];
    cut("kills", "(renameat2|fsync|symlinkat) .*/(scope|from|to|thing-0|link)$", &cases);
}

// As above.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_is_copied_to_where_it_is_kept_goes_as_a_whole() {
    let cases = ["delete a folder, kept elsewhere", "undo of a folder, kept elsewhere"];
    for mode in ["kills", "errors"] {
        cut(mode, "(unlinkat|renameat2|fsync) .*/(scope.*|thing-0)$", &cases);
    }
}

// As above.
#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_read_beside_a_command_is_named_and_its_undo_removes_nothing_of_it() {
    cut("errors", "(getdents64|readlinkat|flistxattr) .*/scope", &["command"]);
}

// As above.
#[cfg(target_os = "linux")]
#[test]
fn a_history_that_the_disk_refuses_is_not_set_aside() {
    for mode in ["errors", "lasting"] {
        cut(mode, "(pread64|openat) .*/history[.]db", &["write"]);
    }
}

// As above.
#[cfg(target_os = "linux")]
#[test]
fn what_the_disk_does_not_record_does_not_begin() {
    cut("errors", "fdatasync .*/history[.]db-wal$", &["write", "command"]);
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
