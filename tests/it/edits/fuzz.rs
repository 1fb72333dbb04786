//! Random files through real `git diff`, and broken patches: nothing panics, and nothing wrong is written.
//!
//! `FUZZ_SECONDS` says how long; the default is short.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use bailiwick::providers::edit::{
    Anchor, Basis, Edits, FilePatch, LineEdit, PatchAction, Text, TextEdit, anchor, apply, parse_patch,
    text_diff, unified_diff,
};
use support::generator::Numbers;

use super::endless;
use crate::system::{Need, git_of_the_person, lacks};
use crate::temporary::TemporaryFolder;

/// How many files one `git diff` compares.
const BATCH: usize = 150;

fn duration() -> Duration {
    let seconds = std::env::var("FUZZ_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(seconds.unwrap_or(4))
}

/// Lines that are hard for a patch: they look like parts of one, or like each other.
const LINES: [&str; 16] = [
    "a",
    "b",
    "c",
    "",
    "}",
    "    }",
    "\t}",
    "-- old",
    "++ new",
    "@@ -1 +1 @@",
    "\\ No newline at end of file",
    "diff --git a/x b/x",
    "größe “x” – y",
    "a ",
    "*** End Patch",
    "1\ta",
];
const ENDS: [&str; 3] = ["\n", "\n", "\r\n"];

fn text(numbers: &mut Numbers, most: usize) -> Vec<String> {
    let ends = ENDS[numbers.below(3)];
    let mixed = numbers.below(6) == 0;
    let mut lines: Vec<String> = (0..numbers.below(most))
        .map(|_| {
            let end = if mixed { ENDS[numbers.below(3)] } else { ends };
            format!("{}{end}", LINES[numbers.below(LINES.len())])
        })
        .collect();
    if numbers.below(4) == 0
        && let Some(last) = lines.last_mut()
    {
        last.truncate(last.trim_end_matches(['\r', '\n']).len());
        if last.is_empty() {
            lines.pop();
        }
    }
    lines
}

fn changed(numbers: &mut Numbers, lines: &[String]) -> Vec<String> {
    let mut lines = lines.to_vec();
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(lines.len() + 1);
        match numbers.below(3) {
            0 if at < lines.len() => drop(lines.remove(at)),
            1 if at < lines.len() => lines[at] = format!("{}\n", LINES[numbers.below(LINES.len())]),
            _ => lines.insert(at, format!("{}\n", LINES[numbers.below(LINES.len())])),
        }
    }
    // A line without an end can only be the last one.
    let last = lines.len().saturating_sub(1);
    for line in lines.iter_mut().take(last) {
        if !line.ends_with('\n') {
            line.push('\n');
        }
    }
    lines
}

fn diff_folders(folder: &Path, context: usize) -> String {
    let output = git_of_the_person()
        .current_dir(folder)
        .args([
            "-c",
            "core.autocrlf=false",
            "diff",
            "--no-index",
            "--no-ext-diff",
            "--no-color",
            "--no-renames",
        ])
        .args([&format!("-U{context}"), "--", "old", "new"])
        .output()
        .expect("git is installed");
    String::from_utf8(output.stdout).expect("the files are UTF-8")
}

#[test]
fn what_git_diff_prints_gives_what_git_has() {
    if lacks(Need::Git) {
        return;
    }
    let until = Instant::now() + duration();
    let mut numbers = Numbers::new(5);
    let (mut applied, mut ambiguous) = (0, 0);
    while Instant::now() < until || applied == 0 {
        let folder = TemporaryFolder::new();
        let (old_folder, new_folder) = (folder.path().join("old"), folder.path().join("new"));
        fs::create_dir(&old_folder).expect("the temporary folder can be written");
        fs::create_dir(&new_folder).expect("the temporary folder can be written");
        let mut files = Vec::new();
        for number in 0..BATCH {
            let most = [4, 12, 60][numbers.below(3)];
            let old = text(&mut numbers, most);
            let new = changed(&mut numbers, &old);
            let (old, new) = (old.concat(), new.concat());
            fs::write(old_folder.join(format!("{number}")), &old).expect("it can be written");
            fs::write(new_folder.join(format!("{number}")), &new).expect("it can be written");
            files.push((old, new));
        }
        let context = [0, 1, 3, 3, 7][numbers.below(5)];
        let patch = diff_folders(folder.path(), context);
        for FilePatch { path, action } in parse_patch(&patch).expect("git's own patch can be read") {
            let number: usize = path.rsplit('/').next().and_then(|it| it.parse().ok()).expect("a number");
            let (old, new) = &files[number];
            let PatchAction::Update { hunks, .. } = action else { panic!("{path} is changed") };
            let before = Text::new(old.clone());
            let after = apply(&before, Edits::Hunks(&hunks), Basis::Current, &endless())
                .unwrap_or_else(|failure| panic!("{failure:?}\n{old:?}\n{new:?}\n{hunks:?}"));
            // Lines that come alone, without context, end as those around them do.
            let alone = context == 0 && old.contains('\r');
            let same = |got: &str| match alone {
                true => got.replace('\r', "") == new.replace('\r', ""),
                false => got == new,
            };
            assert!(same(after.text.content()), "from {old:?} by {hunks:?}: {:?}", after.text.content());
            if alone {
                continue;
            }
            // What is printed for a dry run says the same.
            let printed = unified_diff((Some("x"), Some("x")), &before, &after.text, &after.changes);
            let PatchAction::Update { hunks: own, .. } =
                parse_patch(&printed).expect("our own patch can be read").remove(0).action
            else {
                panic!("{printed}")
            };
            let again = apply(&before, Edits::Hunks(&own), Basis::Current, &endless())
                .unwrap_or_else(|failure| panic!("{failure:?}\n{old:?}\n{printed}"));
            assert_eq!(again.text.content(), new, "from {old:?} by {printed}");
            // Without a version the numbers are hints: right, or refused.
            match apply(&before, Edits::Hunks(&hunks), Basis::Unknown, &endless()) {
                Ok(after) => assert_eq!(after.text.content(), new, "from {old:?} by {hunks:?}"),
                Err(failure) => {
                    assert!(matches!(failure.rule(), Some("ambiguous" | "no-context")), "{failure:?}");
                    ambiguous += 1;
                }
            }
            applied += 1;
        }
    }
    assert!(applied > BATCH / 2, "{applied} applied, {ambiguous} ambiguous");
    if let Some(report) = std::env::var_os("FUZZ_REPORT") {
        let _ = fs::write(
            report,
            format!("{applied} diffs of git applied, {ambiguous} ambiguous without a version"),
        );
    }
}

