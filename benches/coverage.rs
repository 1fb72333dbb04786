//! What undo of commands costs: `cargo bench --bench measure coverage`. A client over stdio has a real `bailiwick mcp`,
//! audited, run a command in trees of 5, 5,000 and 50,000 files, with undo of what commands change and without, and remove
//! a folder of 10,000 files, with undo and without. Figures are medians.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::client::Client;
use crate::fixture::median;

const ROUNDS: usize = 15;
/// How many files are in a folder.
const IN_A_FOLDER: usize = 50;
/// How many files are removed at once.
const REMOVED: usize = 10_000;

fn fill(root: &Path, files: usize) {
    for number in 0..files {
        let folder = root.join(format!("{}/{}", number / IN_A_FOLDER / 20, number / IN_A_FOLDER));
        if number % IN_A_FOLDER == 0 {
            fs::create_dir_all(&folder).expect("made");
        }
        fs::write(folder.join(format!("{number}.txt")), format!("the text of file {number}\n").repeat(20))
            .expect("written");
    }
}

fn scope(id: &str, root: &Path, undo: &str) -> Value {
    json!({
        "id": id,
        "roots": [root],
        "capabilities": ["fs:read", "fs:write", "command:run"],
        "policy": {"undo": undo, "allowedCommands": ["true", "touch *"]},
    })
}

fn command(scope: &str, words: &[&str]) -> Value {
    json!({"scope": scope, "op": "command.run", "input": {"command": words}})
}

/// Measures it.
pub fn run(_: &[String]) -> ExitCode {
    println!("{:>8} files: alone, with undo the first time, unchanged, one file changed", "");
    for files in [5, 5_000, 50_000] {
        let mut client = Client::start(|app| {
            fill(app, files);
            json!([scope("covered", app, "commands"), scope("plain", app, "files")])
        });
        let mut measure = |scope: &str, words: &[&str]| {
            let mut times: Vec<f64> = (0..ROUNDS).map(|_| client.time(&command(scope, words))).collect();
            (times[0], median(&mut times[1..]))
        };
        let (_, alone) = measure("plain", &["true"]);
        let (first, unchanged) = measure("covered", &["true"]);
        let (_, changed) = measure("covered", &["touch", "0/0/0.txt"]);
        println!("{files:>8} files: {alone:.1} ms, {first:.0} ms, {unchanged:.1} ms, {changed:.1} ms");
    }
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..5 {
        for (times, options) in times
            .iter_mut()
            .zip([json!({"recursive": true}), json!({"recursive": true, "withoutUndo": true})])
        {
            let mut client = Client::start(|app| {
                fill(&app.join("dir"), REMOVED);
                json!([scope("plain", app, "files")])
            });
            times.push(
                client.time(
                    &json!({"scope": "plain", "op": "file.delete", "target": "dir", "options": options}),
                ),
            );
        }
    }
    let [kept, for_good] = times.map(|mut times| median(&mut times));
    println!("{REMOVED} files removed: {kept:.1} ms with undo, {for_good:.1} ms without");
    ExitCode::SUCCESS
}
