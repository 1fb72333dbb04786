//! Nothing that an operation removes or replaces is lost: it comes back byte for byte, with what belongs to it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bailiwick::platform::dirs::Dirs;
use bailiwick::platform::fs::modes::{MetadataExt, PermissionsExt, set_mode, symlink};
use bailiwick::platform::fs::{Attributes, ChangeAttributes};
use bailiwick::service::Service;
use serde_json::{Value, json};

use crate::system::{Need, lacks};
use crate::temporary::TemporaryFolder;
use support::scope::TestScope;
use support::service::call;

/// Above what is kept by content.
const LARGE: usize = (16 << 20) + 5;

/// What is known of an entry: kind, mode, time of the last change, content or target, and attributes.
type Facts = (char, u32, Option<SystemTime>, Vec<u8>, Vec<(Vec<u8>, Vec<u8>)>);

/// Describes everything below a folder. `changed` is the folder in which names change, and with them its time.
fn all_below(folder: &Path, changed: &Path) -> BTreeMap<PathBuf, Facts> {
    let mut found = BTreeMap::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(at) = todo.pop() {
        for entry in fs::read_dir(&at).expect("it can be read") {
            let path = entry.expect("it can be read").path();
            let facts = fs::symlink_metadata(&path).expect("it is there");
            let (mode, modified) = (facts.permissions().mode() & 0o7777, facts.modified().ok());
            let described = if facts.is_symlink() {
                let target = fs::read_link(&path).expect("it is a link");
                ('l', 0, None, target.to_string_lossy().into_owned().into_bytes(), Vec::new())
            } else if facts.is_dir() {
                todo.push(path.clone());
                let is_changed = path.strip_prefix(folder) == Ok(changed);
                ('d', mode, modified.filter(|_| !is_changed), Vec::new(), Vec::new())
            } else {
                let file = File::open(&path).expect("it can be read");
                let mut attributes = file.attributes().expect("they can be read");
                attributes.sort();
                ('f', mode, modified, fs::read(&path).expect("it can be read"), attributes)
            };
            found.insert(path.strip_prefix(folder).expect("it is below").to_owned(), described);
        }
    }
    found
}

fn write(path: &Path, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().expect("it is below the root")).expect("the scope can be written");
    fs::write(path, content).expect("the scope can be written");
}

/// Makes a folder with a little of everything.
fn make_folder(at: &Path) {
    write(&at.join("a/b/deep.txt"), "deep");
    write(&at.join("script.sh"), "#!/bin/sh\n");
    write(&at.join("large.bin"), vec![7; LARGE]);
    fs::create_dir(at.join("empty")).expect("made");
    symlink("a/b/deep.txt", at.join("link")).expect("made");
    symlink("nowhere", at.join("broken")).expect("made");
    set_mode(&at.join("script.sh"), 0o750).expect("own file");
    set_mode(&at.join("a/b"), 0o700).expect("own folder");
    let file = File::options().write(true).open(at.join("a/b/deep.txt")).expect("it is there");
    // Not every file system has attributes; what could be set has to come back.
    file.set_attributes(&[(b"user.note".to_vec(), b"kept".to_vec())]);
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)).expect("own file");
}

/// Creates a file with holes, and returns how much of it is on the disk.
fn make_sparse(path: &Path) -> u64 {
    let file = File::create(path).expect("the scope can be written");
    file.set_len(64 << 20).expect("own file");
    disk_bytes(path)
}

fn disk_bytes(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt as _;

    fs::metadata(path).expect("it is there").blocks() * 512
}

fn done(service: &Arc<Service>, envelope: Value) -> Value {
    let answer = call(service, envelope);
    assert_eq!(answer["ok"], true, "{answer}");
    answer["data"].clone()
}

fn undo(service: &Arc<Service>, data: &Value) -> Value {
    assert!(data["undoId"].is_string(), "{data}");
    done(service, json!({"op": "file.restore", "input": {"undoId": data["undoId"]}}))
}