/// Breaks a text somewhere.
fn broken(numbers: &mut Numbers, text: &str) -> String {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    for _ in 0..=numbers.below(3) {
        let at = numbers.below(lines.len().max(1));
        match numbers.below(5) {
            0 if at < lines.len() => drop(lines.remove(at)),
            1 if at < lines.len() => lines.insert(at, lines[at].clone()),
            2 => lines.insert(at.min(lines.len()), format!("{}\n", LINES[numbers.below(LINES.len())])),
            3 if at < lines.len() => {
                let chars: Vec<char> = lines[at].chars().collect();
                let cut = numbers.below(chars.len().max(1));
                lines[at] = chars[..cut].iter().chain(&chars[(cut + 1).min(chars.len())..]).collect();
            }
            _ if at < lines.len() => {
                let marks = [" ", "-", "+", "@@", "\\", "*** ", "é", "1:ca97|"];
                lines[at].insert_str(0, marks[numbers.below(marks.len())]);
            }
            _ => {}
        }
    }
    lines.concat()
}

#[test]
fn broken_patches_and_edits_never_panic() {
    let until = Instant::now() + duration();
    let mut numbers = Numbers::new(6);
    let (mut cases, mut landed) = (0_u64, 0_u64);
    while Instant::now() < until || landed == 0 {
        let old = text(&mut numbers, 24);
        let new = changed(&mut numbers, &old);
        let (before, after) = (Text::new(old.concat()), Text::new(new.concat()));
        let mut patch = text_diff((Some("file"), Some("file")), &before, &after);
        if numbers.below(2) == 0 {
            let body: String = patch.lines().skip(2).map(|line| format!("{line}\n")).collect();
            patch = format!("*** Begin Patch\n*** Update File: file\n{body}*** End Patch\n");
        }
        for _ in 0..8 {
            cases += 1;
            let patch = broken(&mut numbers, &patch);
            let Ok(files) = parse_patch(&patch) else { continue };
            for file in files {
                if let PatchAction::Update { hunks, .. } = file.action {
                    let basis = [Basis::Current, Basis::Unknown, Basis::Outdated][numbers.below(3)];
                    landed += u64::from(apply(&before, Edits::Hunks(&hunks), basis, &endless()).is_ok());
                }
            }
        }
        let from = numbers.below(old.len().max(1));
        let piece = old[from.min(old.len())..].iter().take(3).cloned().collect::<String>();
        let edit = TextEdit {
            number: 1,
            old: broken(&mut numbers, &piece),
            new: broken(&mut numbers, &piece),
            expect: 1 + numbers.below(2),
        };
        landed += u64::from(apply(&before, Edits::Texts(&[edit]), Basis::Unknown, &endless()).is_ok());
        let line = numbers.below(old.len() + 2);
        let named = old.get(line).map_or_else(|| "9:0000".to_owned(), |text| anchor(line as u64 + 1, text));
        let lines = LineEdit {
            number: 1,
            start: Anchor::parse(&named).expect("an anchor"),
            end: None,
            insert: numbers.below(2) == 0,
            new: broken(&mut numbers, &piece),
        };
        landed += u64::from(apply(&before, Edits::Lines(&[lines]), Basis::Unknown, &endless()).is_ok());
        cases += 2;
    }
    if let Some(report) = std::env::var_os("BROKEN_REPORT") {
        let _ = fs::write(report, format!("{cases} cases, {landed} landed"));
    }
}
