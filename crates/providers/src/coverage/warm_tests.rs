//! A look that knows the last one is held against one that knows nothing.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::node::{Content, Node, join};
use super::{CoverageStore, CoveredRoot, Difference, Snapshot};
use bailiwick_contract::{Cancel, id};
use bailiwick_platform::fs::modes::{set_mode, symlink};
use bailiwick_platform::fs::{CAN_RESTORE_TREES, FolderWatch, RelPath, Root, remove_tree};

fn look(store: &CoverageStore, folder: &Path, before: Option<&Snapshot>) -> Snapshot {
    look_but(store, folder, before, &[])
}

/// Looks at a folder as before a command that cannot change some paths.
fn look_but(store: &CoverageStore, folder: &Path, before: Option<&Snapshot>, closed: &[&str]) -> Snapshot {
    let dir = Root::open(folder).and_then(|root| root.open_dir(&RelPath::root())).expect("opened");
    let closed = closed.iter().map(|path| RelPath::parse(path.as_bytes()).expect("a path")).collect();
    let roots = vec![CoveredRoot { dir, closed }];
    let cancel = Cancel::after(Duration::from_secs(60));
    store.look("app", roots, &|_| false, before, None, &cancel).expect("looked at")
}

/// Changes something in a folder, if it can be done.
fn change(folder: &Path, (what, which, other): (u8, u8, u8)) {
    let path = |which: u8| {
        let folders = ["", "one", "two", "one/deep"];
        folder.join(folders[usize::from(which / 4) % folders.len()]).join((which % 4).to_string())
    };
    let (path, other) = (path(which), path(other));
    if let Some(above) = path.parent() {
        let _ = fs::create_dir_all(above);
    }
    let _ = match what {
        0 => fs::write(&path, vec![which; usize::from(which)]),
        1 => fs::write(&path, other.as_os_str().as_encoded_bytes()),
        // Of the same size, with the time of the last change as it was.
        2 => fs::metadata(&path).and_then(|facts| {
            fs::write(&path, vec![b'x'; usize::try_from(facts.len()).unwrap_or(0)])?;
            File::options().write(true).open(&path)?.set_modified(facts.modified()?)
        }),
        3 => fs::rename(&path, &other),
        4 => fs::hard_link(&path, &other),
        5 => symlink(&other, &path),
        6 => fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path)),
        7 => fs::create_dir_all(path.join("deep")),
        8 => set_mode(&path, 0o700 | u32::from(which)),
        _ => fs::rename(folder.join("one"), folder.join("two")),
    };
}

/// Describes a node, without where its content is kept.
fn described(node: &Node) -> Node {
    let content = node.content.clone().map(|content| Content { at: None, ..content });
    Node { content, is_fresh: false, ..node.clone() }
}

fn all_nodes(snapshot: &Snapshot) -> BTreeMap<Vec<u8>, Node> {
    let nodes = snapshot.roots[0].nodes();
    nodes.map(|(folder, name, node)| (join(folder, name), described(node))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    // What is taken over from what was known is what a look sees that knows nothing; so is what differs.
    #[test]
    fn a_look_that_knows_the_last_one_sees_what_one_sees_that_knows_nothing(
        rounds in prop::collection::vec(prop::collection::vec((0_u8..10, 0_u8..16, 0_u8..16), 0..6), 1..6)
    ) {
        if !CAN_RESTORE_TREES {
            return Ok(());
        }
        let folder = std::env::temp_dir().join(format!("bailiwick-coverage-{}", id::new_id()));
        let root = folder.join("root");
        fs::create_dir_all(&root).expect("made");
        for at in 0..16 {
            change(&root, (0, at, 0));
        }
        let warm = CoverageStore::below(&folder.join("warm"));
        let cold = |round: usize| CoverageStore::below(&folder.join(format!("cold-{round}")));
        let mut before = (look(&warm, &root, None), look(&cold(0), &root, None));
        for (round, changes) in rounds.into_iter().enumerate() {
            changes.into_iter().for_each(|it| change(&root, it));
            let of_disk = look(&warm, &root, None);
            let of_before = look(&warm, &root, Some(&before.0));
            let plain = look(&cold(round + 1), &root, None);
            let expected = all_nodes(&plain);
            prop_assert_eq!(&all_nodes(&of_disk), &expected);
            prop_assert_eq!(&all_nodes(&of_before), &expected);
            let differences = [Difference::between(&before.0, &of_before), Difference::between(&before.1, &plain)];
            let [warm_changes, plain_changes] = differences.map(|it| {
                let nodes = |node: &Option<Node>| node.as_ref().map(described);
                let changes = it.changes.iter();
                let changes: Vec<_> =
                    changes.map(|it| (it.path.clone(), nodes(&it.before), nodes(&it.after), it.relinks)).collect();
                (changes, it.uncovered)
            });
            prop_assert_eq!(warm_changes, plain_changes);
            for content in of_before.roots[0].nodes().filter_map(|(_, _, node)| node.content.as_ref()) {
                prop_assert!(of_before.read(content).is_some(), "what is kept can be read");
            }
            before = (of_before, plain);
        }
        remove_tree(&folder).expect("it was made above");
    }
}

/// Looks until the names in all folders are so old that the next look takes them from this one.
fn look_at_old_names(store: &CoverageStore, folder: &Path) -> Snapshot {
    let began = Instant::now();
    loop {
        let seen = look(store, folder, None);
        if seen.roots[0].folders.values().all(|state| state.version.is_some()) {
            return seen;
        }
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "folders that nobody changes are old at some time"
        );
    }
}

