//! From a line that a program prints to the answer of the wait for it: `cargo bench --bench measure wait`. Goal: 5 ms, p50.
//! And what waits in the works cost others: the time of a `file.stat` beside 64 of them. Needs python3.

use std::fs;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bailiwick::contract::{Caller, Envelope, Transport};
use bailiwick::service::Service;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::fixture::{Folder, ask, median, service, two_threads};

const ROUNDS: usize = 300;
const HELD: usize = 64;
const GOAL: Duration = Duration::from_millis(5);

/// Prints a line every 20 ms that says what the time is.
const PROGRAM: &str = "import time
n = 0
while True:
    time.sleep(0.02)
    print('line', n, time.time_ns(), flush=True)
    n += 1
";

/// Measures it.
pub fn run(_: &[String]) -> ExitCode {
    two_threads().block_on(measure())
}

async fn measure() -> ExitCode {
    let folder = Folder::make();
    fs::create_dir_all(folder.join("app")).expect("a folder is made");
    fs::write(folder.join("app/lines.py"), PROGRAM).expect("a file is written");
    let scope = json!({
        "id": "app",
        "roots": [folder.join("app")],
        "capabilities": ["fs:read", "command:run", "process:manage"],
        "policy": {"allowedCommands": ["python3 *"], "processLifetime": "service"},
    });
    let service = service(folder.join("home"), json!([scope]));

    let start = json!({"op": "process.start", "input": {"command": ["python3", "lines.py"]}});
    let process = send(&service, start).await["processId"].as_str().expect("an id").to_owned();
    let mut printed = printed(&service, &process).await;
    show("from a line printed to the wait for it answered", printed.clone());

    let alone = stats(&service).await;
    show("file.stat, nothing held", alone);
    let gone = CancellationToken::new();
    for _ in 0..HELD {
        let (service, gone, process) = (Arc::clone(&service), gone.clone(), process.clone());
        tokio::spawn(async move {
            let never = json!([{"until": "exit", "process": process}, {"until": "time", "seconds": 3600}]);
            let wait =
                json!({"op": "process.wait", "input": {"all": never}, "options": {"timeoutSeconds": 3600}});
            let caller = Caller::local(Transport::Stdio);
            service.handle(&caller, Envelope::from_value(wait), &gone).await
        });
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    show(&format!("file.stat, {HELD} waits held on the printing program"), stats(&service).await);
    gone.cancel();

    send(&service, json!({"op": "process.stop", "target": process})).await;
    if median(&mut printed) <= GOAL { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Waits for one line after another, and gives how long each took from its print to the answer.
async fn printed(service: &Arc<Service>, process: &str) -> Vec<Duration> {
    let (mut times, mut from) = (Vec::new(), 0);
    for _ in 0..ROUNDS {
        let line = json!({"until": "regex", "process": process, "pattern": r"^line \d+ \d+$", "from": from});
        let data = send(service, json!({"op": "process.wait", "input": {"any": [line]}})).await;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
        let seen = &data["conditions"][0];
        let at = seen["line"].as_str().and_then(|line| line.rsplit(' ').next()?.parse().ok());
        times.push(now.saturating_sub(Duration::from_nanos(at.expect("a time"))));
        from = seen["next"].as_u64().expect("a position");
    }
    // The first lines were printed before they were waited for.
    times.split_off(ROUNDS / 10)
}

async fn stats(service: &Arc<Service>) -> Vec<Duration> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        send(service, json!({"op": "file.stat"})).await;
        times.push(began.elapsed());
    }
    times
}

async fn send(service: &Arc<Service>, envelope: Value) -> Value {
    ask(service, envelope).await.1["data"].clone()
}

fn show(name: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)].as_secs_f64() * 1e3;
    println!("{name}: p50 {:.2} ms, p95 {:.2} ms", at(50), at(95));
}
