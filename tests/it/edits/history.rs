//! Hunks of a history, said in many ways, right and wrong, for files that are as they were or not: each lands where it
//! belongs or is refused. The history is this repository's, or that of another one: CONTRIBUTING.md.
//!
//! What is right is known beforehand: the file before a commit with that one hunk in it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use bailiwick::providers::edit::{Basis, Edits, PatchAction, Text, TextEdit, apply, merge, parse_patch};
use support::generator::Numbers;

use super::endless;
use super::samples::{RealHunk, Sample, WRONG_BY, context, history, samples, unified};
use crate::system::{Need, lacks};

/// What has to come of an edit.
#[derive(Debug, Clone)]
enum Right {
    /// This text.
    Land(String),
    /// This text, or a refusal: not everyone could tell.
    Either(String),
    /// A refusal; nothing done is as good.
    Refuse,
}

/// What is asked.
#[derive(Debug, Clone)]
enum Request {
    Patch(String),
    /// Of a file that was read as it is.
    PatchOfRead(String),
    Texts(String, String),
    /// On the version before, while the file has another line in front.
    Merge(String, String),
}

/// Counts in how many places lines are, however they are indented.
fn places(file: &[String], lines: &[String]) -> usize {
    let same = |(a, b): (&String, &String)| a.trim() == b.trim();
    file.windows(lines.len().max(1)).filter(|window| window.iter().zip(lines).all(same)).count()
}

/// Counts in how many places lines are as they are written.
fn places_as_written(file: &[String], lines: &[String]) -> usize {
    file.windows(lines.len().max(1)).filter(|window| *window == lines).count()
}

/// Returns whether lines say enough to be found at another depth.
fn says_enough(lines: &[String]) -> bool {
    let distinct: BTreeSet<&str> = lines.iter().map(|line| line.trim()).collect();
    let letters = |line: &&&str| line.chars().filter(|it| it.is_alphanumeric()).count();
    let telling: Vec<usize> =
        distinct.iter().map(|line| letters(&line)).filter(|count| *count >= 3).collect();
    telling.len() >= 3 && telling.iter().sum::<usize>() >= 30
}

fn with_tabs(line: &str) -> String {
    let spaces = line.len() - line.trim_start_matches(' ').len();
    format!("{}{}", "\t".repeat(spaces / 4), &line[spaces / 4 * 4..])
}

/// The line that opens what a line is in: the nearest one before it that is indented less.
fn opener(file: &[String], at: usize) -> Option<usize> {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let own = file
        .get(at)
        .filter(|line| !line.trim().is_empty())
        .map(|line| depth(line))
        .filter(|depth| *depth > 0)?;
    (0..at).rev().find(|line| !file[*line].trim().is_empty() && depth(&file[*line]) < own)
}

