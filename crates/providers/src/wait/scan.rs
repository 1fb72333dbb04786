//! Looking for a pattern in the output of a process, from a position on, as it comes.
//!
//! Both streams are one sequence of positions, in the order in which the bytes arrived. Where a piece of output
//! ends, or how much of it is read at a time, makes no difference to what is found. Must not know where the
//! output comes from.

use std::sync::Arc;

use bailiwick_platform::launch::kept::{Frame, Stream};

use super::lines::Lines;
use super::pattern::{LineKnowledge, Pattern};

/// How much of a line is shown.
const SHOWN_BYTES: usize = 300;
/// How much of it before the match.
const SHOWN_BEFORE_BYTES: usize = 80;
/// The longest unfinished line that is checked again with each piece that comes.
const MAX_UNFINISHED_BYTES: usize = 4 << 10;
/// How long output has to rest until an unfinished line counts as it is, in milliseconds: a prompt.
const REST_MS: i64 = 100;

/// A line in which the pattern was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternMatch {
    /// The stream.
    pub stream: Stream,
    /// The line, without control sequences; of a long one the part around the match.
    pub line: String,
    /// Where the line begins.
    pub position: u64,
    /// Where to continue: behind what was checked.
    pub next: u64,
}

/// A search for one pattern.
#[derive(Debug)]
pub struct Scan {
    pattern: Arc<Pattern>,
    streams: [Lines; 2],
    /// Where each stream is checked from: what is before was checked earlier.
    from: Marks,
    /// Behind the last byte that was taken.
    next: u64,
    /// The stream whose unfinished line has grown since it was checked.
    grown: Option<Stream>,
    last_at_ms: i64,
    rested: bool,
    skipped_bytes: u64,
}

/// For each stream, where to continue so that no line is missed and none is found twice.
pub type Marks = [u64; 2];

impl Scan {
    /// Begins where the marks say: `[0, 0]` for the beginning of what is kept.
    pub fn new(pattern: Arc<Pattern>, from: Marks) -> Self {
        Self {
            pattern,
            streams: Default::default(),
            from,
            next: from[0].min(from[1]),
            grown: None,
            last_at_ms: 0,
            rested: true,
            skipped_bytes: 0,
        }
    }

    /// Returns the position from which output is wanted.
    pub fn wants(&self) -> u64 {
        self.next
    }

    /// Returns how much of the output could not be read: it had fallen out of the ring.
    pub fn skipped_bytes(&self) -> u64 {
        self.skipped_bytes
    }

    /// Takes the next piece, and gives the first line in it that has the pattern.
    pub fn feed(&mut self, frame: &Frame) -> Option<PatternMatch> {
        let (stream, end) = (frame.stream, frame.position + frame.bytes.len() as u64);
        if end <= self.next {
            return None;
        }
        let mut found = self.skip_to(frame.position);
        if found.is_none() && self.grown.is_some_and(|grown| grown != stream) {
            found = self.settle();
        }
        if found.is_some() {
            return found;
        }
        let known = self.next.max(self.from[index(stream)]).saturating_sub(frame.position);
        let known = usize::try_from(known).unwrap_or(usize::MAX).min(frame.bytes.len());
        let (position, bytes) = (frame.position + known as u64, &frame.bytes[known..]);
        self.next = position;
        let pattern = &self.pattern;
        let found = self.streams[index(stream)].feed(position, bytes, |line, start, next| {
            let at = pattern.find(line, LineKnowledge::Whole)?;
            Some(PatternMatch { stream, line: shown(line, at), position: start, next })
        });
        if found.is_none() {
            self.next = end;
            if !bytes.is_empty() {
                (self.grown, self.last_at_ms, self.rested) = (Some(stream), frame.at_ms, false);
            }
        }
        found
    }

    /// Continues at a later position, because what is before it is not kept. Lines do not reach over the gap.
    pub fn skip_to(&mut self, position: u64) -> Option<PatternMatch> {
        if position <= self.next {
            return None;
        }
        let found = self.settle();
        if found.is_none() {
            // A search that begins at 0 begins at what is kept: nothing was promised of what was before.
            if self.next > 0 {
                self.skipped_bytes += position - self.next;
            }
            self.streams.iter_mut().for_each(Lines::reset);
            self.next = position;
        }
        found
    }

    /// Looks at the unfinished line that has grown, when nothing more is there to be taken for now.
    pub fn settle(&mut self) -> Option<PatternMatch> {
        let stream = self.grown.take()?;
        let (line, _) = self.streams[index(stream)].unfinished()?;
        if line.len() > MAX_UNFINISHED_BYTES {
            None
        } else {
            self.unfinished(stream, LineKnowledge::Beginning)
        }
    }

