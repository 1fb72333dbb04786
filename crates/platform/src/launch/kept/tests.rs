//! Ring and view against each other: sizes, gaps, overtaking.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;

use super::*;
use crate::launch::ActiveSandbox;
use bailiwick_contract::command::{Containment, Network};

/// A folder of a process that is written by the test itself.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("bailiwick-test-{}", bailiwick_contract::id::new_id()));
        fs::create_dir(&path).expect("made");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = crate::fs::remove_tree(&self.0);
    }
}

fn running() -> Status {
    Status {
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
    }
}

/// Returns what a byte at a position is, so that any part can be checked on its own.
fn byte_at(position: u64) -> u8 {
    u8::try_from(position.wrapping_mul(0x9e37_79b9) >> 7 & 0xff).expect("a byte")
}

fn bytes(from: u64, length: usize) -> Vec<u8> {
    (from..from + length as u64).map(byte_at).collect()
}

fn check(read: &RingRead, from: u64) {
    let mut at = from;
    let mut skipped = 0;
    for frame in &read.frames {
        assert!(frame.position >= at, "nothing twice, and in order");
        skipped += frame.position - at;
        assert!(!frame.bytes.is_empty());
        assert_eq!(frame.bytes, bytes(frame.position, frame.bytes.len()));
        at = frame.position + frame.bytes.len() as u64;
    }
    skipped += read.next - at;
    assert_eq!(read.skipped_bytes, skipped);
    assert!(read.next <= read.end.max(from));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn everything_is_read_once_in_order_or_counted_as_skipped(
        pieces in proptest::collection::vec((any::<bool>(), 1_usize..3000), 1..80),
        ring_bytes in 0_u64..40_000,
        max_bytes in 1_usize..5000,
        read_between in any::<bool>(),
    ) {
        let folder = Folder::new();
        let mut writer = StatusWriter::create(&folder.0, &running()).expect("made");
        let mut ring = RingWriter::create(&folder.0, ring_bytes).expect("made");
        let kept = ProcessFiles::open(&folder.0).expect("opened");
        let mut status = running();
        let mut next = 0;
        for (number, (is_error, length)) in pieces.iter().enumerate() {
            let stream = if *is_error { Stream::Stderr } else { Stream::Stdout };
            ring.push(stream, i64::try_from(number).expect("small"), &bytes(ring.end(), *length));
            ring.count_into(&mut status);
            writer.write(&status).expect("written");
            if read_between {
                let read = kept.read(next, max_bytes).expect("read");
                check(&read, next);
                next = read.next;
            }
        }
        prop_assert_eq!(status.lost_bytes, 0);
        let mut skipped_bytes = 0;
        loop {
            let read = kept.read(next, max_bytes).expect("read");
            check(&read, next);
            skipped_bytes += read.skipped_bytes;
            prop_assert!(read.frames.iter().map(|frame| frame.bytes.len()).sum::<usize>() <= max_bytes);
            if read.next == next {
                break;
            }
            next = read.next;
        }
        prop_assert_eq!(next, status.end);
        // At least half of the budget is there, but for the heads of frames and a last one that had no room.
        let all = kept.read(0, usize::MAX).expect("read");
        check(&all, 0);
        prop_assert!(read_between || skipped_bytes == all.skipped_bytes, "in pieces as much is there as at once");
        let disk: u64 = all.frames.iter().map(|frame| (ring::FRAME_HEAD_BYTES + frame.bytes.len()) as u64).sum();
        prop_assert!(all.skipped_bytes == 0 || disk + 4000 >= (ring_bytes / 2).max(4096));
        for name in ring::NAMES {
            let size = fs::metadata(folder.0.join(name)).map_or(0, |facts| facts.len());
            prop_assert!(size <= (ring_bytes / 2).max(4096));
        }
        // Anyone who opens it again sees the same.
        prop_assert_eq!(ProcessFiles::open(&folder.0).and_then(|kept| kept.read(0, usize::MAX)).expect("read"), all);
    }
}

#[test]
fn frames_that_end_where_a_chunk_of_the_file_ends_are_followed_by_the_next() {
    let folder = Folder::new();
    let mut writer = StatusWriter::create(&folder.0, &running()).expect("made");
    let mut ring = RingWriter::create(&folder.0, 4 << 20).expect("made");
    // 64 bytes each in the file, of which chunks hold a whole number.
    let frame = 64 - ring::FRAME_HEAD_BYTES;
    while ring.end() < 600_000 {
        ring.push(Stream::Stdout, 0, &bytes(ring.end(), frame));
    }
    let mut status = running();
    ring.count_into(&mut status);
    writer.write(&status).expect("written");
    let kept = ProcessFiles::open(&folder.0).expect("opened");
    for max_bytes in [usize::MAX, 300_000] {
        let mut next = 0;
        while next < status.end {
            let read = kept.read(next, max_bytes).expect("read");
            check(&read, next);
            assert_eq!(read.skipped_bytes, 0, "from {next}, {max_bytes} at most");
            next = read.next;
        }
    }
}