impl Sample {
    /// Says the hunk in every way. Each comes with the file as it is, and with what is right.
    fn cases(&self, numbers: &mut Numbers) -> Vec<(&'static str, String, Request, Right)> {
        let mut cases = Vec::new();
        let (file, hunk) = (&self.file, &self.hunk);
        let truth = hunk.put(file, hunk.start);
        let (whole, right) = (file.concat(), truth.concat());
        let once = |hunk: &RealHunk| !hunk.old().is_empty() && places(file, &hunk.old()) == 1;
        let if_once = |hunk: &RealHunk, text: &str| match once(hunk) {
            true => Right::Land(text.to_owned()),
            false => Right::Either(text.to_owned()),
        };
        let mut add = |form, file: &str, request, right| cases.push((form, file.to_owned(), request, right));
        let one = std::slice::from_ref(hunk);

        // Where a copy stands exactly at the number that is said, nothing says which one is meant.
        let is_copy = |file: &[String], at: usize| {
            file.get(at..at + hunk.old().len()).is_some_and(|there| places(there, &hunk.old()) > 0)
        };
        for (form, kind) in [
            ("diff, right numbers", "right"),
            ("diff, wrong numbers", "wrong"),
            ("diff, wrong counts", "counts"),
            ("diff, no numbers", ""),
            ("diff, all -1 with counts", "one"),
            ("diff, all -1,1", "one, one"),
        ] {
            if kind != "wrong" || !is_copy(file, hunk.start + WRONG_BY) {
                add(form, &whole, Request::Patch(unified(one, kind)), if_once(hunk, &right));
            }
        }
        let short = hunk.with_context(1);
        add("context patch", &whole, Request::Patch(context(one, "")), if_once(hunk, &right));
        add(
            "context patch, one line around",
            &whole,
            Request::Patch(context(std::slice::from_ref(&short), "")),
            if_once(&short, &right),
        );
        add(
            "old and new text",
            &whole,
            Request::Texts(hunk.old().concat(), hunk.side('-').concat()),
            if_once(hunk, &right),
        );
        if !short.old().is_empty() {
            add(
                "old and new text, one line around",
                &whole,
                Request::Texts(short.old().concat(), short.side('-').concat()),
                match whole.matches(&short.old().concat()).count() {
                    // A part of other lines, too.
                    2.. => Right::Either(right.clone()),
                    _ => if_once(&short, &right),
                },
            );
        }

        // Wrapped.
        let diff = unified(one, "right");
        let patch = context(one, "");
        let mail = format!(
            "From 1f Mon Sep 17 00:00:00 2001\nFrom: A <a@example.org>\nSubject: [PATCH] x\n\n---\n file | 2 +-\n\n{diff}-- \n2.39.2\n\n"
        );
        // A fence in the first column would end the block.
        for (form, text) in [
            ("in a fence", format!("```diff\n{diff}```\n")),
            ("in a fence with words", format!("The change:\n\n````\n{patch}````\n\nThat is all.\n")),
            ("as a mail", mail),
            ("as a here-document", format!("apply_patch <<'EOF'\n{patch}EOF\n")),
            ("with CRLF", diff.replace('\n', "\r\n")),
            ("without the last line end", diff.trim_end_matches('\n').to_owned()),
        ] {
            let expected = match form == "without the last line end" && diff.ends_with("\n\n") {
                true => Right::Either(right.clone()),
                false => if_once(hunk, &right),
            };
            add(form, &whole, Request::Patch(text), expected);
        }
        let bare = |text: &str| text.replace("\n \n", "\n\n").replace("\n \n", "\n\n");
        add(
            "diff, blank lines without their mark",
            &whole,
            Request::Patch(bare(&diff)),
            if_once(hunk, &right),
        );
        let ends_blank = hunk.lines.last().is_some_and(|(_, line)| line == "\n");
        let blank = if ends_blank { Right::Either(right.clone()) } else { if_once(hunk, &right) };
        add("context patch, blank lines without their mark", &whole, Request::Patch(bare(&patch)), blank);
        let unmarked: String = hunk
            .lines
            .iter()
            .map(|(mark, line)| if *mark == ' ' { line.clone() } else { format!("{mark}{line}") })
            .collect();
        add(
            "context without its mark",
            &whole,
            Request::Patch(format!("--- a/file\n+++ b/file\n@@\n{unmarked}")),
            Right::Either(right.clone()),
        );

        // The file is in another form.
        let drift = "// one line more\n".repeat(1 + numbers.below(40));
        let moved = format!("{drift}{whole}");
        let moved_lines: Vec<String> = moved.split_inclusive('\n').map(str::to_owned).collect();
        if !is_copy(&moved_lines, hunk.start) {
            add(
                "moved down",
                &moved,
                Request::Patch(unified(one, "right")),
                if_once(hunk, &format!("{drift}{right}")),
            );
        }
        let crlf = |text: &str| text.replace('\n', "\r\n");
        add("file with CRLF", &crlf(&whole), Request::Patch(diff.clone()), if_once(hunk, &crlf(&right)));
        let tabbed = |lines: &[String]| lines.iter().map(|line| with_tabs(line)).collect::<String>();
        let tabs_right = |text: String, hunk: &RealHunk| match once(hunk) && says_enough(&hunk.old()) {
            true => Right::Land(text),
            false => Right::Either(text),
        };
        // Where no old line is indented, nothing says how the new ones have to be.
        let tabs = hunk.map(with_tabs);
        // And one that has tabs itself changes from one to the other.
        if tabs.old() != hunk.old() && !hunk.lines.iter().any(|(_, line)| line.contains('\t')) {
            add(
                "tabs in the file",
                &tabbed(file),
                Request::Patch(diff.clone()),
                tabs_right(tabbed(&truth), hunk),
            );
            add(
                "tabs in the diff",
                &whole,
                Request::Patch(unified(std::slice::from_ref(&tabs), "right")),
                tabs_right(right.clone(), hunk),
            );
            add(
                "tabs in the texts",
                &whole,
                Request::Texts(tabs.old().concat(), tabs.side('-').concat()),
                tabs_right(right.clone(), hunk),
            );
        }
        let deeper = hunk.map(|line| if line == "\n" { line.to_owned() } else { format!("    {line}") });
        // Text that stands at that depth, too, is what was asked for.
        if places_as_written(file, &deeper.old()) == 0 {
            let patch = unified(std::slice::from_ref(&deeper), "right");
            // Nobody who has not read the file can know that the text is no other.
            add("indented further", &whole, Request::Patch(patch.clone()), Right::Either(right.clone()));
            add(
                "indented further, read",
                &whole,
                Request::PatchOfRead(patch),
                tabs_right(right.clone(), hunk),
            );
        }
        let least = hunk
            .lines
            .iter()
            .filter(|(_, line)| !line.trim().is_empty())
            .map(|(_, line)| line.len() - line.trim_start_matches(' ').len())
            .min()
            .unwrap_or(0);
        let dedented = hunk.map(|line| {
            line.get(least.min(line.len() - line.trim_start_matches(' ').len())..).unwrap_or(line).to_owned()
        });
        // Of a line of blanks alone, what it had is lost with the indentation: nobody can say so that it changes.
        let has_blanks =
            |(mark, line): &(char, String)| *mark != ' ' && line != "\n" && line.trim().is_empty();
        if !hunk.lines.iter().any(has_blanks) {
            // Tabs stay.
            let is_indented = dedented.old().iter().all(|line| line.starts_with([' ', '\t', '\n']));
            add(
                "not indented",
                &whole,
                Request::Texts(dedented.old().concat(), dedented.side('-').concat()),
                if is_indented { Right::Either(right.clone()) } else { tabs_right(right.clone(), hunk) },
            );
        }

        // All hunks of the commit.
        let mut both = file.clone();
        for hunk in self.all.iter().rev() {
            both = hunk.put(&both, hunk.start);
        }
        let each_once = self.all.iter().all(&once);
        for (form, kind) in [
            ("all hunks, right numbers", "right"),
            ("all hunks, all -1", "one"),
            ("all hunks, no numbers", ""),
        ] {
            let expected = if each_once { Right::Land(both.concat()) } else { Right::Either(both.concat()) };
            add(form, &whole, Request::Patch(unified(&self.all, kind)), expected);
        }

        // The same text is there twice; the copy comes first.
        let copy = format!("{}// between\n", hunk.old().concat());
        let (twice, second) = (format!("{copy}{whole}"), format!("{copy}{right}"));
        let moved = RealHunk { start: hunk.start + hunk.old().len() + 1, ..hunk.clone() };
        for (form, kind) in [
            ("twice, right numbers", "right"),
            ("twice, all -1", "one"),
            ("twice, all -1,1", "one, one"),
            ("twice, no numbers", ""),
        ] {
            add(
                form,
                &twice,
                Request::Patch(unified(std::slice::from_ref(&moved), kind)),
                Right::Either(second.clone()),
            );
        }
        add("twice, context patch", &twice, Request::Patch(context(one, "")), Right::Either(second.clone()));
        add(
            "twice, as texts",
            &twice,
            Request::Texts(hunk.old().concat(), hunk.side('-').concat()),
            Right::Either(second.clone()),
        );
        let all_right = format!("{copy}{}", both.concat());
        for (form, kind) in
            [("twice, all hunks, numbers moved", "right"), ("twice, all hunks, all -1", "one")]
        {
            add(form, &twice, Request::Patch(unified(&self.all, kind)), Right::Either(all_right.clone()));
        }

        // The text is gone, or changed before. What is there again as it was written is no one's fault.
        let end = hunk.start + hunk.old().len();
        let gone: String = [&file[..hunk.start], &file[end..]].concat().concat();
        let mut changed = file.clone();
        for line in &mut changed[short.start..short.start + short.old().len()] {
            *line = line.replace('\n', " changed\n");
        }
        let least = hunk.with_context(0);
        for (state, text) in [("gone", gone), ("changed", changed.concat()), ("done already", right.clone())]
        {
            let lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
            for (form, said) in [("", hunk), (", one line around", &short), (", nothing around", &least)] {
                let old = said.old();
                let blank = |lines: &[String]| {
                    lines.iter().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>()
                };
                let again = blank(&lines).windows(old.len().max(1)).any(|window| window == blank(&old));
                if old.is_empty() || again || text.contains(&old.concat()) {
                    continue;
                }
                let form = |kind: &str| -> &'static str {
                    STALE.iter().find(|it| **it == format!("{state}{form}, {kind}")).expect("it is listed")
                };
                add(
                    form("diff"),
                    &text,
                    Request::Patch(unified(std::slice::from_ref(said), "right")),
                    Right::Refuse,
                );
                add(
                    form("context patch"),
                    &text,
                    Request::Patch(context(std::slice::from_ref(said), "")),
                    Right::Refuse,
                );
                add(
                    form("texts"),
                    &text,
                    Request::Texts(old.concat(), said.side('-').concat()),
                    Right::Refuse,
                );
            }
        }

