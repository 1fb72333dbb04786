//! White-box tests of the store: they use SQLite directly, which nothing outside of this module may.

#![expect(clippy::disallowed_methods, reason = "tests make and damage files of their own")]

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::task::{Context, Waker};

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde_json::json;

use super::database::Database;
use super::row::{NUMBERS, TEXTS};
use super::{EventDraft, Filter, HistoryHandle, HistorySettings, Phase, State, query, verify};
use bailiwick_contract::{ErrorCode, Transport, id, time};
use bailiwick_platform::fs::Protection;
use bailiwick_platform::fs::modes::HAS_BITS;

mod damage;
mod stress;

/// A temporary state folder, removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        Self::below(&std::env::temp_dir())
    }

    fn below(folder: &Path) -> Self {
        let path = folder.join(format!("bailiwick-history-{}", id::new_id()));
        std::fs::create_dir(&path).expect("a temporary folder");
        Self(path)
    }

    /// A folder in memory, where the system has one for everybody: for tests that wait for the disk otherwise.
    fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() { Self::below(memory) } else { Self::new() }
    }

    fn start(&self) -> HistoryHandle {
        start(&self.0)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Left behind only where a test has failed already.
        let _ = bailiwick_platform::fs::remove_tree(&self.0);
    }
}

fn start(folder: &Path) -> HistoryHandle {
    HistoryHandle::start(settings(folder))
}

fn settings(folder: &Path) -> HistorySettings {
    HistorySettings {
        folder: folder.to_owned(),
        machine_id: "01JD0000000000000000000000".to_owned(),
        max_age_days: 90,
        max_megabytes: 64,
    }
}

fn event(target: &str) -> EventDraft {
    EventDraft {
        operation_id: id::new_id(),
        phase: Phase::Finished,
        at_ms: time::now_ms(),
        caller: "local".to_owned(),
        client: Some("test 1.0".to_owned()),
        session: Some("session-1".to_owned()),
        transport: Transport::Stdio,
        scope: Some("app".to_owned()),
        op: "file.read".to_owned(),
        target: Some(target.to_owned()),
        capability: None,
        stage: None,
        rule: None,
        code: None,
        duration_us: 120,
        bytes: 4_096,
        summary: "4096 bytes".to_owned(),
        error: None,
        template: json!({"scope": "app", "op": "file.read", "target": target, "options": {"maxBytes": 4096}}),
        has_effect: false,
    }
}

/// Lets SQLite change a closed store directly, as someone with another tool could.
fn tamper(folder: &Folder, sql: &str) {
    let connection = Connection::open(folder.0.join("history.db")).expect("opened");
    connection
        .execute_batch(&format!(
            "DROP TRIGGER events_are_never_changed; DROP TRIGGER events_are_never_removed; {sql}"
        ))
        .expect("changed");
}

/// Makes a closed store as old as can be.
fn begun_long_ago(folder: &Folder) {
    let connection = Connection::open(folder.0.join("history.db")).expect("opened");
    let changed = connection.execute("UPDATE facts SET value = '0' WHERE name = 'begun'", []);
    assert_eq!(changed.expect("changed"), 1);
}

/// Writes rows, half of them with an effect, and closes the store.
fn fill(folder: &Folder, rows: usize) {
    let history = folder.start();
    for at in 0..rows {
        let draft = EventDraft { has_effect: at % 2 == 0, ..event(&format!("src/file-{at}.rs")) };
        history.append(draft).expect("written");
    }
}

fn problem_at(folder: &Folder) -> Option<i64> {
    verify(&folder.0).expect("readable").problem.map(|problem| problem.seq)
}

/// Looks for a minute whether something holds.
fn eventually(mut holds: impl FnMut() -> bool) -> bool {
    (0..600).any(|_| {
        let is_so = holds();
        if !is_so {
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        is_so
    })
}

/// Numbers that look random and are the same in every run.
fn numbers(mut seed: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        // Knuth's MMIX constants.
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).expect("31 bits") % below
    }
}

