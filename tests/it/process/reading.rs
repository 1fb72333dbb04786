//! Reading: whatever is read in whatever order, each byte is given once, and nothing is torn.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use bailiwick::config::ProcessLifetime;
use bailiwick::contract::{Containment, Network, id::new_id};
use bailiwick::platform::dirs::Dirs;
use bailiwick::platform::launch::kept::{RingWriter, State, Status, StatusWriter, Stream};
use bailiwick::platform::launch::{ActiveSandbox, Launcher};
use bailiwick::providers::process::text::{TextPage, TextRange, take};
use bailiwick::providers::process::{Cursor, Facts, Process, Processes, last_lines};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::temporary::TemporaryFolder;
use support::scope::TestScope;

/// A process without a program: its files, written as a keeper writes them.
struct RawOutput {
    _folder: TemporaryFolder,
    ring: RingWriter,
    status: StatusWriter,
    last: Status,
    process: Arc<Process>,
}

impl RawOutput {
    fn new(ring_bytes: u64) -> Self {
        let folder = TemporaryFolder::new();
        let dirs = Dirs::below(folder.path().join("home"));
        let id = new_id();
        let own = dirs.state.join("processes").join(&id);
        fs::create_dir_all(&own).expect("a folder is made");
        let facts = Facts {
            id: id.clone(),
            scope: "app".to_owned(),
            caller: "local".to_owned(),
            preview: "test".to_owned(),
            label: None,
            started_at_ms: 0,
            folder: ".".to_owned(),
            has_terminal: false,
            lifetime: ProcessLifetime::Durable,
            ring_bytes,
            is_advisory: false,
            is_run: false,
            temporary: None,
        };
        let text = serde_json::to_vec(&facts).expect("facts have a JSON form");
        fs::write(own.join("facts.json"), text).expect("written");
        fs::set_permissions(own.join("facts.json"), fs::Permissions::from_mode(0o600)).expect("it is ours");
        let last = Status {
            state: State::Running,
            process_id: 1,
            started_at_ms: 0,
            ended_at_ms: None,
            exit_code: None,
            signal: None,
            timed_out: false,
            left_killed: 0,
            memory_excess: None,
            held: ActiveSandbox {
                level: Containment::None,
                network: Network::Full,
                degraded: true,
                layers: Vec::new(),
                open: Vec::new(),
            },
            stdout_bytes: 0,
            stderr_bytes: 0,
            end: 0,
            lost_bytes: 0,
            terminal: None,
            failure: None,
        };
        let ring = RingWriter::create(&own, ring_bytes).expect("a ring is made");
        let status = StatusWriter::create(&own, &last).expect("a status is made");
        let processes = Processes::new(&dirs, Arc::new(Launcher::new()));
        let process = processes.find("app", &id).expect("it is there");
        Self { _folder: folder, ring, status, last, process }
    }

    fn push(&mut self, stream: Stream, bytes: &[u8]) {
        self.ring.push(stream, 7, bytes);
        self.tell();
    }

    fn end(&mut self) {
        self.last.state = State::Ended;
        self.tell();
    }

    fn tell(&mut self) {
        self.ring.count_into(&mut self.last);
        self.status.write(&self.last).expect("written");
    }

    fn take(&self, cursor: Cursor, wanted: TextRange) -> TextPage {
        let read = |from, max_bytes| self.process.read(from, max_bytes);
        take(cursor, TextRange { is_over: self.last.state == State::Ended, ..wanted }, read)
            .expect("it is readable")
    }
}

const ALL: TextRange =
    TextRange { stream: None, strip_ansi: false, room: 1 << 30, line_bytes: 0, is_over: false };

/// One thing that happens.
#[derive(Debug, Clone)]
enum Step {
    /// So many bytes of a stream are printed.
    Print(bool, usize),
    /// Somebody reads, both streams or one, with so much room.
    Read(Option<bool>, usize),
}

fn stream(is_error: bool) -> Stream {
    if is_error { Stream::Stderr } else { Stream::Stdout }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (any::<bool>(), 1_usize..12).prop_map(|(stream, bytes)| Step::Print(stream, bytes)),
        2 => (prop_oneof![3 => Just(None), 1 => any::<bool>().prop_map(Some)], 1_usize..40)
            .prop_map(|(stream, room)| Step::Read(stream, room)),
    ];
    proptest::collection::vec(step, 0..60)
}