/// Does something, takes it back, does it again by taking that back, and takes that back.
fn there_and_back(world: &TestScope, service: &Arc<Service>, envelope: Value) {
    let changed =
        Path::new(envelope["target"].as_str().expect("a path")).parent().expect("a folder").to_owned();
    let all_below = |root: &Path| all_below(root, &changed);
    let before = all_below(&world.root());
    let first = done(service, envelope.clone());
    let after = all_below(&world.root());
    assert!(after != before, "{envelope}");
    let second = undo(service, &first);
    assert!(all_below(&world.root()) == before, "{envelope}");
    let third = undo(service, &second);
    assert!(all_below(&world.root()) == after, "{envelope}");
    undo(service, &third);
    assert!(all_below(&world.root()) == before, "{envelope}");
}

/// Two state folders: on the file system of the scope, and, where there is one, on another.
fn states(world: &TestScope) -> Vec<(Arc<Service>, Option<TemporaryFolder>)> {
    let mut states = vec![(world.boot(), None)];
    if let Some(other) = TemporaryFolder::elsewhere(&world.root()) {
        states.push((world.clone().with_home(other.path().join("home")).boot(), Some(other)));
    }
    assert!(states.len() == 2 || !cfg!(target_os = "linux"), "/dev/shm is another file system");
    states
}

#[test]
fn a_removed_folder_link_or_large_file_comes_back_with_all_that_belongs_to_it() {
    if lacks(Need::Modes) {
        return;
    }
    let world = TestScope::new();
    make_folder(&world.root().join("folder"));
    write(&world.root().join("large.bin"), vec![3; LARGE]);
    for (service, _other) in states(&world) {
        for target in
            ["folder", "folder/link", "folder/broken", "folder/empty", "large.bin", "folder/script.sh"]
        {
            let options = json!({"recursive": true});
            there_and_back(
                &world,
                &service,
                json!({"op": "file.delete", "target": target, "options": options}),
            );
        }
    }
}

#[test]
fn what_a_move_a_copy_or_a_write_replaces_comes_back() {
    if lacks(Need::Modes) {
        return;
    }
    let world = TestScope::new();
    let root = world.root();
    make_folder(&root.join("folder"));
    write(&root.join("other/x.txt"), "x");
    write(&root.join("large.bin"), vec![3; LARGE]);
    write(&root.join("small.txt"), "small");
    symlink("small.txt", root.join("link")).expect("made");
    for (service, _other) in states(&world) {
        for op in ["file.move", "file.copy"] {
            for (from, to) in [
                ("other", "folder"),
                ("folder", "other"),
                ("folder", "new"),
                ("small.txt", "large.bin"),
                ("large.bin", "small.txt"),
                ("large.bin", "new"),
                ("small.txt", "link"),
                ("link", "small.txt"),
                ("link", "new"),
            ] {
                let options = json!({"ifExists": "replace"});
                let input = json!({"to": to});
                there_and_back(
                    &world,
                    &service,
                    json!({"op": op, "target": from, "input": input, "options": options}),
                );
            }
        }
        let input = json!({"content": "little"});
        there_and_back(&world, &service, json!({"op": "file.write", "target": "large.bin", "input": input}));
    }
}

#[test]
fn a_new_folder_goes_again_with_those_that_were_made_for_it() {
    if lacks(Need::Modes) {
        return;
    }
    let world = TestScope::new();
    let (service, root) = (world.boot(), world.root());
    there_and_back(&world, &service, json!({"op": "file.mkdir", "target": "new"}));
    let parents = json!({"parents": true});
    there_and_back(&world, &service, json!({"op": "file.mkdir", "target": "a/b/c", "options": parents}));
    let (input, options) = (json!({"content": "x"}), json!({"createParents": true}));
    let write = json!({"op": "file.write", "target": "made/x.txt", "input": input, "options": options});
    there_and_back(&world, &service, write);
    let patch = "*** Begin Patch\n*** Add File: made/x.txt\n+x\n*** End Patch";
    let before = all_below(&root, Path::new(""));
    let patched = done(&service, json!({"op": "file.patch", "input": {"patch": patch}}));
    assert!(root.join("made/x.txt").exists(), "{patched}");
    undo(&service, &patched);
    assert!(all_below(&root, Path::new("")) == before);
    // What others have put there stays, and the folder with it.
    let made = done(&service, json!({"op": "file.mkdir", "target": "used"}));
    fs::write(root.join("used/theirs"), "x").expect("written");
    undo(&service, &made);
    assert!(root.join("used/theirs").exists());
}