#[test]
fn appended_rows_are_on_disk_and_chained_when_answered() {
    let folder = Folder::new();
    let history = folder.start();
    for at in 0..10 {
        history.append(event(&format!("src/{at}.rs"))).expect("written");
        let report = verify(&folder.0).expect("readable");
        assert_eq!((report.ok, report.last_seq), (true, at + 1), "{report:?}");
    }
    let status = history.status();
    assert_eq!((&status["ok"], &status["headSeq"]), (&json!(true), &json!(10)), "{status}");
    assert_eq!(status["headHash"], json!(verify(&folder.0).expect("readable").head_hash));
}

#[test]
fn files_are_closed_to_other_users() {
    let folder = Folder::new();
    let history = folder.start();
    history.append(event("a")).expect("written");
    drop(history);
    assert!(Protection::is_private(&folder.0, true));
    // Wine hands the rights of a folder down to nothing, and SQLite makes these files itself.
    let probe = folder.0.join("probe");
    std::fs::write(&probe, "").expect("written");
    let is_handed_down = HAS_BITS || Protection::is_private(&probe, false);
    std::fs::remove_file(&probe).expect("it is there");
    for entry in std::fs::read_dir(&folder.0).expect("listed") {
        let path = entry.expect("listed").path();
        let name = path.to_string_lossy().into_owned();
        let is_of_sqlite = name.ends_with("-shm") || name.ends_with("-wal");
        assert!(
            Protection::is_private(&path, false) || (is_of_sqlite && !is_handed_down),
            "{}",
            path.display()
        );
    }
}

#[test]
fn settings_of_sqlite_hold() {
    let folder = Folder::new();
    fill(&folder, 1);
    let (database, _) = Database::open(&folder.0).expect("opened");
    for (pragma, expected) in [
        ("journal_mode", "wal"),
        ("synchronous", "1"),
        ("trusted_schema", "0"),
        ("cell_size_check", "1"),
        ("foreign_keys", "1"),
        ("secure_delete", "2"),
        ("auto_vacuum", "2"),
        ("wal_autocheckpoint", "0"),
    ] {
        let got: String = database
            .connection
            .query_row(&format!("PRAGMA {pragma}"), [], |row| {
                Ok(match row.get_ref(0)? {
                    ValueRef::Integer(number) => number.to_string(),
                    other => other.as_str().map_err(rusqlite::Error::from)?.to_owned(),
                })
            })
            .expect("it is told");
        assert_eq!(got, expected, "{pragma}");
    }
}

#[test]
fn sqlite_is_built_without_what_the_history_does_not_use() {
    let folder = Folder::new();
    let (database, _) = Database::open(&folder.0).expect("opened");
    let mut options = database.connection.prepare("PRAGMA compile_options").expect("it is SQL");
    let options: Vec<String> =
        options.query_map([], |row| row.get(0)).and_then(Iterator::collect).expect("they are told");
    for absent in
        ["ENABLE_DBSTAT_VTAB", "ENABLE_FTS", "ENABLE_LOAD_EXTENSION", "ENABLE_RTREE", "ENABLE_STAT4"]
    {
        assert!(!options.iter().any(|it| it.starts_with(absent)), "{absent}: {options:?}");
    }
    for present in
        ["DEFAULT_MEMSTATUS=0", "OMIT_DEPRECATED", "OMIT_JSON", "OMIT_LOAD_EXTENSION", "OMIT_SHARED_CACHE"]
    {
        assert!(options.iter().any(|it| it == present), "{present}: {options:?}");
    }
}

#[test]
fn rows_cannot_be_changed_or_removed_through_the_store() {
    let folder = Folder::new();
    fill(&folder, 5);
    let (database, _) = Database::open(&folder.0).expect("opened");
    for sql in ["UPDATE events SET op = 'x' WHERE seq = 2", "DELETE FROM events WHERE seq = 2"] {
        let refused = database.connection.execute(sql, []).expect_err("refused");
        assert!(refused.to_string().contains("append-only"), "{refused}");
    }
}

