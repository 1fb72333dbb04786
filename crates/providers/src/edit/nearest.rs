//! The places that are most like an old text. For messages only: nothing is ever placed by likeness.

use std::collections::HashMap;

use super::text::{Text, body};

/// How many places are given.
const PLACES: usize = 3;
/// How many lines of the old text are looked for by likeness.
const PROBES: usize = 4;
/// How often a line of the old text counts.
const REPEATED: usize = 8;
/// How many lines of a file are compared by likeness.
const COMPARED_LINES: usize = 50_000;
/// How many bytes of a line are compared.
const COMPARED_BYTES: usize = 200;
/// The likeness, of 100, from which a line counts.
const LIKE: usize = 55;

/// Returns the lines, counted from 0, at which the most similar places begin, the best first.
pub fn nearest(text: &Text, old: &[&str]) -> Vec<usize> {
    let mut votes: HashMap<usize, usize> = HashMap::new();
    let mut wanted: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, line) in old.iter().enumerate() {
        let line = body(line).trim();
        let places = wanted.entry(line).or_default();
        // Lines that are like many others say little, and each pair of them would be a vote.
        if line.len() > 2 && places.len() < REPEATED {
            places.push(at);
        }
    }
    for index in 0..text.len() {
        let line = body(text.line(index)).trim();
        for at in wanted.get(line).into_iter().flatten() {
            *votes.entry(index.saturating_sub(*at)).or_default() += 100 + line.len().min(60);
        }
    }
    let mut probes: Vec<(usize, &str)> =
        old.iter().map(|line| body(line).trim()).enumerate().filter(|(_, line)| line.len() > 2).collect();
    probes.sort_by_key(|(at, line)| (std::cmp::Reverse(line.len()), *at));
    for (at, probe) in probes.into_iter().take(PROBES) {
        let mut probe_pairs = ProbePairs::new(probe);
        for index in 0..text.len().min(COMPARED_LINES) {
            let line = body(text.line(index)).trim();
            // Lines of very different length are not alike.
            if line.len() * 3 < probe.len() || probe.len() * 3 < line.len() || line == probe {
                continue;
            }
            let like = probe_pairs.likeness(line);
            if like >= LIKE {
                *votes.entry(index.saturating_sub(at)).or_default() += like;
            }
        }
    }
    let mut ranked: Vec<(usize, usize)> = votes.into_iter().map(|(at, votes)| (votes, at)).collect();
    ranked.sort_by_key(|(votes, at)| (std::cmp::Reverse(*votes), *at));
    let mut found: Vec<usize> = Vec::new();
    for (_, at) in ranked {
        // Places beside each other are shown once.
        if found.iter().all(|other| other.abs_diff(at) >= old.len().clamp(1, 6)) {
            found.push(at);
        }
        if found.len() == PLACES {
            break;
        }
    }
    found
}

fn pairs(line: &str) -> impl Iterator<Item = usize> {
    let bytes = &line.as_bytes()[..line.len().min(COMPARED_BYTES)];
    bytes.windows(2).map(|pair| usize::from(u16::from_be_bytes([pair[0], pair[1]])))
}

/// The pairs of bytes in a line that others are compared with.
///
/// Tables of all pairs, since each line of a file is compared: sets would take sixteen times as long.
struct ProbePairs {
    /// Whether the probe has the pair.
    has: Vec<bool>,
    /// How many different pairs it has.
    count: usize,
    /// The line that had the pair last, by its number among those compared.
    last_seen: Vec<u32>,
    /// How many lines were compared.
    lines: u32,
}

impl ProbePairs {
    fn new(probe: &str) -> Self {
        let mut has = vec![false; 1 << 16];
        let mut count = 0;
        for pair in pairs(probe) {
            count += usize::from(!has[pair]);
            has[pair] = true;
        }
        Self { has, count, last_seen: vec![0; 1 << 16], lines: 0 }
    }

    /// Compares a line by the pairs that both have: 100 for the same pairs, 0 for none.
    fn likeness(&mut self, line: &str) -> usize {
        self.lines += 1;
        let (mut count, mut shared) = (0, 0);
        for pair in pairs(line) {
            if self.last_seen[pair] != self.lines {
                self.last_seen[pair] = self.lines;
                count += 1;
                shared += usize::from(self.has[pair]);
            }
        }
        (200 * shared).checked_div(count + self.count).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likeliest_place_comes_first() {
        let text = Text::new("fn one() {\n    1\n}\n\nfn two(a: u8) {\n    a + 2\n}\n".to_owned());
        assert_eq!(nearest(&text, &["fn two(a: u16) {\n", "    a + 2\n"])[0], 4);
        assert_eq!(nearest(&text, &["fn one( ) {"])[0], 0);
        assert!(nearest(&text, &["zzzzzzzzzzzz"]).is_empty());
    }
}
