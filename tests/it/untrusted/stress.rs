//! A long history is judged in one pass, and a request costs little more where untrusted reads count.

use std::time::{Duration, Instant};

use bailiwick::contract::{Caller, Transport, id, time};
use bailiwick::history::{EventDraft, Phase};

use super::records::config_that_asks;
use super::*;

/// How many requests the history has.
const REQUESTS: i64 = 100_000;

#[test]
fn a_hundred_thousand_stored_requests_are_judged() {
    let mut host = scopes().save().host();
    let by = Caller::local(Transport::Stdio);
    let began_ms = time::now_ms() - REQUESTS * 1_000;
    for at in 0..REQUESTS {
        let op = if at % 2 == 0 { "file.read" } else { "command.run" };
        let template = match op {
            "file.read" => json!({"scope": "app", "op": op, "target": "notes.txt"}),
            _ => json!({"scope": "app", "op": op, "input": {"command": ["cat", format!("{at}.txt")]}}),
        };
        let event = EventDraft {
            operation_id: id::new_id(),
            phase: Phase::Finished,
            at_ms: began_ms + at * 1_000,
            caller: by.name.clone(),
            client: None,
            session: None,
            transport: by.transport,
            scope: Some("app".to_owned()),
            op: op.to_owned(),
            target: template["target"].as_str().map(str::to_owned),
            capability: None,
            stage: None,
            rule: None,
            code: None,
            duration_us: 1,
            bytes: 1,
            summary: String::new(),
            error: None,
            template,
            has_effect: false,
        };
        host.service.history().append(event).expect("a row is written");
    }
    let asking = config_that_asks(&host);
    let began = Instant::now();
    let found = host.cli(&["policy", "test", "--against-history", &asking]);
    println!("judged 100,000 stored requests in {:?} where reads count", began.elapsed());
    assert_eq!(found["judged"], REQUESTS, "{found:#}");
    assert_eq!(found["newlyAsked"][0]["requests"], REQUESTS / 2 - 1);
    for scope in &mut host.config.scopes {
        scope.policy.after_untrusted = Default::default();
    }
    host.save_config();
    let path = host.config_path();
    let began = Instant::now();
    let found = host.cli(&["policy", "test", "--against-history", path.to_str().expect("text")]);
    println!("where they do not: {:?}", began.elapsed());
    assert_eq!(found["judged"], REQUESTS);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_costs_little_more_where_reads_count() {
    let mut host = scopes().save().host();
    let mut took = Vec::new();
    for asks in [false, true, true] {
        for scope in &mut host.config.scopes {
            scope.policy.after_untrusted =
                if asks { bailiwick::config::AfterUntrusted::Ask } else { Default::default() };
        }
        host.restart();
        if took.len() == 2 {
            read_page(&host).await;
        }
        let mut all: Vec<Duration> = Vec::new();
        for _ in 0..2_000 {
            let began = Instant::now();
            host.data(json!({"op": "file.read", "target": "notes.txt"})).await;
            all.push(began.elapsed());
        }
        all.sort();
        took.push(all[all.len() / 2]);
    }
    println!("median of file.read: off {:?}, ask {:?}, ask after a read {:?}", took[0], took[1], took[2]);
}
