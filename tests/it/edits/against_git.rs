//! Edits for an older version of a file that was changed since: merged as Git merges them, or refused.
//!
//! Base and both sides are of a history: those of real merges, and of a commit's hunks one against the others.
//! `git merge-file` says what is right.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick::providers::edit::{Basis, Edits, PatchAction, Text, TextEdit, apply, merge, parse_patch};

use super::endless;
use super::history::first_difference;
use super::samples::{RealHunk, between, blobs, context, git, history, printed, samples, unified};
use crate::system::{Need, lacks};
use crate::temporary::TemporaryFolder;

/// How many commits with two parents are checked.
const MERGES: usize = 400;

/// Three versions of a file, and the hunks that make ours of the base.
struct Case {
    name: String,
    base: String,
    theirs: String,
    ours: String,
    hunks: Vec<RealHunk>,
}

/// Finds the files that both sides of merges have changed.
fn of_merges() -> Vec<Case> {
    let words =
        ["log", "--merges", "--min-parents=2", "--max-parents=2", "--format=%P", "-n", &MERGES.to_string()];
    let Some(log) = printed(&words, b"") else { return Vec::new() };
    let mut cases = Vec::new();
    for parents in String::from_utf8_lossy(&log).lines() {
        let Some((ours, theirs)) = parents.split_once(' ') else { continue };
        let Some(base) = printed(&["merge-base", ours, theirs], b"") else { continue };
        let base = String::from_utf8_lossy(&base).trim().to_owned();
        let changed = |side: &str| -> BTreeSet<(String, String, String)> {
            let words =
                ["diff-tree", "-r", "--raw", "--no-abbrev", "--diff-filter=M", "--no-renames", &base, side];
            let raw = printed(&words, b"").unwrap_or_default();
            let raw = String::from_utf8_lossy(&raw).into_owned();
            let rows = raw.lines().filter_map(|line| {
                let (facts, path) = line.split_once('\t')?;
                let [_, _, old, new, _] = facts.split(' ').collect::<Vec<_>>()[..] else { return None };
                Some((path.to_owned(), old.to_owned(), new.to_owned()))
            });
            rows.collect()
        };
        let other = changed(theirs);
        for (path, old, new) in changed(ours) {
            let Some((.., their)) = other.iter().find(|(name, ..)| *name == path) else { continue };
            let texts = blobs(&[old.clone(), new.clone(), their.clone()]);
            let [Some(base), Some(ours), Some(theirs)] = &texts[..] else { continue };
            let plain = [base, ours, theirs].iter().all(|text| text.ends_with('\n') && !text.contains('\r'));
            if let Some(hunks) = between(&old, &new).filter(|_| plain) {
                cases.push(Case {
                    name: path,
                    base: base.clone(),
                    theirs: theirs.clone(),
                    ours: ours.clone(),
                    hunks,
                });
            }
        }
    }
    cases
}

/// Takes one hunk of a commit as ours, and the others as theirs.
fn of_commits(one_of: usize) -> Vec<Case> {
    let mut cases = Vec::new();
    for sample in samples(one_of) {
        let mut theirs = sample.file.clone();
        for hunk in sample.all.iter().rev().filter(|hunk| hunk.start != sample.hunk.start) {
            theirs = hunk.put(&theirs, hunk.start);
        }
        let ours = sample.hunk.put(&sample.file, sample.hunk.start);
        // And with a last line that has no end.
        let unended = |text: &str| text.trim_end_matches('\n').to_owned();
        let (base, theirs, ours) = (sample.file.concat(), theirs.concat(), ours.concat());
        cases.push(Case {
            name: sample.name.clone(),
            base: base.clone(),
            theirs: theirs.clone(),
            ours: ours.clone(),
            hunks: vec![sample.hunk.clone()],
        });
        if sample.hunk.start + sample.hunk.old().len() == sample.file.len() && !ours.ends_with("\n\n") {
            cases.push(Case {
                name: format!("{}, without an end", sample.name),
                base,
                theirs,
                ours: unended(&ours),
                hunks: Vec::new(),
            });
        }
    }
    cases
}

impl Case {
    /// Asks Git. `None`: it is a conflict.
    fn judged(&self, folder: &std::path::Path) -> Option<String> {
        for (name, text) in [("base", &self.base), ("ours", &self.ours), ("theirs", &self.theirs)] {
            std::fs::write(folder.join(name), text).expect("the folder can be written");
        }
        let mut command = git(&["merge-file", "-p"]);
        command.args(["ours", "base", "theirs"].map(|name| folder.join(name)));
        let output = command.output().expect("git runs");
        output.status.success().then(|| String::from_utf8(output.stdout).expect("both sides are text"))
    }

