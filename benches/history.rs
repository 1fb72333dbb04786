//! Figures of the history: `cargo bench --bench measure history`. Goals: 20,000 operations a second appended
//! group-committed; the timeline of 1,000,000 rows in 10 ms.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use bailiwick::contract::{Cancel, ErrorCode, Transport, id, time};
use bailiwick::history::{EventDraft, Filter, GroupBy, HistoryHandle, HistorySettings, Phase, verify};
use serde_json::json;

use crate::fixture::{Folder, median};

const ROWS: usize = 1_000_000;
const THREADS: usize = 64;

/// Measures it.
pub fn run(_: &[String]) -> ExitCode {
    let folder = Folder::make();
    let began = Instant::now();
    let history = start(&folder);
    println!("start                                   {:>10.1?}", began.elapsed());
    history.append(event(0, false)).expect("written");
    println!("start to first row on disk              {:>10.1?}", began.elapsed());

    for (name, has_effect, rounds) in [("read-only", false, 20_000), ("effect, synced", true, 2_000)] {
        let mut times: Vec<Duration> = (0..rounds)
            .map(|at| {
                let draft = event(at, has_effect);
                let began = Instant::now();
                history.append(draft).expect("written");
                began.elapsed()
            })
            .collect();
        times.sort();
        let at = |percent: usize| times[(times.len() - 1) * percent / 100];
        println!(
            "append, one at a time, {name:<15}  p50 {:>8.1?}   p99 {:>8.1?}   max {:>8.1?}",
            at(50),
            at(99),
            at(100)
        );
    }

    let before = rows(&history);
    let began = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let history = &history;
            scope.spawn(move || {
                for at in 0..(ROWS - before) / THREADS {
                    history.append(event(thread + at * THREADS, false)).expect("written");
                }
            });
        }
    });
    let written = rows(&history) - before;
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "append, {THREADS} threads, read-only            {:>10.0} operations/s",
        written as f64 / seconds
    );

    let (synced, began) = (rows(&history), Instant::now());
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let history = &history;
            scope.spawn(move || {
                for at in 0..500 {
                    history.append(event(thread + at * THREADS, true)).expect("written");
                }
            });
        }
    });
    let synced = rows(&history) - synced;
    println!(
        "append, {THREADS} threads, effect, synced       {:>10.0} operations/s",
        synced as f64 / began.elapsed().as_secs_f64()
    );

    let app = || Filter { scope: Some("app".to_owned()), ..Filter::default() };
    let middle = {
        let page = query(&history, &Filter { limit: 1, ..app() });
        let newest = page.0;
        (newest + time::now_ms() - 1_000 * i64::from(u8::from(newest > 0))) / 2
    };
    for (name, filter) in [
        ("timeline, newest 50", app()),
        ("timeline, failed only", Filter { ok: Some(false), ..app() }),
        ("timeline, until the middle", Filter { until_ms: Some(middle), ..app() }),
        ("timeline, all scopes (CLI)", Filter::default()),
        ("timeline, text that is rare", Filter { text: Some("nothing like it".to_owned()), ..app() }),
    ] {
        let mut times: Vec<Duration> = (0..50).map(|_| query(&history, &filter).1).collect();
        println!("{name:<30} of {} rows {:>10.1?}", rows(&history), median(&mut times));
    }
    for (name, by) in [("sessions", GroupBy::Session), ("connections", GroupBy::Connection)] {
        let times = (0..10).map(|_| {
            let began = Instant::now();
            history.groups("app", by, None, &Cancel::after(Duration::from_secs(60))).expect("readable");
            began.elapsed()
        });
        let mut times: Vec<Duration> = times.collect();
        println!("{name:<30} of {} rows {:>10.1?}", rows(&history), median(&mut times));
    }
    let total = rows(&history);
    drop(history);
    let bytes = std::fs::metadata(folder.join("history.db")).expect("it exists").len();
    println!("size                                    {:>10.0} bytes a row", bytes as f64 / total as f64);
    let began = Instant::now();
    let report = verify(&folder).expect("readable");
    println!("verify, {} rows ok={}          {:>10.1?}", report.rows, report.ok, began.elapsed());
    ExitCode::SUCCESS
}

fn start(folder: &Path) -> HistoryHandle {
    HistoryHandle::start(HistorySettings {
        folder: folder.to_owned(),
        machine_id: "01JD0000000000000000000000".to_owned(),
        max_age_days: 90,
        max_megabytes: 4_096,
    })
}

fn rows(history: &HistoryHandle) -> usize {
    usize::try_from(history.status()["headSeq"].as_i64().expect("a number")).expect("not negative")
}

fn query(history: &HistoryHandle, filter: &Filter) -> (i64, Duration) {
    let began = Instant::now();
    let page = history.query(filter, &Cancel::after(Duration::from_secs(60))).expect("readable");
    (page.entries.first().map_or(0, |entry| entry.at_ms), began.elapsed())
}

fn event(at: usize, has_effect: bool) -> EventDraft {
    let target = format!("crates/server/src/handlers/module_{:03}/file_{:05}.rs", at % 300, at % 25_000);
    EventDraft {
        operation_id: id::new_id(),
        phase: Phase::Finished,
        at_ms: time::now_ms(),
        caller: "laptop".to_owned(),
        client: Some("claude-code 2.1.0".to_owned()),
        session: Some(format!("01JD00000000000000000{:05}", at / 1_000)),
        transport: Transport::Http,
        scope: Some(["app", "app", "docs"][at % 3].to_owned()),
        op: ["file.read", "file.search", "file.list"][at % 3].to_owned(),
        template: json!({"scope": "app", "op": "file.read", "target": target, "options": {"startLine": at}}),
        target: Some(target),
        capability: None,
        stage: None,
        rule: None,
        code: at.is_multiple_of(50).then_some(ErrorCode::NotFound),
        duration_us: 150,
        bytes: 4_096,
        summary: "120 lines of 400".to_owned(),
        error: at.is_multiple_of(50).then(|| "the file does not exist".to_owned()),
        has_effect,
    }
}