    /// Returns when to call [`Scan::rest`], in milliseconds since the epoch, if nothing comes until then.
    pub fn rests_at(&self) -> Option<i64> {
        let open = |lines: &Lines| {
            let line = lines.unfinished().map_or(&[] as &[u8], |(line, _)| line);
            !line.is_empty() && (self.pattern.needs_whole_lines() || line.len() > MAX_UNFINISHED_BYTES)
        };
        (!self.rested && self.streams.iter().any(open)).then_some(self.last_at_ms + REST_MS)
    }

    /// Looks at unfinished lines as they stand: nothing has come for a while, or nothing comes any more.
    pub fn rest(&mut self) -> Option<PatternMatch> {
        self.rested = true;
        let mut streams = [Stream::Stdout, Stream::Stderr];
        streams.sort_by_key(|stream| self.streams[index(*stream)].unfinished().map(|(_, start)| start));
        streams.into_iter().find_map(|stream| self.unfinished(stream, LineKnowledge::Whole))
    }

    /// Returns where another search continues, so that it finds what this one would have found.
    pub fn marks(&self) -> Marks {
        [Stream::Stdout, Stream::Stderr].map(|stream| {
            let unfinished = self.streams[index(stream)].unfinished().map(|(_, start)| start);
            unfinished.unwrap_or_else(|| self.next.max(self.from[index(stream)]))
        })
    }

    /// Returns where another search would find this line again.
    pub fn marks_before(&self, seen: &PatternMatch) -> Marks {
        let mut marks = self.marks();
        marks[index(seen.stream)] = seen.position;
        marks
    }

    fn unfinished(&self, stream: Stream, known: LineKnowledge) -> Option<PatternMatch> {
        let (line, position) = self.streams[index(stream)].unfinished()?;
        let at = self.pattern.find(line, known)?;
        Some(PatternMatch { stream, line: shown(line, at), position, next: self.next })
    }
}

fn index(stream: Stream) -> usize {
    match stream {
        Stream::Stdout => 0,
        Stream::Stderr => 1,
    }
}

