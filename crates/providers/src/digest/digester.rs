//! From the bytes of two streams to a digest, or to none.

use std::collections::HashSet;

use bailiwick_platform::launch::kept::Stream;

use super::facts::{Counts, DigestItem, Facts, MESSAGE_BYTES, Tool};
use super::fit::{Form, best, list, widened};
use super::fold::Fold;
use super::lines::Lines;
use super::reader::Router;
use super::shape::{Digest, Failure};
use crate::command::Capture;

/// Output of no more than this, control sequences not counted, is short enough to be given whole.
pub const WHOLE_BYTES: u64 = 4_096;
/// How much of the output's size without control sequences a digest may have, in percent.
const SHARE_PERCENT: u64 = 12;
/// How much it may have where not even the names and lines of all failures fit into that.
const MOST_PERCENT: u64 = 25;
/// The largest digest, in bytes, where nothing else is asked.
const MOST_BYTES: usize = 40_000;
/// How much of a text of no known form is kept of its beginning and of its end, in bytes for each stream.
const FOLD_BYTES: (usize, usize) = (6_000, 18_000);
/// How much of a stream is read line by line. Of a longer one only the end is read after that, and no tool is recognised
/// in it.
const MAX_READ_BYTES: u64 = 32 << 20;
/// How much of the end of such a stream is kept for that.
const TAIL_BYTES: usize = 48 << 10;
/// How many bytes may be no tool's in the output of a tool that did not fail.
const OTHER_BYTES: u64 = 2_048;
/// How long messages of failures and warnings are, as long as anything else is to be said, in bytes.
const FIRST_MESSAGE_BYTES: usize = 160;
/// Programs whose output is the text that was asked for, whatever it looks like.
const VIEWERS: &[&str] = &[
    "awk", "bat", "cat", "cut", "diff", "echo", "find", "git", "grep", "head", "jq", "less", "ls", "more",
    "printf", "rg", "sed", "sort", "strings", "tac", "tail", "uniq", "xxd", "zcat",
];

/// What is known of one stream so far.
struct Reading {
    lines: Lines,
    /// None where the text is no tool's, or too long.
    router: Option<Router>,
    fold: Fold,
    /// All bytes but control sequences.
    bytes: u64,
    /// How much may still be read line by line.
    left_bytes: u64,
    /// What comes after that.
    rest: Option<Capture>,
}

/// Makes a digest while the output arrives. Its memory is bounded, whatever that is, and where the pieces end makes
/// no difference, nor how the two streams come between each other.
pub struct Digester {
    is_viewer: bool,
    most_bytes: usize,
    stdout: Reading,
    stderr: Reading,
}

impl Digester {
    /// Begins; the words of the command are a hint only, the text decides.
    pub fn for_argv(argv: &[&str]) -> Self {
        Self::reading(argv, MAX_READ_BYTES)
    }

    fn reading(argv: &[&str], max_read_bytes: u64) -> Self {
        let is_viewer = Self::is_viewer(argv);
        let reading = || Reading::new(is_viewer, max_read_bytes);
        Self { is_viewer, most_bytes: MOST_BYTES, stdout: reading(), stderr: reading() }
    }

    /// Bounds the digest to so many bytes as JSON.
    #[must_use]
    pub fn within(mut self, bytes: usize) -> Self {
        self.most_bytes = bytes.min(MOST_BYTES);
        self
    }

    /// Returns whether a program shows a text that was asked for, so that no digest can stand for it.
    pub fn is_viewer(argv: &[&str]) -> bool {
        let program = argv.first().and_then(|program| program.rsplit('/').next());
        program.is_some_and(|program| VIEWERS.contains(&program))
    }

    /// Takes the next bytes of a stream.
    pub fn push(&mut self, stream: Stream, bytes: &[u8]) {
        match stream {
            Stream::Stdout => self.stdout.push(bytes),
            Stream::Stderr => self.stderr.push(bytes),
        }
    }

    /// Returns the digest of all of it: none of output that is short. `exit_code` is none where there is none (yet).
    pub fn finish(self, exit_code: Option<i32>) -> Option<Digest> {
        let Self { is_viewer, most_bytes, .. } = self;
        let (out, out_fold, out_bytes) = self.stdout.finish();
        let (err, err_fold, err_bytes) = self.stderr.finish();
        let bytes = out_bytes + err_bytes;
        if bytes <= WHOLE_BYTES {
            return None;
        }
        let recognised = if is_viewer { None } else { recognise(out, err, exit_code, (bytes, most_bytes)) };
        recognised.or_else(|| folded(out_fold, err_fold, most_bytes))
    }
}

