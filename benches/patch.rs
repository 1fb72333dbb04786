//! What `file.patch` costs on a file of 5,000 lines, with its audit: `cargo bench --bench measure patch`.
//!
//! Each call changes one line of a Rust file of small functions by another dialect in turn, in the process of
//! the service, on the disk of the temporary folder. The last two show what the parse check costs: without it,
//! and on 5,000 statements in one row, which are the worst for it.

use std::fs;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bailiwick::contract::{Caller, Envelope, Transport};
use bailiwick::providers::edit::anchor;
use bailiwick::service::Service;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::fixture::{Folder, milliseconds, service};

const LINES: usize = 5_000;
const CALLS: usize = 1_000;
/// How many lines a function has.
const PART: usize = 10;
const DIALECTS: [&str; 4] = ["edits", "unified diff", "context patch", "lines"];

fn line(number: usize, round: usize) -> String {
    match number % PART {
        0 => return format!("fn part_{number}(input: &[u32]) {{"),
        9 => return "}".to_owned(),
        _ => {}
    }
    format!("    let value_{number} = compute(input[{number}], \"round {round}\");")
}

fn input(dialect: &str, number: usize, round: usize) -> Value {
    let (before, after) = (line(number - 1, 0), line(number + 1, 0));
    let (old, new) = (line(number, round), line(number, round + 1));
    match dialect {
        "edits" => json!({"edits": [{"old": old, "new": new}]}),
        "unified diff" => {
            json!({"patch": format!("@@ -{number},3 +{number},3 @@\n {before}\n-{old}\n+{new}\n {after}\n")})
        }
        "context patch" => json!({"patch": format!(
            "*** Begin Patch\n*** Update File: file.rs\n@@\n {before}\n-{old}\n+{new}\n {after}\n*** End Patch\n"
        )}),
        _ => json!({"lines": [{"start": anchor(number as u64 + 1, &old), "new": new}]}),
    }
}

/// Sends a call for the version that the last one answered; gives the time and the new version.
fn call(
    runtime: &Runtime,
    service: &Arc<Service>,
    dialect: &str,
    input: &Value,
    options: &Value,
) -> (Duration, Value) {
    let target = if dialect == "context patch" { Value::Null } else { json!("file.rs") };
    let envelope = json!({"op": "file.patch", "target": target, "input": input, "options": options});
    let envelope = envelope.to_string();
    let caller = Caller::local(Transport::Stdio);
    let cancelled = CancellationToken::new();
    let began = Instant::now();
    let envelope = Envelope::from_json(envelope.as_bytes());
    let outcome = runtime.block_on(service.handle(&caller, envelope, &cancelled));
    let took = began.elapsed();
    let answer = outcome.into_reply().into_value();
    assert_eq!(answer["ok"], true, "{dialect}: {answer}");
    (took, answer["data"]["files"][0]["version"].clone())
}

/// Measures it.
pub fn run(_: &[String]) -> ExitCode {
    let folder = Folder::make();
    fs::create_dir_all(folder.join("app")).expect("the temporary folder can be written");
    let scope = json!({"id": "app", "roots": [folder.join("app")], "capabilities": ["fs:read", "fs:write"]});
    let runtime = Runtime::new().expect("a runtime can be made");
    let service = service(folder.join("home"), json!([scope]));
    let runs = DIALECTS.map(|dialect| (dialect, "report", false));
    for (dialect, check, flat) in runs.into_iter().chain([("edits", "off", false), ("edits", "report", true)])
    {
        let lines = |number| if flat { line(number * PART + 1, 0) } else { line(number, 0) };
        let content: String = (0..LINES).map(|number| lines(number) + "\n").collect();
        fs::write(folder.join("app/file.rs"), content).expect("the scope can be written");
        let mut version = Value::Null;
        let mut times: Vec<Duration> = Vec::with_capacity(CALLS);
        for at in 0..CALLS {
            // The third line of each function, then the sixth.
            let number = at * PART % LINES + if at * PART < LINES { 2 } else { 5 };
            let input = match flat {
                true => input(dialect, at * PART + 1, 0),
                false => input(dialect, number, 0),
            };
            let options = json!({"ifVersion": version, "check": check});
            let (took, next) = call(&runtime, &service, dialect, &input, &options);
            version = next;
            times.push(took);
        }
        times.sort_unstable();
        let ms = |part: usize| milliseconds(times[times.len() * part / 100]);
        let flat = if flat { ", in one row" } else { "" };
        println!("file.patch, {dialect}, check {check}{flat}: p50 {:.2} ms, p95 {:.2} ms", ms(50), ms(95));
    }
    ExitCode::SUCCESS
}