#[test]
fn folders_that_were_made_for_what_does_not_come_back_go_again() {
    let world = TestScope::new().host();
    let root = world.root();
    write(&root.join("a/b/c/x.txt"), "x");
    let removed =
        done(&world.service, json!({"op": "file.delete", "target": "a/b/c", "options": {"recursive": true}}));
    fs::remove_dir_all(root.join("a")).expect("own folder");
    let parts = fs::read_dir(world.dirs.state.join("versions/whole")).expect("it is there").flatten();
    let mut things = parts.map(|part| part.path().join("thing-0"));
    let thing = things.find(|thing| thing.exists()).expect("it is kept");
    let aside = world.dirs.state.join("aside");
    fs::rename(&thing, &aside).expect("it is there");
    let undo = json!({"op": "file.restore", "input": {"undoId": removed["undoId"]}});
    let refused = call(&world.service, undo.clone());
    assert_eq!(refused["error"]["code"], "not_found", "{refused}");
    assert_eq!(fs::read_dir(&root).expect("it is there").count(), 0, "{refused}");
    fs::rename(&aside, &thing).expect("it is free");
    done(&world.service, undo);
    assert_eq!(fs::read_to_string(root.join("a/b/c/x.txt")).expect("it is back"), "x");
}

#[test]
fn a_batch_that_fails_takes_new_folders_back() {
    let world = TestScope::new();
    let (service, root) = (world.boot(), world.root());
    let steps = json!([
        {"op": "file.mkdir", "target": "new"},
        {"op": "file.create", "target": "new/x.txt", "input": {"content": "x"}},
        {"op": "file.create", "target": "made/deep/x.txt", "input": {"content": "x"}, "options": {"createParents": true}},
        {"op": "file.read", "target": "missing"},
    ]);
    let answer = call(&service, json!({"op": "batch.run", "input": {"steps": steps}}));
    assert_eq!(answer["error"]["details"]["rolledBack"], true, "{answer}");
    assert_eq!(fs::read_dir(&root).expect("it is there").count(), 0, "{answer}");
}

#[test]
fn an_undo_that_failed_and_made_its_changes_again_can_be_repeated() {
    let world = TestScope::new();
    let (service, root) = (world.boot(), world.root());
    write(&root.join("a.txt"), "before");
    make_folder(&root.join("folder"));
    let before = all_below(&root, Path::new(""));
    let steps = json!([
        {"op": "file.write", "target": "a.txt", "input": {"content": "after"}, "options": {"overwrite": true}},
        {"op": "file.delete", "target": "folder", "options": {"recursive": true}},
    ]);
    let done = call(&service, json!({"op": "batch.run", "input": {"steps": steps}}));
    assert_eq!(done["ok"], true, "{done}");
    let undo = json!({"op": "history.undo", "input": {"operation": done["operationId"]}});
    for _ in 0..3 {
        // The folder comes back first, and then this is in the way.
        fs::write(root.join("a.txt"), "by hand").expect("it can be written");
        let refused = call(&service, undo.clone());
        assert_eq!(refused["error"]["code"], "conflict", "{refused}");
        assert!(!root.join("folder").exists(), "{refused}");
    }
    fs::write(root.join("a.txt"), "after").expect("it can be written");
    let undone = call(&service, undo);
    assert_eq!(undone["ok"], true, "{undone}");
    let without_times = |all: BTreeMap<PathBuf, Facts>| -> Vec<_> {
        all.into_iter()
            .map(|(path, (kind, mode, _, content, more))| (path, kind, mode, content, more))
            .collect()
    };
    let found = all_below(&root, Path::new(""));
    let names: Vec<_> = found.keys().cloned().collect();
    assert!(without_times(found) == without_times(before), "{names:?}");
}

