//! The forms in which one change comes: how the file is stored, and what each dialect says of it.
//!
//! What must come out is worked out here by lists of lines, without any code that is tested.

use std::fs;

use bailiwick::providers::edit::{Anchor, LineEdit, TextEdit, anchor};

use crate::system::git_of_the_person;
use crate::temporary::TemporaryFolder;

/// A part of a file that changes: where, how many lines go, and the lines that come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub start: usize,
    pub gone: usize,
    pub come: Vec<String>,
}

/// A change by lines.
#[derive(Debug, Clone)]
pub struct Change {
    pub base: Vec<String>,
    pub parts: Vec<Part>,
}

/// How the file is, against what the client has seen of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// As it was seen.
    Plain,
    /// With returns before the line feeds.
    Crlf,
    /// With returns on every third line.
    MixedEnds,
    /// With a byte order mark.
    Bom,
    /// Indented by tabs.
    Tabs,
    /// In UTF-16.
    Utf16,
    /// In Latin-1.
    Latin1,
    /// Without an end of its last line.
    Unended,
    /// With new lines elsewhere.
    Drifted,
    /// Once more behind itself, so that everything is there twice but for two lines between.
    Repeated,
    /// With spaces at the ends of lines.
    Trailing,
}

impl Form {
    pub const ALL: [Self; 11] = [
        Self::Plain,
        Self::Crlf,
        Self::MixedEnds,
        Self::Bom,
        Self::Tabs,
        Self::Utf16,
        Self::Latin1,
        Self::Unended,
        Self::Drifted,
        Self::Repeated,
        Self::Trailing,
    ];

    /// Returns what the client has seen, and the file as it really is.
    pub fn of(self, change: &Change, seed: usize) -> (Change, Change) {
        let seen = change.clone();
        let mut real = change.clone();
        match self {
            Self::Plain | Self::Bom | Self::Utf16 => {}
            Self::Tabs => {
                each(&mut real, |line| *line = with_tabs(line));
                return (real.clone(), real);
            }
            Self::Latin1 => {
                each(&mut real, |line| *line = with_accents(line));
                return (real.clone(), real);
            }
            Self::Crlf => each(&mut real, |line| *line = line.replace('\n', "\r\n")),
            Self::MixedEnds => {
                real.base.iter_mut().step_by(3).for_each(|line| *line = line.replace('\n', "\r\n"));
                return (real.clone(), real);
            }
            Self::Unended => {
                let unend = |change: &mut Change| {
                    let last_part = change.parts.last().filter(|it| it.start + it.gone == change.base.len());
                    if last_part.is_none()
                        && let Some(last) = change.base.last_mut()
                    {
                        *last = last.trim_end_matches('\n').to_owned();
                    }
                };
                unend(&mut real);
                return (real.clone(), real);
            }
            Self::Drifted => drift(&mut real, seed),
            Self::Repeated => {
                let mut again = change.clone();
                let offset = again.base.len() + 1;
                again.base.insert(0, "=== the first of two ===\n".to_owned());
                again.base.push("=== the second of two ===\n".to_owned());
                again.base.extend(change.base.iter().cloned());
                let by = if seed.is_multiple_of(2) { 1 } else { offset + 1 };
                again.parts.iter_mut().for_each(|part| part.start += by);
                return (again.clone(), again);
            }
            Self::Trailing => {
                real.base.iter_mut().step_by(2).for_each(|line| *line = line.replace('\n', "  \n"));
            }
        }
        (seen, real)
    }
}

fn each(change: &mut Change, with: impl FnMut(&mut String)) {
    change.base.iter_mut().chain(change.parts.iter_mut().flat_map(|part| &mut part.come)).for_each(with);
}

/// Takes out what is no Latin-1 or no text, and puts letters in that have other bytes in UTF-8.
fn with_accents(line: &str) -> String {
    let plain = |character: &char| matches!(character, ' '..='~' | '\t' | '\r' | '\n');
    line.chars().filter(plain).collect::<String>().replace("er", "ér").replace("in", "iñ")
}

fn with_tabs(line: &str) -> String {
    let spaces = line.len() - line.trim_start_matches(' ').len();
    format!("{}{}", "\t".repeat(spaces / 2), &line[spaces / 2 * 2..])
}

/// Puts lines in where nothing changes, at least eight lines from every part.
fn drift(change: &mut Change, seed: usize) {
    let far = |change: &Change, at: usize| {
        change.parts.iter().all(|part| at + 8 < part.start || at > part.start + part.gone + 8)
    };
    for round in 0..3 {
        let at = (seed * 31 + round * change.base.len() / 3) % change.base.len();
        if !far(change, at) {
            continue;
        }
        let count = 1 + (seed + round) % 7;
        for number in 0..count {
            change.base.insert(at, format!("drifted in {seed} {round} {number}\n"));
        }
        change.parts.iter_mut().filter(|part| part.start >= at).for_each(|part| part.start += count);
    }
}

impl Change {
    /// Finds the parts that differ, as `git diff` sees them.
    pub fn between(old: &str, new: &str) -> Option<Self> {
        let base: Vec<String> = old.split_inclusive('\n').map(str::to_owned).collect();
        let after: Vec<&str> = new.split_inclusive('\n').collect();
        let mut parts = Vec::new();
        for line in git_diff(old, new, 0)?.lines().filter(|line| line.starts_with("@@ ")) {
            let numbers = |sign: char| -> Option<(usize, usize)> {
                let range = line.split(' ').find_map(|word| word.strip_prefix(sign))?;
                let (start, count) = range.split_once(',').unwrap_or((range, "1"));
                let (start, count): (usize, usize) = (start.parse().ok()?, count.parse().ok()?);
                Some((if count == 0 { start } else { start - 1 }, count))
            };
            let ((start, gone), (from, count)) = (numbers('-')?, numbers('+')?);
            let come = after[from..from + count].iter().map(|line| (*line).to_owned()).collect();
            parts.push(Part { start, gone, come });
        }
        let change = Self { base, parts };
        (change.after() == new).then_some(change)
    }