/// Returns whether trees come back here, and the names of folders that have not changed are taken from the last look.
fn names_are_kept() -> bool {
    let temporary = Root::open(&std::env::temp_dir()).and_then(|root| root.open_dir(&RelPath::root()));
    CAN_RESTORE_TREES && FolderWatch::hears(&temporary.expect("opened"))
}

// The names of a folder that has not changed are taken from the last look. This holds for changes that leave as many names
// as there were, and for folders that another one takes the place of.
#[test]
fn names_that_come_and_go_in_a_folder_that_was_known_are_seen() {
    if !names_are_kept() {
        return;
    }
    type Change = fn(&Path);
    let changes: &[(&str, Change)] = &[
        ("a new file", |root| fs::write(root.join("one/new"), "new").expect("written")),
        ("a file is gone", |root| fs::remove_file(root.join("one/a")).expect("it was there")),
        ("a file has another name", |root| {
            fs::rename(root.join("one/a"), root.join("one/c")).expect("it was there");
        }),
        ("a file has gone elsewhere", |root| {
            fs::rename(root.join("one/a"), root.join("two/a2")).expect("it was there");
        }),
        ("a file takes the place of another", |root| {
            fs::rename(root.join("two/a"), root.join("one/a")).expect("it was there");
        }),
        ("one more name of a file", |root| {
            fs::hard_link(root.join("two/a"), root.join("one/c")).expect("linked");
        }),
        ("a link", |root| symlink("a", root.join("one/link")).expect("linked")),
        ("a folder in it", |root| fs::create_dir(root.join("one/c")).expect("made")),
        ("an empty folder is gone", |root| fs::remove_dir(root.join("one/empty")).expect("it was there")),
        ("another folder takes its place", |root| {
            fs::rename(root.join("one"), root.join("old")).expect("it was there");
            fs::rename(root.join("two"), root.join("one")).expect("it was there");
        }),
        ("two folders change places, and back, and differ", |root| {
            fs::rename(root.join("one"), root.join("x")).expect("it was there");
            fs::rename(root.join("x"), root.join("one")).expect("it was there");
            fs::write(root.join("one/empty/new"), "new").expect("written");
        }),
        ("a content alone", |root| fs::write(root.join("one/b"), "other").expect("written")),
    ];
    for (what, change) in changes {
        let folder = std::env::temp_dir().join(format!("bailiwick-coverage-{}", id::new_id()));
        let root = folder.join("root");
        for name in ["one", "two"] {
            fs::create_dir_all(root.join(name).join("empty")).expect("made");
            fs::write(root.join(name).join("a"), format!("a of {name}")).expect("written");
            fs::write(root.join(name).join("b"), format!("b of {name}")).expect("written");
        }
        let warm = CoverageStore::below(&folder.join("warm"));
        let before = look_at_old_names(&warm, &root);
        change(&root);
        // By now the folders' times alone tell of the change.
        let plain = look_at_old_names(&CoverageStore::below(&folder.join("cold")), &root);
        let after = look(&warm, &root, Some(&before));
        assert_eq!(all_nodes(&after), all_nodes(&plain), "{what}");
        assert_ne!(all_nodes(&after), all_nodes(&before), "{what}");
        assert_eq!(all_nodes(&look(&warm, &root, None)), all_nodes(&plain), "{what}, read from the disk");
        remove_tree(&folder).expect("it was made above");
    }
}

// What was left out of a look is there for the next one that does not leave it out.
#[test]
fn a_name_that_was_closed_to_one_command_is_seen_for_the_next() {
    if !names_are_kept() {
        return;
    }
    let folder = std::env::temp_dir().join(format!("bailiwick-coverage-{}", id::new_id()));
    let root = folder.join("root");
    fs::create_dir_all(root.join("one")).expect("made");
    fs::write(root.join("one/a"), "a").expect("written");
    fs::write(root.join("one/secret"), "b").expect("written");
    let store = |name: &str| CoverageStore::below(&folder.join(name));
    let names = |seen: &Snapshot| all_nodes(seen).into_keys().collect::<Vec<_>>();
    let all = [&b"one"[..], b"one/a", b"one/secret"];
    assert_eq!(names(&look_at_old_names(&store("first"), &root)), all);
    let store = store("second");
    for (closed, seen) in [(&["one/secret"][..], &all[..2]), (&[], &all), (&["one/secret"], &all[..2])] {
        assert_eq!(names(&look_but(&store, &root, None, closed)), seen);
    }
    remove_tree(&folder).expect("it was made above");
}

#[test]
fn what_was_not_read_before_is_not_covered_and_never_new() {
    if !CAN_RESTORE_TREES {
        return;
    }
    let folder = std::env::temp_dir().join(format!("bailiwick-coverage-{}", id::new_id()));
    let root = folder.join("root");
    fs::create_dir_all(root.join("one/deep")).expect("made");
    fs::write(root.join("one/deep/file"), "there before").expect("written");
    fs::write(root.join("other"), "before").expect("written");
    let store = CoverageStore::below(&folder.join("state"));
    let mut before = look(&store, &root, None);
    fs::write(root.join("other"), "after").expect("written");
    let after = look(&store, &root, Some(&before));
    // As where the disk refuses to list it.
    before.roots[0].unread.insert(b"one".as_slice().into());
    before.roots[0].folders.remove(b"one".as_slice());
    before.roots[0].folders.remove(b"one/deep".as_slice());
    let path = |path: &str| RelPath::parse(path.as_bytes()).expect("a path");
    let difference = Difference::between(&before, &after);
    let changed: Vec<_> = difference.changes.iter().map(|it| it.path.clone()).collect();
    assert_eq!(changed, [path("other")]);
    assert_eq!(difference.uncovered.into_iter().collect::<Vec<_>>(), [(0, path("one"))]);
    remove_tree(&folder).expect("it was made above");
}
