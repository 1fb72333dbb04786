//! What a patch says, whatever its dialect: files, and in each the hunks that change it.

use bailiwick_contract::Failure;

use super::matching::Shift;
use super::tabs::has_wide_blanks;
use super::text::body;
use super::{context_patch, unified};

/// What a line of a hunk means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// It is there and stays.
    Context,
    /// It is there and goes.
    Remove,
    /// It comes.
    Add,
}

/// Lines that belong together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hunk {
    /// Its lines, each with what ends it.
    pub lines: Vec<(Mark, String)>,
    /// The line, counted from 0, at which the patch says that it begins; a hint, if the numbers of all its hunks fit.
    pub hint: Option<usize>,
    /// The lines after `@@` of a context patch, from the outside in.
    pub headers: Vec<String>,
    /// What is behind the numbers of a unified diff; it may decide, and need not be there.
    pub heading: String,
    /// How many lines without any sign come after it: lines of context that are empty and lost their mark, or nothing.
    pub blank_after: usize,
    /// Whether it says that it ends with the file.
    pub at_end: bool,
}

impl Hunk {
    /// Returns the lines that must be there.
    pub fn old(&self) -> Vec<&str> {
        let old = self.lines.iter().filter(|(mark, _)| *mark != Mark::Add);
        old.map(|(_, line)| line.as_str()).collect()
    }

    /// Returns the lines that are there afterwards.
    pub(super) fn new_lines(&self) -> Vec<&str> {
        let new = self.lines.iter().filter(|(mark, _)| *mark != Mark::Remove);
        new.map(|(_, line)| line.as_str()).collect()
    }

    /// Returns the lines that come.
    pub fn added(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().filter(|(mark, _)| *mark == Mark::Add).map(|(_, line)| line.as_str())
    }

    /// Returns whether its lines are the same before and after.
    pub(super) fn changes_nothing(&self) -> bool {
        self.new_lines() == self.old()
    }

    /// Counts the lines of a kind.
    pub(super) fn count(&self, wanted: Mark) -> usize {
        self.lines.iter().filter(|(mark, _)| *mark == wanted).count()
    }

    /// Returns whether the lines that come can be indented as a place is.
    pub(super) fn takes(&self, shift: &Shift) -> bool {
        match shift {
            Shift::None | Shift::Deeper(_) => true,
            // What has too little indentation cannot have less.
            Shift::Shallower(_) => self.added().all(|line| shift.apply(body(line)).is_some()),
            // Where the file has tabs between words, a line that takes no other's place may need them as well.
            Shift::Tabs(tabs) => !tabs.inside || self.replaces_lines() || !self.added().any(has_wide_blanks),
        }
    }

    /// Returns whether every run of changes has as many lines as it takes away.
    fn replaces_lines(&self) -> bool {
        let mut runs = self.lines.split(|(mark, _)| *mark == Mark::Context);
        runs.all(|run| run.iter().filter(|(mark, _)| *mark == Mark::Add).count() * 2 == run.len())
    }

    /// Returns the hunk with some of the lines after it as context.
    pub(super) fn with_blank_after(&self, count: usize) -> Self {
        let mut hunk = Self { blank_after: 0, ..self.clone() };
        hunk.lines.extend(std::iter::repeat_n((Mark::Context, "\n".to_owned()), count));
        hunk
    }

    /// Counts the lines of context before the first change and after the last one.
    pub fn context(&self) -> (usize, usize) {
        let is_context = |(mark, _): &&(Mark, String)| *mark == Mark::Context;
        (
            self.lines.iter().take_while(is_context).count(),
            self.lines.iter().rev().take_while(is_context).count(),
        )
    }
}

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch {
    /// The file's path as written; empty if the patch names none.
    pub path: String,
    /// What happens to it.
    pub action: PatchAction,
}