#[test]
fn a_file_that_another_has_replaced_has_its_attributes_again() {
    let world = TestScope::new();
    let (service, root) = (world.boot(), world.root());
    let without_times = || -> Vec<_> {
        let all = all_below(&root, Path::new(""));
        all.into_iter()
            .map(|(path, (kind, mode, _, content, attributes))| (path, kind, mode, content, attributes))
            .collect()
    };
    for (name, content, value) in [("one.txt", "1", "first"), ("two.txt", "2", "second")] {
        write(&root.join(name), content);
        let file = File::options().write(true).open(root.join(name)).expect("it is there");
        file.set_attributes(&[(format!("user.{value}").into_bytes(), value.into())]);
    }
    for op in ["file.move", "file.copy"] {
        let before = without_times();
        let input = json!({"to": "two.txt"});
        let options = json!({"ifExists": "replace"});
        let first =
            done(&service, json!({"op": op, "target": "one.txt", "input": input, "options": options}));
        let after = without_times();
        let second = undo(&service, &first);
        assert!(without_times() == before, "{op}");
        let third = undo(&service, &second);
        assert!(without_times() == after, "{op}");
        undo(&service, &third);
        assert!(without_times() == before, "{op}");
    }
}

#[test]
fn what_is_too_large_to_keep_is_refused_and_goes_only_without_undo() {
    let world = TestScope::new();
    let (service, root) = (world.boot(), world.root());
    let huge = root.join("huge/image");
    write(&huge, "");
    // Half a gigabyte and more, of which nothing is on the disk.
    File::options().write(true).open(&huge).expect("own file").set_len(600 << 20).expect("own file");
    write(&root.join("small/a.txt"), "a");
    let before = fs::metadata(&huge).expect("it is there").modified().expect("a time");
    let options = json!({"recursive": true, "ifExists": "replace"});
    let without = |options: &Value, keys: &[&str]| -> Value {
        let mut chosen = json!({"withoutUndo": true});
        keys.iter().for_each(|key| chosen[*key] = options[*key].clone());
        chosen
    };
    let cases = [
        (json!({"op": "file.write", "target": "huge/image", "input": {"content": ""}}), vec![]),
        (
            json!({"op": "file.copy", "target": "small/a.txt", "input": {"to": "huge/image"}}),
            vec!["ifExists"],
        ),
        (json!({"op": "file.move", "target": "small", "input": {"to": "huge"}}), vec!["ifExists"]),
        (json!({"op": "file.delete", "target": "huge"}), vec!["recursive"]),
    ];
    for (mut envelope, keys) in cases {
        let chosen = without(&options, &keys);
        envelope["options"] = chosen.clone();
        envelope["options"].as_object_mut().expect("an object").remove("withoutUndo");
        let refused = call(&service, envelope.clone());
        assert_eq!(refused["error"]["details"]["rule"], "no-undo", "{refused}");
        assert!(refused["error"]["hints"][0].as_str().expect("a hint").contains("options.withoutUndo"));
        let facts = fs::metadata(&huge).expect("it is there still");
        assert_eq!((facts.len(), facts.modified().expect("a time")), (600 << 20, before), "{envelope}");
        assert!(root.join("small/a.txt").exists());
        // A look says the same as the deed.
        envelope["options"] = chosen;
        envelope["options"]["dryRun"] = json!(true);
        done(&service, envelope);
    }
    let options = json!({"recursive": true, "withoutUndo": true});
    let gone = done(&service, json!({"op": "file.delete", "target": "huge", "options": options}));
    assert!(gone["undoId"].is_null() && !root.join("huge").exists());
}

