//! Edits of a file to which another program writes at the same time.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bailiwick::platform::fs::is_open_for_writing;
use serde_json::{Value, json};

use support::scope::TestScope;
use support::service::call;

/// The text of a file and of what was kept beside it.
fn all_text(folder: &Path) -> String {
    let entries = fs::read_dir(folder).expect("the scope can be read");
    let files = entries.map(|entry| entry.expect("an entry").path());
    files.map(|file| fs::read_to_string(file).expect("a file can be read")).collect()
}

/// Appends lines to a file as another program does, one at a random moment of each round, until there are no more
/// rounds. Returns how many.
fn append_lines(file: &Path, round: &AtomicUsize, is_over: &AtomicBool) -> usize {
    let (mut lines, mut seen, mut random) = (0, 0, 1_u64);
    while !is_over.load(Ordering::SeqCst) {
        let now = round.load(Ordering::SeqCst);
        if now == seen {
            std::thread::yield_now();
            continue;
        }
        seen = now;
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let moment = Instant::now() + Duration::from_micros((random >> 33) % 6_000);
        while Instant::now() < moment {
            std::hint::spin_loop();
        }
        let mut file = File::options().append(true).open(file).expect("the file always has its name");
        file.write_all(format!("line {lines}\n").as_bytes()).expect("a line is written");
        lines += 1;
    }
    lines
}

/// Makes `rounds` edits of a file while another program appends lines to it.
pub(super) fn edit_beside_a_writer(rounds: usize) {
    let world = TestScope::new();
    let file = world.root().join("log.txt");
    fs::write(&file, "head 0\n").expect("the scope can be written");
    if is_open_for_writing(&File::open(&file).expect("it was written")).is_none() {
        return;
    }
    let service = world.boot();
    let (round, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (mut heads, mut told) = (0, 0);
    let mut edit = |heads: &mut usize| -> Value {
        let (old, new) = (format!("head {heads}\n"), format!("head {}\n", *heads + 1));
        let envelope =
            json!({"op": "file.patch", "target": "log.txt", "input": {"edits": [{"old": old, "new": new}]}});
        let answer = call(&service, envelope);
        if answer["ok"] == true {
            *heads += 1;
            told += usize::from(answer["warnings"].to_string().contains("Another program has the old file"));
        }
        answer
    };
    let lines = std::thread::scope(|scope| {
        let writer = scope.spawn(|| append_lines(&file, &round, &is_over));
        for _ in 0..rounds {
            round.fetch_add(1, Ordering::SeqCst);
            let answer = edit(&mut heads);
            assert!(answer["ok"] == true || answer["error"]["code"] == "conflict", "{answer}");
        }
        is_over.store(true, Ordering::SeqCst);
        writer.join().expect("the writer ends")
    });
    // Nobody else is there now.
    let answer = edit(&mut heads);
    assert_eq!(answer["ok"], true, "{answer}");
    let text = all_text(&world.root());
    let found: BTreeSet<&str> = text.lines().collect();
    let lost: Vec<String> =
        (0..lines).map(|line| format!("line {line}")).filter(|line| !found.contains(&**line)).collect();
    // What is written into a file after it was replaced is lost, and the answer warns of it.
    assert!(lost.len() <= told, "{lost:?} of {lines} are lost, {told} told");
    assert!(found.contains(&*format!("head {heads}")), "{text}");
}

#[test]
fn what_another_program_writes_beside_an_edit_is_not_lost() {
    edit_beside_a_writer(150);
}

#[test]
fn a_removal_warns_of_a_program_that_has_the_file_open() {
    let world = TestScope::new();
    let file = world.root().join("log.txt");
    fs::write(&file, "line\n").expect("the scope can be written");
    if is_open_for_writing(&File::open(&file).expect("it was written")).is_none() {
        return;
    }
    let service = world.boot();
    let writer = File::options().append(true).open(&file).expect("it was written");
    let remove = json!({"op": "file.delete", "target": "log.txt"});
    let answer = call(&service, remove.clone());
    assert!(answer["warnings"].to_string().contains("Another program has `log.txt` open"), "{answer}");
    drop(writer);
    fs::write(&file, "line\n").expect("the scope can be written");
    let answer = call(&service, remove);
    assert_eq!((&answer["ok"], &answer["warnings"]), (&json!(true), &json!([])), "{answer}");
}