/// Shows a line as text, a long one around the match.
fn shown(line: &[u8], at: usize) -> String {
    if line.len() <= SHOWN_BYTES {
        return String::from_utf8_lossy(line).into_owned();
    }
    let is_inside = |at: usize| line.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    let mut start = at.saturating_sub(SHOWN_BEFORE_BYTES);
    let mut end = (start + SHOWN_BYTES).min(line.len());
    while is_inside(start) && start < end {
        start += 1;
    }
    while is_inside(end) && end > start {
        end -= 1;
    }
    let (before, after) = (if start > 0 { "…" } else { "" }, if end < line.len() { "…" } else { "" });
    format!("{before}{}{after}", String::from_utf8_lossy(&line[start..end]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Output = Vec<(Stream, String)>;

    fn text(text: &str) -> Arc<Pattern> {
        Arc::new(Pattern::text(text).expect("a text"))
    }

    fn regex(pattern: &str) -> Arc<Pattern> {
        Arc::new(Pattern::regex(pattern, 1).expect("a pattern"))
    }

    /// Feeds output from a position on, and gives what is found first.
    fn feed(scan: &mut Scan, position: u64, output: &[(Stream, String)]) -> Option<PatternMatch> {
        let mut position = position;
        for (stream, piece) in output {
            let frame = Frame { stream: *stream, at_ms: 0, position, bytes: piece.as_bytes().to_vec() };
            let found = scan.feed(&frame);
            if found.is_some() {
                return found;
            }
            position += piece.len() as u64;
        }
        scan.settle()
    }

    fn out(text: &str) -> (Stream, String) {
        (Stream::Stdout, text.to_owned())
    }

    fn err(text: &str) -> (Stream, String) {
        (Stream::Stderr, text.to_owned())
    }

    #[test]
    fn a_line_is_found_with_its_stream_and_place() {
        let mut scan = Scan::new(regex(r"port (\d+)$"), [0, 0]);
        let output = [out("starting\nlist"), err("a warning\n"), out("ening on port 51"), out("73\nmore\n")];
        let seen = feed(&mut scan, 0, &output).expect("it is there");
        let line = "listening on port 5173".to_owned();
        assert_eq!(seen, PatternMatch { stream: Stream::Stdout, line, position: 9, next: 42 });
    }

    #[test]
    fn a_prompt_is_found_before_its_line_ends() {
        assert!(feed(&mut Scan::new(text("[y/N]"), [0, 0]), 0, &[out("Go on? [y/N] ")]).is_some());
        let mut scan = Scan::new(regex("^>>> $"), [0, 0]);
        assert_eq!(feed(&mut scan, 0, &[out("hello\n>>> ")]), None);
        assert_eq!(scan.rests_at(), Some(REST_MS));
        assert_eq!(scan.rest().expect("it is there").position, 6);
        assert_eq!(scan.rests_at(), None);
    }

    #[test]
    fn output_before_the_position_is_not_looked_at() {
        let output = [out("ready one\n"), out("ready two\n")];
        let mut scan = Scan::new(text("ready"), [10, 10]);
        assert_eq!(feed(&mut scan, 0, &output).expect("the second").position, 10);
        let mut scan = Scan::new(text("ready"), [3, 3]);
        assert_eq!(feed(&mut scan, 0, &output).expect("the second").line, "ready two");
    }

    #[test]
    fn what_fell_out_of_the_ring_joins_no_lines() {
        let mut scan = Scan::new(text("ready"), [0, 0]);
        assert_eq!(feed(&mut scan, 0, &[out("rea")]), None);
        assert_eq!(feed(&mut scan, 500, &[out("dy\n")]), None);
        assert_eq!(feed(&mut scan, 503, &[out("ready\n")]).expect("whole").position, 503);
    }

    #[test]
    fn a_long_line_is_shown_around_the_match() {
        let line = format!("{}needle{}\n", "ö".repeat(400), "é".repeat(400));
        let seen = feed(&mut Scan::new(text("needle"), [0, 0]), 0, &[out(&line)]).expect("it is there");
        assert!(seen.line.len() < SHOWN_BYTES + 10 && seen.line.contains("needle"), "{}", seen.line);
        assert!(seen.line.starts_with('…') && !seen.line.contains('\u{fffd}'));
    }

    /// Cuts the pieces of an output further.
    fn cut(output: &Output, cuts: &[usize]) -> Output {
        let mut pieces = Vec::new();
        for (at, (stream, piece)) in output.iter().enumerate() {
            let cut = cuts.get(at % cuts.len().max(1)).copied().unwrap_or(0).min(piece.len());
            let cut = (0..=cut).rev().find(|cut| piece.is_char_boundary(*cut)).unwrap_or(0);
            let (first, second) = piece.split_at(cut);
            pieces.push((*stream, first.to_owned()));
            pieces.push((*stream, second.to_owned()));
        }
        pieces
    }

    fn pattern(n: usize) -> Arc<Pattern> {
        match n {
            0 => text("ab"),
            1 => regex("a.?b"),
            2 => regex("ab$"),
            3 => regex("^ab"),
            4 => regex(r"\bab\b"),
            _ => regex("^$"),
        }
    }

    fn output() -> impl Strategy<Value = Output> {
        let stream = prop_oneof![Just(Stream::Stdout), Just(Stream::Stderr)];
        proptest::collection::vec((stream, r"(a|b|ab|\n|\r\n| |ö|\x1b\[1m){0,4}"), 0..8)
    }

    proptest! {
        #[test]
        fn where_output_is_cut_makes_no_difference(
            output in output(), cuts in proptest::collection::vec(0_usize..8, 1..5), kind in 0_usize..6,
        ) {
            let found = |output: &Output| {
                let mut scan = Scan::new(pattern(kind), [0, 0]);
                let found = feed(&mut scan, 0, output).or_else(|| scan.rest());
                found.map(|seen| (seen.stream, seen.position))
            };
            prop_assert_eq!(found(&cut(&output, &cuts)), found(&output));
        }

        #[test]
        fn a_search_that_goes_on_elsewhere_finds_what_one_search_finds(
            output in output(), stop in 0_usize..8, kind in 0_usize..6,
        ) {
            let whole = {
                let mut scan = Scan::new(pattern(kind), [0, 0]);
                feed(&mut scan, 0, &output).or_else(|| scan.rest()).map(|seen| (seen.stream, seen.position))
            };
            let (first, _) = output.split_at(stop.min(output.len()));
            let mut scan = Scan::new(pattern(kind), [0, 0]);
            let marks = match feed(&mut scan, 0, first) {
                Some(seen) => scan.marks_before(&seen),
                None => scan.marks(),
            };
            let mut later = Scan::new(pattern(kind), marks);
            let found = feed(&mut later, 0, &output).or_else(|| later.rest());
            prop_assert_eq!(found.map(|seen| (seen.stream, seen.position)), whole);
        }
    }
}
