//! What running a command costs: `cargo bench --bench run`. A client over stdio asks a real `bailiwick mcp`, audited, at
//! every level that this computer has, in turns with a plain start of the same program; figures are medians.

#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench runs what it measures, and tells"
)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use bailiwick::config::Config;
use bailiwick::contract::{Containment, id};
use bailiwick::platform::dirs::Dirs;
use bailiwick::platform::launch::levels;
use serde_json::{Value, json};

const ROUNDS: usize = 500;
const WARM_UP: usize = 20;
const OUTPUT_BYTES: u64 = 100_000_000;

/// A `bailiwick mcp` with a scope for each level, in a folder of its own.
struct Client {
    folder: PathBuf,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Client {
    fn start(levels: &[Containment]) -> Self {
        let folder = std::env::temp_dir().join(format!("bailiwick-bench-{}", id::new_id()));
        fs::create_dir_all(folder.join("app")).expect("a folder is made");
        let dirs = Dirs::below(folder.join("home"));
        let mut config = Config::new(id::new_id(), "bench".to_owned());
        let scopes = levels.iter().map(|level| {
            json!({"id": level, "roots": [folder.join("app")], "capabilities": ["fs:read", "command:run"],
                "policy": {"sandbox": level, "allowedCommands": ["true", "yes", "head *"]}})
        });
        config.scopes = serde_json::from_value(scopes.collect()).expect("valid scopes");
        config.save(&Config::path(&dirs)).expect("the config is saved");
        let mut child = Command::new(env!("CARGO_BIN_EXE_bailiwick"))
            .arg("mcp")
            .env("BAILIWICK_HOME", folder.join("home"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let (input, output) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        let mut client = Self { folder, child, input, output: BufReader::new(output) };
        client.ask(
            "initialize",
            &json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}),
        );
        writeln!(client.input, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .expect("it reads");
        client
    }

    fn ask(&mut self, method: &str, params: &Value) -> String {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        writeln!(self.input, "{message}").expect("it reads");
        let mut answer = String::new();
        self.output.read_line(&mut answer).expect("it writes");
        answer
    }

    /// Sends an envelope, and gives the milliseconds until its answer.
    fn time(&mut self, envelope: &Value) -> f64 {
        let params = json!({"name": "computer_operation", "arguments": envelope});
        let began = Instant::now();
        let answer = self.ask("tools/call", &params);
        let ms = began.elapsed().as_secs_f64() * 1_000.0;
        assert!(answer.contains(r#""isError":false"#), "{answer}");
        ms
    }

    /// Returns a number of the process's status, in KiB.
    fn kib(&self, name: &str) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = fs::read_to_string(path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.trim_start_matches(':').trim().trim_end_matches(" kB").parse().ok())
            .unwrap_or(0)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
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
    let mut client = Client::start(&levels);
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

    let before = client.kib("VmHWM");
    let envelope = json!({"scope": scope, "op": "command.run", "input": {"command": format!("yes | head -c {OUTPUT_BYTES}")},
        "options": {"timeoutSeconds": 600}});
    let ms = client.time(&envelope);
    println!(
        "100 MB of output: {:.0} MB/s, peak memory {} KiB before, +{} KiB",
        OUTPUT_BYTES as f64 / 1_000.0 / ms,
        before,
        client.kib("VmHWM") - before
    );
}
