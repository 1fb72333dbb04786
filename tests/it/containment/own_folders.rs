//! Bailiwick's own folders stay closed where they come into a scope, and pipes and devices are not opened.

use std::fs;

use serde_json::json;

use super::{LinkedFolders, call, ok};
use crate::system::{Need, lacks};

#[test]
fn own_folders_are_closed_however_deep_below_them_a_path_leads() {
    // A folder cannot be moved on Windows while something in it is open.
    if lacks(Need::Links) {
        return;
    }
    let world = LinkedFolders::new();
    let own = world.beside("home/state");
    fs::create_dir_all(own.join("versions/deep")).expect("the temporary folder can be written");
    fs::create_dir_all(own.join("processes")).expect("the temporary folder can be written");
    for name in ["tokens.txt", "versions/a.txt", "versions/deep/a.txt"] {
        fs::write(own.join(name), "OWN-SECRET").expect("the temporary folder can be written");
    }
    let service = world.service();
    fs::create_dir(world.root().join("sub")).expect("the scope's folder can be written");
    fs::write(world.root().join("sub/a.txt"), "open").expect("the scope's folder can be written");
    assert!(ok(&call(&service, json!({"op": "file.read", "target": "sub/a.txt"}))));

    // It is moved while the service runs, as a mount would bring it too.
    fs::rename(&own, world.root().join("sub/moved")).expect("one file system");
    for (op, target, input) in [
        ("file.read", "sub/moved/tokens.txt", json!({})),
        ("file.read", "sub/moved/versions/a.txt", json!({})),
        ("file.stat", "sub/moved/versions/deep/a.txt", json!({})),
        ("file.list", "sub/moved", json!({})),
        ("file.list", "sub/moved/versions", json!({})),
        ("file.tree", "sub/moved/versions/deep", json!({})),
        ("file.find", "sub/moved/versions", json!({"pattern": "*"})),
        ("file.search", "sub/moved/versions", json!({"query": "OWN"})),
        ("file.search", "sub/moved/versions/a.txt", json!({"query": "OWN"})),
        ("file.write", "sub/moved/versions/new.txt", json!({"content": "x"})),
        ("file.create", "sub/moved/processes/new.txt", json!({"content": "x"})),
        ("file.mkdir", "sub/moved/versions/deep/new", json!({})),
        ("file.delete", "sub/moved/versions/a.txt", json!({})),
        ("file.copy", "sub/moved/versions/a.txt", json!({"to": "copied.txt"})),
        ("file.move", "sub/moved/versions/a.txt", json!({"to": "moved.txt"})),
        ("file.copy", "sub/a.txt", json!({"to": "sub/moved/versions/copied.txt"})),
    ] {
        let answer = call(&service, json!({"op": op, "target": target, "input": input}));
        assert_eq!(answer["error"]["details"]["rule"], "own-folders", "{op} {target}: {answer}");
        assert!(!answer.to_string().contains("OWN-SECRET"), "{op} {target}: {answer}");
    }
    let many = json!({"op": "file.read_many", "input": {"paths": ["sub/moved/versions/a.txt", "sub/a.txt"]}});
    let answer = call(&service, many).to_string();
    assert!(!answer.contains("OWN-SECRET") && answer.contains("open"), "{answer}");
    assert!(ok(&call(&service, json!({"op": "file.read", "target": "sub/a.txt"}))));
}

#[test]
#[cfg(target_os = "linux")]
fn no_operation_opens_a_pipe_or_a_device() {
    use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
    use std::mem::MaybeUninit;

    let world = LinkedFolders::new();
    let pipe = world.root().join("pipe");
    crate::system::make_pipe(&pipe).expect("a pipe can be made");
    fs::write(world.root().join("file"), "content").expect("the scope's folder can be written");
    let service = world.service();
    assert!(ok(&call(&service, json!({"op": "file.read", "target": "file"}))));
    let watch = init(CreateFlags::NONBLOCK).expect("a watch can be made");
    for name in ["pipe", "file"] {
        add_watch(&watch, world.root().join(name), WatchFlags::OPEN).expect("it can be watched");
    }
    for (op, input) in [
        ("file.read", json!({})),
        ("file.stat", json!({})),
        ("file.search", json!({"query": "x"})),
        ("file.write", json!({"content": "x"})),
        ("file.copy", json!({"to": "copy"})),
        ("file.patch", json!({"edits": [{"old": "a", "new": "b"}]})),
        ("code.outline", json!({})),
    ] {
        call(&service, json!({"op": op, "target": "pipe", "input": input}));
    }
    let mut room = [MaybeUninit::uninit(); 4096];
    assert!(Reader::new(&watch, &mut room).next().is_err(), "nothing was opened");
    assert!(ok(&call(&service, json!({"op": "file.read", "target": "file"}))));
    assert!(Reader::new(&watch, &mut room).next().is_ok(), "the watch shows what is opened");
}