        // Cut off.
        let lines: Vec<&str> = diff.split_inclusive('\n').collect();
        let kept = 3 + numbers.below(lines.len() - 3);
        add("diff, cut off", &whole, Request::Patch(lines[..kept].concat()), Right::Refuse);
        let lines: Vec<&str> = patch.split_inclusive('\n').collect();
        add(
            "context patch, cut off",
            &whole,
            Request::Patch(lines[..numbers.below(lines.len())].concat()),
            Right::Refuse,
        );
        add("fence, cut off", &whole, Request::Patch(format!("```diff\n{diff}")), Right::Refuse);

        // What is behind the signs.
        if let Some(line) = opener(file, hunk.first_change()).filter(|line| file[*line].trim().len() > 8) {
            let header = file[line].trim();
            let named = places(file, &file[line..=line]) == 1;
            let expected = if named { if_once(hunk, &right) } else { Right::Either(right.clone()) };
            add(
                "context patch, header",
                &whole,
                Request::Patch(context(one, &format!(" {header}"))),
                expected,
            );
            add(
                "twice, header",
                &twice,
                Request::Patch(context(std::slice::from_ref(&short), &format!(" {header}"))),
                Right::Either(if_twice(&copy, &right)),
            );
        }
        add(
            "context patch, header of no line",
            &whole,
            Request::Patch(context(one, " fn that_is_nowhere_in_the_file()")),
            Right::Refuse,
        );
        let behind =
            (end..file.len()).find(|at| file[*at].trim().len() > 12 && places(file, &file[*at..=*at]) == 1);
        // Another copy can be below that line.
        if let Some(behind) = behind.filter(|_| once(hunk)) {
            add(
                "context patch, header behind it",
                &whole,
                Request::Patch(context(one, &format!(" {}", file[behind].trim()))),
                Right::Refuse,
            );
        }