    /// Returns the file after the change.
    pub fn after(&self) -> String {
        let mut lines = self.base.clone();
        for part in self.parts.iter().rev() {
            lines.splice(part.start..part.start + part.gone, part.come.iter().cloned());
        }
        lines.concat()
    }

    /// Returns the parts with as much around each as makes it the only one of its kind; `None` where
    /// that cannot be had.
    pub fn unique(&self, context: usize) -> Option<Vec<Part>> {
        let whole = self.base.concat();
        let mut parts: Vec<Part> = Vec::new();
        for part in &self.parts {
            let mut grown = part.clone();
            self.grow(&mut grown, context);
            while !only_once(&whole, &self.base[grown.start..grown.start + grown.gone].concat()) {
                let before = grown.gone;
                self.grow(&mut grown, 1);
                if grown.gone == before || grown.gone > part.gone + 80 {
                    return None;
                }
            }
            match parts.last_mut() {
                Some(last) if last.start + last.gone > grown.start => {
                    // They run into each other: one part with what is between them.
                    let end = part.start + part.gone;
                    let inner_end = last.start + last.gone;
                    let original = self.parts.iter().take_while(|it| *it != part).last()?;
                    let kept = original.start + original.gone;
                    let dropped = inner_end - kept;
                    last.come.truncate(last.come.len() - dropped);
                    last.come.extend(self.base[kept..part.start].iter().cloned());
                    last.come.extend(part.come.iter().cloned());
                    let grown_end = grown.start + grown.gone;
                    last.come.extend(self.base[end..grown_end].iter().cloned());
                    last.gone = grown_end - last.start;
                }
                _ => parts.push(grown),
            }
        }
        Some(parts)
    }

    fn grow(&self, part: &mut Part, by: usize) {
        for _ in 0..by {
            if part.start > 0 {
                part.start -= 1;
                part.gone += 1;
                part.come.insert(0, self.base[part.start].clone());
            }
            if let Some(line) = self.base.get(part.start + part.gone) {
                part.gone += 1;
                part.come.push(line.clone());
            }
        }
    }

    /// Says the change as old and new texts.
    pub fn as_texts(&self) -> Option<Vec<TextEdit>> {
        let edits = self.unique(0)?.into_iter().enumerate().map(|(at, part)| TextEdit {
            number: at + 1,
            old: self.base[part.start..part.start + part.gone].concat(),
            new: part.come.concat(),
            expect: 1,
        });
        Some(edits.collect())
    }

    /// Says the change as a context patch.
    pub fn as_context_patch(&self) -> Option<String> {
        let mut patch = "*** Begin Patch\n*** Update File: file\n".to_owned();
        for part in self.unique(3)? {
            patch.push_str("@@\n");
            let mut say = |mark: char, line: &str| {
                patch.push(mark);
                patch.push_str(line);
                if !line.ends_with('\n') {
                    patch.push('\n');
                }
            };
            let end = part.start + part.gone;
            let mut at = part.start;
            for inner in self.parts.iter().filter(|it| it.start >= part.start && it.start + it.gone <= end) {
                self.base[at..inner.start].iter().for_each(|line| say(' ', line));
                at = inner.start + inner.gone;
                self.base[inner.start..at].iter().for_each(|line| say('-', line));
                inner.come.iter().for_each(|line| say('+', line));
            }
            self.base[at..end].iter().for_each(|line| say(' ', line));
        }
        patch.push_str("*** End Patch\n");
        Some(patch)
    }

    /// Says the change by anchors.
    pub fn as_lines(&self) -> Vec<LineEdit> {
        let named = |line: usize| {
            let text = if line == 0 { "0".to_owned() } else { anchor(line as u64, &self.base[line - 1]) };
            Anchor::parse(&text).expect("an anchor")
        };
        self.parts
            .iter()
            .enumerate()
            .map(|(at, part)| {
                let insert = part.gone == 0;
                LineEdit {
                    number: at + 1,
                    start: named(if insert { part.start } else { part.start + 1 }),
                    end: (part.gone > 1).then(|| named(part.start + part.gone)),
                    insert,
                    new: part.come.concat(),
                }
            })
            .collect()
    }
}

fn only_once(whole: &str, part: &str) -> bool {
    if part.is_empty() {
        return false;
    }
    let Some(at) = whole.find(part) else { return false };
    let next = at + whole[at..].chars().next().map_or(1, char::len_utf8);
    !whole[next..].contains(part)
}

/// Asks git for the difference of two texts; `None` where it sees none, or binary content.
pub fn git_diff(old: &str, new: &str, context: usize) -> Option<String> {
    let folder = TemporaryFolder::new();
    fs::write(folder.path().join("old"), old).expect("the temporary folder can be written");
    fs::write(folder.path().join("file"), new).expect("the temporary folder can be written");
    let output = git_of_the_person()
        .current_dir(folder.path())
        .args(["-c", "core.autocrlf=false", "diff", "--no-index", "--no-ext-diff", "--no-color"])
        .args([&format!("-U{context}"), "--", "old", "file"])
        .output()
        .expect("git is installed");
    let text = String::from_utf8(output.stdout).ok()?;
    text.contains("\n@@ ").then_some(text)
}
