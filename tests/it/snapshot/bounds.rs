//! What does not fit is said, and what is told stays true.

use std::fs;
use std::time::Duration;

use bailiwick::contract::{Cancel, ErrorCode};
use bailiwick::providers::snapshot::{Snapshot, SnapshotLimits};
use serde_json::json;

use super::scope::{SnapshotScope, lines, soon};
use crate::patience::PATIENCE;

#[test]
fn a_large_file_has_changed_by_lines_that_are_not_counted() {
    let world = SnapshotScope::new(json!({}));
    let limits = SnapshotLimits { file_bytes: 100, ..SnapshotLimits::default() };
    world.write("large.txt", "line\n".repeat(100));
    world.write("large.bin", [b"\0", "x".repeat(20_000).as_bytes()].concat());
    world.write("grows.txt", "small\n");
    let before = world.take_within(limits);
    world.write("large.txt", "line\n".repeat(101));
    world.write("large.bin", [b"\0", "y".repeat(20_000).as_bytes()].concat());
    world.write("grows.txt", "line\n".repeat(101));
    world.write("new.txt", "line\n".repeat(101));
    let changes = before.compare(&soon()).expect("they are compared");
    assert_eq!(
        lines(&changes),
        ["M - - grows.txt", "M - - large.bin binary", "M - - large.txt", "A - - new.txt"]
    );
    assert_eq!(changes.uncounted, 3);
}

#[test]
fn without_room_for_contents_files_are_told_and_not_counted() {
    let world = SnapshotScope::new(json!({}));
    world.write("a.txt", "a\n");
    let before = world.take_within(SnapshotLimits { kept_bytes: 0, ..SnapshotLimits::default() });
    world.write("a.txt", "b\n");
    world.write("b.txt", "b\n");
    let changes = before.compare(&soon()).expect("they are compared");
    assert_eq!(lines(&changes), ["M - - a.txt", "A 1 0 b.txt"]);
    assert_eq!((changes.insertions, changes.uncounted, changes.truncated), (1, 1, false));
}

#[test]
fn too_many_files_are_said_and_none_is_told_that_did_not_change() {
    let world = SnapshotScope::new(json!({}));
    for number in 0..200 {
        world.write(format!("d{}/f{number}.txt", number % 7), "same\n");
    }
    std::thread::sleep(Duration::from_millis(20));
    let before = world.take_within(SnapshotLimits { files: 50, ..SnapshotLimits::default() });
    world.write("d1/f1.txt", "changed\n");
    fs::remove_file(world.path("d0/f0.txt")).expect("it is there");
    let changes = before.compare(&soon()).expect("they are compared");
    assert!(changes.truncated);
    for file in &changes.files {
        assert!(["d1/f1.txt", "d0/f0.txt"].contains(&file.path.as_str()), "{:?}", lines(&changes));
    }
}

#[test]
fn a_snapshot_is_cancelled_and_times_out() {
    let world = SnapshotScope::new(json!({}));
    for number in 0..200 {
        world.write(format!("f{number}.txt"), "a\n");
    }
    let folder = world.permitted(".");
    let cancel = Cancel::after(*PATIENCE);
    cancel.cancel();
    let state = world.path("../home/state");
    let take = |limits| Snapshot::take(&folder, &state, limits, &cancel);
    let failure = take(SnapshotLimits::default()).expect_err("it was cancelled");
    assert_eq!(failure.code, ErrorCode::Cancelled);
    // Its own limit ends it with what it has.
    let before = world.take_within(SnapshotLimits { time: Duration::ZERO, ..SnapshotLimits::default() });
    assert!(before.compare(&soon()).expect("they are compared").truncated);
}

#[test]
fn a_folder_that_is_gone_is_said() {
    let world = SnapshotScope::new(json!({}));
    world.write("part/a.txt", "a\n");
    let state = world.path("../home/state");
    let part = world.permitted("part");
    let before = Snapshot::take(&part, &state, SnapshotLimits::default(), &soon()).expect("it is taken");
    world.write("beside.txt", "outside of it\n");
    world.write("part/b.txt", "b\n");
    assert_eq!(lines(&before.compare(&soon()).expect("they are compared")), ["A 1 0 part/b.txt"]);
    fs::remove_dir_all(world.path("part")).expect("it is there");
    let failure = before.compare(&soon()).expect_err("the folder is gone");
    assert_eq!(failure.code, ErrorCode::NotFound);
}