        // Merged.
        if !hunk.old().is_empty() && hunk.first_change() > 1 {
            let (old, new) = (hunk.old().concat(), hunk.side('-').concat());
            let theirs = |text: &str| format!("// theirs\n{text}");
            add(
                "merged",
                &theirs(&whole),
                Request::Merge(old.clone(), new.clone()),
                if_once(hunk, &theirs(&right)),
            );
            if end == file.len() {
                let unended = theirs(right.trim_end_matches('\n'));
                let expected =
                    if new.ends_with("\n\n") { Right::Either(unended) } else { if_once(hunk, &unended) };
                add(
                    "merged, no final line end",
                    &theirs(&whole),
                    Request::Merge(old, new.trim_end_matches('\n').to_owned()),
                    expected,
                );
            }
        }
        cases
    }
}

fn if_twice(copy: &str, right: &str) -> String {
    format!("{copy}{right}")
}

/// The forms of stale edits.
const STALE: [&str; 27] = [
    "gone, diff",
    "gone, context patch",
    "gone, texts",
    "gone, one line around, diff",
    "gone, one line around, context patch",
    "gone, one line around, texts",
    "gone, nothing around, diff",
    "gone, nothing around, context patch",
    "gone, nothing around, texts",
    "changed, diff",
    "changed, context patch",
    "changed, texts",
    "changed, one line around, diff",
    "changed, one line around, context patch",
    "changed, one line around, texts",
    "changed, nothing around, diff",
    "changed, nothing around, context patch",
    "changed, nothing around, texts",
    "done already, diff",
    "done already, context patch",
    "done already, texts",
    "done already, one line around, diff",
    "done already, one line around, context patch",
    "done already, one line around, texts",
    "done already, nothing around, diff",
    "done already, nothing around, context patch",
    "done already, nothing around, texts",
];