/// What the readers found in one stream, and what was none of theirs.
type StreamFacts = (Vec<Facts>, Fold, u64);

impl Reading {
    fn new(is_viewer: bool, max_read_bytes: u64) -> Self {
        Self {
            lines: Lines::default(),
            router: (!is_viewer).then(Router::new),
            fold: Fold::new(FOLD_BYTES.0, FOLD_BYTES.1),
            bytes: 0,
            left_bytes: max_read_bytes,
            rest: None,
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        let to_read = usize::try_from(self.left_bytes).unwrap_or(usize::MAX).min(bytes.len());
        let (read, rest) = bytes.split_at(to_read);
        self.left_bytes -= to_read as u64;
        self.read(|lines, each| lines.push(read, each));
        if !rest.is_empty() {
            self.rest
                .get_or_insert_with(|| {
                    self.router = None;
                    Capture::new(0, TAIL_BYTES)
                })
                .push(rest);
        }
    }

    fn read(&mut self, read: impl FnOnce(&mut Lines, &mut dyn FnMut(&str, u64))) {
        let Self { lines, router, fold, bytes: all, .. } = self;
        read(lines, &mut |line, bytes| {
            *all += bytes;
            if let Some(router) = router {
                router.line(line, bytes);
            }
            fold.line(line);
        });
    }

    fn finish(mut self) -> (StreamFacts, Fold, u64) {
        if let Some(rest) = self.rest.take() {
            let rest = rest.finish();
            // The line that the limit cut, and the one at which the tail begins, are among those left out.
            let tail = memchr::memchr(b'\n', &rest.tail).map_or(&[][..], |at| &rest.tail[at + 1..]);
            let shown = memchr::memchr_iter(b'\n', tail).count() as u64;
            self.lines = Lines::default();
            self.fold.leave_out(rest.total_line_feeds - shown);
            self.bytes += rest.total_bytes - tail.len() as u64;
            self.read(|lines, each| lines.push(tail, each));
        }
        let lines = std::mem::take(&mut self.lines);
        self.read(|_, each| lines.finish(each));
        let read = self.router.map(Router::finish).unwrap_or_else(|| (Vec::new(), Fold::new(0, 0), 0));
        (read, self.fold, self.bytes)
    }
}

/// Creates a digest of what the readers found, if that can be believed and says enough.
fn recognise(
    out: StreamFacts,
    err: StreamFacts,
    exit_code: Option<i32>,
    (bytes, most_bytes): (u64, usize),
) -> Option<Digest> {
    let (out_facts, out_other, out_bytes) = out;
    let (err_facts, err_other, err_bytes) = err;
    let mut all: Vec<Facts> = Vec::new();
    for (mut facts, other) in out_facts.into_iter().zip(err_facts) {
        facts.merge(other);
        if facts.seen || facts.doubt.is_some() {
            all.push(facts);
        }
    }
    let aborted = all.iter().map(|facts| facts.unfinished.1).sum();
    if all.is_empty() || all.iter_mut().any(|facts| !is_sound(facts, aborted)) {
        return None;
    }
    let failures: u64 = all.iter().map(|facts| facts.failures.total).sum();
    let other_bytes = out_bytes + err_bytes;
    // Output that is the program's own, or another tool's.
    let is_strange = other_bytes > OTHER_BYTES && other_bytes * 4 > bytes;
    if is_strange && all.iter().all(|facts| facts.weak) {
        return None;
    }
    // A failure that is not explained.
    if failures == 0 && (exit_code != Some(0) || is_strange) {
        return None;
    }
    // What makes the rest fail comes first.
    all.sort_by_key(|facts| (facts.failures.is_empty(), facts.tool));
    let others = [out_other, err_other].into_iter().filter(|other| !other.is_empty()).collect();
    compose(all, others, bytes, most_bytes)
}

/// Returns whether what was found agrees with what the tool itself counts.
fn is_sound(facts: &mut Facts, aborted: u64) -> bool {
    let total = facts.failures.total;
    let agrees = match (facts.tool, facts.declared) {
        (_, None) => true,
        // What two builds of a crate have in common cargo shows once and counts twice.
        (Tool::Cargo | Tool::Rustc, Some((all, least))) => total >= least && total <= all,
        // Packages that were not built have errors besides; tests are counted by name.
        (_, Some((all, _))) => total == all,
    };
    let places = std::mem::take(&mut facts.places);
    for failure in &mut facts.failures.kept {
        if failure.line.is_none()
            && let Some(at) = places.iter().find(|at| at.name == failure.name)
        {
            (failure.file, failure.line, failure.column) = (at.file.clone(), at.line, at.column);
            failure.message.clone_from(&at.message);
        }
    }
    facts.doubt.is_none() && facts.ended && agrees && facts.unfinished.0 <= aborted
}

/// Puts the facts together, as much as fits.
fn compose(all: Vec<Facts>, others: Vec<Fold>, bytes: u64, most_bytes: usize) -> Option<Digest> {
    let mut digest =
        Digest { tool: join(all.iter().map(|facts| facts.tool.name()), ", "), ..Digest::default() };
    digest.summary = join(all.iter().flat_map(|facts| facts.summary.iter().map(String::as_str)), "; ");
    let (mut failures, mut warnings, mut hidden) = (Vec::new(), Vec::new(), 0);
    let mut counts = Counts::default();
    for facts in all {
        counts.add(facts.counts);
        digest.failures_left_out += facts.failures.total - facts.failures.kept.len() as u64;
        hidden += facts.warnings.total - facts.warnings.kept.len() as u64;
        failures.extend(facts.failures.kept);
        warnings.extend(facts.warnings.kept);
    }
    digest.counts = counts;
    for list in [&mut failures, &mut warnings] {
        one_spelling(list);
    }
    let part = |percent: u64| usize::try_from(bytes * percent / 100).unwrap_or(usize::MAX).min(most_bytes);
    let (room, most) = (part(SHARE_PERCENT), part(MOST_PERCENT));
    // What cannot be told in its room, but nearly, is told all the same.
    let Some(form) = fill(&mut digest, &failures, room).or_else(|| {
        // The counts say the same, but for the time it took.
        let summary = std::mem::take(&mut digest.summary);
        let form = fill(&mut digest, &failures, room);
        if form.is_none() {
            digest.summary = summary;
        }
        form
    }) else {
        return (fill(&mut digest, &failures, most).is_some()
            || fill_a_part(&mut digest, &failures, most, most_bytes))
        .then_some(digest);
    };
    if hidden == 0 {
        add_warnings(&mut digest, &warnings, room);
    }
    for mut other in others {
        let left = room.saturating_sub(size(&digest) + 12);
        // Escapes and quotes take room that the text does not show.
        let before = digest.text.clone().unwrap_or_default();
        let text = other.text(left / 10 * 9).map(|text| before.clone() + &text);
        if text.is_some() {
            digest.text = text;
            if size(&digest) > room {
                digest.text = (!before.is_empty()).then_some(before);
            }
        }
    }
    // What room is left after that goes to longer messages.
    let form = widened(&failures, form, MESSAGE_BYTES, |failures| size_with(&mut digest, failures) <= room);
    digest.failures = list(&failures, form);
    Some(digest)
}

/// Gives a file that stands with its folder in one place and without in another the shorter name in both.
fn one_spelling(list: &mut [DigestItem]) {
    let files: HashSet<String> = list.iter().filter_map(|found| found.file.clone()).collect();
    for found in list {
        let Some(file) = found.file.as_deref().filter(|file| file.starts_with('/')) else { continue };
        let shorter =
            file.match_indices('/').map(|(at, _)| &file[at + 1..]).find(|part| files.contains(*part));
        if let Some(shorter) = shorter.map(ToOwned::to_owned) {
            found.file = Some(shorter);
        }
    }
}

/// Puts the failures in, with as many messages as fit.
fn fill(digest: &mut Digest, failures: &[DigestItem], room: usize) -> Option<Form> {
    let form = best(failures, FIRST_MESSAGE_BYTES, |failures| size_with(digest, failures) <= room)?;
    digest.failures = list(failures, form);
    Some(form)
}

fn size_with(digest: &mut Digest, failures: Vec<Failure>) -> usize {
    digest.failures = failures;
    size(digest)
}

/// Puts the first failures in, where there are more than a digest can ever have.
fn fill_a_part(digest: &mut Digest, failures: &[DigestItem], room: usize, most_bytes: usize) -> bool {
    if room < most_bytes {
        return false;
    }
    let left_out = digest.failures_left_out;
    let mut part = failures.len() / 2;
    while part > 0 {
        digest.failures_left_out = left_out + (failures.len() - part) as u64;
        if fill(digest, &failures[..part], room).is_some() {
            return true;
        }
        part /= 2;
    }
    false
}

/// Puts the warnings in, if all of them fit.
fn add_warnings(digest: &mut Digest, warnings: &[DigestItem], room: usize) {
    if warnings.is_empty() {
        return;
    }
    let form = best(warnings, FIRST_MESSAGE_BYTES, |warnings| {
        digest.warnings = warnings;
        size(digest) <= room
    });
    digest.warnings = form.map(|form| list(warnings, form)).unwrap_or_default();
}

fn size(digest: &Digest) -> usize {
    serde_json::to_vec(digest).map_or(usize::MAX, |json| json.len())
}

fn join<'a>(parts: impl Iterator<Item = &'a str>, between: &str) -> String {
    let mut joined = String::new();
    for part in parts {
        if !joined.is_empty() {
            joined.push_str(between);
        }
        joined.push_str(part);
    }
    joined
}

