//! Batches whose checks fail, that are killed, and whose client leaves.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Instant;

use bailiwick::contract::{Caller, Transport};
use bailiwick::platform::fs::modes::PermissionsExt;
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use support::patience::{PATIENCE, eventually};
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

/// What a step can be that changes nothing: it is permitted, or the policy refuses it, each in another stage.
fn judged_step() -> impl Strategy<Value = Value> {
    let names = prop::sample::select(vec![
        "a.txt",
        "b.txt",
        "dir/c.txt",
        "dir/sub/d.txt",
        ".env",
        "none.txt",
        "../out",
        "dir",
    ]);
    let operations = prop::sample::select(vec![
        ("file.read", json!({})),
        ("file.stat", json!({})),
        ("file.list", json!({})),
        ("file.write", json!({"content": "x"})),
        ("file.delete", json!({})),
        ("file.move", json!({"to": "b.txt"})),
        ("command.run", json!({"command": ["true"]})),
        ("git.commit", json!({"message": "x"})),
        ("screen.capture", json!({})),
        ("history.last", json!({})),
    ]);
    (operations, names).prop_map(|((op, input), target)| match op {
        "history.last" | "screen.capture" => json!({"op": op, "input": input}),
        _ => json!({"op": op, "target": target, "input": input}),
    })
}

/// Runs random batches, and each of their steps alone: both are judged alike. Nothing is changed: the scope may write
/// nothing but `b.txt`, and only after approval. Returns how many ended how.
pub fn judge_batches(count: usize) -> BTreeMap<String, usize> {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let policy =
        json!({"closedFiles": ["dir/sub/**"], "askFiles": ["b.txt"], "askOperations": ["file.delete"]});
    let world = TestScope::new().with_capabilities(&["fs:read", "fs:write", "git:write"]).with_policy(policy);
    fill(&world.root());
    let before = tree(&world.root());
    let service = world.boot();
    let (mut runner, batches) = (TestRunner::deterministic(), prop::collection::vec(judged_step(), 1..6));
    let fact = |error: &Value| (error["code"].clone(), error["details"]["rule"].clone());
    let mut ends = BTreeMap::new();
    for _ in 0..count {
        let steps = batches.new_tree(&mut runner).expect("a batch").current();
        // What would be done is only shown.
        let steps: Vec<Value> = steps
            .into_iter()
            .map(|mut step| {
                if ["file.write", "file.move"].contains(&step["op"].as_str().expect("a name")) {
                    step["options"] = json!({"dryRun": true});
                }
                step
            })
            .collect();
        let alone = steps.iter().enumerate().find_map(|(at, step)| {
            let answer = call(&service, step.clone());
            (answer["ok"] != true).then(|| (format!("steps[{at}]"), fact(&answer["error"])))
        });
        let answer = call(&service, json!({"op": "batch.run", "input": {"steps": steps}}));
        let details = &answer["error"]["details"];
        let together = (answer["ok"] != true).then(|| {
            let step = details["step"].as_str().or_else(|| details["field"].as_str()?.strip_prefix("input."));
            let failure = if details["error"].is_object() { &details["error"] } else { &answer["error"] };
            (step.unwrap_or_default().to_owned(), fact(failure))
        });
        assert_eq!(together, alone, "{steps:?}: {answer:#}");
        let end = alone.map_or("done".to_owned(), |(_, (code, rule))| format!("{code} {rule}"));
        *ends.entry(end).or_insert(0) += 1;
    }
    assert!(ends.len() > 5, "refusals of each kind, and none: {ends:?}");
    assert_eq!(tree(&world.root()), before);
    ends
}

