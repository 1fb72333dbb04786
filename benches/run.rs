//! What running a command costs: `cargo bench --bench run`. A client over stdio asks a real `bailiwick mcp`, audited, at
//! every level that this computer has, in turns with a plain start of the same program; figures are medians.

#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench runs what it measures, and prints it"
)]

mod client;

use std::fs;
use std::process::{Command, Stdio};
use std::time::Instant;

use bailiwick::contract::Containment;
use bailiwick::platform::launch::levels;
use serde_json::{Value, json};

use client::Client;

const ROUNDS: usize = 500;
const WARM_UP: usize = 20;
const OUTPUT_BYTES: u64 = 100_000_000;

/// Returns a number of the status of a process, in KiB.
fn kib(process: u32, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.trim_start_matches(':').trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0)
}

fn at(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index of a short list")]
    let index = (values.len() as f64 * share) as usize;
    values[index.min(values.len() - 1)]
}

fn main() {
    let all = [Containment::None, Containment::Partial, Containment::Full];
    let levels: Vec<Containment> =
        all.into_iter().filter(|level| levels().missing(*level).is_none()).collect();
    let mut client = Client::start(|app| {
        let scopes = levels.iter().map(|level| {
            json!({"id": level, "roots": [app], "capabilities": ["fs:read", "command:run"],
                "policy": {"sandbox": level, "allowedCommands": ["true", "yes", "head *"]}})
        });
        scopes.collect()
    });
    let mut rows: Vec<(String, Value, Vec<f64>)> = levels
        .iter()
        .map(|level| {
            let envelope = json!({"scope": level, "op": "command.run", "input": {"command": ["true"]}});
            (format!("command.run [\"true\"], {level}"), envelope, Vec::new())
        })
        .collect();
    let scope = levels.first().unwrap_or_else(|| panic!("this computer runs no commands"));
    rows.push((
        "the same as a dry run".to_owned(),
        json!({"scope": scope, "op": "command.run", "input": {"command": ["true"]}, "options": {"dryRun": true}}),
        Vec::new(),
    ));
    rows.push((
        "file.stat".to_owned(),
        json!({"scope": scope, "op": "file.stat", "target": "."}),
        Vec::new(),
    ));
    let mut plain = Vec::new();
    for round in 0..WARM_UP + ROUNDS {
        for (_, envelope, times) in &mut rows {
            let ms = client.time(envelope);
            if round >= WARM_UP {
                times.push(ms);
            }
        }
        let began = Instant::now();
        Command::new("true").stdout(Stdio::null()).status().expect("it starts");
        if round >= WARM_UP {
            plain.push(began.elapsed().as_secs_f64() * 1_000.0);
        }
    }
    rows.push(("a plain start of `true`".to_owned(), Value::Null, plain));
    println!("{:<28} {:>9} {:>9} {:>9}", "over stdio, audited", "p10 ms", "p50 ms", "p90 ms");
    for (name, _, times) in rows {
        let [low, middle, high] = [0.1, 0.5, 0.9].map(|share| at(times.clone(), share));
        println!("{name:<28} {low:>9.2} {middle:>9.2} {high:>9.2}");
    }

    let before = kib(client.child.id(), "VmHWM");
    let envelope = json!({"scope": scope, "op": "command.run", "input": {"command": format!("yes | head -c {OUTPUT_BYTES}")},
        "options": {"timeoutSeconds": 600}});
    let ms = client.time(&envelope);
    println!(
        "100 MB of output: {:.0} MB/s, peak memory {} KiB before, +{} KiB",
        OUTPUT_BYTES as f64 / 1_000.0 / ms,
        before,
        kib(client.child.id(), "VmHWM") - before
    );
}
