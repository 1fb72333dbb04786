//! What arrives otherwise than it was recorded: in other pieces, changed, without end, or of no known form.

use std::collections::HashSet;

use bailiwick::platform::launch::kept::Stream;
use bailiwick::providers::digest::{Digest, Digester, Failure};
use support::logs::{Log, LogFile, logs, plain};

/// A source of numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).expect("53 bits") % limit.max(1)
    }
}

fn in_pieces(log: &Log, numbers: &mut Numbers, largest: usize) -> Option<Digest> {
    let mut digester = log.digester();
    let (mut out, mut err) = (&log.stdout[..], &log.stderr[..]);
    while !(out.is_empty() && err.is_empty()) {
        let (stream, rest) = if err.is_empty() || (!out.is_empty() && numbers.below(2) == 0) {
            (Stream::Stdout, &mut out)
        } else {
            (Stream::Stderr, &mut err)
        };
        let (piece, after) = rest.split_at((numbers.below(largest) + 1).min(rest.len()));
        digester.push(stream, piece);
        *rest = after;
    }
    digester.finish(Some(log.known.exit_code))
}

pub fn in_whatever_pieces_the_streams_arrive_the_digest_is_the_same(file: &LogFile) {
    let mut numbers = Numbers(7);
    let log = file.read();
    let whole = log.digest();
    for largest in [1, 60, 5_000] {
        if largest == 1 && log.stdout.len() + log.stderr.len() > 8_000 {
            continue;
        }
        assert_eq!(in_pieces(&log, &mut numbers, largest), whole, "{} in pieces of {largest}", log.name);
    }
}

/// Changes a log in some places: lines gone, twice, cut, exchanged, bytes changed.
fn changed(bytes: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    for _ in 0..=numbers.below(6) {
        if lines.is_empty() {
            break;
        }
        let (at, other) = (numbers.below(lines.len()), numbers.below(lines.len()));
        match numbers.below(6) {
            0 => {
                lines.remove(at);
            }
            1 => {
                let line = lines[at].clone();
                lines.insert(other, line);
            }
            2 => {
                let end = numbers.below(lines[at].len());
                lines[at].truncate(end);
            }
            3 => lines.swap(at, other),
            4 => {
                let place = numbers.below(lines[at].len());
                if let Some(byte) = lines[at].get_mut(place) {
                    *byte = u8::try_from(numbers.below(256)).expect("below 256");
                }
            }
            _ => lines.truncate(at + 1),
        }
    }
    lines.concat()
}

/// Returns what a digest claims that does not stand in the text.
fn inventions(digest: &Digest, text: &str) -> Vec<String> {
    let numbers: HashSet<&str> = text.split(|c: char| !c.is_ascii_digit()).collect();
    let mut wrong = Vec::new();
    let mut claim = |failure: &Failure| {
        if let Some(file) = &failure.file
            && !text.contains(file.as_str())
        {
            wrong.push(format!("file {file}"));
        }
        if let Some(place) = &failure.required_from
            && !text.contains(place.as_str())
        {
            wrong.push(format!("required from {place}"));
        }
        if let Some(name) = &failure.name {
            // Titles stand below each other, and a name may be put together of its parts.
            let parts = name.split([' ', '(', ')', '…']).filter(|part| !part.is_empty());
            wrong.extend(
                parts.filter(|part| !text.contains(*part)).map(|part| format!("{part} of name {name}")),
            );
        }
        for number in [failure.line, failure.column].into_iter().flatten() {
            if !numbers.iter().any(|text| text.parse() == Ok(number)) {
                wrong.push(format!("number {number}"));
            }
        }
        for also in &failure.also {
            for word in also.split([' ', ':', '-']).filter(|word| word.parse::<u64>().is_ok()) {
                if failure.name.is_none() && !numbers.contains(word) {
                    wrong.push(format!("line {word}"));
                }
            }
        }
    };
    digest.failures.iter().for_each(&mut claim);
    digest.warnings.iter().for_each(&mut claim);
    wrong
}