#[test]
fn each_step_of_a_batch_is_judged_as_it_is_alone() {
    judge_batches(150);
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

/// The program, running a batch until somebody kills it.
fn begin_batch(world: &TestScope, steps: &Value) -> Child {
    let words = ["call", "batch.run", "--steps", &steps.to_string()];
    world.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts")
}

#[test]
fn a_batch_that_another_service_left_is_taken_back_by_one_that_runs() {
    let world = TestScope::new().with_capabilities(&["fs:read", "fs:write", "process:manage"]);
    world.save_config();
    let path = world.root().join("a.txt");
    let steps = json!([
        {"op": "file.write", "target": "a.txt", "input": {"content": "after\n"}},
        {"op": "process.wait", "input": {"any": [{"until": "time", "seconds": 600}]}},
    ]);
    let service = world.boot();
    let content = || call(&service, json!({"op": "file.read", "target": "a.txt"}))["data"]["content"].clone();
    // Also the second time, and where the service has seen the batch while it ran.
    for is_seen in [false, true, false] {
        fs::write(&path, "before\n").expect("the scope can be written");
        assert_eq!(content(), "before\n");
        let mut child = begin_batch(&world, &steps);
        eventually("the first step is done", || fs::read_to_string(&path).is_ok_and(|it| it == "after\n"));
        if is_seen {
            assert_eq!(content(), "after\n", "it runs");
        }
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        if is_seen {
            // A batch that was seen running is looked at again a quarter of a second later.
            eventually("it is taken back", || content() == "before\n");
        }
        assert_eq!(content(), "before\n", "seen before: {is_seen}");
    }
}

/// The moments at which a rollback is killed: how many of the files that go back one after another are back.
#[test]
fn a_rollback_that_is_killed_is_finished_by_the_next_service() {
    const FILES: usize = 6;
    let world = TestScope::new();
    world.save_config();
    let root = world.root();
    let name = |number: usize| format!("{number}.txt");
    let write = |name: String, text: &str| json!({"op": "file.write", "target": name, "input": {"content": text}, "options": {"overwrite": true}});
    let mut steps = Vec::new();
    for text in ["once\n", "twice\n", "thrice\n"] {
        steps.extend((0..FILES).map(|number| write(name(number), text)));
    }
    steps.extend([
        json!({"op": "file.create", "target": "new.txt", "input": {"content": "new\n"}}),
        write("new.txt".to_owned(), "newer\n"),
        write("moved.txt".to_owned(), "changed\n"),
        json!({"op": "file.move", "target": "moved.txt", "input": {"to": "away.txt"}}),
        write("away.txt".to_owned(), "changed again\n"),
        write("dir/a.txt".to_owned(), "changed\n"),
        json!({"op": "file.delete", "target": "dir", "options": {"recursive": true}}),
        json!({"op": "file.create", "target": "dir", "input": {"content": "a file\n"}}),
        json!({"op": "file.read", "target": "none.txt"}),
    ]);
    let steps = Value::from(steps);
    for moment in 0..=FILES {
        for number in 0..FILES {
            fs::write(root.join(name(number)), "before\n").expect("the scope can be written");
        }
        fs::write(root.join("moved.txt"), "before\n").expect("the scope can be written");
        fs::create_dir_all(root.join("dir")).expect("the scope can be written");
        fs::write(root.join("dir/a.txt"), "before\n").expect("the scope can be written");
        let before = tree(&root);
        let mut child = begin_batch(&world, &steps);
        let is = |number: usize, text: &str| {
            fs::read_to_string(root.join(name(number))).is_ok_and(|it| it == text)
        };
        eventually("all is changed", || root.join("dir").is_file() || root.join("away.txt").exists());
        let began = Instant::now();
        let mut is_over = false;
        while (0..FILES).filter(|number| is(*number, "before\n")).count() < moment && !is_over {
            assert!(began.elapsed() < *PATIENCE, "nothing goes back");
            is_over = child.try_wait().expect("it can be asked").is_some();
        }
        // It may have ended before.
        let _ = child.kill();
        child.wait().expect("it ends");
        let look = world.cli(&["call", "file.stat", "0.txt", "--json"]);
        assert_eq!(look["ok"], true, "{look}");
        assert_eq!(tree(&root), before, "killed when {moment} files were back");
    }
    let undos =
        json!({"op": "history.timeline", "input": {"query": "history.undo"}, "options": {"limit": 100}});
    let undos = call(&world.boot(), undos);
    let rows = undos["data"]["operations"].as_array().unwrap_or_else(|| panic!("{undos:#}"));
    assert!(rows.iter().all(|row| row["code"].is_null()), "{undos:#}");
}

/// The moments at which an undo is killed: how many of the folders that come back one after another are back.
#[test]
fn an_undo_of_several_changes_that_is_killed_is_taken_back_by_the_next_service() {
    const FOLDERS: usize = 8;
    let world = TestScope::new();
    world.save_config();
    let root = world.root();
    let folder = |number: usize| root.join(format!("dir{number}"));
    for number in 0..FOLDERS {
        fs::create_dir(folder(number)).expect("the scope can be written");
        fs::write(folder(number).join("a.txt"), "before\n").expect("the scope can be written");
    }
    fs::write(root.join("a.txt"), "before\n").expect("the scope can be written");
    let before = tree(&root);
    let mut steps: Vec<Value> = (0..FOLDERS)
        .map(|number| json!({"op": "file.delete", "target": format!("dir{number}"), "options": {"recursive": true}}))
        .collect();
    steps.push(json!({"op": "file.write", "target": "a.txt", "input": {"content": "after\n"}, "options": {"overwrite": true}}));
    let ran = world.cli(&["call", "batch.run", "--steps", &Value::from(steps).to_string()]);
    assert_eq!(ran["ok"], true, "{ran}");
    let after = tree(&root);
    let operation = ran["operationId"].as_str().expect("an id");
    let words = ["call", "history.undo", "--operation", operation];
    for moment in 0..=FOLDERS {
        let mut child = world
            .command(&words)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let began = Instant::now();
        let mut is_over = false;
        while (0..FOLDERS).filter(|number| folder(*number).exists()).count() < moment && !is_over {
            assert!(began.elapsed() < *PATIENCE, "nothing comes back");
            is_over = child.try_wait().expect("it can be asked").is_some();
        }
        // It may have ended before.
        let _ = child.kill();
        child.wait().expect("it ends");
        let look = world.cli(&["call", "file.stat", "a.txt"]);
        assert_eq!(look["ok"], true, "{look}");
        let found = tree(&root);
        assert!(
            found == after || found == before,
            "killed when {moment} folders were back: {:?}",
            found.keys()
        );
        if found == before {
            // It was over before it was killed.
            return;
        }
    }
    let undone = world.cli(&words);
    assert_eq!(undone["ok"], true, "{undone}");
    assert_eq!(tree(&root), before);
}

/// Returns an id that was given so many milliseconds after another.
fn later(id: &str, by_ms: u64) -> String {
    const DIGITS: &[u8] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    let (time, rest) = id.split_at(10);
    let digit = |it: u8| DIGITS.iter().position(|digit| *digit == it).expect("a digit") as u64;
    let mut ms = time.bytes().fold(0, |ms, it| ms * 32 + digit(it)) + by_ms;
    let mut digits = vec![b'0'; 10];
    for place in digits.iter_mut().rev() {
        (*place, ms) = (DIGITS[usize::try_from(ms % 32).expect("a digit")], ms / 32);
    }
    String::from_utf8(digits).expect("digits") + rest
}

#[test]
fn a_rollback_that_fails_says_what_stays_and_is_tried_again() {
    let world = TestScope::new();
    let service = world.boot();
    let root = world.root();
    for name in ["a.txt", "b.txt", "c.txt"] {
        fs::write(root.join(name), "before\n").expect("the scope can be written");
    }
    let start = tree(&root);
    let write = |name: &str| json!({"op": "file.write", "target": name, "input": {"content": "after\n"}, "options": {"overwrite": true}});
    let first = call(&service, write("c.txt"));
    let first = first["data"]["undoId"].as_str().unwrap_or_else(|| panic!("{first}"));
    let before = tree(&root);
    // Something is kept in the next minute that is there, and cannot be read: a folder.
    let mut parts = fs::read_dir(world.dirs.state.join("versions/changes")).expect("it is there").flatten();
    let part = parts.find(|part| part.path().join("log").exists()).expect("it is kept").path();
    let unread = part.join("log").join(later(first, 60_000));
    fs::create_dir(&unread).expect("it is free");
    let fails = json!({"op": "file.read", "target": "none.txt"});
    let answer = json!({"op": "batch.run", "input": {"steps": [write("a.txt"), write("b.txt"), fails]}});
    let answer = call(&service, answer);
    let (error, details) = (&answer["error"], &answer["error"]["details"]);
    let message = error["message"].as_str().unwrap_or_default();
    assert!(message.ends_with("nothing could be taken back, so what the steps changed stays"), "{answer:#}");
    assert_eq!(details["rolledBack"], false, "{answer:#}");
    let steps: Vec<&Value> =
        details["notUndone"].as_array().into_iter().flatten().map(|it| &it["step"]).collect();
    assert_eq!(steps, ["steps[0]", "steps[1]"], "{answer:#}");
    assert_eq!(details["rollbackError"]["code"], "provider_unavailable", "{answer:#}");
    assert!(error["hints"].to_string().contains("tries again at later requests"), "{answer:#}");
    assert_eq!(fs::read_to_string(root.join("a.txt")).expect("it is there"), "after\n");
    drop(service);
    fs::remove_dir(&unread).expect("it is empty");
    let service = world.boot();
    let is_done = |envelope: Value| {
        let answer = call(&service, envelope);
        assert_eq!(answer["ok"], true, "{answer:#}");
    };
    is_done(json!({"op": "file.stat", "target": "a.txt"}));
    assert_eq!(tree(&root), before, "a later request has taken it back");
    // The rollback is nothing that an undo takes back, and the batch nothing that is there.
    is_done(json!({"op": "history.undo"}));
    assert_eq!(tree(&root), start);
    // But that undo is.
    is_done(json!({"op": "history.undo"}));
    assert_eq!(tree(&root), before);
}

#[test]
fn an_undo_takes_the_newest_change_that_is_in_effect() {
    let world = TestScope::new();
    let (service, root) = (world.boot(), world.root());
    fs::write(root.join("a.txt"), "before\n").expect("the scope can be written");
    fs::create_dir(root.join("folder")).expect("the scope can be written");
    let before = tree(&root);
    let is_done = |envelope: Value| {
        let answer = call(&service, envelope);
        assert_eq!(answer["ok"], true, "{answer:#}");
    };
    let write = |content: &str| json!({"op": "file.write", "target": "a.txt", "input": {"content": content}, "options": {"overwrite": true}});
    is_done(write("one\n"));
    // What was put back by hand is as what was cut off before it changed anything.
    is_done(write("two\n"));
    fs::write(root.join("a.txt"), "one\n").expect("the scope can be written");
    is_done(json!({"op": "file.mkdir", "target": "new"}));
    fs::remove_dir(root.join("new")).expect("it is empty");
    is_done(json!({"op": "file.move", "target": "folder", "input": {"to": "moved"}}));
    fs::rename(root.join("moved"), root.join("folder")).expect("it was moved");
    is_done(json!({"op": "file.create", "target": "c.txt", "input": {"content": "c\n"}}));
    fs::remove_file(root.join("c.txt")).expect("it was made");
    is_done(json!({"op": "history.undo"}));
    assert_eq!(tree(&root), before);
}

/// Each plan is done as a whole, and then its check fails.
#[test]
fn each_of_25_plans_whose_check_fails_leaves_the_tree_as_it_was() {
    let write = |name: &str, text: &str| json!({"op": "file.write", "target": name, "input": {"content": text}, "options": {"overwrite": true}});
    let create = |name: &str| json!({"op": "file.create", "target": name, "input": {"content": "new\n"}});
    let patch = |name: &str| json!({"op": "file.patch", "target": name, "input": {"edits": [{"old": ".txt", "new": " edited"}]}});
    let remove = |name: &str| json!({"op": "file.delete", "target": name, "options": {"recursive": true}});
    let rename = |from: &str, to: &str| json!({"op": "file.move", "target": from, "input": {"to": to}});
    let over = |op: &str, from: &str, to: &str| json!({"op": op, "target": from, "input": {"to": to}, "options": {"ifExists": "replace"}});
    let copy = |from: &str, to: &str| json!({"op": "file.copy", "target": from, "input": {"to": to}});
    let mode = json!({"op": "file.write", "target": "a.txt", "input": {"content": "a\n"}, "options": {"mode": "0600", "overwrite": true}});
    let plans: [Vec<Value>; 25] = [
        vec![write("a.txt", "x\n")],
        vec![write("a.txt", "x\n"), write("a.txt", "y\n"), write("a.txt", "a.txt\n")],
        vec![patch("a.txt"), patch("dir/c.txt"), write("b.txt", "x\n")],
        vec![create("new.txt")],
        vec![create("new.txt"), write("new.txt", "x\n"), remove("new.txt")],
        vec![create("new.txt"), rename("new.txt", "newer.txt"), write("newer.txt", "x\n")],
        vec![remove("a.txt")],
        vec![remove("a.txt"), create("a.txt"), write("a.txt", "x\n")],
        vec![remove("a.txt"), rename("b.txt", "a.txt"), write("a.txt", "x\n")],
        vec![rename("a.txt", "c.txt")],
        vec![rename("a.txt", "t.txt"), rename("b.txt", "a.txt"), rename("t.txt", "b.txt")],
        vec![rename("a.txt", "c.txt"), write("c.txt", "x\n"), create("a.txt")],
        vec![over("file.move", "a.txt", "b.txt")],
        vec![over("file.copy", "a.txt", "b.txt"), write("b.txt", "x\n")],
        vec![copy("a.txt", "c.txt"), write("c.txt", "x\n"), remove("a.txt")],
        vec![copy("dir", "copy"), write("copy/c.txt", "x\n")],
        vec![remove("dir")],
        vec![write("dir/c.txt", "x\n"), remove("dir"), create("dir")],
        vec![remove("dir/sub"), rename("dir", "folder"), write("folder/c.txt", "x\n")],
        vec![rename("dir", "folder"), rename("folder/sub", "sub"), patch("sub/d.txt")],
        vec![copy("dir", "copy"), over("file.move", "copy", "dir")],
        vec![copy("dir/sub", "sub"), over("file.copy", "sub", "dir")],
        vec![mode.clone(), rename("a.txt", "dir/a.txt")],
        vec![mode, remove("a.txt"), copy("b.txt", "a.txt"), patch("a.txt")],
        vec![
            write("a.txt", "x\n"),
            patch("b.txt"),
            remove("dir/c.txt"),
            rename("dir/sub", "sub"),
            create("n.txt"),
            over("file.move", "n.txt", "a.txt"),
            copy("sub", "dir/sub"),
            remove("sub"),
            write("dir/sub/d.txt", "x\n"),
        ],
    ];
    let modes = |root: &Path| -> Vec<u32> {
        ["a.txt", "b.txt", "dir", "dir/c.txt", "dir/sub/d.txt"]
            .iter()
            .map(|name| fs::metadata(root.join(name)).expect("it is there").permissions().mode())
            .collect()
    };
    let check = json!([{"op": "file.read", "target": "never.txt"}]);
    for (number, steps) in plans.into_iter().enumerate() {
        let world = TestScope::new();
        let (service, root) = (world.boot(), world.root());
        fill(&root);
        let before = (tree(&root), modes(&root));
        let count = steps.len();
        let answer = call(&service, json!({"op": "batch.run", "input": {"steps": steps, "verify": check}}));
        let details = &answer["error"]["details"];
        assert_eq!(details["step"], "verify[0]", "plan {number}: all steps are done: {answer:#}");
        assert_eq!(details["steps"].as_array().map_or(0, Vec::len), count + 1, "plan {number}: {answer:#}");
        assert_eq!(details["rolledBack"], true, "plan {number}: {answer:#}");
        assert_eq!((tree(&root), modes(&root)), before, "plan {number}: {answer:#}");
    }
}

/// Rules that ask, and a request that each asks about.
fn asking() -> [(Value, Value); 4] {
    let write = json!({"op": "file.write", "target": "a.txt", "input": {"content": "after\n"}, "options": {"overwrite": true}});
    let undo = json!({"op": "history.undo", "input": {"since": "2020-01-01"}});
    [
        (json!({"askOperations": ["history.undo"]}), undo.clone()),
        (json!({"askOperations": ["history.*"]}), undo),
        (json!({"askFirstUse": ["fs:write"]}), write.clone()),
        (json!({"askFiles": ["a.txt", "dir/**"]}), write),
    ]
}

#[test]
fn a_killed_batch_is_taken_back_without_another_question() {
    let world = TestScope::new().with_capabilities(&["fs:read", "fs:write", "process:manage"]);
    world.save_config();
    let root = world.root();
    let steps = json!([
        {"op": "file.write", "target": "a.txt", "input": {"content": "after\n"}, "options": {"overwrite": true}},
        {"op": "file.delete", "target": "dir", "options": {"recursive": true}},
        {"op": "process.wait", "input": {"any": [{"until": "time", "seconds": 600}]}},
    ]);
    for (policy, asked) in asking() {
        fill(&root);
        let before = tree(&root);
        let mut child = begin_batch(&world, &steps);
        eventually("the steps are done", || !root.join("dir").exists());
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        let service = world.clone().with_policy(policy.clone()).boot();
        let answer = call(&service, json!({"op": "file.stat", "target": "b.txt"}));
        assert_eq!(answer["ok"], true, "{answer:#}");
        assert_eq!(tree(&root), before, "{policy}");
        // What a client asks for itself still needs approval.
        let answer = call(&service, asked);
        assert_eq!(answer["error"]["code"], "approval_required", "{policy}: {answer:#}");
        assert_eq!(tree(&root), before, "{policy}");
    }
}

#[test]
fn a_batch_that_fails_is_taken_back_without_another_question() {
    for (policy, undo) in &asking()[..2] {
        let world = TestScope::new().with_policy(policy.clone());
        let (service, root) = (world.boot(), world.root());
        fill(&root);
        let before = tree(&root);
        let answer = call(
            &service,
            json!({"op": "batch.run", "input": {"steps": [
                {"op": "file.delete", "target": "dir", "options": {"recursive": true}},
                {"op": "file.read", "target": "none.txt"},
            ]}}),
        );
        assert_eq!(answer["error"]["details"]["rolledBack"], true, "{policy}: {answer:#}");
        assert_eq!(tree(&root), before, "{policy}");
        // Judged again, what took it back still asks nothing.
        world.save_config();
        let replayed =
            world.cli(&["policy", "test", "--against-history", &world.config_path().to_string_lossy()]);
        assert_eq!(
            (&replayed["newlyAsked"], &replayed["newlyDenied"]),
            (&json!([]), &json!([])),
            "{replayed:#}"
        );
        let answer = call(&service, undo.clone());
        assert_eq!(answer["error"]["code"], "approval_required", "{policy}: {answer:#}");
    }
}

#[test]
fn what_the_rules_close_stays_closed_to_a_rollback() {
    let world = TestScope::new().with_capabilities(&["fs:read", "fs:write", "process:manage"]);
    world.save_config();
    let root = world.root();
    let steps = json!([
        {"op": "file.write", "target": "a.txt", "input": {"content": "after\n"}, "options": {"overwrite": true}},
        {"op": "process.wait", "input": {"any": [{"until": "time", "seconds": 600}]}},
    ]);
    let is_changed = || fs::read_to_string(root.join("a.txt")).is_ok_and(|it| it == "after\n");
    for world in [
        world.clone().with_policy(json!({"closedFiles": ["a.txt"]})),
        world.clone().with_capabilities(&["fs:read"]),
    ] {
        fill(&root);
        let mut child = begin_batch(&world, &steps);
        eventually("the first step is done", is_changed);
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        call(&world.boot(), json!({"op": "file.stat", "target": "b.txt"}));
        assert!(is_changed(), "it was refused");
    }
}