    /// Returns whether a text is the base with what both sides took away and what both brought, each in its order.
    fn has_all_of_both(&self, got: &str) -> bool {
        let count = |text: &str| {
            let mut lines: BTreeMap<String, isize> = BTreeMap::new();
            for line in text.split_inclusive('\n') {
                *lines.entry(line.to_owned()).or_default() += 1;
            }
            lines
        };
        let (base, ours, theirs, mut got_lines) =
            (count(&self.base), count(&self.ours), count(&self.theirs), count(got));
        let of = |lines: &BTreeMap<String, isize>, line: &String| lines.get(line).copied().unwrap_or(0);
        for line in base.keys().chain(ours.keys()).chain(theirs.keys()) {
            got_lines.entry(line.clone()).or_default();
        }
        let adds_up = got_lines
            .iter()
            .all(|(line, count)| *count == of(&ours, line) + of(&theirs, line) - of(&base, line));
        // What one side has and the base has not is there in its order.
        let in_order = |side: &str| {
            let mut rest = got.split_inclusive('\n');
            let mut own = side.split_inclusive('\n').filter(|line| !base.contains_key(*line));
            own.all(|line| rest.any(|other| other == line))
        };
        adds_up && in_order(&self.ours) && in_order(&self.theirs)
    }

    /// Says the edit in several ways. `None`: it cannot be said so.
    fn merged(&self, dialect: &str) -> Option<Result<String, String>> {
        let (base, theirs) = (Text::new(self.base.clone()), Text::new(self.theirs.clone()));
        let applied = match dialect {
            "whole text" => {
                let edit = TextEdit { number: 1, old: self.base.clone(), new: self.ours.clone(), expect: 1 };
                apply(&base, Edits::Texts(&[edit]), Basis::Current, &endless())
            }
            "texts" => {
                let texts = self.hunks.iter().enumerate().map(|(at, hunk)| TextEdit {
                    number: at + 1,
                    old: hunk.old().concat(),
                    new: hunk.side('-').concat(),
                    expect: 1,
                });
                let edits: Vec<TextEdit> = texts.filter(|edit| edit.old != edit.new).collect();
                apply(&base, Edits::Texts(&edits), Basis::Current, &endless())
            }
            _ => {
                let patch = match dialect {
                    "diff" => unified(&self.hunks, "right"),
                    _ => context(&self.hunks, ""),
                };
                let mut files = parse_patch(&patch).ok()?;
                let PatchAction::Update { hunks, .. } = files.remove(0).action else { return None };
                apply(&base, Edits::Hunks(&hunks), Basis::Current, &endless())
            }
        };
        // What several places of the base fit cannot be said in this way.
        let applied = applied.ok().filter(|applied| applied.text.content() == self.ours)?;
        let merged = merge(&base, &applied, &theirs);
        Some(merged.map(|it| it.text.content().to_owned()).map_err(|failure| failure.message))
    }
}

#[test]
fn edits_of_an_older_version_end_as_git_merges_them_or_are_refused() {
    some_merges_end_as_with_git(600, 20);
}

/// Merges one of so many hunks, which must be at least so many merges in all. More of them: `edits::stress`.
pub(super) fn some_merges_end_as_with_git(one_of: usize, least: usize) {
    if lacks(Need::Git) {
        return;
    }
    let folder = TemporaryFolder::new();
    let mut cases = of_merges();
    let real = cases.len();
    cases.extend(of_commits(one_of));
    if cases.is_empty() && !history().1 {
        // A copy without its history.
        return;
    }
    let (mut all, mut landed, mut apart, mut both_refuse, mut refused) = (0, 0, 0, 0, 0);
    let mut wrong = Vec::new();
    for case in &cases {
        let right = case.judged(folder.path());
        let dialects: &[&str] = if case.hunks.is_empty() {
            &["whole text"]
        } else {
            &["diff", "texts", "context patch", "whole text"]
        };
        for dialect in dialects {
            let Some(result) = case.merged(dialect) else { continue };
            all += 1;
            match (&right, result) {
                (Some(right), Ok(got)) if got == *right => landed += 1,
                (None, Err(_)) => both_refuse += 1,
                // Lines beside each other: what both mean together, nobody has seen.
                (Some(_), Err(_)) => refused += 1,
                // Git moves what came or went as far down as it can, so that it may touch what an edit does not.
                (None, Ok(got)) if case.has_all_of_both(&got) => apart += 1,
                (right, Ok(got)) => wrong.push(format!(
                    "{dialect}: {}: {}",
                    case.name,
                    first_difference(&got, right.as_deref().unwrap_or("a conflict"))
                )),
            }
        }
    }
    let report = format!(
        "{all} merges, {real} of them files of real ones; {landed} as Git has them, {apart} with all of both where Git refuses, {both_refuse} refused by both, {refused} \
         refused here alone; {} wrong\n{}",
        wrong.len(),
        wrong.iter().take(20).map(|line| format!("{line}\n")).collect::<String>()
    );
    if let Some(file) = std::env::var_os("BAILIWICK_HISTORY_REPORT") {
        let file = std::path::PathBuf::from(file).with_extension("merges");
        std::fs::write(file, &report).expect("the report can be written");
    }
    assert!(wrong.is_empty(), "{report}");
    assert!(all >= least && landed > 0, "{report}");
}