fn run(file: &str, request: &Request) -> Result<String, String> {
    let text = Text::new(file.to_owned());
    let edit =
        |old: &str, new: &str| [TextEdit { number: 1, old: old.to_owned(), new: new.to_owned(), expect: 1 }];
    let applied = match request {
        Request::Patch(patch) | Request::PatchOfRead(patch) => {
            let mut files = parse_patch(patch).map_err(|failure| failure.message)?;
            let PatchAction::Update { hunks, .. } = files.remove(0).action else {
                return Err("no update".to_owned());
            };
            let is_read = matches!(request, Request::PatchOfRead(_));
            let basis = if is_read { Basis::Read } else { Basis::Unknown };
            apply(&text, Edits::Hunks(&hunks), basis, &endless())
        }
        Request::Texts(old, new) => apply(&text, Edits::Texts(&edit(old, new)), Basis::Unknown, &endless()),
        Request::Merge(old, new) => {
            let base = Text::new(file.split_once('\n').map_or("", |(_, rest)| rest).to_owned());
            apply(&base, Edits::Texts(&edit(old, new)), Basis::Current, &endless())
                .and_then(|ours| merge(&base, &ours, &text))
        }
    };
    applied.map(|applied| applied.text.content().to_owned()).map_err(|failure| failure.message)
}

#[derive(Debug, Default)]
struct Count {
    cases: usize,
    landed: usize,
    refused: usize,
    /// Ended as the file was.
    nothing: usize,
    should: usize,
    should_landed: usize,
    wrong: usize,
}

/// What became of some edits.
#[derive(Debug, Default)]
struct Outcome {
    counts: BTreeMap<&'static str, Count>,
    wrong: Vec<String>,
    refused: Vec<String>,
}

