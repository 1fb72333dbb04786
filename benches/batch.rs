//! What a batch costs: `cargo bench --bench batch`. A client over stdio asks a real `bailiwick mcp`, audited, for ten files: by
//! ten calls, by one `batch.run`, and by one that changes a file, in turns; figures are medians of round trips.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a bench runs what it measures, and tells"
)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use bailiwick::config::Config;
use bailiwick::contract::id;
use bailiwick::platform::dirs::Dirs;
use serde_json::{Value, json};

const ROUNDS: usize = 200;
const READS: usize = 10;

struct Client {
    folder: PathBuf,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Client {
    fn start() -> Self {
        let folder = std::env::temp_dir().join(format!("bailiwick-bench-{}", id::new_id()));
        fs::create_dir_all(folder.join("app")).expect("a folder is made");
        for number in 0..READS {
            fs::write(folder.join(format!("app/{number}.txt")), "a line of a file\n".repeat(200))
                .expect("written");
        }
        let dirs = Dirs::below(folder.join("home"));
        let mut config = Config::new(id::new_id(), "bench".to_owned());
        let scope =
            json!([{"id": "app", "roots": [folder.join("app")], "capabilities": ["fs:read", "fs:write"]}]);
        config.scopes = serde_json::from_value(scope).expect("valid scopes");
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

    /// Sends envelopes one after another, and returns the milliseconds until the last answer.
    fn time(&mut self, envelopes: &[Value]) -> f64 {
        let began = Instant::now();
        for envelope in envelopes {
            let params = json!({"name": "computer_operation", "arguments": envelope});
            let answer = self.ask("tools/call", &params);
            assert!(answer.contains(r#""isError":false"#), "{answer}");
        }
        began.elapsed().as_secs_f64() * 1_000.0
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let mut client = Client::start();
    let reads: Vec<Value> =
        (0..READS).map(|number| json!({"op": "file.read", "target": format!("{number}.txt")})).collect();
    let batch = json!({"op": "batch.run", "input": {"steps": reads}});
    let mut with_write = reads.clone();
    with_write.push(json!({"op": "file.write", "target": "new.txt", "input": {"content": "new\n"}}));
    let changing = json!({"op": "batch.run", "input": {"steps": with_write}});
    let write = json!({"op": "file.write", "target": "new.txt", "input": {"content": "new\n"}});
    let rows: [(&str, Vec<Value>); 4] = [
        ("10 reads, 10 calls", reads),
        ("10 reads, 1 batch", vec![batch]),
        ("a write", vec![write]),
        ("10 reads and a write, 1 batch", vec![changing]),
    ];
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); rows.len()];
    for _ in 0..ROUNDS {
        for ((_, envelopes), times) in rows.iter().zip(&mut times) {
            times.push(client.time(envelopes));
        }
    }
    let medians: Vec<f64> = times.iter_mut().map(|times| median(times)).collect();
    for ((name, _), ms) in rows.iter().zip(&medians) {
        println!("{name:32} {ms:8.2} ms");
    }
    println!("1 batch of reads against 10 calls: {:.2}", medians[1] / medians[0]);
    println!("1 batch with a write against its calls: {:.2}", medians[3] / (medians[0] + medians[2]));
}
