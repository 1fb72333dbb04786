//! Who is refused leaves a row: where they came from and why, and never a token.

use bailiwick::adapters::socket::{Hello, connect};
use bailiwick::config::Tokens;
use bailiwick::contract::{Cancel, Transport, time};
use bailiwick::history::{Entry, Filter};

use crate::patience::PATIENCE;
use support::http_client::{api, send};
use support::server::TestServer;

const STAT: &str = r#"{"scope":"app","op":"file.stat"}"#;

fn rows(house: &TestServer) -> Vec<Entry> {
    let filter = Filter { op: Some("login".to_owned()), limit: 100, ..Filter::default() };
    house.service.history().query(&filter, &Cancel::after(*PATIENCE)).expect("readable").entries
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_login_leaves_a_row_with_its_address_and_reason_and_no_token() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let expired = house.token("expired", Some(time::now_ms() - 1_000), &["*"], &["*"]);
    let revoked = house.token("revoked", None, &["*"], &["*"]);
    let mut tokens = Tokens::load(&house.dirs).expect("readable");
    tokens.revoke("revoked").expect("it was there");
    tokens.save().expect("saved");
    let wrong = format!("bwl_{}", "5a".repeat(32));
    for token in [&expired, &revoked, &wrong] {
        let reply = api(address, token, STAT).await;
        assert_eq!((reply.status, reply.json().get("warnings")), (401, None), "{reply:?}");
    }
    let json = ("Content-Type", "application/json");
    assert_eq!(send(address, "POST", "/mcp", &[json], "{}").await.status, 401);
    let malformed = [json, ("Authorization", "Basic Ym9iOnNlY3JldA==")];
    assert_eq!(send(address, "POST", "/api/v1/operations", &malformed, STAT).await.status, 401);
    let hello = Hello::new(Transport::Stdio, Some("nobody".to_owned()));
    assert!(connect(&house.socket(), &hello).await.is_err());
    let seen: Vec<(String, String, String)> = rows(&house)
        .into_iter()
        .rev()
        .map(|row| (row.caller, row.target.unwrap_or_default(), row.error.unwrap_or_default()))
        .collect();
    let no_such = "no token has this value: it is wrong, or was revoked or rotated";
    let expected = [
        ("expired", "127.0.0.1", "the token `expired` has expired"),
        ("(unknown)", "127.0.0.1", no_such),
        ("(unknown)", "127.0.0.1", no_such),
        ("(unknown)", "127.0.0.1", "no token was sent"),
        ("(unknown)", "127.0.0.1", "the header `Authorization` is not one bearer token"),
        ("(unknown)", "local socket", "no token is named `nobody`"),
    ];
    assert_eq!(seen, expected.map(|(who, from, why)| (who.to_owned(), from.to_owned(), why.to_owned())));
    let all = format!("{:?}", rows(&house));
    for secret in [&expired, &revoked, &wrong, "Ym9iOnNlY3JldA"] {
        assert!(!all.contains(secret), "{all}");
    }
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_refused_logins_is_counted_and_not_recorded_one_by_one() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let mut without_row = 0;
    for n in 0..60 {
        let reply = api(address, &format!("bwl_{n}"), STAT).await;
        without_row +=
            usize::from(reply.json()["warnings"][0].as_str().is_some_and(|it| it.contains("no row")));
    }
    assert!(without_row > 0);
    assert_eq!(rows(&house).len(), 60 - without_row);
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_is_not_taken_leaves_a_row_and_is_answered_in_an_outcome() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let large = format!("{{\"op\":\"{}\"}}", "x".repeat(5 << 20));
    let reply = api(address, &house.token, &large).await;
    assert_eq!(reply.status, 413, "{}", reply.head);
    let outcome = reply.json();
    assert_eq!(outcome["error"]["code"], "invalid_request", "{outcome}");
    let id = outcome["operationId"].as_str().expect("an id");
    let filter = Filter { limit: 10, ..Filter::default() };
    let page = house.service.history().query(&filter, &Cancel::after(*PATIENCE)).expect("readable");
    assert!(page.entries.iter().any(|row| row.operation_id == id && row.caller == "local"));
    house.end().await;
}