#[test]
fn something_new_is_never_replaced_by_what_comes_back() {
    let world = TestScope::new();
    let (service, root) = (world.boot(), world.root());
    write(&root.join("folder/a.txt"), "a");
    let options = json!({"recursive": true});
    let gone = done(&service, json!({"op": "file.delete", "target": "folder", "options": options}));
    write(&root.join("folder"), "new");
    let restore = json!({"op": "file.restore", "input": {"undoId": gone["undoId"]}});
    let refused = call(&service, restore.clone());
    assert_eq!(refused["error"]["code"], "conflict", "{refused}");
    assert_eq!(fs::read(root.join("folder")).expect("it is there"), b"new");
    fs::remove_file(root.join("folder")).expect("own file");
    done(&service, restore.clone());
    assert_eq!(fs::read(root.join("folder/a.txt")).expect("it is back"), b"a");
    let again = call(&service, restore);
    assert_eq!(again["error"]["code"], "not_found", "{again}");

    // Nor is something changed put away by taking a copy or a move back.
    let copy = done(&service, json!({"op": "file.copy", "target": "folder", "input": {"to": "copy"}}));
    write(&root.join("copy/b.txt"), "b");
    let refused = call(&service, json!({"op": "file.restore", "input": {"undoId": copy["undoId"]}}));
    assert_eq!(refused["error"]["code"], "conflict", "{refused}");
    assert!(root.join("copy/b.txt").exists());
}

#[test]
fn what_came_back_long_ago_and_was_edited_since_is_a_conflict() {
    let world = TestScope::new();
    let (service, root) = (world.boot(), world.root());
    write(&root.join("a.txt"), "a");
    let moved = done(&service, json!({"op": "file.move", "target": "a.txt", "input": {"to": "b.txt"}}));
    let back = undo(&service, &moved);
    let restore =
        |data: &Value| call(&service, json!({"op": "file.restore", "input": {"undoId": data["undoId"]}}));
    write(&root.join("a.txt"), "edited");
    let refused = restore(&moved);
    assert_eq!(refused["error"]["code"], "conflict", "{refused}");
    assert_eq!(fs::read(root.join("a.txt")).expect("it is there"), b"edited");

    // Nor does an undo count that was taken back itself.
    write(&root.join("a.txt"), "a");
    let moved = done(&service, json!({"op": "file.move", "target": "a.txt", "input": {"to": "c.txt"}}));
    let back_again = undo(&service, &moved);
    undo(&service, &back_again);
    fs::rename(root.join("c.txt"), root.join("a.txt")).expect("own file");
    write(&root.join("a.txt"), "edited");
    let refused = restore(&moved);
    assert_eq!(refused["error"]["code"], "conflict", "{refused}");
    assert!(back["undoId"].is_string());
}

#[test]
fn a_version_comes_back_only_over_the_version_that_is_expected() {
    let world = TestScope::new();
    let (service, root) = (world.boot(), world.root());
    let name = "a.txt";
    write(&root.join(name), "old");
    let change = |text: &str| {
        let options = json!({"overwrite": true});
        done(
            &service,
            json!({"op": "file.write", "target": name, "input": {"content": text}, "options": options}),
        )
    };
    let old = change("new")["versionBefore"].clone();
    let new = change("newest")["versionBefore"].clone();
    change("old");
    let restore = |expected: &Value| {
        let options = json!({"ifVersion": expected});
        call(
            &service,
            json!({"op": "file.restore", "target": name, "input": {"version": old}, "options": options}),
        )
    };
    // The file has the wanted content, and not the version that the client knows.
    let refused = restore(&new);
    assert_eq!(refused["error"]["code"], "conflict", "{refused}");
    let same = restore(&old);
    assert_eq!(same["ok"], true, "{same}");
}

#[test]
fn what_comes_back_is_judged_like_anything_that_is_written() {
    if lacks(Need::Links) {
        return;
    }
    let world = TestScope::new();
    let (service, root) = (world.boot(), world.root());
    write(&root.join("folder/notes/a.txt"), "a");
    let options = json!({"recursive": true});
    let gone = done(&service, json!({"op": "file.delete", "target": "folder", "options": options}));
    drop(service);
    let service = world.clone().with_policy(json!({"closedFiles": ["**/a.txt"]})).boot();
    let refused = call(&service, json!({"op": "file.restore", "input": {"undoId": gone["undoId"]}}));
    assert_eq!(refused["error"]["code"], "permission_denied", "{refused}");
    assert!(!root.join("folder").exists());
    let service = world.boot();
    undo(&service, &gone);
    assert!(root.join("folder/notes/a.txt").exists());
}

