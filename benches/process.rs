//! What started processes cost: `cargo bench --bench measure process`. Starting beside running, at every level that this
//! computer has, in turns; and a list of 200 that live. Through the whole service, audited; figures are medians.

use std::fs;
use std::process::ExitCode;
use std::sync::Arc;

use bailiwick::contract::Containment;
use bailiwick::service::Service;
use serde_json::{Value, json};

use crate::fixture::{Folder, ask, levels, milliseconds, service};

const ROUNDS: usize = 200;
const WARM_UP: usize = 10;
const LIVE: usize = 200;

struct Bench {
    _folder: Folder,
    service: Arc<Service>,
}

impl Bench {
    fn new(levels: &[Containment]) -> Self {
        let folder = Folder::make();
        fs::create_dir_all(folder.join("app")).expect("a folder is made");
        let scopes = levels.iter().map(|level| {
            json!({"id": level, "roots": [folder.join("app")], "capabilities": ["command:run", "process:manage"],
                "policy": {
                    "sandbox": level, "processLifetime": "service", "maxLiveProcesses": LIVE,
                    "allowedCommands": ["true", "sleep *"],
                }})
        });
        let service = service(folder.join("home"), scopes.collect());
        Self { _folder: folder, service }
    }

    /// Sends an envelope, and gives the milliseconds until its answer, with the answer.
    async fn time(&self, envelope: &Value) -> (f64, Value) {
        let (took, answer) = ask(&self.service, envelope.clone()).await;
        (milliseconds(took), answer)
    }
}

fn print(name: &str, mut times: Vec<f64>) {
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)];
    println!("{name:<36} {:>9.2} {:>9.2} {:>9.2}", at(10), at(50), at(90));
}

/// Measures it.
pub fn run(_: &[String]) -> ExitCode {
    let runtime = tokio::runtime::Runtime::new().expect("the system gives threads");
    runtime.block_on(measure());
    ExitCode::SUCCESS
}

async fn measure() {
    let levels = levels();
    println!("{:<36} {:>9} {:>9} {:>9}", "audited, in this process", "p10 ms", "p50 ms", "p90 ms");
    for level in &levels {
        let bench = Bench::new(&levels);
        let ask = |op: &str| json!({"scope": level, "op": op, "input": {"command": ["true"]}});
        let (run, start) = (ask("command.run"), ask("process.start"));
        let (mut runs, mut starts) = (Vec::new(), Vec::new());
        for round in 0..WARM_UP + ROUNDS {
            let (run_ms, _) = bench.time(&run).await;
            let (start_ms, started) = bench.time(&start).await;
            let process = started["data"]["processId"].as_str().unwrap_or_default();
            let process =
                bench.service.facts().processes.find(&level.to_string(), process).expect("it is there");
            // Its end is no part of the next one's beginning.
            let _ = process.changes().wait_for(|change| change.ended).await;
            if round >= WARM_UP {
                runs.push(run_ms);
                starts.push(start_ms);
            }
        }
        print(&format!("command.run [\"true\"], {level}"), runs);
        print(&format!("process.start [\"true\"], {level}"), starts);
    }
    let strongest = levels.last().copied().unwrap_or(Containment::None);
    let bench = Bench::new(&levels);
    for _ in 0..LIVE {
        bench
            .time(&json!({"scope": strongest, "op": "process.start", "input": {"command": ["sleep", "600"]}}))
            .await;
    }
    let list = json!({"scope": strongest, "op": "process.list", "options": {"maxOutputBytes": 1_000_000}});
    let mut times = Vec::new();
    for round in 0..WARM_UP + ROUNDS {
        let (ms, answer) = bench.time(&list).await;
        assert_eq!(answer["data"]["live"], LIVE, "all live");
        if round >= WARM_UP {
            times.push(ms);
        }
    }
    print(&format!("process.list of {LIVE} that live, {strongest}"), times);
}