pub fn a_changed_log_makes_no_digest_claim_what_it_does_not_say(file: &LogFile) {
    let rounds =
        std::env::var("BAILIWICK_DIGEST_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(5);
    let log = file.read();
    // Each log is changed in other places.
    let mut numbers =
        Numbers(log.name.bytes().fold(99, |seed, byte| seed * 31 % 1_000_003 + u64::from(byte)));
    for round in 0..rounds {
        let (out, err) = (changed(&log.stdout, &mut numbers), changed(&log.stderr, &mut numbers));
        let Some(digest) = log.digest_of(&out, &err) else { continue };
        let text = plain(&String::from_utf8_lossy(&[&out[..], b"\n", &err[..]].concat()));
        let wrong = inventions(&digest, &text);
        assert!(wrong.is_empty(), "{} in round {round}: {wrong:?}\n{digest:#?}", log.name);
    }
}

pub fn a_log_that_breaks_off_is_not_told_as_a_whole(file: &LogFile) {
    // Test runners say at the end how many failed; a part of their output is no statement about the run.
    let runners =
        ["pytest", "unittest", "jest", "vitest", "mypy", "ruff", "phpunit", "rspec", "maven", "gradle"];
    let log = file.read();
    if runners.contains(&log.known.tool.as_str()) {
        let half = |bytes: &[u8]| bytes[..bytes.len() / 2].to_vec();
        let digest = log.digest_of(&half(&log.stdout), &half(&log.stderr));
        assert!(digest.is_none_or(|digest| !digest.is_recognised()), "{}", log.name);
    }
}

pub fn counts_that_do_not_agree_with_the_tools_own_give_no_digest() {
    let logs = logs();
    for (tool, from, to) in [
        ("pytest/many-failures", "90 failed", "91 failed"),
        ("cargo/test-many-failures", "60 failed", "59 failed"),
        ("unittest/many-failures", "failures=50", "failures=49"),
        ("jest/many-failures", "60 failed", "61 failed"),
        ("eslint/many-problems", "630 errors", "629 errors"),
        ("mocha/many-failures", "70 failing", "71 failing"),
        ("tsc/errors-pretty", "Found 24 errors", "Found 25 errors"),
        ("vitest/many-failures", "Failed Tests 60", "Failed Tests 59"),
        ("cargo/build-errors", "due to 21 previous", "due to 20 previous"),
        ("mypy/errors", "Found 48 errors", "Found 47 errors"),
        ("ruff/errors", "Found 92 errors", "Found 93 errors"),
        ("phpunit/failing", "Failures: 8", "Failures: 9"),
        ("rspec/failing", "30 failures", "29 failures"),
        ("maven/tests-failing", "Tests run: 48, Failures: 12", "Tests run: 48, Failures: 13"),
        ("javac/errors", "40 errors", "41 errors"),
        ("gradle/tests-failing", "30 failed", "31 failed"),
        ("dotnet/not-built", "25 Error(s)", "26 Error(s)"),
        ("dotnet/tests-failing", "Failed:    28", "Failed:    27"),
        ("swift/xctest-failing", "with 20 failures", "with 19 failures"),
        ("swift/testing-failing", "with 20 issues.", "with 21 issues."),
    ] {
        let log =
            logs.iter().find(|log| log.name == tool).unwrap_or_else(|| panic!("there is no log {tool}"));
        assert!(log.digest().is_some_and(|digest| digest.is_recognised()), "{tool}");
        let other = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(from, to).into_bytes();
        assert!(log.text().contains(from), "{tool}: {from}");
        let digest = log.digest_of(&other(&log.stdout), &other(&log.stderr));
        assert!(digest.is_none_or(|digest| !digest.is_recognised()), "{tool}: {to}");
    }
}

pub fn what_a_viewer_shows_is_not_digested_as_a_tools_output(file: &LogFile) {
    let log = file.read();
    if log.digest().is_some() {
        let mut digester = Digester::for_argv(&["/usr/bin/cat", "build.log"]);
        digester.push(Stream::Stdout, &log.stdout);
        digester.push(Stream::Stderr, &log.stderr);
        assert!(digester.finish(Some(0)).is_some_and(|digest| !digest.is_recognised()), "{}", log.name);
    }
}

pub fn whatever_arrives_is_taken_within_bounds() {
    let mut numbers = Numbers(3);
    let mut noise: Vec<u8> =
        (0..1_000_000).map(|_| u8::try_from(numbers.below(256)).expect("below 256")).collect();
    let mut long = Digester::for_argv(&[]);
    for at in 0..12 {
        noise.rotate_left(at * 1_013);
        long.push(Stream::Stdout, &noise);
        // One line without end on the other stream.
        long.push(Stream::Stderr, &[b'x'; 1_000_000]);
    }
    let digest = long.finish(Some(1)).expect("long output has a digest");
    assert!(!digest.is_recognised());
    assert!(digest.text.is_some_and(|text| text.len() < 200_000));

    let mut errors = Digester::for_argv(&["make"]);
    for number in 0..20_000 {
        errors.push(
            Stream::Stderr,
            format!("src/file{number}.c:{number}:1: error: number {number} is wrong\n").as_bytes(),
        );
    }
    let digest = errors.finish(Some(2)).expect("errors of a compiler");
    assert_eq!(digest.counts.errors, Some(20_000));
    assert!(digest.failures_left_out >= 15_000 && digest.failures.len() > 100);
    assert!(serde_json::to_string(&digest).expect("serializable").len() <= 50_000);
}

pub fn a_failure_that_no_form_explains_gives_no_digest_of_a_tool() {
    let passing: Vec<Log> = logs().into_iter().filter(|log| log.known.exit_code == 0).collect();
    assert!(passing.len() >= 5);
    for mut log in passing {
        log.known.exit_code = 1;
        assert!(log.digest().is_none_or(|digest| !digest.is_recognised()), "{}", log.name);
    }
}