// Windows has no such modes, and keeps holes and links in its own ways.
#[cfg(unix)]
#[test]
fn holes_hard_links_and_rights_of_a_removed_file_come_back() {
    let world = TestScope::new();
    let root = world.root();
    let sparse = make_sparse(&root.join("sparse"));
    write(&root.join("one"), "content");
    fs::hard_link(root.join("one"), root.join("two")).expect("the file system has hard links");
    write(&root.join("set-group"), "x");
    set_mode(&root.join("set-group"), 0o2755).expect("own file");
    for (service, other) in states(&world) {
        for target in ["sparse", "one", "set-group"] {
            let gone = done(&service, json!({"op": "file.delete", "target": target}));
            assert!(!root.join(target).exists());
            undo(&service, &gone);
        }
        assert!(disk_bytes(&root.join("sparse")) <= sparse + (64 << 10), "holes stay holes");
        let copy = json!({"op": "file.copy", "target": "sparse", "input": {"to": "copy"}});
        undo(&service, &done(&service, copy.clone()));
        done(&service, copy);
        assert!(disk_bytes(&root.join("copy")) <= sparse + (64 << 10), "and in a copy");
        fs::remove_file(root.join("copy")).expect("own file");
        if other.is_none() {
            let number = |name| fs::metadata(root.join(name)).expect("it is there").nlink();
            assert_eq!((number("one"), number("two")), (2, 2));
            let mode = fs::metadata(root.join("set-group")).expect("it is there").permissions().mode();
            assert_eq!(mode & 0o7777, 0o2755);
        }
    }
}

#[test]
fn a_change_whose_undo_cannot_be_written_is_not_made() {
    let world = TestScope::new();
    let root = world.root();
    write(&root.join("folder/a.txt"), "a");
    write(&root.join("a.txt"), "a");
    write(&root.join("b.txt"), "b");
    write(&root.join("large.bin"), vec![3; LARGE]);
    let home = TemporaryFolder::new();
    let service = world.clone().with_home(home.path().to_owned()).boot();
    // Nothing can be made where the undo is kept: it would be written before the change is seen.
    let state = Dirs::below(home.path().to_owned()).state;
    fs::create_dir_all(&state).expect("it is ours");
    fs::write(state.join("versions"), "").expect("it is ours");
    let before = all_below(&root, Path::new("none"));
    let replace = json!({"ifExists": "replace"});
    let cases = [
        json!({"op": "file.write", "target": "a.txt", "input": {"content": "new"}}),
        json!({"op": "file.write", "target": "new.txt", "input": {"content": "new"}}),
        json!({"op": "file.write", "target": "large.bin", "input": {"content": "new"}}),
        json!({"op": "file.patch", "target": "a.txt", "input": {"edits": [{"old": "a", "new": "b"}]}}),
        json!({"op": "file.delete", "target": "folder", "options": {"recursive": true}}),
        json!({"op": "file.delete", "target": "a.txt"}),
        json!({"op": "file.move", "target": "a.txt", "input": {"to": "b.txt"}, "options": replace}),
        json!({"op": "file.move", "target": "large.bin", "input": {"to": "b.txt"}, "options": replace}),
        json!({"op": "file.copy", "target": "a.txt", "input": {"to": "b.txt"}, "options": replace}),
        json!({"op": "file.copy", "target": "folder", "input": {"to": "new"}}),
    ];
    for mut envelope in cases {
        let refused = call(&service, envelope.clone());
        assert_eq!(refused["error"]["details"]["rule"], "no-undo", "{envelope}: {refused}");
        let mut left = all_below(&root, Path::new("none"));
        left.retain(|path, _| path != Path::new("new"));
        assert!(left == before, "{envelope}");
        envelope["options"]["withoutUndo"] = json!(true);
        envelope["options"]["dryRun"] = json!(true);
        done(&service, envelope);
    }
    let options = json!({"withoutUndo": true});
    let written =
        json!({"op": "file.write", "target": "a.txt", "input": {"content": "new"}, "options": options});
    assert!(done(&service, written)["undoId"].is_null());
    assert_eq!(fs::read(root.join("a.txt")).expect("it is there"), b"new");
}

