//! Stores that are damaged, odd, newer or missing: none of them stops what has an effect for good.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::json;

use super::super::{StoreError, verify, writing_problem};
use super::{EventDraft, Folder, HAS_BITS, event, fill, numbers, start};

/// The files of a store, by name.
type Files = BTreeMap<String, Vec<u8>>;

const NAMES: [&str; 6] =
    ["history.db", "history.db-wal", "history.db-shm", "history.anchor", "history.key", "history.lock"];

fn files(folder: &Path) -> Files {
    let read = |name: &&str| Some(((*name).to_owned(), std::fs::read(folder.join(name)).ok()?));
    NAMES.iter().filter_map(read).collect()
}

/// A store that was closed, and one whose service was killed while the newest rows were in its log.
fn templates() -> [Files; 2] {
    let folder = Folder::new();
    fill(&folder, 150);
    let closed = files(&folder.0);
    let history = folder.start();
    for at in 0..60 {
        history.append(event(&format!("src/later-{at}.rs"))).expect("written");
    }
    let killed = files(&folder.0);
    assert!(killed["history.db-wal"].len() > 100_000, "the rows are in the log");
    [closed, killed]
}

/// Damages a file, in a way that a number names.
fn damage(bytes: &mut Vec<u8>, number: &mut impl FnMut(usize) -> usize) -> &'static str {
    let length = bytes.len();
    if length == 0 {
        bytes.extend((0..=number(5_000)).map(|_| 0x5a));
        return "garbage in an empty file";
    }
    let place = |number: &mut dyn FnMut(usize) -> usize| {
        // Half of all in the first page, where a header is.
        if number(2) == 0 { number(length.min(4_096)) } else { number(length) }
    };
    match number(7) {
        0 => {
            for _ in 0..=number(8) {
                let at = place(number);
                bytes[at] ^= 1 << number(8);
            }
            "flipped bits"
        }
        1 => {
            let at = place(number);
            let end = length.min(at + 1 + number(4_096));
            bytes[at..end].fill(0);
            "zeros"
        }
        2 => {
            let at = place(number);
            let end = length.min(at + 1 + number(4_096));
            for byte in &mut bytes[at..end] {
                *byte = u8::try_from(number(256)).expect("a byte");
            }
            "garbage"
        }
        3 => {
            bytes.truncate(number(length));
            "cut"
        }
        4 => {
            bytes.extend((0..=number(10_000)).map(|at| u8::try_from(at % 256).expect("a byte")));
            "longer"
        }
        5 => {
            let (one, other) = (number(length) & !511, number(length) & !511);
            for at in 0..512.min(length - one.max(other)) {
                bytes.swap(one + at, other + at);
            }
            "blocks that changed places"
        }
        _ => {
            let (from, to) = (number(length) & !4_095, number(length) & !4_095);
            let end = length.min(from + 4_096);
            let page = bytes[from..end].to_vec();
            let fits = page.len().min(length - to);
            bytes[to..to + fits].copy_from_slice(&page[..fits]);
            "a page that is there twice"
        }
    }
}

/// Damages one file of a store, each time another, opens the store, and has an effect recorded. What is refused has a reason
/// that `writing_problem` gives too.
pub(super) fn damage_at_random(rounds: usize, seed: u64) {
    let templates = templates();
    let mut number = numbers(seed);
    let mut ended: BTreeMap<&str, usize> = BTreeMap::new();
    let began = Instant::now();
    let mut slowest = Duration::ZERO;
    for round in 0..rounds {
        let folder = Folder::in_memory();
        let template = &templates[number(2)];
        // The store and its log more often than the rest.
        let name = NAMES[[0, 0, 0, 0, 1, 1, 2, 3, 4, 5][number(10)]];
        let mut how = "removed";
        for (file, bytes) in template {
            let mut bytes = bytes.clone();
            if file == name {
                if number(20) == 0 {
                    continue;
                }
                how = damage(&mut bytes, &mut number);
            }
            std::fs::write(folder.0.join(file), bytes).expect("written");
        }
        let opened = Instant::now();
        let history = start(&folder.0);
        let result = history.append(EventDraft { has_effect: true, ..event("after") });
        slowest = slowest.max(opened.elapsed());
        let status = history.status();
        let what = format!("round {round}: {name}, {how}");
        let end = match result {
            Ok(()) if status["notices"][0].as_str().is_some_and(|it| it.starts_with("a damaged")) => {
                "set aside"
            }
            Ok(()) if !status["notices"].is_null() => "said",
            Ok(()) => "accepted",
            Err(error) => {
                let reason =
                    writing_problem(&folder.0).unwrap_or_else(|| panic!("{what}: {error}, and no reason"));
                assert!(error.0.contains(&reason.to_string()), "{what}: {error}, and {reason}");
                // Only this one is nobody's damage as far as can be known.
                assert!(matches!(reason, StoreError::Newer), "{what}: {reason}");
                "refused with a reason"
            }
        };
        *ended.entry(end).or_default() += 1;
        drop(history);
        // It stays so, and the check of the chain ends.
        if end != "refused with a reason" {
            let history = start(&folder.0);
            history.append(event("again")).unwrap_or_else(|error| panic!("{what}: {error}"));
        }
        let _ = verify(&folder.0);
    }
    // Seen with `--no-capture`.
    let _ = writeln!(
        std::io::stderr(),
        "{rounds} damages in {:?}: {ended:?}; the slowest start took {slowest:?}",
        began.elapsed()
    );
    assert!(ended["set aside"] > rounds / 20 && ended["accepted"] > rounds / 20, "{ended:?}");
}

