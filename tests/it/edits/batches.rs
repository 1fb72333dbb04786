//! Batches whose checks fail, that are killed, and whose client leaves.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use bailiwick::contract::{Caller, Transport};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use support::patience::eventually;
use support::scope::TestScope;
use support::service::{call, send, wait_for};

/// Reads all files below a folder.
fn tree(folder: &Path) -> BTreeMap<String, Option<Vec<u8>>> {
    fn add(folder: &Path, prefix: &str, found: &mut BTreeMap<String, Option<Vec<u8>>>) {
        for entry in fs::read_dir(folder).expect("the scope can be read") {
            let entry = entry.expect("an entry");
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            // What a killed write leaves goes with the next one beside it.
            if name.ends_with(".tmp") {
                continue;
            }
            if entry.path().is_dir() {
                found.insert(name.clone(), None);
                add(&entry.path(), &format!("{name}/"), found);
            } else {
                found.insert(name, Some(fs::read(entry.path()).expect("a file can be read")));
            }
        }
    }
    let mut found = BTreeMap::new();
    add(folder, "", &mut found);
    found
}

fn fill(root: &Path) {
    fs::create_dir_all(root.join("dir/sub")).expect("the scope can be written");
    for name in ["a.txt", "b.txt", "dir/c.txt", "dir/sub/d.txt"] {
        fs::write(root.join(name), format!("{name}\n")).expect("the scope can be written");
    }
}