#[test]
fn an_edit_of_any_column_is_found() {
    let mut number = numbers(1);
    for column in NUMBERS.iter().chain(TEXTS.iter()) {
        let folder = Folder::new();
        fill(&folder, 20);
        let seq = 1 + number(20);
        let value = if NUMBERS.contains(column) {
            format!("{column} + 1")
        } else {
            format!("coalesce({column}, '') || 'x'")
        };
        tamper(&folder, &format!("UPDATE events SET {column} = {value} WHERE seq = {seq}"));
        assert_eq!(problem_at(&folder), i64::try_from(seq).ok(), "{column}");
    }
}

#[test]
fn a_removed_row_is_found() {
    let mut number = numbers(2);
    for _ in 0..10 {
        let folder = Folder::new();
        fill(&folder, 30);
        let seq = 1 + number(30);
        tamper(&folder, &format!("DELETE FROM events WHERE seq = {seq}"));
        assert_eq!(problem_at(&folder), i64::try_from(seq).ok());
        // Closing the gap does not help.
        tamper_again(&folder, &format!("UPDATE events SET seq = seq - 1 WHERE seq > {seq}"));
        assert_eq!(problem_at(&folder), i64::try_from(seq).ok());
    }
}

fn tamper_again(folder: &Folder, sql: &str) {
    let connection = Connection::open(folder.0.join("history.db")).expect("opened");
    connection.execute_batch(sql).expect("changed");
}

#[test]
fn rows_that_changed_places_are_found() {
    let mut number = numbers(3);
    for _ in 0..10 {
        let folder = Folder::new();
        fill(&folder, 30);
        let first = 1 + number(29);
        let second = first + 1 + number(30 - first);
        tamper(
            &folder,
            &format!(
                "UPDATE events SET seq = -1 WHERE seq = {first}; UPDATE events SET seq = {first} WHERE seq = {second};
                 UPDATE events SET seq = {second} WHERE seq = -1;"
            ),
        );
        assert_eq!(problem_at(&folder), i64::try_from(first).ok());
    }
}

#[test]
fn a_cut_tail_is_found_and_said_when_the_store_is_opened() {
    let mut number = numbers(4);
    for _ in 0..5 {
        let folder = Folder::new();
        fill(&folder, 30);
        let kept = number(30);
        tamper(&folder, &format!("DELETE FROM events WHERE seq > {kept}"));
        assert_eq!(problem_at(&folder), i64::try_from(kept + 1).ok());
        let history = folder.start();
        history.append(event("later")).expect("written");
        assert_eq!(history.status()["notices"], json!(["rows up to 30 were in the history and are gone"]));
        drop(history);
        let report = verify(&folder.0).expect("readable");
        assert_eq!(report.notices, ["rows up to 30 were in the history and are gone"]);
    }
}

#[test]
fn a_store_that_was_replaced_is_found() {
    let folder = Folder::new();
    fill(&folder, 10);
    for name in ["history.db", "history.db-wal", "history.db-shm"] {
        // The log may be gone already.
        let _ = std::fs::remove_file(folder.0.join(name));
    }
    assert_eq!(problem_at(&folder), Some(10));
    let history = folder.start();
    history.append(event("later")).expect("written");
    assert_eq!(history.status()["notices"], json!(["the history that held rows up to 10 is gone"]));
}

/// Returns all that the store says, in the order of the chain; `None` where it cannot be read.
fn content(folder: &Folder) -> Option<Vec<Vec<rusqlite::types::Value>>> {
    let connection = Connection::open(folder.0.join("history.db")).ok()?;
    let mut rows = connection.prepare("SELECT * FROM events NOT INDEXED ORDER BY seq").ok()?;
    let columns = rows.column_count();
    let rows = rows.query_map([], |row| (0..columns).map(|at| row.get(at)).collect()).ok()?;
    rows.collect::<rusqlite::Result<_>>().ok()
}

#[test]
fn what_verify_passes_is_what_was_written_whatever_byte_flips() {
    let folder = Folder::new();
    fill(&folder, 60);
    let (path, mut number) = (folder.0.join("history.db"), numbers(5));
    let (whole, before) = (std::fs::read(&path).expect("read"), content(&folder).expect("readable"));
    let mut found = 0;
    for _ in 0..300 {
        let mut bytes = whole.clone();
        let at = number(bytes.len());
        bytes[at] ^= 1 << number(8);
        std::fs::write(&path, &bytes).expect("written");
        match verify(&folder.0) {
            Ok(report) if report.ok => assert_eq!(content(&folder), Some(before.clone()), "byte {at}"),
            Ok(_) | Err(_) => found += 1,
        }
    }
    // Most bytes belong to rows; the others to indexes and free space.
    assert!(found > 60, "{found} of 300 flipped bytes were found");
}