#[test]
fn a_folder_of_files_goes_and_comes_back_however_often() {
    remove_and_undo(10, 10);
}

/// Removes a folder of so many folders of so many files and takes that back, with undo and without it. Returns the shortest
/// times of the removals: without undo, and with it.
pub(super) fn remove_and_undo(folders: usize, files: usize) -> (Duration, Duration) {
    let world = TestScope::new();
    let (service, root) = (world.boot(), world.root());
    let fill = |name: &str| {
        for folder in 0..folders {
            let at = root.join(name).join(folder.to_string());
            fs::create_dir_all(&at).expect("the scope can be written");
            for file in 0..files {
                fs::write(at.join(file.to_string()), format!("{folder} {file}\n"))
                    .expect("the scope can be written");
            }
        }
    };
    let time = |options: Value| {
        let began = std::time::Instant::now();
        let gone = done(&service, json!({"op": "file.delete", "target": "many", "options": options}));
        assert_eq!(gone["files"], folders * files);
        (began.elapsed(), gone)
    };
    let mut plain = Duration::MAX;
    for _ in 0..2 {
        fill("many");
        plain = plain.min(time(json!({"recursive": true, "withoutUndo": true})).0);
    }
    fill("many");
    let before = all_below(&root, Path::new(""));
    let mut with_undo = Duration::MAX;
    for _ in 0..2 {
        let (took, gone) = time(json!({"recursive": true}));
        with_undo = with_undo.min(took);
        let back = undo(&service, &gone);
        assert!(all_below(&root, Path::new("")) == before, "it is back");
        // The undo is taken back, and that, too.
        let again = undo(&service, &back);
        assert!(!root.join("many").exists());
        undo(&service, &again);
        assert!(all_below(&root, Path::new("")) == before, "it is back again");
    }
    (plain, with_undo)
}

#[test]
fn where_room_ends_the_oldest_goes_and_the_newest_stays() {
    let world = TestScope::new();
    let (service, root) = (world.boot(), world.root());
    let remove = |name: &str| {
        fs::create_dir(root.join(name)).expect("the scope can be written");
        let file = File::create(root.join(name).join("image")).expect("the scope can be written");
        // Of which nothing is on the disk.
        file.set_len(200 << 20).expect("own file");
        done(&service, json!({"op": "file.delete", "target": name, "options": {"recursive": true}}))
    };
    let gone: Vec<Value> = ["one", "two", "three"].into_iter().map(remove).collect();
    let restore =
        |data: &Value| call(&service, json!({"op": "file.restore", "input": {"undoId": data["undoId"]}}));
    let oldest = restore(&gone[0]);
    assert_eq!(oldest["error"]["code"], "not_found", "{oldest}");
    assert!(oldest["error"]["message"].as_str().is_some_and(|it| it.contains("not kept")), "{oldest}");
    for (at, name) in [(2, "three"), (1, "two")] {
        let back = restore(&gone[at]);
        assert_eq!(back["ok"], true, "{back}");
        assert_eq!(fs::metadata(root.join(name).join("image")).expect("it is back").len(), 200 << 20);
    }
}

