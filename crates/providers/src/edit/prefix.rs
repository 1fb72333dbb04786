//! Line numbers and anchors that were copied from a read along with the text.
//!
//! They are taken off only where every line has one, each agrees with the file, and the text as it is
//! written is not there. Otherwise it is what it is: a table of numbers looks the same.

use bailiwick_contract::Failure;

use super::anchor::line_hash;
use super::hunk::{Hunk, Mark};
use super::matching::Index;
use super::text::{Text, body, lines_of};
use super::tier::Tier;

/// A prefix: the line's number, its hash if it has one, and its length in bytes.
struct Prefix<'a> {
    line: usize,
    hash: Option<&'a str>,
    length: usize,
}

/// Reads `12:ab3f|`, `12|` or `12` and a tab, with spaces before it.
fn prefix(line: &str) -> Option<Prefix<'_>> {
    let spaces = line.len() - line.trim_start_matches(' ').len();
    let rest = &line[spaces..];
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let number = rest[..digits].parse().ok().filter(|line| *line > 0)?;
    let after = &rest[digits..];
    if after.starts_with(['\t', '|']) {
        return Some(Prefix { line: number, hash: None, length: spaces + digits + 1 });
    }
    let hash = after.strip_prefix(':')?.get(..4)?;
    let good = hash.bytes().all(|byte| byte.is_ascii_hexdigit()) && after[5..].starts_with('|');
    good.then_some(Prefix { line: number, hash: Some(hash), length: spaces + digits + 6 })
}

/// Takes the prefixes off lines that must be in the file, if every one has one and agrees with it.
fn strip_old<'a>(text: &Text, old: &[&'a str]) -> Option<Vec<&'a str>> {
    let prefixes: Vec<Prefix<'_>> = old.iter().map(|line| prefix(line)).collect::<Option<_>>()?;
    let in_order = prefixes.windows(2).all(|pair| pair[0].line + 1 == pair[1].line);
    if prefixes.is_empty() || !in_order {
        return None;
    }
    let stripped: Vec<&str> = old.iter().zip(&prefixes).map(|(line, it)| &line[it.length..]).collect();
    let agrees = prefixes.iter().zip(&stripped).all(|(it, line)| {
        it.line <= text.len() && {
            let there = body(text.line(it.line - 1));
            let same = there.trim_end() == body(line).trim_end();
            same && it.hash.is_none_or(|hash| line_hash(there).eq_ignore_ascii_case(hash))
        }
    });
    agrees.then_some(stripped)
}

/// Takes the prefixes off an old and a new text, if they are prefixes beyond doubt.
///
/// # Errors
/// What is wrong with a new text of which only some lines have one.
pub fn strip_pair(text: &Text, old: &str, new: &str) -> Result<(String, String), String> {
    let as_written = || Ok((old.to_owned(), new.to_owned()));
    let olds = lines_of(old);
    if olds.first().is_none_or(|line| prefix(line).is_none()) || text.content().contains(old) {
        return as_written();
    }
    let Some(olds) = strip_old(text, &olds) else { return as_written() };
    let news = lines_of(new);
    let prefixes: Vec<Option<Prefix<'_>>> = news.iter().map(|line| prefix(line)).collect();
    let with = prefixes.iter().flatten().count();
    if with == 0 {
        return Ok((olds.concat(), new.to_owned()));
    }
    if with < news.len() {
        return Err("some lines of `new` have a line number in front and others have none".to_owned());
    }
    let news: String =
        news.iter().zip(prefixes).map(|(line, it)| &line[it.map_or(0, |it| it.length)..]).collect();
    Ok((olds.concat(), news))
}

/// Takes the prefixes off new lines for a place, if each is an anchor or number of that place.
///
/// # Errors
/// What is wrong with lines of which some repeat an anchor of the file and others do not.
pub fn strip_new(text: &Text, new: &str) -> Result<String, String> {
    let lines = lines_of(new);
    let is_anchor = |it: &Prefix<'_>| {
        let there = (it.line <= text.len()).then(|| body(text.line(it.line - 1)));
        it.hash.is_some_and(|hash| there.is_some_and(|there| line_hash(there).eq_ignore_ascii_case(hash)))
    };
    let prefixes: Vec<Option<Prefix<'_>>> =
        lines.iter().map(|line| prefix(line).filter(|it| is_anchor(it))).collect();
    match prefixes.iter().flatten().count() {
        0 => Ok(new.to_owned()),
        with if with < lines.len() => {
            Err("some lines of `new` have an anchor in front and others have none".to_owned())
        }
        _ => {
            let rest = lines.iter().zip(prefixes).map(|(line, it)| &line[it.map_or(0, |it| it.length)..]);
            Ok(rest.collect())
        }
    }
}

/// Takes the prefixes off the lines of a hunk, if every line has one and the old ones agree.
///
/// # Errors
/// `timeout`, `cancelled`.
pub fn without_prefixes(index: &mut Index<'_>, hunk: &Hunk) -> Result<Hunk, Failure> {
    let (text, old) = (index.text(), hunk.old());
    if old.first().is_none_or(|line| prefix(line).is_none())
        || !index.find(&old, Tier::LineEndings)?.is_empty()
    {
        return Ok(hunk.clone());
    }
    let Some(stripped) = strip_old(text, &old) else { return Ok(hunk.clone()) };
    if !hunk.added().all(|line| prefix(line).is_some()) {
        return Ok(hunk.clone());
    }
    let mut stripped = stripped.into_iter();
    let lines = hunk.lines.iter().map(|(mark, line)| {
        let line = match mark {
            Mark::Add => &line[prefix(line).map_or(0, |it| it.length)..],
            Mark::Context | Mark::Remove => stripped.next().unwrap_or(line),
        };
        (*mark, line.to_owned())
    });
    Ok(Hunk { lines: lines.collect(), ..hunk.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_go_only_if_every_line_has_one_that_agrees() {
        let text = Text::new("one\ntwo\nthree\n".to_owned());
        let pair = |old: &str, new: &str| strip_pair(&text, old, new);
        let good = |old: &str, new: &str| Ok((old.to_owned(), new.to_owned()));
        assert_eq!(pair("2\ttwo\n3\tthree\n", "2\tTWO\n3\tthree\n"), good("two\nthree\n", "TWO\nthree\n"));
        assert_eq!(pair("    2\ttwo", "TWO"), good("two", "TWO"));
        let anchor = super::super::anchor::anchor(2, "two");
        assert_eq!(pair(&format!("{anchor}|two"), &format!("{anchor}|2")), good("two", "2"));
        // Not this file's lines, not in order, or not all: the text is what it is.
        for old in ["1\ttwo", "2\ttwo\n4\tthree", "2\ttwo\nthree", "2:0000|two"] {
            assert_eq!(pair(old, "x"), good(old, "x"));
        }
        assert!(pair("2\ttwo\n", "2\ttwo\nmore\n").is_err());
    }

    #[test]
    fn anchors_in_new_lines_go_only_if_all_are_true() {
        let text = Text::new("one\ntwo\n".to_owned());
        let anchor = super::super::anchor::anchor(1, "one");
        assert_eq!(strip_new(&text, &format!("{anchor}|ONE\n")), Ok("ONE\n".to_owned()));
        assert_eq!(strip_new(&text, "1:0000|ONE\n"), Ok("1:0000|ONE\n".to_owned()));
        assert!(strip_new(&text, &format!("{anchor}|ONE\nmore\n")).is_err());
    }
}
