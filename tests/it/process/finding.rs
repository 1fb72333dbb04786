//! Finding processes: by scope and id alone, by whichever service, and in the order that a list promises.

use std::fs;

use bailiwick::contract::{Caller, ScopeGrant, Transport};
use serde_json::{Value, json};
use support::scope::TestScope;
use support::service::processes_with;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_of_another_scope_does_not_exist() {
    let world = TestScope::for_processes(json!({"sandbox": "none", "allowedCommands": ["sleep *"]}));
    let host = world.host();
    let id = host.start(json!(["sleep", world.word])).await;
    let missing = "01JD0000000000000000000000";
    let ask = async |id: &str, op: &str| {
        let answer = host.send(json!({"scope": "other", "op": op, "target": id})).await;
        assert_eq!(answer["error"]["code"], "process_not_found", "{answer:#}");
        answer["error"].to_string().replace(id, "…")
    };
    for op in ["process.read", "process.stop"] {
        assert_eq!(ask(&id, op).await, ask(missing, op).await, "nothing shows the two apart");
    }
    let list = host.data(json!({"scope": "other", "op": "process.list"})).await;
    assert_eq!(list["processes"], json!([]));
    let stopped = host.data(json!({"scope": "other", "op": "process.stop", "input": {"all": true}})).await;
    assert_eq!(stopped["stopped"], json!([]));

    // Nor does the scope for a caller that may not name it.
    let caller =
        Caller { scopes: ScopeGrant::Only(["other".to_owned()].into()), ..Caller::local(Transport::Stdio) };
    let answer = host.send_as(&caller, json!({"op": "process.read", "target": id})).await;
    assert_eq!(answer["error"]["code"], "unknown_scope", "{answer:#}");
    assert_eq!(processes_with(&world.word), 1, "it was not touched");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_an_id_names_a_process_of_its_scope_where_one_has_it() {
    let world = TestScope::for_processes(json!({"sandbox": "none", "allowedCommands": ["sleep *"]}));
    let host = world.host();
    let id = host.start(json!(["sleep", world.word])).await;
    let end = &id[id.len() - 6..];
    for end in [end, &end.to_lowercase(), &id[5..]] {
        assert_eq!(host.read(end, json!({})).await["status"], "running", "{end}");
    }
    let waits = json!({"op": "process.wait", "input": {"any": [{"until": "exit", "process": end}, {"until": "time", "seconds": 0.1}]}});
    assert_eq!(host.data(waits).await["outcome"], "held");
    for (scope, end) in [("app", &end[1..]), ("app", "ZZZZZZ"), ("app", ""), ("other", end)] {
        let answer = host.send(json!({"scope": scope, "op": "process.stop", "target": end})).await;
        assert_eq!(answer["ok"], false, "{answer:#}");
    }
    assert_eq!(processes_with(&world.word), 1, "it was not touched");
    // Ids that were made at the same moment differ in their last characters alone.
    let other = if &id[19..20] == "A" { "B" } else { "A" };
    let (folder, next) = (world.process(&id), format!("{}{other}{end}", &id[..19]));
    let twin = folder.with_file_name(&next);
    fs::create_dir(&twin).expect("made");
    for entry in fs::read_dir(&folder).expect("a folder").flatten().filter(|it| it.path().is_file()) {
        let copy = twin.join(entry.file_name());
        // The mode stays: what others can read is no process.
        fs::copy(entry.path(), &copy).expect("copied");
        if let Ok(text) = fs::read_to_string(&copy) {
            fs::write(&copy, text.replace(&id, &next)).expect("written");
        }
    }
    let answer = host.send(json!({"op": "process.stop", "target": end})).await;
    assert_eq!(answer["error"]["code"], "invalid_request", "{answer:#}");
    assert!(answer["error"]["hints"].to_string().contains(&next), "{answer:#}");
    assert_eq!(host.stop(&id, json!({"graceSeconds": 0})).await["status"], "ended");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_services_on_one_folder_see_the_same_processes() {
    let world =
        TestScope::for_processes(json!({"sandbox": "none", "allowedCommands": ["sleep *", "printf *"]}));
    let (first, second) = (world.host(), world.host());
    let stays = first.start(json!(["sleep", world.word])).await;
    let prints = second.start(json!(["printf", "hello"])).await;
    assert_eq!(first.over(&prints).await["stdout"], "hello");
    for host in [&first, &second] {
        let list = host.data(json!({"op": "process.list"})).await;
        let shown: Vec<_> = list["processes"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|row| (row["processId"].as_str().expect("an id"), row["status"].as_str().expect("a word")))
            .collect();
        assert_eq!(shown, [(stays.as_str(), "running"), (prints.as_str(), "ended")]);
    }
    // One listens while the other ends it.
    let process = first.service.facts().processes.find("app", &stays).expect("it is there");
    let mut changes = process.changes();
    let (_, stopped) = tokio::join!(changes.wait_for(|change| change.ended), second.stop(&stays, json!({})));
    assert_eq!(stopped["how"], "asked", "{stopped:#}");
    assert_eq!(first.read(&stays, json!({})).await["signal"], "SIGTERM");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_pages_of_a_list_hold_each_process_once_running_first_then_newest_first() {
    let world = TestScope::for_processes(json!({"sandbox": "none", "allowedCommands": ["sleep *", "true"]}));
    let host = world.host();
    let mut ended = Vec::new();
    for _ in 0..8 {
        ended.push(host.start(json!(["true"])).await);
    }
    let mut live = Vec::new();
    for _ in 0..4 {
        live.push(host.start(json!(["sleep", world.word])).await);
    }
    for id in &ended {
        host.over(id).await;
    }
    let expected: Vec<&String> = live.iter().rev().chain(ended.iter().rev()).collect();

    let (mut found, mut cursor): (Vec<String>, Value) = (Vec::new(), Value::Null);
    loop {
        let options = json!({"maxOutputBytes": 1_000, "cursor": cursor});
        let page = host.data(json!({"op": "process.list", "options": options})).await;
        let rows = page["processes"].as_array().expect("a list");
        assert!(!rows.is_empty(), "{page:#}");
        found.extend(rows.iter().map(|row| row["processId"].as_str().expect("an id").to_owned()));
        assert_eq!(page["live"], 4);
        cursor = page["nextCursor"].clone();
        assert_eq!(page["truncated"], json!(!cursor.is_null()));
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(found.iter().collect::<Vec<_>>(), expected);
}