#[test]
fn a_reader_beside_a_fast_writer_sees_nothing_twice_torn_or_unaccounted() {
    let folder = Folder::new();
    let mut writer = StatusWriter::create(&folder.0, &running()).expect("made");
    let mut ring = RingWriter::create(&folder.0, 20_000).expect("made");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut status = running();
            for number in 0..6000_usize {
                ring.push(Stream::Stdout, 0, &bytes(ring.end(), 1 + number * 7 % 900));
                ring.count_into(&mut status);
                writer.write(&status).expect("written");
            }
            is_over.store(true, Ordering::Release);
        });
        let kept = ProcessFiles::open(&folder.0).expect("opened");
        let (mut next, mut seen, mut skipped) = (0, 0, 0);
        loop {
            let last = is_over.load(Ordering::Acquire);
            match kept.read(next, 3000) {
                Ok(read) => {
                    check(&read, next);
                    seen += read.frames.iter().map(|frame| frame.bytes.len() as u64).sum::<u64>();
                    skipped += read.skipped_bytes;
                    if last && read.next == next {
                        break;
                    }
                    next = read.next;
                }
                // The writer is too fast for a moment.
                Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ResourceBusy),
            }
        }
        let status = kept.status().expect("a status");
        assert_eq!((next, seen + skipped), (status.end, status.end));
        assert!(seen > 0);
    });
}

#[test]
fn damage_hides_what_is_damaged_and_nothing_before_it() {
    let folder = Folder::new();
    let mut writer = StatusWriter::create(&folder.0, &running()).expect("made");
    let mut ring = RingWriter::create(&folder.0, 1 << 20).expect("made");
    let mut status = running();
    for _ in 0..100 {
        ring.push(Stream::Stdout, 7, &bytes(ring.end(), 100));
    }
    ring.count_into(&mut status);
    writer.write(&status).expect("written");
    let file = folder.0.join(ring::NAMES[0]);
    let whole = fs::read(&file).expect("read");
    let mut damaged = whole.clone();
    damaged[ring::SEGMENT_HEAD_BYTES + 50 * (ring::FRAME_HEAD_BYTES + 100) + 60] ^= 1;
    for (content, kept_bytes) in
        [(damaged.as_slice(), 5000), (&whole[..whole.len() / 2], 4900), (b"", 0), (&whole, 10_000)]
    {
        fs::write(&file, content).expect("written");
        let read = ProcessFiles::open(&folder.0).and_then(|kept| kept.read(0, usize::MAX)).expect("read");
        check(&read, 0);
        assert!(10_000 - read.skipped_bytes <= kept_bytes, "{}", read.skipped_bytes);
        assert!(10_000 - read.skipped_bytes + 200 > kept_bytes, "{}", read.skipped_bytes);
        assert_eq!(read.next, 10_000);
    }
}

#[test]
fn tail_start_and_since_find_their_places() {
    let folder = Folder::new();
    let mut writer = StatusWriter::create(&folder.0, &running()).expect("made");
    let mut ring = RingWriter::create(&folder.0, 8000).expect("made");
    let mut status = running();
    for at_ms in 0..200 {
        ring.push(Stream::Stdout, at_ms, &bytes(ring.end(), 100));
    }
    ring.count_into(&mut status);
    writer.write(&status).expect("written");
    let kept = ProcessFiles::open(&folder.0).expect("opened");
    let tail = kept.tail(150).expect("read");
    check(&tail, 19_850);
    assert_eq!((tail.frames.len(), tail.skipped_bytes), (2, 0));
    let start = kept.start().expect("found");
    assert!((12_000..16_000).contains(&start), "{start}");
    assert_eq!(kept.since(190).expect("found"), 19_000);
    assert_eq!(kept.since(0).expect("found"), start);
    assert_eq!(kept.since(1000).expect("found"), 20_000);
    assert_eq!(kept.status().expect("a status").state, State::Running);
    drop(writer);
    assert_eq!(kept.status().expect("a status").state, State::Lost);
}