/// Text with characters of every length and whole control sequences.
fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => "[a-z\n\"]{1,6}",
        2 => "[öß€猫😀]{1,3}",
        1 => Just("\u{1b}[31m".to_owned()),
        1 => Just("\u{1b}]0;a title\u{7}".to_owned()),
    ];
    proptest::collection::vec(part, 0..60).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_reads_gives_each_byte_exactly_once(
        out in text(),
        err in text(),
        steps in steps(),
        strip_ansi in any::<bool>(),
    ) {
        let mut written = RawOutput::new(1 << 20);
        let mut rest = [out.as_bytes(), err.as_bytes()];
        let mut given = [String::new(), String::new()];
        let mut cursor = Cursor::default();
        let collect = |taken: TextPage, given: &mut [String; 2]| {
            for piece in &taken.pieces {
                given[usize::from(piece.stream == Stream::Stderr)].push_str(&piece.text);
            }
            assert_eq!((taken.skipped_bytes, taken.not_utf8_bytes), (0, 0));
            // What a client sends back is what it got.
            Cursor::parse("cursor", &taken.cursor.to_string()).expect("a cursor")
        };
        for step in steps {
            match step {
                Step::Print(is_error, bytes) => {
                    let text = &mut rest[usize::from(is_error)];
                    let (now, later) = text.split_at(bytes.min(text.len()));
                    *text = later;
                    if !now.is_empty() {
                        written.push(stream(is_error), now);
                    }
                }
                Step::Read(which, room) => {
                    let wanted = TextRange { stream: which.map(stream), strip_ansi, room, ..ALL };
                    cursor = collect(written.take(cursor, wanted), &mut given);
                }
            }
        }
        for (at, text) in rest.into_iter().enumerate() {
            if !text.is_empty() {
                written.push(stream(at == 1), text);
            }
        }
        written.end();
        cursor = collect(written.take(cursor, TextRange { strip_ansi, ..ALL }), &mut given);
        let last = written.take(cursor, TextRange { strip_ansi, ..ALL });
        prop_assert!(last.pieces.is_empty() && !last.is_cut, "{last:?}");
        for (given, printed) in given.iter().zip([&out, &err]) {
            let expected = match strip_ansi {
                true => printed.replace("\u{1b}[31m", "").replace("\u{1b}]0;a title\u{7}", ""),
                false => printed.clone(),
            };
            prop_assert_eq!(given, &expected);
        }
    }

    #[test]
    fn what_is_given_and_what_fell_out_are_together_all_that_was_printed(
        steps in steps(),
        room in 500_usize..9_000,
    ) {
        let mut written = RawOutput::new(16 << 10);
        let (mut given, mut skipped, mut cursor) = (0, 0, Cursor::default());
        for step in steps {
            match step {
                // Much at a time, so that the ring turns.
                Step::Print(is_error, bytes) => written.push(stream(is_error), &vec![b'x'; bytes * 200]),
                Step::Read(..) => {
                    let taken = written.take(cursor, TextRange { room, ..ALL });
                    given += taken.pieces.iter().map(|piece| piece.text.len() as u64).sum::<u64>();
                    skipped += taken.skipped_bytes;
                    cursor = taken.cursor;
                }
            }
        }
        written.end();
        let taken = written.take(cursor, ALL);
        given += taken.pieces.iter().map(|piece| piece.text.len() as u64).sum::<u64>();
        skipped += taken.skipped_bytes;
        prop_assert_eq!(given + skipped, written.last.end);
    }

    #[test]
    fn the_tail_is_the_end_of_all_lines(
        out in "([a-z]{0,30}\n){0,40}[a-z]{0,9}",
        err in "([a-z]{0,30}\n){0,40}",
        count in 0_usize..50,
    ) {
        let mut written = RawOutput::new(1 << 20);
        for (at, text) in [&out, &err].into_iter().enumerate() {
            if !text.is_empty() {
                written.push(stream(at == 1), text.as_bytes());
            }
        }
        written.end();
        let read = |from, max_bytes| written.process.read(from, max_bytes);
        let taken = last_lines(count, true, written.last.end, ALL, read).expect("readable");
        for (at, text) in [&out, &err].into_iter().enumerate() {
            let got: String =
                taken.pieces.iter().filter(|piece| piece.stream == stream(at == 1)).map(|piece| piece.text.as_str()).collect();
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            prop_assert_eq!(got, lines[lines.len().saturating_sub(count)..].concat());
        }
        prop_assert_eq!(taken.cursor, Cursor::at(written.last.end));
    }
}

