//! The OpenAPI document that the program serves is the committed one, and says what is true.

use std::fs;

use bailiwick::adapters::http::{Endpoint, ROUTES};
use bailiwick::operations::FAMILIES;
use bailiwick::reference::openapi;
use bailiwick::registry::Registry;
use serde_json::Value;

use crate::source::repository;
use support::http_client::{api, send};
use support::server::TestServer;

#[test]
fn the_program_serves_the_committed_document() {
    let text = format!("{:#}\n", openapi(&Registry::new(FAMILIES)));
    let committed = fs::read_to_string(repository().join("schemas/openapi.json")).expect("it is committed");
    assert!(committed == text, "UPDATE=1 cargo test -p bailiwick-engine reference, and read the diff");
}

#[test]
fn the_document_holds_every_route_of_the_api_and_every_operation() {
    let document = openapi(&Registry::new(FAMILIES));
    let is_described = |endpoint: Endpoint| matches!(endpoint, Endpoint::Health | Endpoint::Api(_));
    for route in ROUTES.iter().filter(|route| is_described(route.endpoint)) {
        let entry = &document["paths"][route.path][route.method.as_str().to_lowercase()];
        assert!(entry["summary"].is_string(), "{route:?}");
    }
    for entry in FAMILIES.iter().flat_map(|family| family.operations) {
        let schema = &document["components"]["schemas"][entry.spec.name];
        assert_eq!(schema["properties"]["op"]["const"], entry.spec.name);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_api_gives_its_document_info_and_history() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let bearer = format!("Bearer {}", house.token);
    let get = async |target: &str| send(address, "GET", target, &[("Authorization", &bearer)], "").await;
    let reply = get("/api/v1/openapi.json").await;
    assert_eq!(reply.json()["openapi"], "3.1.1");
    let reply = get("/api/v1/info?include=identity,operations&family=file.stat").await;
    assert_eq!(reply.status, 200, "{reply:?}");
    assert_eq!(reply.json()["data"]["operations"]["op"], "file.stat");
    for (target, field) in [
        ("/api/v1/info?token=x", "token"),
        ("/api/v1/history?view=tomorrow", "view"),
        ("/api/v1/history?limit=many", "limit"),
        ("/api/v1/history?scope=a&scope=b", "scope"),
    ] {
        let reply = get(target).await;
        assert_eq!(reply.status, 400, "{target}: {reply:?}");
        assert_eq!(reply.json()["error"]["details"]["field"], field, "{target}");
    }
    let outcome: Value = get("/api/v1/history?scope=app").await.json();
    let known =
        FAMILIES.iter().flat_map(|family| family.operations).any(|it| it.spec.name == "history.timeline");
    assert_eq!(outcome["ok"] == true, known, "{outcome}");
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_api_takes_requests_that_follow() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let read = r#"{"scope":"app","op":"file.read","target":"README.md","then":[THEN]}"#;
    let send = async |then: &str| api(address, &house.token, &read.replace("THEN", then)).await;
    let both = send(r#"{"op":"file.stat","target":"README.md"},{"op":"file.list"}"#).await;
    let ops: Vec<Value> =
        both.json()["answers"].as_array().expect("answers").iter().map(|it| it["op"].clone()).collect();
    assert_eq!((both.status, ops), (200, vec!["file.read".into(), "file.stat".into(), "file.list".into()]));
    assert_eq!(both.json()["notRun"], serde_json::json!([]));
    // Each is judged on its own: what follows has no more rights, and what follows that is not run.
    let refused = send(r#"{"op":"file.read","target":"nope.md"},{"op":"file.list"}"#).await;
    let answer = refused.json();
    assert_eq!((refused.status, &answer["ok"]), (404, &false.into()), "{answer}");
    assert_eq!(answer["answers"][1]["error"]["code"], "not_found");
    assert_eq!(answer["notRun"], serde_json::json!(["file.list"]));
    let other = send(r#"{"op":"file.read","target":"a","scope":"no-such-scope"}"#).await;
    assert_eq!(other.json()["answers"][1]["ok"], false);
    assert_ne!(other.status, 200);
    let unread = send(r#"{"op":"no.such"}"#).await;
    assert_eq!(unread.json()["error"]["code"], "unknown_operation");
    assert!(unread.json().get("answers").is_none());
}
