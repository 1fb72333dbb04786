//! The places that are most like an old text. For messages only: nothing is ever placed by likeness.

use std::collections::{HashMap, HashSet};

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
        let probe_pairs = pairs(probe);
        for index in 0..text.len().min(COMPARED_LINES) {
            let line = body(text.line(index)).trim();
            // Lines of very different length are not alike.
            if line.len() * 3 < probe.len() || probe.len() * 3 < line.len() || line == probe {
                continue;
            }
            let like = likeness(&probe_pairs, line);
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

fn pairs(line: &str) -> HashSet<[u8; 2]> {
    let bytes = &line.as_bytes()[..line.len().min(COMPARED_BYTES)];
    bytes.windows(2).map(|pair| [pair[0], pair[1]]).collect()
}

/// Compares by shared pairs of bytes: 100 for the same pairs, 0 for none.
fn likeness(probe: &HashSet<[u8; 2]>, line: &str) -> usize {
    let pairs = pairs(line);
    let shared = pairs.intersection(probe).count();
    (200 * shared).checked_div(pairs.len() + probe.len()).unwrap_or(0)
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