#[test]
fn bytes_that_are_no_text_are_counted_and_an_end_in_the_middle_is_given_when_it_is_over() {
    let mut written = RawOutput::new(1 << 20);
    written.push(Stream::Stdout, b"a\xff\xfeb\xe2\x82");
    written.push(Stream::Stderr, b"\x1b[3");
    let taken = written.take(Cursor::default(), ALL);
    let text: String = taken.pieces.iter().map(|piece| piece.text.as_str()).collect();
    assert_eq!((text.as_str(), taken.not_utf8_bytes), ("a\u{fffd}\u{fffd}b", 2));
    assert_eq!(taken.cursor.to_string(), "4-6", "both wait for their rest");
    written.end();
    let rest = written.take(taken.cursor, ALL);
    let text: String = rest.pieces.iter().map(|piece| piece.text.as_str()).collect();
    assert_eq!((text.as_str(), rest.not_utf8_bytes), ("\u{fffd}\u{1b}[3", 2));
    assert_eq!(rest.cursor, Cursor::at(9));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_output_is_read_in_bounded_parts_that_make_the_whole() {
    let world = TestScope::for_processes(json!({"sandbox": "none", "allowedCommands": ["seq *"]}));
    let host = world.host();
    let id = host.start(json!(["seq", "-f", "%g größer 猫 \"quoted\"", "1", "4000"])).await;
    let expected: String = (1..=4_000).map(|number| format!("{number} größer 猫 \"quoted\"\n")).collect();
    let (mut given, mut cursor) = (String::new(), Value::Null);
    loop {
        let process = host.service.facts().processes.find("app", &id).expect("it is there");
        let is_over = process.status().expect("it is readable").state.is_final();
        let envelope = json!({"op": "process.read", "target": id, "options": {"cursor": cursor, "maxOutputBytes": 5_000}});
        let data = host.data(envelope).await;
        assert!(data.to_string().len() <= 5_000, "{} bytes", data.to_string().len());
        given.push_str(data["stdout"].as_str().expect("text"));
        cursor = data["nextCursor"].clone();
        if is_over && data["truncated"] == false {
            break;
        }
    }
    assert_eq!(given, expected);
    let tail = host.read(&id, json!({"tail": 2, "stream": "merged"})).await;
    let lines: Vec<&Value> =
        tail["lines"].as_array().expect("lines").iter().map(|line| &line["text"]).collect();
    assert_eq!(lines, [&json!("3999 größer 猫 \"quoted\""), &json!("4000 größer 猫 \"quoted\"")]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_more_than_is_kept_the_newest_is_there_and_what_fell_out_is_said() {
    let world = TestScope::for_processes(json!({"sandbox": "none", "allowedCommands": ["seq *"]}));
    let host = world.host();
    let id = host.start(json!(["seq", "1", "3000000"])).await;
    host.over(&id).await;
    let tail = host.read(&id, json!({"tail": 1})).await;
    assert_eq!(tail["stdout"], "3000000\n");
    let read = host.read(&id, json!({})).await;
    let skipped = read["skippedBytes"].as_u64().expect("a number");
    // 22,888,896 bytes were printed; at least half of 8 MiB is kept.
    assert!((22_888_896 - (8 << 20)..=22_888_896 - (4 << 20)).contains(&skipped), "{skipped}");
    assert_eq!(read["truncated"], true);
    let disk: u64 = fs::read_dir(world.process(&id))
        .expect("its folder")
        .flatten()
        .map(|entry| entry.metadata().expect("a file").len())
        .sum();
    assert!(disk <= (8 << 20) + 65_536, "{disk}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_of_both_streams_come_in_their_order_and_an_open_one_goes_on() {
    let world = TestScope::for_processes(json!({"sandbox": "none", "allowedCommands": ["make *"]}));
    world.write(
        "Makefile",
        "talk:\n\t@echo one; echo two >&2; echo three; printf 'continue? '; while [ ! -e go ]; do sleep 0.05; done; echo yes\n",
    );
    let host = world.host();
    let id = host.start(json!(["make", "talk"])).await;
    host.printed(&id, "continue? ").await;
    let read = host.read(&id, json!({"stream": "merged"})).await;
    let shown: Vec<String> = read["lines"]
        .as_array()
        .expect("lines")
        .iter()
        .map(|line| format!("{} {} {}", line["stream"], line["text"], line["open"]))
        .collect();
    // The two streams are two pipes: between them the order is that of their arrival.
    let (err, out): (Vec<&str>, Vec<&str>) =
        shown.iter().map(String::as_str).partition(|line| line.contains("stderr"));
    assert_eq!(out, [r#""stdout" "one" null"#, r#""stdout" "three" null"#, r#""stdout" "continue? " true"#]);
    assert!(err.is_empty() || err == [r#""stderr" "two" null"#], "{err:?}");
    world.write("go", "");
    host.over(&id).await;
    let rest = host.read(&id, json!({"stream": "merged", "cursor": read["nextCursor"]})).await;
    let lines = rest["lines"].as_array().expect("lines");
    let out: Vec<&Value> =
        lines.iter().filter(|line| line["stream"] == "stdout").map(|line| &line["text"]).collect();
    assert_eq!(out, ["yes"], "{rest:#}");
    assert_eq!(err.len() + lines.len(), 2, "each line of both is given once: {rest:#}");
}