/// What a step can be: many of them fail, depending on what was done before.
fn step() -> impl Strategy<Value = Value> {
    let names = || {
        prop::sample::select(vec!["a.txt", "b.txt", "dir/c.txt", "dir/sub", "dir", "new.txt", "dir/new.txt"])
    };
    prop_oneof![
        (names(), "[a-z]{0,12}").prop_map(|(name, text)| {
            json!({"op": "file.write", "target": name, "input": {"content": text}})
        }),
        (names(), "[a-z]{0,12}").prop_map(|(name, text)| {
            json!({"op": "file.create", "target": name, "input": {"content": text}})
        }),
        names().prop_map(|name| json!({"op": "file.delete", "target": name, "options": {"recursive": true}})),
        (names(), names())
            .prop_map(|(from, to)| json!({"op": "file.move", "target": from, "input": {"to": to}})),
        (names(), names())
            .prop_map(|(from, to)| json!({"op": "file.copy", "target": from, "input": {"to": to}})),
        names().prop_map(|name| json!({"op": "file.read", "target": name})),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Each step ends as it does alone, and a batch that fails leaves the folder as it was.
    #[test]
    fn a_batch_that_fails_leaves_the_folder_as_it_was(steps in prop::collection::vec(step(), 1..8)) {
        let (world, alone) = (TestScope::new(), TestScope::new());
        for scope in [&world, &alone] {
            fill(&scope.root());
        }
        let before = tree(&world.root());
        let (service, reference) = (world.boot(), alone.boot());
        let answer = call(&service, json!({"op": "batch.run", "input": {"steps": steps}}));
        let failed = steps.iter().position(|step| call(&reference, step.clone())["ok"] != true);
        match failed {
            None => {
                prop_assert_eq!(&answer["ok"], &json!(true), "{:#}", answer);
                prop_assert_eq!(tree(&world.root()), tree(&alone.root()));
                let undo = json!({"op": "history.undo", "input": {"operation": answer["operationId"]}});
                let undone = call(&service, undo);
                let is_undone = undone["ok"] == true || undone["error"]["code"] == "not_found";
                prop_assert!(is_undone, "{:#}", undone);
            }
            Some(at) => {
                prop_assert_eq!(&answer["error"]["details"]["step"], &json!(format!("steps[{at}]")), "{:#}", answer);
                prop_assert_eq!(&answer["error"]["details"]["rolledBack"], &json!(true), "{:#}", answer);
            }
        }
        // Folders that were made for what is gone again may stay.
        let files = |tree: BTreeMap<String, Option<Vec<u8>>>| -> Vec<(String, Vec<u8>)> {
            tree.into_iter().filter_map(|(name, content)| Some((name, content?))).collect()
        };
        prop_assert_eq!(files(tree(&world.root())), files(before), "{:#}", answer);
    }
}

#[test]
fn a_batch_that_is_killed_is_taken_back_by_the_next_service() {
    const KILLS: u32 = 8;
    let world = TestScope::new();
    world.save_config();
    let root = world.root();
    let names: Vec<String> = (0..24).map(|number| format!("{number}.txt")).collect();
    for name in &names {
        fs::write(root.join(name), "before\n").expect("the scope can be written");
    }
    let before = tree(&root);
    let mut steps: Vec<Value> = names
        .iter()
        .map(|name| json!({"op": "file.write", "target": name, "input": {"content": "after\n"}}))
        .collect();
    steps.extend([
        json!({"op": "file.move", "target": "0.txt", "input": {"to": "moved.txt"}}),
        json!({"op": "file.create", "target": "new.txt", "input": {"content": "new\n"}}),
        json!({"op": "file.delete", "target": "1.txt"}),
    ]);
    let steps = Value::from(steps).to_string();
    let words = ["call", "batch.run", "--steps", &steps];
    let run = || world.command(&words).stdout(Stdio::null()).spawn().expect("the program starts");
    let began = Instant::now();
    assert!(run().wait().expect("it ends").success());
    let whole_run = began.elapsed();
    let after = tree(&root);
    let undo = || {
        let done =
            world.command(&["call", "history.undo", "--since", "2020-01-01"]).stdout(Stdio::null()).status();
        assert!(done.expect("it runs").success());
    };
    undo();
    assert_eq!(tree(&root), before);
    for kill in 0..KILLS {
        let mut child = run();
        std::thread::sleep(whole_run * (kill + 1) / (KILLS + 1));
        child.kill().expect("it can be killed");
        let is_done = child.wait().expect("it ends").success();
        let look = world.command(&["call", "file.stat", "2.txt"]).stdout(Stdio::null()).status();
        assert!(look.expect("it runs").success());
        let found = tree(&root);
        // It may have ended before it was killed; what it did then stays.
        assert!(
            found == before || found == after && (is_done || kill > 0),
            "kill {kill}: {:?}",
            found.keys()
        );
        if found == after {
            undo();
            assert_eq!(tree(&root), before);
        }
    }
}

#[test]
fn a_batch_whose_client_leaves_is_taken_back() {
    let world = TestScope::new().with_capabilities(&["fs:read", "fs:write", "process:manage"]);
    let service = world.boot();
    let root = world.root();
    fs::write(root.join("a.txt"), "before\n").expect("the scope can be written");
    let envelope = json!({"op": "batch.run", "input": {"steps": [
        {"op": "file.write", "target": "a.txt", "input": {"content": "after\n"}},
        {"op": "process.wait", "input": {"any": [{"until": "time", "seconds": 600}]}, "options": {"timeoutSeconds": 600}},
    ]}});
    let gone = CancellationToken::new();
    let leaves = gone.clone();
    let is_written = root.join("a.txt");
    let leaver = std::thread::spawn(move || {
        eventually("the first step is done", || {
            fs::read_to_string(&is_written).is_ok_and(|it| it == "after\n")
        });
        leaves.cancel();
    });
    let answer = wait_for(send(&service, &Caller::local(Transport::Stdio), envelope, &gone));
    leaver.join().expect("the client leaves");
    assert_eq!(answer["error"]["code"], "cancelled", "{answer}");
    eventually("the batch is taken back", || {
        fs::read_to_string(root.join("a.txt")).is_ok_and(|it| it == "before\n")
    });
}

/// A change whose file was put back by hand is as one that was written down and cut off before it changed anything.
#[test]
fn a_change_that_was_cut_off_is_no_obstacle_to_an_undo() {
    type ByHand = fn(&Path);
    let cases: [(Value, ByHand); 4] = [
        (json!({"op": "file.move", "target": "a.txt", "input": {"to": "b.txt"}}), |root| {
            fs::rename(root.join("b.txt"), root.join("a.txt")).expect("it was moved");
        }),
        (json!({"op": "file.create", "target": "c.txt", "input": {"content": "c\n"}}), |root| {
            fs::remove_file(root.join("c.txt")).expect("it was made");
        }),
        (json!({"op": "file.delete", "target": "d.txt"}), |root| {
            fs::write(root.join("d.txt"), "before\n").expect("the scope can be written");
        }),
        (json!({"op": "file.write", "target": "a.txt", "input": {"content": "later\n"}}), |root| {
            fs::write(root.join("a.txt"), "after\n").expect("the scope can be written");
        }),
    ];
    for (cut_off, by_hand) in cases {
        let world = TestScope::new();
        let (service, root) = (world.boot(), world.root());
        for name in ["a.txt", "d.txt"] {
            fs::write(root.join(name), "before\n").expect("the scope can be written");
        }
        let before = tree(&root);
        let is_done = |envelope: &Value| {
            let answer = call(&service, envelope.clone());
            assert_eq!(answer["ok"], true, "{cut_off}: {answer:#}");
        };
        let write = json!({"op": "file.write", "target": "a.txt", "input": {"content": "after\n"}});
        let undo = json!({"op": "history.undo", "input": {"since": "2020-01-01"}});
        is_done(&write);
        is_done(&cut_off);
        by_hand(&root);
        is_done(&undo);
        assert_eq!(tree(&root), before, "{cut_off}");
        // Nor to a later one, which comes by it.
        is_done(&write);
        is_done(&undo);
        assert_eq!(tree(&root), before, "{cut_off}");
    }
}