#[test]
fn a_store_that_is_damaged_anywhere_is_accepted_or_set_aside() {
    damage_at_random(150, 7);
}

fn sql(folder: &Folder, text: &str) {
    let connection = Connection::open(folder.0.join("history.db")).expect("opened");
    connection.execute_batch(text).unwrap_or_else(|error| panic!("{text}: {error}"));
}

#[test]
fn stores_of_another_form_are_set_aside() {
    for change in [
        "DELETE FROM facts",
        "UPDATE facts SET value = 'another'",
        "DROP TABLE facts",
        "DROP TABLE events",
        "DROP TABLE gate",
        "DROP INDEX events_by_scope",
        "ALTER TABLE events DROP COLUMN summary",
        "PRAGMA user_version = 0",
        "PRAGMA user_version = -1",
        "PRAGMA user_version = 2000000000",
        "PRAGMA application_id = 1",
        "CREATE TRIGGER no BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'no'); END",
    ] {
        let folder = Folder::new();
        fill(&folder, 20);
        sql(&folder, change);
        let history = folder.start();
        history
            .append(EventDraft { has_effect: true, ..event("after") })
            .unwrap_or_else(|error| panic!("{change}: {error}"));
        let notices = history.status()["notices"].to_string();
        assert!(notices.contains("a damaged history was set aside as "), "{change}: {notices}");
        drop(history);
        let report = verify(&folder.0).expect("readable");
        assert_eq!((report.ok, report.rows), (true, 2), "{change}: the notice and the row");
    }
}

#[test]
fn a_store_of_a_newer_version_is_left_alone_and_its_reason_is_known() {
    let folder = Folder::new();
    fill(&folder, 20);
    assert!(writing_problem(&folder.0).is_none());
    sql(&folder, "PRAGMA user_version = 99");
    let history = folder.start();
    let error = history.append(event("after")).expect_err("refused");
    let reason = writing_problem(&folder.0).expect("there is one");
    assert!(matches!(reason, StoreError::Newer), "{reason}");
    assert!(error.0.contains(&reason.to_string()), "{error}");
    drop(history);
    sql(&folder, "PRAGMA user_version = 1");
    assert_eq!(verify(&folder.0).expect("readable").rows, 20, "nothing was changed or set aside");
}

#[test]
fn what_stands_in_the_way_of_writing_is_known_too() {
    let folder = Folder::new();
    fill(&folder, 20);
    std::fs::remove_file(folder.0.join("history.anchor")).expect("there");
    std::fs::create_dir(folder.0.join("history.anchor")).expect("made");
    let history = folder.start();
    let error = history.append(event("after")).expect_err("refused");
    let reason = writing_problem(&folder.0).expect("there is one").to_string();
    assert!(reason.contains("history.anchor") && error.0.contains(&reason), "{error}, and {reason}");
}

#[test]
fn a_log_that_is_removed_while_it_is_used_loses_no_row_and_is_said() {
    // Windows removes no file that is open.
    if !HAS_BITS {
        return;
    }
    let folder = Folder::new();
    let history = folder.start();
    let append = |from: usize| {
        for at in from..from + 20 {
            history.append(event(&format!("src/{at}.rs"))).expect("written");
        }
    };
    append(0);
    // A reader that is open keeps the index of the log.
    let cancel = bailiwick_contract::Cancel::after(Duration::from_secs(60));
    let filter = super::Filter { limit: 100, ..super::Filter::default() };
    assert_eq!(history.query(&filter, &cancel).expect("readable").entries.len(), 20);
    std::fs::remove_file(folder.0.join("history.db-wal")).expect("there");
    append(20);
    assert_eq!(history.query(&filter, &cancel).expect("readable").entries.len(), 41, "and a notice");
    let said = "the history's log was removed while it was in use; no row is missing";
    assert_eq!(history.status()["notices"], json!([said]));
    drop(history);
    let report = verify(&folder.0).expect("readable");
    assert_eq!((report.ok, report.rows), (true, 41), "{report:?}");
    assert_eq!(report.notices, [said]);
}

#[test]
fn a_store_that_is_removed_while_it_is_used_is_missed() {
    // Windows removes no file that is open.
    if !HAS_BITS {
        return;
    }
    let folder = Folder::new();
    let state = folder.0.join("state");
    let history = start(&state);
    for at in 0..20 {
        history.append(event(&format!("src/{at}.rs"))).expect("written");
    }
    // Moved away at once: while it is removed file by file, the history continues writing there.
    std::fs::rename(&state, folder.0.join("gone")).expect("own folder");
    history.append(event("after")).expect("written");
    assert_eq!(history.status()["notices"], json!(["rows up to 20 were in the history and are gone"]));
    drop(history);
    let report = verify(&state).expect("readable");
    assert_eq!((report.ok, report.rows), (true, 2), "{report:?}");
}