#[test]
fn a_change_that_is_damaged_where_it_is_kept_is_refused_and_doctor_names_it() {
    let world = TestScope::new().host();
    let root = world.root();
    let text = |end: &str| (0..20_000).map(|line| format!("line {line}{end}\n")).collect::<String>();
    for (name, content) in [("a.txt", text("")), ("b.txt", "small\n".repeat(100)), ("c.txt", text(" of c"))] {
        write(&root.join(name), content);
    }
    let before = all_below(&root, Path::new("none"));
    let replace = |target: &str| {
        done(&world.service, json!({"op": "file.write", "target": target, "input": {"content": "new\n"}}))
    };
    let changes = ["a.txt", "b.txt", "c.txt"].map(replace);
    // The chunks of the first one, in the pack of its change.
    let parts = fs::read_dir(world.dirs.state.join("versions/changes")).expect("it is there").flatten();
    let mut packs =
        parts.map(|part| part.path().join("packs").join(changes[0]["undoId"].as_str().expect("an id")));
    let pack = packs.find(|pack| pack.exists()).expect("it has chunks");
    let mut bytes = fs::read(&pack).expect("it can be read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&pack, bytes).expect("it can be written");
    let after = all_below(&root, Path::new("none"));
    let refused =
        call(&world.service, json!({"op": "file.restore", "input": {"undoId": changes[0]["undoId"]}}));
    assert_eq!(refused["error"]["code"], "not_found", "{refused}");
    assert!(
        refused["error"]["message"].as_str().is_some_and(|it| it.contains("`a.txt` is damaged")),
        "{refused}"
    );
    assert!(all_below(&root, Path::new("none")) == after, "nothing was changed");
    let report = world.cli(&["doctor"]);
    let checks = report["checks"].as_array().expect("a list");
    let says = checks.iter().find(|it| it["check"] == "undo").map(|it| it["says"].to_string());
    let says = says.unwrap_or_else(|| panic!("{report:#}"));
    assert!(says.contains(changes[0]["undoId"].as_str().expect("an id")) && says.contains("a.txt"), "{says}");
    // All else comes back.
    undo(&world.service, &changes[1]);
    undo(&world.service, &changes[2]);
    for name in ["b.txt", "c.txt"] {
        assert!(fs::read(root.join(name)).expect("it is there") == before[Path::new(name)].3, "{name}");
    }
}

#[test]
fn an_undo_of_which_a_change_cannot_be_read_is_an_error_that_names_it() {
    let world = TestScope::new().host();
    let root = world.root();
    write(&root.join("a.txt"), "before\n");
    write(&root.join("b.txt"), "before\n");
    let step = |target: &str| json!({"op": "file.write", "target": target, "input": {"content": "after\n"}, "options": {"overwrite": true}});
    let ran = json!({"op": "batch.run", "input": {"steps": [step("a.txt"), step("b.txt")]}});
    let ran = call(&world.service, ran);
    assert_eq!(ran["ok"], true, "{ran}");
    let undo_id = ran["data"]["steps"][0]["data"]["undoId"].as_str().expect("an id");
    let parts = fs::read_dir(world.dirs.state.join("versions/changes")).expect("it is there").flatten();
    let mut records = parts.map(|part| part.path().join("log").join(undo_id));
    let record = records.find(|record| record.exists()).expect("it is kept");
    let aside = world.dirs.state.join("aside");
    fs::rename(&record, &aside).expect("it is there");
    // It is there, and cannot be read.
    fs::create_dir(&record).expect("it is free");
    let after = all_below(&root, Path::new("none"));
    let undo = json!({"op": "history.undo", "input": {"operation": ran["operationId"]}});
    let by_time = json!({"op": "history.undo", "input": {"since": "2020-01-01"}});
    let one = json!({"op": "file.restore", "input": {"undoId": undo_id}});
    let versions = json!({"op": "file.history", "target": "a.txt"});
    for envelope in [&undo, &by_time, &one, &versions] {
        let refused = call(&world.service, envelope.clone());
        assert_eq!(refused["error"]["code"], "provider_unavailable", "{envelope}: {refused}");
        assert!(refused["error"]["message"].as_str().is_some_and(|it| it.contains(undo_id)), "{refused}");
        assert!(all_below(&root, Path::new("none")) == after, "{envelope}: nothing was changed");
    }
    let report = world.cli(&["doctor"]);
    let checks = report["checks"].as_array().expect("a list");
    let says = checks.iter().find(|it| it["check"] == "undo").unwrap_or_else(|| panic!("{report:#}"));
    assert!(says["says"].as_str().is_some_and(|it| it.contains(undo_id)), "{says}");
    fs::remove_dir(&record).expect("it is empty");
    fs::rename(&aside, &record).expect("it is free");
    done(&world.service, undo);
    for name in ["a.txt", "b.txt"] {
        assert_eq!(fs::read_to_string(root.join(name)).expect("it is there"), "before\n");
    }
}