#[test]
fn a_damaged_store_is_set_aside_and_a_new_one_begun() {
    type Damage = fn(&mut Vec<u8>);
    let damages: [(&str, Damage); 5] = [
        ("header", |bytes| bytes[..100].fill(0x5a)),
        ("no database", |bytes| *bytes = b"hello, this is a text file\n".repeat(300)),
        ("cut in half", |bytes| bytes.truncate(bytes.len() / 2)),
        ("cut within a page", |bytes| bytes.truncate(bytes.len() - 1_000)),
        ("zeros", |bytes| bytes[100..].fill(0)),
    ];
    for (name, damage) in damages {
        let folder = Folder::new();
        fill(&folder, 50);
        let path = folder.0.join("history.db");
        let mut bytes = std::fs::read(&path).expect("read");
        damage(&mut bytes);
        std::fs::write(&path, &bytes).expect("written");

        let history = folder.start();
        history.append(event("after")).unwrap_or_else(|error| panic!("{name}: {error}"));
        let status = history.status();
        assert_eq!(status["ok"], json!(true), "{name}");
        let said = status["notices"][0].as_str().unwrap_or_default().to_owned();
        let aside = said
            .strip_prefix("a damaged history was set aside as ")
            .unwrap_or_else(|| panic!("{name}: {said}"));
        assert_eq!(std::fs::read(folder.0.join(aside)).expect("kept"), bytes, "{name}");
        let report = verify(&folder.0).expect("readable");
        assert_eq!((report.ok, report.rows), (true, 2), "{name}: the notice and the row");
        assert_eq!(report.notices, [said], "{name}");
    }
}

#[test]
fn damage_while_the_store_is_open_is_set_aside_too() {
    let folder = Folder::new();
    let history = folder.start();
    for at in 0..200 {
        history.append(event(&format!("src/{at}.rs"))).expect("written");
    }
    // Without a log to read from, the next read meets the damage.
    let path = folder.0.join("history.db");
    let wal = std::fs::OpenOptions::new().write(true).open(folder.0.join("history.db-wal")).expect("opened");
    wal.set_len(0).expect("cut");
    std::fs::write(&path, b"nothing of a database".repeat(1_000)).expect("written");
    let mut written = 0;
    for at in 0..200 {
        written += usize::from(history.append(event(&format!("later/{at}.rs"))).is_ok());
    }
    assert_eq!(written, 200);
    drop(history);
    let history = folder.start();
    history.append(event("again")).expect("written");
    drop(history);
    let report = verify(&folder.0).expect("readable");
    assert!(report.ok, "{report:?}");
}

#[test]
fn a_store_that_cannot_be_opened_refuses_rows_and_heals() {
    let folder = Folder::new();
    let state = folder.0.join("state");
    std::fs::write(&state, "a file where the folder should be").expect("written");
    let history = start(&state);
    history.append(event("a")).expect_err("refused");
    assert_eq!(history.status()["ok"], json!(false));
    std::fs::remove_file(&state).expect("removed");
    let healed = eventually(|| history.append(event("b")).is_ok());
    assert!(healed);
    assert_eq!(history.status()["ok"], json!(true));
    assert!(verify(&state).expect("readable").ok);
}

#[test]
fn several_stores_of_one_folder_make_one_chain() {
    let folder = Folder::new();
    std::thread::scope(|scope| {
        for writer in 0..3 {
            let history = folder.start();
            scope.spawn(move || {
                for at in 0..100 {
                    history.append(event(&format!("{writer}/{at}"))).expect("written");
                }
            });
        }
    });
    let report = verify(&folder.0).expect("readable");
    assert_eq!((report.ok, report.rows), (true, 300), "{report:?}");
}

