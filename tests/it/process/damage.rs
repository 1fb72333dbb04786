//! Damaged folders are said to be so, and keep nobody from the others.

use std::fs;

use serde_json::json;
use support::scope::TestScope;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_damaged_is_said_and_the_rest_goes_on() {
    let world = TestScope::for_processes(json!({"sandbox": "none", "allowedCommands": ["printf *"]}));
    let host = world.host();
    let mut ids = Vec::new();
    for _ in 0..6 {
        let id = host.start(json!(["printf", "fine"])).await;
        host.over(&id).await;
        ids.push(id);
    }
    drop(host);
    let at = |index: usize, name: &str| world.process(&ids[index]).join(name);
    fs::write(at(0, "facts.json"), "{\"id\": 7").expect("written");
    fs::remove_file(at(1, "facts.json")).expect("removed");
    fs::write(at(2, "status"), [0xff; 768]).expect("written");
    fs::remove_file(at(3, "ring-a")).expect("removed");
    fs::write(at(4, "ring-a"), "garbage").expect("written");
    fs::create_dir(world.dirs.state.join("processes/not-a-process")).expect("made");
    fs::write(world.dirs.state.join("processes/01JD0000000000000000000001"), "a file").expect("written");

    let host = world.host();
    let answer = host.send(json!({"op": "process.list"})).await;
    assert_eq!(answer["ok"], true, "{answer:#}");
    let status = |id: &str| {
        let rows = answer["data"]["processes"].as_array().expect("a list");
        rows.iter().find(|row| row["processId"] == id).map(|row| row["status"].as_str().expect("a word"))
    };
    let expected = [None, None, Some("damaged"), Some("ended"), Some("ended"), Some("ended")];
    for (id, expected) in ids.iter().zip(expected) {
        assert_eq!(status(id), expected, "{id}: {answer:#}");
    }
    assert!(answer["warnings"].to_string().contains("damaged"), "{answer:#}");

    for index in [0, 1] {
        let answer = host.send(json!({"op": "process.read", "target": ids[index]})).await;
        assert_eq!(answer["error"]["code"], "process_not_found", "{answer:#}");
    }
    for op in ["process.read", "process.stop"] {
        let answer = host.send(json!({"op": op, "target": ids[2]})).await;
        assert_eq!(answer["error"]["code"], "execution_failed", "{answer:#}");
        assert!(answer["error"]["message"].to_string().contains("damaged"), "{answer:#}");
    }
    // What is missing of the output is said.
    for index in [3, 4] {
        let read = host.read(&ids[index], json!({})).await;
        assert_eq!((&read["stdout"], &read["skippedBytes"]), (&json!(""), &json!(4)), "{read:#}");
    }
    assert_eq!(host.read(&ids[5], json!({})).await["stdout"], "fine");
    let started = host.start(json!(["printf", "more"])).await;
    assert_eq!(host.over(&started).await["stdout"], "more");
    let listed = world.cli(&["processes"]);
    assert!(listed.to_string().contains("damaged"), "{listed:#}");
}
