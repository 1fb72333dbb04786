//! Requests that must not get through the HTTP listener.

use std::sync::Arc;

use bailiwick::adapters::http::{Access, HttpSettings, ROUTES, Reach, Server};
use bailiwick::config::Tokens;
use bailiwick::platform::fs::modes::set_mode;
use serde_json::json;

use crate::system::{Need, lacks};
use support::http_client::{Reply, api, call, mcp, request, send, send_raw};
use support::server::TestServer;

const STAT: &str = r#"{"scope":"app","op":"file.stat"}"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_route_but_health_needs_a_token() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let others =
        [("GET", "/"), ("GET", "/mcp"), ("DELETE", "/mcp"), ("GET", "/no/such"), ("OPTIONS", "/mcp")]
            .map(|(method, path)| (method, path, false));
    let there = ROUTES.iter().filter(|route| route.reach != Reach::PublicUrl);
    let there = there.map(|route| (route.method.as_str(), route.path, route.access == Access::Open));
    // Without a public URL nobody can log in, and nobody is told of a way to.
    let login = ROUTES.iter().filter(|route| route.reach == Reach::PublicUrl);
    for route in login {
        let reply = send(address, route.method.as_str(), route.path, &[], "").await;
        assert!(matches!(reply.status, 401 | 404), "{route:?}: {reply:?}");
    }
    for (method, route, is_open) in there.chain(others) {
        let headers =
            [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
        let reply = send(address, method, route, &headers, "{}").await;
        if is_open {
            assert_eq!((reply.status, reply.body.as_str()), (200, "ok"));
        } else {
            assert_eq!(reply.status, 401, "{method} {route}: {reply:?}");
            assert!(reply.header("www-authenticate").is_some_and(|it| it.starts_with("Bearer")), "{reply:?}");
        }
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"), "{route}");
        assert_eq!(reply.header("cache-control"), Some("no-store"), "{route}");
        assert_eq!(reply.header("cross-origin-resource-policy"), Some("same-origin"), "{route}");
        assert!(!reply.head.to_lowercase().contains("access-control"), "{route}");
    }
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn foreign_doubled_and_disguised_hosts_are_refused() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let bearer = format!("Bearer {}", house.token);
    for route in ["/healthz", "/api/v1/info"] {
        let get = async |target: &str, hosts: &[&str]| {
            let mut headers: Vec<(&str, &str)> = hosts.iter().map(|host| ("Host", *host)).collect();
            headers.push(("Authorization", &bearer));
            send_raw(address, request("GET", target, &headers, "").as_bytes()).await.status
        };
        assert_eq!(get(route, &["localhost"]).await, 200);
        for host in [
            "evil.example",
            "evil.example:3939",
            "evil.example@127.0.0.1",
            "localhost:99999",
            "127.0.0.1.evil.example",
            "",
        ] {
            assert_eq!(get(route, &[host]).await, 403, "{host}");
        }
        assert!(matches!(get(route, &["localhost", "evil.example"]).await, 400 | 403));
        assert!(matches!(get(route, &["localhost", "localhost"]).await, 400 | 403));
        assert!(matches!(get(route, &[]).await, 400 | 403));
        assert_eq!(get(&format!("http://evil.example{route}"), &["localhost"]).await, 403);
    }
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_of_other_sites_are_refused_even_with_a_token() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let bearer = format!("Bearer {}", house.token);
    let ask = async |name: &str, value: &str| {
        let headers =
            [("Authorization", bearer.as_str()), ("Content-Type", "application/json"), (name, value)];
        send(address, "POST", "/api/v1/operations", &headers, STAT).await.status
    };
    assert_eq!(ask("Origin", "http://localhost:6274").await, 200);
    for (name, value) in [
        ("Origin", "null"),
        ("Origin", "https://evil.example"),
        ("Origin", "http://localhost.evil.example"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
    ] {
        assert_eq!(ask(name, value).await, 403, "{name}: {value}");
    }
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_simple_cross_site_post_does_nothing() {
    let mut house = TestServer::new();
    let settings = HttpSettings { allow_loopback_without_token: true, ..house.settings() };
    let address = house.http_with(settings).await;
    // What a page can send without asking first, to a service that needs no token.
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        for route in ["/api/v1/operations", "/mcp"] {
            let reply = send(address, "POST", route, &[("Content-Type", kind)], STAT).await;
            assert_eq!(reply.status, 415, "{kind}: {reply:?}");
        }
    }
    let reply = send(address, "POST", "/api/v1/operations", &[], STAT).await;
    assert_eq!(reply.status, 415, "{reply:?}");
    let json = [("Content-Type", "application/json")];
    assert_eq!(send(address, "POST", "/api/v1/operations", &json, STAT).await.status, 200);
    // A bad token is not the same as none.
    let bad = [("Content-Type", "application/json"), ("Authorization", "Bearer bwl_no")];
    assert_eq!(send(address, "POST", "/api/v1/operations", &bad, STAT).await.status, 401);
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_token_only_programs_of_this_computer_are_let_in() {
    let mut house = TestServer::new();
    let settings = HttpSettings {
        allow_loopback_without_token: true,
        allowed_hosts: vec!["bw.example".to_owned()],
        allowed_origins: vec!["http://localhost:5173".to_owned()],
        ..house.settings()
    };
    let address = house.http_with(settings).await;
    let ask = async |headers: &[(&str, &str)]| {
        let json = [headers, &[("Content-Type", "application/json")]].concat();
        let bytes = request("POST", "/api/v1/operations", &json, STAT);
        send_raw(address, bytes.as_bytes()).await.status
    };
    let local = address.to_string();
    let here = ("Host", local.as_str());
    assert_eq!(ask(&[here]).await, 200);
    assert_eq!(ask(&[here, ("Origin", "http://localhost:5173")]).await, 200);
    let bearer = format!("Bearer {}", house.token);
    for headers in [
        &[("Host", "bw.example")][..],
        // A tunnel that gives another Host says for whom it speaks.
        &[here, ("X-Forwarded-For", "203.0.113.7")],
        &[here, ("CF-Connecting-IP", "203.0.113.7")],
        &[here, ("Forwarded", "for=203.0.113.7")],
        &[here, ("Origin", "http://localhost:1")],
        &[here, ("Origin", "https://localhost:5173")],
    ] {
        assert_eq!(ask(headers).await, 401, "{headers:?}");
        assert_eq!(ask(&[headers, &[("Authorization", bearer.as_str())]].concat()).await, 200, "{headers:?}");
    }
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_count_only_in_the_header() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let cookie = format!("token={}", house.token);
    for target in [
        format!("/api/v1/info?token={}", house.token),
        format!("/api/v1/info?access_token={}", house.token),
        format!("/mcp?token={}", house.token),
    ] {
        let reply = send(address, "GET", &target, &[("Cookie", &cookie)], "").await;
        assert_eq!(reply.status, 401, "{reply:?}");
    }
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_expired_and_revoked_tokens_open_nothing() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let expired = house.token("expired", Some(1), &["*"], &["*"]);
    let revoked = house.token("revoked", None, &["*"], &["*"]);
    assert_eq!(api(address, &revoked, STAT).await.status, 200, "a new token works without a restart");
    let mut tokens = Tokens::load(&house.dirs).expect("readable");
    tokens.revoke("revoked").expect("it was there");
    tokens.save().expect("saved");
    let (whole, half) = (house.token.clone(), &house.token[..house.token.len() / 2]);
    for token in ["", "bwl_0", half, &format!("{whole}0"), &whole.to_uppercase(), &expired, &revoked] {
        let reply = api(address, token, STAT).await;
        assert_eq!(reply.status, 401, "{reply:?}");
        assert!(!reply.body.contains("expired") && !reply.body.contains("revoked"), "{reply:?}");
    }
    assert_eq!(api(address, &whole, STAT).await.status, 200);
    // From a token file that others can read no token is accepted; the client is not told that its token is wrong.
    if !lacks(Need::Modes) {
        set_mode(&Tokens::path(&house.dirs), 0o644).expect("own file");
        let reply = api(address, &whole, STAT).await;
        assert_eq!((reply.status, reply.header("www-authenticate")), (503, None), "{reply:?}");
        assert_eq!(reply.json()["error"]["details"]["rule"], "broken-config", "{reply:?}");
    }
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn guessing_is_slowed_and_does_not_lock_the_owner_out() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let mut statuses = Vec::new();
    for n in 0..40 {
        statuses.push(api(address, &format!("bwl_{n}"), STAT).await.status);
    }
    assert_eq!(statuses[0], 401);
    assert_eq!(statuses[39], 429);
    assert_eq!(api(address, &house.token, STAT).await.status, 200);
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_exposed_without_a_token() {
    let house = TestServer::new();
    let mut tokens = Tokens::load(&house.dirs).expect("readable");
    tokens.revoke("local").expect("it was there");
    tokens.save().expect("saved");
    for host in ["0.0.0.0", "::"] {
        let settings =
            HttpSettings { host: host.into(), allow_loopback_without_token: true, ..house.settings() };
        let bound = Server::bind(Arc::clone(&house.service), Arc::clone(&house.keys), settings).await;
        let failure = bound.err().expect("refused");
        assert_eq!(failure.rule(), Some("token-needed"), "{failure}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_is_the_one_of_its_token_in_every_request() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let narrow = house.token("narrow", None, &["notes"], &["*"]);
    let envelope = json!({"op": "computer.info", "input": {"include": ["identity"]}});
    for version in ["2025-11-25", "2026-07-28"] {
        for (token, name) in [(&house.token, "local"), (&narrow, "narrow")] {
            let reply: Reply = mcp(address, token, version, call("computer_query", &envelope)).await;
            let caller = &reply.json()["result"]["structuredContent"]["data"]["identity"]["caller"];
            assert_eq!(caller, name);
            assert!(reply.header("mcp-session-id").is_none(), "nothing outlives a request");
        }
    }
    house.end().await;
}
