//! `file.list` of folders that were listed before: what has not changed is not read again, and every change is seen.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use support::patience::eventually;
use support::scope::TestScope;
use support::service::{TestService, call, data};

/// Longer than two changes can seem to have happened at once.
const SETTLED: Duration = Duration::from_millis(200);

fn list(world: &TestService, target: &str) -> Vec<String> {
    let answer = call(&world.service, json!({"scope": "app", "op": "file.list", "target": target}));
    let entries = data(&answer)["entries"].as_array().expect("entries").clone();
    entries.iter().map(|entry| entry["path"].as_str().expect("a path").to_owned()).collect()
}

/// Waits until a folder has not changed for a while.
fn settle(world: &TestService, folder: &str) {
    let path = world.root().join(folder);
    eventually("the folder rests", || {
        let changed = fs::metadata(&path).and_then(|facts| facts.modified()).expect("it is there");
        changed.elapsed().is_ok_and(|age| age > SETTLED)
    });
}

#[test]
fn a_folder_that_was_listed_before_shows_every_change() {
    let world = TestScope::new().with_capabilities(&["fs:read"]).host();
    world.write("folder/first", "");
    for round in 0..3 {
        settle(&world, "folder");
        let before = list(&world, "folder");
        // The second answer may be of what is remembered.
        assert_eq!(list(&world, "folder"), before);
        let (made, renamed) = (format!("folder/{round}-made"), format!("folder/{round}-renamed"));
        world.write(&made, "");
        let with = list(&world, "folder");
        assert_eq!((with.contains(&made), with.len()), (true, before.len() + 1), "{with:?}");
        fs::rename(world.root().join(&made), world.root().join(&renamed)).expect("renamed");
        let with = list(&world, "folder");
        assert_eq!((with.contains(&made), with.contains(&renamed)), (false, true), "{with:?}");
        fs::remove_file(world.root().join(&renamed)).expect("removed");
        assert_eq!(list(&world, "folder"), before);
    }
    // Another folder of the same name.
    settle(&world, "folder");
    assert_eq!(list(&world, "folder"), list(&world, "folder"));
    fs::rename(world.root().join("folder"), world.root().join("other")).expect("renamed");
    world.write("folder/new", "");
    assert_eq!(list(&world, "folder"), ["folder/new"]);
    assert_eq!(list(&world, "other"), ["other/first"]);
}

#[test]
fn what_is_remembered_of_a_folder_is_judged_each_time() {
    let world = TestScope::new().with_capabilities(&["fs:read"]).host();
    world.write("folder/.env", "KEY=value");
    world.write("folder/plain", "");
    settle(&world, "folder");
    let ask = |options: Value| {
        let request = json!({"scope": "app", "op": "file.list", "target": "folder", "options": options});
        data(&call(&world.service, request)).clone()
    };
    let expected = json!([
        {"path": "folder/.env", "closed": true},
        {"path": "folder/plain", "kind": "file"},
    ]);
    for _ in 0..3 {
        assert_eq!(ask(json!({}))["entries"], expected);
        let first = ask(json!({"maxResults": 1}));
        assert_eq!((&first["truncated"], first["entries"].as_array().map(Vec::len)), (&json!(true), Some(1)));
        assert_eq!(ask(json!({"includeHidden": false}))["total"], 1);
        assert_eq!(ask(json!({"detail": "full"}))["entries"][1]["size"], 0);
    }
}
