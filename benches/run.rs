//! What running a command costs: `cargo bench --bench measure run`. A client over stdio asks a real `bailiwick mcp`,
//! audited, at every level that this computer has, in turns with a plain start of the same program; figures are medians.

use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use crate::client::Client;
use crate::fixture::{kib, levels, milliseconds};

const ROUNDS: usize = 500;
const WARM_UP: usize = 20;
const OUTPUT_BYTES: u64 = 100_000_000;

/// Measures it.
pub fn run(_: &[String]) -> ExitCode {
    let levels = levels();
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
            plain.push(milliseconds(began.elapsed()));
        }
    }
    rows.push(("a plain start of `true`".to_owned(), Value::Null, plain));
    println!("{:<28} {:>9} {:>9} {:>9}", "over stdio, audited", "p10 ms", "p50 ms", "p90 ms");
    for (name, _, mut times) in rows {
        times.sort_by(f64::total_cmp);
        let [low, middle, high] = [10, 50, 90].map(|percent: usize| times[times.len() * percent / 100]);
        println!("{name:<28} {low:>9.2} {middle:>9.2} {high:>9.2}");
    }

    let before = kib(client.pipe.child.id(), "VmHWM");
    let envelope = json!({"scope": scope, "op": "command.run", "input": {"command": format!("yes | head -c {OUTPUT_BYTES}")},
        "options": {"timeoutSeconds": 600}});
    let ms = client.time(&envelope);
    println!(
        "100 MB of output: {:.0} MB/s, peak memory {} KiB before, +{} KiB",
        OUTPUT_BYTES as f64 / 1_000.0 / ms,
        before,
        kib(client.pipe.child.id(), "VmHWM") - before
    );
    ExitCode::SUCCESS
}