/// What happens to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatchAction {
    /// It is changed, and may get another name or mode.
    Update {
        /// The changes.
        hunks: Vec<Hunk>,
        /// The new path.
        move_to: Option<String>,
        /// The new permission bits.
        mode: Option<u32>,
    },
    /// It is new.
    Create {
        /// Its content.
        content: String,
        /// Its permission bits.
        mode: Option<u32>,
    },
    /// It goes; its content must be what the hunk removes, if there is one.
    Delete {
        /// The content that it must have.
        content: Option<String>,
    },
}

/// Reads patch text; its first line shows the dialect.
///
/// # Errors
/// `invalid_request` that names the line of the patch.
pub fn parse_patch(text: &str) -> Result<Vec<FilePatch>, Failure> {
    let mut text = unwrapped(text)?;
    if !text.ends_with('\n') {
        // It ends with its last line; what the file's last line lacks, a patch says by a line of its own.
        text.push('\n');
    }
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let files = if first.starts_with("***") && !first.starts_with("*** a/") {
        context_patch::parse(&text)?
    } else {
        unified::parse(&text)?
    };
    if files.is_empty() {
        return Err(malformed(
            1,
            "it contains neither a unified diff (`--- a/file`, `+++ b/file`, `@@`) nor `*** Begin Patch`",
        )
        .hint("Send old text and new text as `input.edits`: [{\"old\": \"…\", \"new\": \"…\"}]."));
    }
    merged(files)
}

/// Creates the failure of a patch that cannot be read. Lines are counted from 1.
pub(super) fn malformed(line: usize, problem: impl std::fmt::Display) -> Failure {
    Failure::invalid("input.patch", format!("`input.patch` cannot be read: line {line}: {problem}"))
        .detail("rule", "malformed-patch")
        .detail("line", line)
}

/// How much of a line a hint repeats, in characters.
const SHOWN_CHARS: usize = 60;

/// Creates the failure of a line of a hunk that has no mark. Lines are counted from 1.
pub(super) fn unmarked(at: usize, line: &str) -> Failure {
    let line: String = line.trim_end().chars().take(SHOWN_CHARS).collect();
    malformed(at, "a line of a hunk begins with a space, `-` or `+`").hint(format!(
        "Put one more space before every line of context, also before those that are indented: ` {line}`."
    ))
}

/// Takes off what a patch is wrapped in: the fences of Markdown, with the words around them, or a here-document.
///
/// # Errors
/// `invalid_request` if a fence is open at the end: the rest was cut off.
fn unwrapped(text: &str) -> Result<String, Failure> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut inner = String::new();
    let mut at = 0;
    // The first line of a patch ends the words before it: what looks like a fence there is of the patch.
    while at < lines.len() && !begins_patch(lines[at]) {
        let line = lines[at].trim();
        let ticks = line.len() - line.trim_start_matches('`').len();
        if ticks >= 3 && !line[ticks..].contains('`') {
            let is_end = |other: &&str| {
                let other = other.trim_end();
                other.len() >= ticks && other.bytes().all(|byte| byte == b'`')
            };
            let length = lines[at + 1..].iter().position(is_end).ok_or_else(|| cut_off(at))?;
            let block = &lines[at + 1..at + 1 + length];
            if block.iter().any(|line| begins_patch(line)) {
                inner.extend(block.iter().copied());
            }
            at += length + 1;
        } else if let Some(word) = here_document(line) {
            let length = lines[at + 1..].iter().position(|line| line.trim_end() == word);
            match length {
                Some(length) => return Ok(lines[at + 1..at + 1 + length].concat()),
                None if lines.get(at + 1).is_some_and(|line| begins_patch(line)) => return Err(cut_off(at)),
                // Words of a text.
                None => {}
            }
        }
        at += 1;
    }
    if at < lines.len() && (!inner.is_empty() || lines[at].starts_with("*** Begin Patch")) {
        inner.extend(lines[at..].iter().copied());
    }
    Ok(if inner.is_empty() { text.to_owned() } else { inner })
}