/// A digest of text that has no known form.
fn folded(mut out: Fold, mut err: Fold, most_bytes: usize) -> Option<Digest> {
    let mut limit = FOLD_BYTES.0 + FOLD_BYTES.1;
    loop {
        let text = match (out.text(limit), err.text(limit)) {
            (Some(out), Some(err)) => format!("{out}--- standard error\n{err}"),
            (one, other) => one.or(other)?,
        };
        let digest = Digest { tool: "text".to_owned(), text: Some(text), ..Digest::default() };
        if size(&digest) <= most_bytes {
            return Some(digest);
        }
        limit = limit / 4 * 3;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(program: &str, pieces: &[&[u8]], max_read_bytes: u64) -> String {
        let mut digester = Digester::reading(&[program], max_read_bytes);
        for piece in pieces {
            digester.push(Stream::Stdout, piece);
        }
        digester.finish(Some(0)).expect("it is long").text.expect("no tool is recognised")
    }

    #[test]
    fn of_output_without_end_the_beginning_and_the_end_are_told_and_the_lines_between_counted() {
        let word = |n: usize| ["ape", "bear", "cat", "dog", "eel"][n % 5].repeat(1 + n / 5 % 7);
        let all: String = (0..40_000).map(|n| format!("{} {}\n", word(n), word(n / 3))).collect();
        let digest = text("cat", &[all.as_bytes()], 50_000);
        let first: String = all.lines().take(20).map(|line| format!("{line}\n")).collect();
        let last: String = all.lines().skip(39_900).map(|line| format!("{line}\n")).collect();
        assert!(digest.starts_with(&first) && digest.ends_with(&last), "{digest}");
        let shown = digest.lines().count() - 1;
        assert!(digest.contains(&format!("[… {} lines left out …]", 40_000 - shown)), "{digest}");
        // A tool's output that is read only in part is no tool's.
        let errors: String = (0..5_000).map(|n| format!("src/a.c:{n}:1: error: no such thing\n")).collect();
        assert!(text("make", &[errors.as_bytes()], 50_000).contains("lines left out"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn where_the_pieces_end_makes_no_difference_to_long_output(at in prop::collection::vec(0_usize..80_000, 0..6)) {
            let all: String = (0..5_000).map(|n| format!("line {} {n}\n", "x".repeat(n % 9))).collect();
            let mut ends: Vec<usize> = at.into_iter().map(|at| at.min(all.len())).chain([0, all.len()]).collect();
            ends.sort_unstable();
            let pieces: Vec<&[u8]> = ends.windows(2).map(|pair| &all.as_bytes()[pair[0]..pair[1]]).collect();
            prop_assert_eq!(text("cat", &pieces, 10_000), text("cat", &[all.as_bytes()], 10_000));
        }
    }
}
