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
    let ground = SnapshotScope::new(json!({}));
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
        ground.write(path, content);
    }
    ground.write("data.bin", b"\0\x01");
    symlink("same.txt", ground.path("link")).expect("a link is made");
    let before = ground.take();
    assert_eq!(ground.left_over(), 0, "contents are in a file without a name");
    ground.write("edited.txt", "one\n2\nthree\nfour");
    ground.write("new.txt", "n\nn\nn");
    ground.write("new.bin", b"x\0");
    ground.write("data.bin", b"\0\x02");
    ground.write(".hidden", "H\n");
    ground.write("empty.txt", "not\n");
    fs::remove_file(ground.path("gone.txt")).expect("it is there");
    fs::create_dir(ground.path("other")).expect("it is made");
    fs::rename(ground.path("deep/er"), ground.path("other/er")).expect("it is moved");
    ground.write("copy.txt", "by content\n");
    fs::remove_file(ground.path("copied-then-gone.txt")).expect("it is there");
    set_mode(&ground.path("script"), 0o755).expect("a mode is set");
    fs::remove_file(ground.path("link")).expect("it is there");
    symlink("edited.txt", ground.path("link")).expect("a link is made");
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
    let ground = SnapshotScope::new(json!({}));
    ground.write("touched.txt", "t\n");
    ground.write("rewritten.txt", "r\n");
    ground.write("back.txt", "b\n");
    ground.write("replaced.txt", "p\n");
    let before = ground.take();
    let now = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
    let touched = fs::File::options().append(true).open(ground.path("touched.txt")).expect("it opens");
    touched.set_modified(now).expect("a time is set");
    ground.write("rewritten.txt", "r\n");
    ground.write("back.txt", "changed\n");
    ground.write("back.txt", "b\n");
    ground.write("beside", "p\n");
    fs::rename(ground.path("beside"), ground.path("replaced.txt")).expect("it is moved");
    assert!(lines(&before.compare(&soon()).expect("they are compared")).is_empty());
}

#[test]
fn a_change_that_hides_its_time_and_size_is_told() {
    let ground = SnapshotScope::new(json!({}));
    ground.write("a.txt", "one\n");
    let facts = fs::metadata(ground.path("a.txt")).expect("it is there");
    let before = ground.take();
    ground.write("a.txt", "two\n");
    let file = fs::File::options().append(true).open(ground.path("a.txt")).expect("it opens");
    file.set_modified(facts.modified().expect("a time")).expect("a time is set");
    assert_eq!(lines(&before.compare(&soon()).expect("they are compared")), ["M 1 1 a.txt"]);
}

#[test]
fn of_a_closed_file_only_that_it_changed_is_told() {
    let ground = SnapshotScope::new(json!({"closedFiles": ["*.sealed"]}));
    ground.write(".env", "TOKEN=1\n");
    ground.write("a.sealed", "s\n");
    ground.write("same.sealed", "s\n");
    let before = ground.take();
    assert_eq!((before.content(b".env"), before.content(b"a.sealed")), (None, None));
    ground.write(".env", "TOKEN=2\n");
    ground.write("a.sealed", "changed\n");
    ground.write("b.sealed", "new\n");
    let changes = before.compare(&soon()).expect("they are compared");
    assert_eq!(lines(&changes), ["M - - .env closed", "M - - a.sealed closed", "A - - b.sealed closed"]);
    assert_eq!((changes.insertions, changes.deletions, changes.uncounted), (0, 0, 0));
}

#[test]
fn what_is_ignored_is_left_out_also_when_that_changes() {
    let ground = SnapshotScope::new(json!({}));
    ground.write(".gitignore", "target\n*.log\n");
    ground.write("target/a.o", "x\n");
    ground.write("y.log", "y\n");
    ground.write("kept/a.txt", "a\n");
    ground.write("kept/b.txt", "b\n");
    ground.write(".git/HEAD", "ref: refs/heads/main\n");
    std::thread::sleep(std::time::Duration::from_millis(20));
    let before = ground.take();
    ground.write("target/b.o", "x\n");
    ground.write(".git/HEAD", "ref: refs/heads/other\n");
    // Now the folder is ignored that was not, and the other way about.
    ground.write(".gitignore", "kept\n*.log\n");
    ground.write("kept/a.txt", "changed\n");
    let changes = before.compare(&soon()).expect("they are compared");
    assert_eq!(lines(&changes), ["M 1 1 .gitignore", "M 1 1 kept/a.txt", "A 1 0 target/b.o"]);
}

#[test]
fn no_link_is_followed_and_names_need_not_be_text() {
    if lacks(Need::Links) || lacks(Need::Names) {
        return;
    }
    let ground = SnapshotScope::new(json!({}));
    let odd = Path::new(std::ffi::OsStr::from_bytes(b"b\xff.txt"));
    ground.write("../outside/secret.txt", "outside\n");
    ground.write("dir/a.txt", "a\n");
    fs::write(ground.path("dir").join(odd), "odd\n").expect("a file is written");
    let before = ground.take();
    fs::write(ground.path("dir").join(odd), "odd\nand more\n").expect("a file is written");
    // A folder becomes a link that leads out: what was in it is gone, and nothing out there is read.
    fs::rename(ground.path("dir"), ground.path("moved")).expect("it is moved");
    symlink("../outside", ground.path("dir")).expect("a link is made");
    let changes = before.compare(&soon()).expect("they are compared");
    assert_eq!(
        lines(&changes),
        ["A 1 0 dir", "D 0 1 dir/b\\xff.txt", "R 0 0 dir/a.txt -> moved/a.txt", "A 2 0 moved/b\\xff.txt"]
    );
}