fn cut_off(at: usize) -> Failure {
    malformed(at + 1, "what begins here has no end: the patch was cut off")
        .detail("rule", "cut-off")
        .hint("Send the whole patch.")
}

/// Returns whether a line is the first of a patch.
fn begins_patch(line: &str) -> bool {
    ["*** Begin Patch", "diff --git ", "--- ", "@@"].iter().any(|start| line.starts_with(start))
}

/// Returns the word that ends the here-document that a command reads: `apply_patch <<'EOF'`.
fn here_document(line: &str) -> Option<&str> {
    let (_, word) = line.split_once("<<")?;
    let word = word.trim_start_matches('-').trim().trim_matches(['\'', '"']);
    let name = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    name.then_some(word)
}

/// Puts hunks for the same file together.
fn merged(files: Vec<FilePatch>) -> Result<Vec<FilePatch>, Failure> {
    let mut merged: Vec<FilePatch> = Vec::with_capacity(files.len());
    for file in files {
        let Some(earlier) = merged.iter_mut().find(|earlier| earlier.path == file.path) else {
            merged.push(file);
            continue;
        };
        match (&mut earlier.action, file.action) {
            (
                PatchAction::Update { hunks, move_to: None, mode: None },
                PatchAction::Update { hunks: more, move_to: None, mode: None },
            ) => {
                hunks.extend(more);
                // The numbers of the second part can be of the file as the first part leaves it.
                hunks.iter_mut().for_each(|hunk| hunk.hint = None);
            }
            _ => {
                return Err(Failure::invalid(
                    "input.patch",
                    format!("`input.patch` names `{}` more than once", file.path),
                )
                .detail("rule", "named-twice")
                .hint("Put everything that happens to a file into one part of the patch."));
            }
        }
    }
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIFIED: &str = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n";
    const CONTEXT: &str = "*** Begin Patch\n*** Update File: x\n@@\n a\n-b\n+c\n*** End Patch\n";

    #[test]
    fn what_a_patch_is_wrapped_in_is_taken_off() {
        for patch in [UNIFIED, CONTEXT] {
            let plain = parse_patch(patch).expect("it is a patch");
            for wrapped in [
                patch.trim_end().to_owned(),
                format!("```diff\n{patch}```\n"),
                format!("```\n{patch}```"),
                format!("Here it is:\n\n```patch\n{patch}```\n\nIt changes b.\n"),
                format!("````markdown\n{patch}````\n"),
                format!("First run\n```sh\nmake\n```\nand then\n```diff\n{patch}```\n"),
                format!("apply_patch <<'EOF'\n{patch}EOF\n"),
                format!("git apply - <<EOF\n{patch}EOF"),
                format!("Here it is:\n{patch}"),
            ] {
                let files = parse_patch(&wrapped).unwrap_or_else(|failure| panic!("{wrapped}: {failure:?}"));
                assert_eq!(files, plain, "{wrapped}");
            }
            // The end is missing, and what else may be.
            for cut in [
                format!("```diff\n{patch}"),
                format!("Here:\n\n```\n{patch}"),
                format!("apply_patch <<'EOF'\n{patch}"),
            ] {
                assert_eq!(parse_patch(&cut).expect_err(&cut).rule(), Some("cut-off"));
            }
        }
        let second = UNIFIED.replace('x', "y");
        let both = parse_patch(&format!("One:\n```\n{UNIFIED}```\nTwo:\n```\n{second}```\n"))
            .expect("they are patches");
        assert_eq!(both.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), ["x", "y"]);
        let both = parse_patch(&format!("One:\n```\n{UNIFIED}```\n{second}")).expect("they are patches");
        assert_eq!(both.len(), 2);
        // Fences inside a patch are lines of the file.
        let inside = "--- a/x.md\n+++ b/x.md\n@@\n ```\n-b\n+c\n ```\n";
        for text in [inside.to_owned(), format!("```diff\n{inside}```\n")] {
            let PatchAction::Update { hunks, .. } = &parse_patch(&text).expect("it is a patch")[0].action
            else {
                panic!()
            };
            assert_eq!(hunks[0].old(), ["```\n", "b\n", "```\n"]);
        }
    }

    #[test]
    fn a_mail_ends_with_its_signature() {
        let mail = |hunk: &str| {
            format!(
                "From 1234 Mon Sep 17 00:00:00 2001\nFrom: A <a@example.org>\nSubject: [PATCH] x\n\nWords.\n---\n \
                 x | 2 +-\n 1 file changed\n\ndiff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n{hunk}\n a\n-b\n+c\n-- \n2.39.2\n\n"
            )
        };
        for hunk in ["@@ -1,2 +1,2 @@", "@@ -1,1 +1,1 @@", "@@"] {
            for mail in [
                mail(hunk),
                mail(hunk).replace("-- \n", "--\n"),
                mail(hunk).replace("2.39.2", "2.39.2 (Apple Git-143)"),
            ] {
                let files = parse_patch(&mail).unwrap_or_else(|failure| panic!("{mail}: {failure:?}"));
                let PatchAction::Update { hunks, .. } = &files[0].action else { panic!("{files:?}") };
                assert_eq!((hunks.len(), hunks[0].old(), hunks[0].blank_after), (1, vec!["a\n", "b\n"], 0));
            }
        }
        let series = format!("{}{}", mail("@@ -1,2 +1,2 @@"), mail("@@ -1,2 +1,2 @@").replace("/x", "/y"));
        assert_eq!(parse_patch(&series).expect("two mails").len(), 2);
        // Cut off before its signature's time.
        assert_eq!(
            parse_patch(&mail("@@ -1,4 +1,4 @@")).expect_err("more is announced").rule(),
            Some("cut-off")
        );
        // A line that is removed looks like one.
        let text = "--- a/x\n+++ b/x\n@@ -1,2 +1,1 @@\n a\n-- \n";
        let PatchAction::Update { hunks, .. } = &parse_patch(text).expect("it is a patch")[0].action else {
            panic!()
        };
        assert_eq!(hunks[0].old(), ["a\n", "- \n"]);
    }

    #[test]
    fn empty_lines_behind_a_hunk_may_be_context() {
        let hunks = |text: &str| match &parse_patch(text).expect("it is a patch")[0].action {
            PatchAction::Update { hunks, .. } => {
                hunks.iter().map(|it| (it.old().len(), it.blank_after)).collect::<Vec<_>>()
            }
            other => panic!("{other:?}"),
        };
        let context = |blank: &str, next: &str| {
            format!("*** Begin Patch\n*** Update File: x\n@@\n a\n-b\n+c\n{blank}{next}*** End Patch\n")
        };
        let unified = |numbers: &str, blank: &str, next: &str| {
            format!("--- a/x\n+++ b/x\n{numbers}\n a\n-b\n+c\n{blank}{next}")
        };
        // A line with its mark is context wherever it is.
        assert_eq!(hunks(&context(" \n", "")), [(3, 0)]);
        assert_eq!(hunks(&unified("@@", " \n", "")), [(3, 0)]);
        assert_eq!(hunks(&unified("@@ -7,2 +7,5 @@", " \n", "@@\n-d\n+e\n")), [(3, 0), (1, 0)]);
        assert_eq!(hunks(&unified("@@ -7,3 +7,3 @@", "\n", "")), [(3, 0)]);
        // One without can be either.
        assert_eq!(hunks(&context("\n", "")), [(2, 1)]);
        assert_eq!(hunks(&context("\n\n", "@@\n-d\n+e\n")), [(2, 2), (1, 0)]);
        assert_eq!(hunks(&unified("@@", "\n\n", "@@\n-d\n+e\n")), [(2, 2), (1, 0)]);
    }
}