impl Outcome {
    /// Creates the edits of one sample, with numbers that are its own.
    fn of(sample: &Sample, seed: u64) -> Self {
        let mut outcome = Self::default();
        let Self { counts, wrong, refused } = &mut outcome;
        for (form, file, request, right) in sample.cases(&mut Numbers::new(seed)) {
            let count = counts.entry(form).or_default();
            count.cases += 1;
            count.should += usize::from(matches!(right, Right::Land(_)));
            let result = run(&file, &request);
            let describe = |got: &str| format!("{form}: {} at {}: {got}", sample.name, sample.hunk.start + 1);
            match (&result, &right) {
                (Ok(got), Right::Land(text) | Right::Either(text)) if got == text => {
                    count.landed += 1;
                    count.should_landed += usize::from(matches!(right, Right::Land(_)));
                }
                (Ok(got), _) if *got == file => count.nothing += 1,
                (Ok(got), _) => {
                    count.wrong += 1;
                    let expected = match &right {
                        Right::Land(text) | Right::Either(text) => text,
                        Right::Refuse => &file,
                    };
                    wrong.push(format!(
                        "{}\n{request:?}\n{}",
                        describe("WRONG"),
                        first_difference(got, expected)
                    ));
                }
                (Err(message), Right::Land(_)) => {
                    count.refused += 1;
                    refused.push(describe(message));
                }
                (Err(_), _) => count.refused += 1,
            }
        }
        outcome
    }

    fn add(&mut self, other: Self) {
        for (form, count) in other.counts {
            self.counts.entry(form).or_default().add(&count);
        }
        self.wrong.extend(other.wrong);
        self.refused.extend(other.refused);
    }
}

impl Count {
    fn add(&mut self, other: &Self) {
        self.cases += other.cases;
        self.landed += other.landed;
        self.refused += other.refused;
        self.nothing += other.nothing;
        self.should += other.should;
        self.should_landed += other.should_landed;
        self.wrong += other.wrong;
    }
}

#[test]
fn hunks_of_history_land_where_they_belong_or_are_refused() {
    some_hunks_of_history_land(400, 500);
}

/// Says one of so many hunks in every way, which must be at least so many edits. More of them: `edits::stress`.
pub(super) fn some_hunks_of_history_land(one_of: usize, least: usize) {
    if lacks(Need::Git) {
        return;
    }
    let samples = samples(one_of);
    if samples.is_empty() && !history().1 {
        // A copy without its history.
        return;
    }
    let (all, next) = (Mutex::new(Outcome::default()), AtomicUsize::new(0));
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(sample) = samples.get(at) else { return };
            let outcome = Outcome::of(sample, at as u64);
            all.lock().expect("no thread panics here").add(outcome);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let Outcome { counts, mut wrong, mut refused } = all.into_inner().expect("no thread panics here");
    wrong.sort();
    refused.sort();
    let sum = |of: fn(&Count) -> usize| counts.values().map(of).sum::<usize>();
    let (cases, should, landed) = (sum(|it| it.cases), sum(|it| it.should), sum(|it| it.should_landed));
    let mut report = format!(
        "{cases} edits of {} hunks; {landed} of {should} that should have landed; {} wrong\n",
        samples.len(),
        wrong.len()
    );
    for (form, count) in &counts {
        report.push_str(&format!("{form}: {count:?}\n"));
    }
    let shown = |lines: &[String]| lines.iter().take(40).map(|line| format!("{line}\n")).collect::<String>();
    report.push_str(&format!("\n{}\n{}", shown(&wrong), shown(&refused)));
    if let Some(file) = std::env::var_os("BAILIWICK_HISTORY_REPORT") {
        std::fs::write(file, &report).expect("the report can be written");
    }
    assert!(wrong.is_empty(), "{report}");
    assert!(cases >= least, "{report}");
    assert!(landed * 1_000 >= should * 995, "{report}");
}

/// Shows where two texts begin to differ.
pub(super) fn first_difference(got: &str, expected: &str) -> String {
    let at = got.lines().zip(expected.lines()).take_while(|(a, b)| a == b).count();
    let from = |text: &str| {
        text.lines()
            .skip(at.saturating_sub(2))
            .take(6)
            .map(|line| format!("    {line}\n"))
            .collect::<String>()
    };
    format!("line {}: got\n{}instead of\n{}", at + 1, from(got), from(expected))
}