#[test]
fn retention_by_age_keeps_the_chain() {
    let folder = Folder::new();
    {
        // Written as if it were long ago: nothing is old yet.
        let history = HistoryHandle::start(HistorySettings { max_age_days: 36_500, ..settings(&folder.0) });
        let old_ms = time::now_ms() - 100 * 86_400_000;
        for at in 0..1_200 {
            history.append(EventDraft { at_ms: old_ms, ..event(&format!("old/{at}")) }).expect("written");
        }
        for at in 0..5 {
            history.append(event(&format!("new/{at}"))).expect("written");
        }
    }
    // The store is older than its rows, too.
    begun_long_ago(&folder);
    // Opening looks at the age; removing continues in batches while nothing else is to do.
    let history = folder.start();
    history.append(event("newest")).expect("written");
    let gone = eventually(|| verify(&folder.0).is_ok_and(|report| report.removed_through == 1_200));
    assert!(gone, "{:?}", verify(&folder.0));
    drop(history);
    let report = verify(&folder.0).expect("readable");
    assert!(report.ok, "{report:?}");
    assert_eq!(report.first_seq, 1_201);
    // The rows that retention leaves are as safe as before.
    tamper(&folder, "DELETE FROM events WHERE seq = 1201");
    assert_eq!(problem_at(&folder), Some(1_201));
}

#[test]
fn a_clock_that_is_ahead_makes_no_row_old() {
    let folder = Folder::new();
    let day_ms = 86_400_000;
    let old_ms = time::now_ms() - 100 * day_ms;
    // As if the computer's clock had been 100 days back until now: what is in between is a jump.
    let uptime = bailiwick_platform::machine::uptime().as_millis();
    let clock = bailiwick_platform::fs::RetentionClock::below(&folder.0);
    assert_eq!(clock.steady_at(old_ms, i64::try_from(uptime).expect("it fits")), old_ms);
    {
        let history = HistoryHandle::start(HistorySettings { max_age_days: 36_500, ..settings(&folder.0) });
        for at in 0..1_200 {
            // Half of them were old before the jump.
            let at_ms = if at < 600 { old_ms - 200 * day_ms } else { old_ms };
            history.append(EventDraft { at_ms, ..event(&format!("old/{at}")) }).expect("written");
        }
    }
    begun_long_ago(&folder);
    let history = folder.start();
    history.append(event("newest")).expect("written");
    let gone = eventually(|| verify(&folder.0).is_ok_and(|report| report.removed_through == 600));
    assert!(gone, "{:?}", verify(&folder.0));
    drop(history);
    let report = verify(&folder.0).expect("readable");
    assert_eq!((report.ok, report.removed_through), (true, 600), "{report:?}");
}

#[test]
fn a_clock_that_was_behind_when_a_store_was_made_makes_none_of_its_rows_old() {
    let folder = Folder::new();
    {
        let history = HistoryHandle::start(HistorySettings { max_age_days: 36_500, ..settings(&folder.0) });
        let at_ms = time::now_ms() - 200 * 86_400_000;
        for at in 0..600 {
            history.append(EventDraft { at_ms, ..event(&format!("old/{at}")) }).expect("written");
        }
        history.append(event("newest")).expect("written");
    }
    let remove = || {
        let (database, _) = Database::open(&folder.0).expect("opened");
        let board = super::board::StoreState::new(folder.0.clone(), "01JD0000000000000000000000".to_owned());
        super::retention::remove_batch(&database, &settings(&folder.0), &board).expect("looked")
    };
    assert!(!remove(), "no row is older than its store");
    begun_long_ago(&folder);
    assert!(remove());
}

#[test]
fn retention_by_size_bounds_the_file() {
    let folder = Folder::new();
    let history = HistoryHandle::start(HistorySettings { max_megabytes: 2, ..settings(&folder.0) });
    let long = "x y ".repeat(400);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..400 {
                    history.append(event(&long)).expect("written");
                }
            });
        }
    });
    let bounded = eventually(|| verify(&folder.0).is_ok_and(|report| report.rows < 1_300));
    assert!(bounded, "{:?} {}", verify(&folder.0), history.status());
    drop(history);
    let report = verify(&folder.0).expect("readable");
    assert!(report.ok && report.removed_through > 1_500, "{report:?}");
}

