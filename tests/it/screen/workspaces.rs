//! Workspaces under a real window manager: which there are, switching, and windows that move between them.

use bailiwick::platform::screen::Rect;
use serde_json::{Value, json};

use super::scope::{ScreenScope, refusal};
use support::screen::{XServer, window_id};
use support::service::data;

async fn ask(desk: &ScreenScope, op: &str, target: Option<&str>, input: Value) -> Value {
    desk.act(&format!("workspace.{op}"), target, input, json!({})).await
}

/// Returns how many workspaces there are, and the one that shows.
async fn listed(desk: &ScreenScope) -> (usize, Value) {
    let answer = ask(desk, "list", None, json!({})).await;
    let all = data(&answer)["workspaces"].as_array().expect("a list").clone();
    let current: Vec<_> = all.iter().filter(|it| it["current"] == true).collect();
    assert_eq!(current.len(), 1, "{answer}");
    (all.len(), current[0]["workspace"].clone())
}

/// Returns the workspace of a window, and its state.
async fn place(desk: &ScreenScope, id: &str) -> (Value, Value) {
    let answer = desk.act("window.list", None, json!({}), json!({"detail": "full"})).await;
    let windows = data(&answer)["windows"].as_array().expect("a list").clone();
    let found = windows.into_iter().find(|window| window["window"] == id).expect("the window");
    (found["workspace"].clone(), found["state"].clone())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workspaces_are_listed_switched_and_windows_moved_between_them() {
    let server = XServer::start();
    let _manager = server.manage();
    let client = server.client();
    let editor = window_id(&server, client.managed(Rect::new(20, 30, 200, 150), "Editor", true));
    let desk = ScreenScope::controlling(&server, json!({}));
    let (count, current) = listed(&desk).await;
    assert!(count >= 2 && current == 0, "{count} {current}");
    assert_eq!(place(&desk, &editor).await, (json!(0), json!("visible")));

    let moved = data(&ask(&desk, "move_window", Some(&editor), json!({"workspace": 1})).await).clone();
    assert_eq!(moved, json!({"effect": "confirmed", "workspace": 1}));
    assert_eq!(place(&desk, &editor).await.0, json!(1));
    let switched = data(&ask(&desk, "switch", None, json!({"workspace": 1})).await).clone();
    assert_eq!(switched, json!({"effect": "confirmed", "workspace": 1}));
    assert_eq!(listed(&desk).await, (count, json!(1)));
    let again =
        data(&ask(&desk, "switch", Some(&server.id()), json!({"workspace": 1})).await)["effect"].clone();
    assert_eq!(again, "confirmed");

    // Judged, and not done; numbers that there are not; windows that there are not.
    for (op, target) in [("switch", None), ("move_window", Some(editor.as_str()))] {
        let op = format!("workspace.{op}");
        let dry = desk.act(&op, target, json!({"workspace": 0}), json!({"dryRun": true})).await;
        assert_eq!((&data(&dry)["dryRun"], &data(&dry)["effect"]), (&json!(true), &Value::Null), "{dry}");
        for wrong in [json!({"workspace": count}), json!({"workspace": u32::MAX})] {
            let refused = desk.act(&op, target, wrong, json!({})).await;
            assert_eq!(refusal(&refused).0, "invalid_request", "{refused}");
        }
    }
    let unknown = format!("{}/0x9", server.id());
    let refused = ask(&desk, "move_window", Some(&unknown), json!({"workspace": 0})).await;
    assert_eq!(refusal(&refused).0, "not_found", "{refused}");
    assert_eq!(listed(&desk).await, (count, json!(1)));
    assert_eq!(place(&desk, &editor).await.0, json!(1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn windows_that_the_scope_does_not_show_stay_on_their_workspace() {
    let server = XServer::start();
    let _manager = server.manage();
    let client = server.client();
    let vault = window_id(&server, client.managed(Rect::new(20, 30, 200, 150), "My vault", true));
    let desk = ScreenScope::controlling(&server, json!({"deniedWindows": [{"title": "*vault*"}]}));
    let answer = ask(&desk, "move_window", Some(&vault), json!({"workspace": 1})).await;
    assert_eq!(refusal(&answer), ("permission_denied", "screen", "denied-windows"), "{answer}");
    let listing = server.displays().list().expect("a listing");
    assert_eq!(listing.windows.iter().find(|it| it.id == vault).and_then(|it| it.workspace), Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_window_manager_there_are_no_workspaces() {
    let server = XServer::start();
    let desk = ScreenScope::controlling(&server, json!({}));
    for (op, input) in [("list", json!({})), ("switch", json!({"workspace": 0}))] {
        let answer = ask(&desk, op, None, input).await;
        assert_eq!(refusal(&answer).0, "provider_unavailable", "{answer}");
    }
}
