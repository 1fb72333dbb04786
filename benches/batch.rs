//! What a batch costs: `cargo bench --bench measure batch`. A client over stdio asks a real `bailiwick mcp`, audited, for
//! ten files: by ten calls, by one `batch.run`, and by one that changes a file, in turns; figures are medians of the sums
//! of round trips.

use std::fs;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::client::Client;
use crate::fixture::median;

const ROUNDS: usize = 200;
const READS: usize = 10;

/// Measures it.
pub fn run(_: &[String]) -> ExitCode {
    let mut client = Client::start(|app| {
        for number in 0..READS {
            fs::write(app.join(format!("{number}.txt")), "a line of a file\n".repeat(200)).expect("written");
        }
        json!([{"id": "app", "roots": [app], "capabilities": ["fs:read", "fs:write"]}])
    });
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
            times.push(envelopes.iter().map(|envelope| client.time(envelope)).sum());
        }
    }
    let medians: Vec<f64> = times.iter_mut().map(|times| median(times)).collect();
    for ((name, _), ms) in rows.iter().zip(&medians) {
        println!("{name:32} {ms:8.2} ms");
    }
    println!("1 batch of reads against 10 calls: {:.2}", medians[1] / medians[0]);
    println!("1 batch with a write against its calls: {:.2}", medians[3] / (medians[0] + medians[2]));
    ExitCode::SUCCESS
}