#[test]
fn an_operation_without_an_end_is_shown_as_unfinished() {
    let folder = Folder::new();
    let history = folder.start();
    let whole = EventDraft { has_effect: true, ..event("whole") };
    history.append(EventDraft { phase: Phase::Received, ..whole.clone() }).expect("written");
    history.append(whole.clone()).expect("written");
    let cut = EventDraft { has_effect: true, phase: Phase::Received, ..event("cut off") };
    history.append(cut.clone()).expect("written");
    let page = query(&folder.0, &Filter::default()).expect("readable");
    let shown: Vec<_> = page.entries.iter().map(|entry| (entry.operation_id.as_str(), entry.state)).collect();
    assert_eq!(
        shown,
        [(cut.operation_id.as_str(), State::Unfinished), (whole.operation_id.as_str(), State::Finished)]
    );
}

#[test]
fn pages_hold_every_operation_once_and_in_order() {
    let folder = Folder::new();
    let history = folder.start();
    let mut expected = Vec::new();
    for at in 0..120 {
        let scope = Some(["app", "docs", "other"][at % 3].to_owned());
        let code = (at % 7 == 0).then_some(ErrorCode::NotFound);
        let draft = EventDraft { scope, code, ..event(&format!("Part-{}", at % 10)) };
        expected.push(draft.clone());
        history.append(draft).expect("written");
    }
    expected.reverse();
    let ids = |keep: &dyn Fn(&EventDraft) -> bool| -> Vec<String> {
        expected.iter().filter(|draft| keep(draft)).map(|draft| draft.operation_id.clone()).collect()
    };
    let all = |filter: Filter| -> Vec<String> {
        let (mut found, mut cursor) = (Vec::new(), None);
        loop {
            let page = query(&folder.0, &Filter { cursor, limit: 7, ..filter.clone() }).expect("readable");
            found.extend(page.entries.into_iter().map(|entry| entry.operation_id));
            cursor = page.next;
            if cursor.is_none() {
                return found;
            }
        }
    };
    let app = || Some("app".to_owned());
    assert_eq!(all(Filter::default()), ids(&|_| true));
    assert_eq!(all(Filter { scope: app(), ..Filter::default() }), ids(&|draft| draft.scope == app()));
    assert_eq!(all(Filter { ok: Some(false), ..Filter::default() }), ids(&|draft| draft.code.is_some()));
    assert_eq!(
        all(Filter { scope: app(), text: Some("pART-3".to_owned()), ..Filter::default() }),
        ids(&|draft| draft.scope == app() && draft.target.as_deref() == Some("Part-3"))
    );
    let middle = expected[60].at_ms;
    assert_eq!(
        all(Filter { since_ms: Some(middle), ..Filter::default() }),
        ids(&|draft| draft.at_ms >= middle)
    );
    assert_eq!(
        all(Filter { until_ms: Some(middle), ..Filter::default() }),
        ids(&|draft| draft.at_ms <= middle)
    );
}

#[test]
fn a_scope_that_is_refused_gets_no_rows() {
    let folder = Folder::new();
    let history = folder.start();
    let refused = EventDraft {
        scope: Some("private".to_owned()),
        stage: Some("scope".to_owned()),
        code: Some(ErrorCode::UnknownScope),
        ..event("planted")
    };
    history.append(refused).expect("written");
    let private = Filter { scope: Some("private".to_owned()), ..Filter::default() };
    assert_eq!(query(&folder.0, &private).expect("readable").entries, []);
    assert_eq!(query(&folder.0, &Filter::default()).expect("readable").entries.len(), 1);
}

#[test]
fn a_row_is_written_although_nobody_waits_for_it_any_more() {
    let folder = Folder::new();
    let history = folder.start();
    let mut waits = 0;
    for number in 0..200 {
        // Some rows let others come first: these end right there.
        let append = pin!(history.append_async(event(&number.to_string())));
        waits += usize::from(append.poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    assert!(waits > 0, "none let others come first");
    drop(history);
    let verified = verify(&folder.0).expect("read");
    assert_eq!(verified.rows, 200);
}
