//! Every kind of change, and what is no change.

use std::fs;
use std::path::Path;

use bailiwick::platform::fs::modes::{set_mode, symlink};
use bailiwick::platform::names::OsStrExt;
use serde_json::json;

use super::scope::{SnapshotScope, lines, soon};
use crate::system::{Need, lacks};

#[test]
fn what_was_added_modified_deleted_and_renamed_is_told_with_its_lines() {
    if lacks(Need::Links) || lacks(Need::Modes) {
        return;
    }
    let world = SnapshotScope::new(json!({}));
    for (path, content) in [
        ("same.txt", "same\n"),
        ("edited.txt", "one\ntwo\nthree\n"),
        ("gone.txt", "a\nb\n"),
        ("deep/er/moved.txt", "moved\nas it is\n"),
        ("copied-then-gone.txt", "by content\n"),
        ("script", "#!/bin/sh\n"),
        ("empty.txt", ""),
        (".hidden", "h\n"),
    ] {
        world.write(path, content);
    }
    world.write("data.bin", b"\0\x01");
    symlink("same.txt", world.path("link")).expect("a link is made");
    let before = world.take();
    assert_eq!(world.left_over(), 0, "contents are in a file without a name");
    world.write("edited.txt", "one\n2\nthree\nfour");
    world.write("new.txt", "n\nn\nn");
    world.write("new.bin", b"x\0");
    world.write("data.bin", b"\0\x02");
    world.write(".hidden", "H\n");
    world.write("empty.txt", "not\n");
    fs::remove_file(world.path("gone.txt")).expect("it is there");
    fs::create_dir(world.path("other")).expect("it is made");
    fs::rename(world.path("deep/er"), world.path("other/er")).expect("it is moved");
    world.write("copy.txt", "by content\n");
    fs::remove_file(world.path("copied-then-gone.txt")).expect("it is there");
    set_mode(&world.path("script"), 0o755).expect("a mode is set");
    fs::remove_file(world.path("link")).expect("it is there");
    symlink("edited.txt", world.path("link")).expect("a link is made");
    let changes = before.compare(&soon()).expect("they are compared");
    assert_eq!(
        lines(&changes),
        [
            "M 1 1 .hidden",
            "R 0 0 copied-then-gone.txt -> copy.txt",
            "M - - data.bin binary",
            "M 2 1 edited.txt",
            "M 1 0 empty.txt",
            "D 0 2 gone.txt",
            "M 1 1 link",
            "A - - new.bin binary",
            "A 3 0 new.txt",
            "R 0 0 deep/er/moved.txt -> other/er/moved.txt",
            "M 0 0 script mode",
        ]
    );
    assert_eq!((changes.insertions, changes.deletions, changes.uncounted), (8, 5, 0));
    assert!(!changes.truncated);
    // What was there can be had, for taking a change back.
    assert_eq!(before.content(b"gone.txt").as_deref(), Some(&b"a\nb\n"[..]));
    assert_eq!(before.content(b"new.txt"), None);
    assert_eq!(before.content(b"edited.txt").as_deref(), Some(&b"one\ntwo\nthree\n"[..]));
}

#[test]
fn what_has_its_content_as_before_is_no_change() {
    let world = SnapshotScope::new(json!({}));
    world.write("touched.txt", "t\n");
    world.write("rewritten.txt", "r\n");
    world.write("back.txt", "b\n");
    world.write("replaced.txt", "p\n");
    let before = world.take();
    let now = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
    let touched = fs::File::options().append(true).open(world.path("touched.txt")).expect("it opens");
    touched.set_modified(now).expect("a time is set");
    world.write("rewritten.txt", "r\n");
    world.write("back.txt", "changed\n");
    world.write("back.txt", "b\n");
    world.write("beside", "p\n");
    fs::rename(world.path("beside"), world.path("replaced.txt")).expect("it is moved");
    assert!(lines(&before.compare(&soon()).expect("they are compared")).is_empty());
}

#[test]
fn a_change_that_hides_its_time_and_size_is_told() {
    let world = SnapshotScope::new(json!({}));
    world.write("a.txt", "one\n");
    let facts = fs::metadata(world.path("a.txt")).expect("it is there");
    let before = world.take();
    world.write("a.txt", "two\n");
    let file = fs::File::options().append(true).open(world.path("a.txt")).expect("it opens");
    file.set_modified(facts.modified().expect("a time")).expect("a time is set");
    assert_eq!(lines(&before.compare(&soon()).expect("they are compared")), ["M 1 1 a.txt"]);
}

#[test]
fn of_a_closed_file_only_that_it_changed_is_told() {
    let world = SnapshotScope::new(json!({"closedFiles": ["*.sealed"]}));
    world.write(".env", "TOKEN=1\n");
    world.write("a.sealed", "s\n");
    world.write("same.sealed", "s\n");
    let before = world.take();
    assert_eq!((before.content(b".env"), before.content(b"a.sealed")), (None, None));
    world.write(".env", "TOKEN=2\n");
    world.write("a.sealed", "changed\n");
    world.write("b.sealed", "new\n");
    let changes = before.compare(&soon()).expect("they are compared");
    assert_eq!(lines(&changes), ["M - - .env closed", "M - - a.sealed closed", "A - - b.sealed closed"]);
    assert_eq!((changes.insertions, changes.deletions, changes.uncounted), (0, 0, 0));
}

#[test]
fn what_is_ignored_is_left_out_also_when_that_changes() {
    let world = SnapshotScope::new(json!({}));
    world.write(".gitignore", "target\n*.log\n");
    world.write("target/a.o", "x\n");
    world.write("y.log", "y\n");
    world.write("kept/a.txt", "a\n");
    world.write("kept/b.txt", "b\n");
    world.write(".git/HEAD", "ref: refs/heads/main\n");
    std::thread::sleep(std::time::Duration::from_millis(20));
    let before = world.take();
    world.write("target/b.o", "x\n");
    world.write(".git/HEAD", "ref: refs/heads/other\n");
    // Now the folder is ignored that was not, and the other way about.
    world.write(".gitignore", "kept\n*.log\n");
    world.write("kept/a.txt", "changed\n");
    let changes = before.compare(&soon()).expect("they are compared");
    assert_eq!(lines(&changes), ["M 1 1 .gitignore", "M 1 1 kept/a.txt", "A 1 0 target/b.o"]);
}

#[test]
fn no_link_is_followed_and_names_need_not_be_text() {
    if lacks(Need::Links) || lacks(Need::Names) {
        return;
    }
    let world = SnapshotScope::new(json!({}));
    let odd = Path::new(std::ffi::OsStr::from_bytes(b"b\xff.txt"));
    world.write("../outside/secret.txt", "outside\n");
    world.write("dir/a.txt", "a\n");
    fs::write(world.path("dir").join(odd), "odd\n").expect("a file is written");
    let before = world.take();
    fs::write(world.path("dir").join(odd), "odd\nand more\n").expect("a file is written");
    // A folder becomes a link that leads out: what was in it is gone, and nothing out there is read.
    fs::rename(world.path("dir"), world.path("moved")).expect("it is moved");
    symlink("../outside", world.path("dir")).expect("a link is made");
    let changes = before.compare(&soon()).expect("they are compared");
    assert_eq!(
        lines(&changes),
        ["A 1 0 dir", "D 0 1 dir/b\\xff.txt", "R 0 0 dir/a.txt -> moved/a.txt", "A 2 0 moved/b\\xff.txt"]
    );
}
