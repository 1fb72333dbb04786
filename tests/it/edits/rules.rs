//! The rules of docs/concepts/edits.md, each for random files and edits.

use std::collections::BTreeSet;
use std::fs;

use bailiwick::contract::Failure;
use bailiwick::providers::edit::{Basis, Edits, PatchAction, Text, TextEdit, apply, parse_patch};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;
use support::scope::TestScope;
use support::service::call;

use super::endless;

/// Creates the changes of a patch of one file.
fn patched(file: &str, patch: &str, basis: Basis) -> Result<String, Failure> {
    let mut files = parse_patch(patch)?;
    assert_eq!(files.len(), 1, "{patch}");
    let PatchAction::Update { hunks, .. } = files.remove(0).action else { panic!("no update: {patch}") };
    let text = Text::new(file.to_owned());
    Ok(apply(&text, Edits::Hunks(&hunks), basis, &endless())?.text.content().to_owned())
}

/// Words that are not alike, one a line.
fn words(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<String>> {
    proptest::collection::btree_set("[c-z]{8,12}", count).prop_map(|words| words.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// A context patch lands below the line that it names, wherever its text stands besides, or is refused.
    #[test]
    fn a_context_patch_lands_below_its_header_or_nowhere(
        classes in words(2..6),
        named in 0..6_usize,
        without in 0..6_usize,
        begins in any::<bool>(),
    ) {
        let (named, without) = (named % classes.len(), without % classes.len());
        let file = |changed: Option<usize>| -> String {
            let class = |at: usize, name: &str| {
                let body = match at {
                    at if at == without => "pass",
                    at if Some(at) == changed => "return second()",
                    _ => "return first()",
                };
                format!("class {name}:\n    def call(self):\n        {body}\n\n\n")
            };
            classes.iter().enumerate().map(|(at, name)| class(at, name)).collect()
        };
        let header = |name: &str| {
            let end = if begins { "" } else { ":" };
            format!(
                "*** Begin Patch\n*** Update File: m\n@@ class {name}{end}\n-        return first()\n+        return second()\n*** End Patch\n"
            )
        };
        let result = patched(&file(None), &header(&classes[named]), Basis::Unknown);
        match named == without {
            true => prop_assert!(result.is_err(), "{result:?}"),
            false => prop_assert_eq!(result.ok(), Some(file(Some(named)))),
        }
        let nowhere = patched(&file(None), &header("Abc"), Basis::Unknown);
        prop_assert!(nowhere.is_err(), "{nowhere:?}");
    }

    /// What fits only at another depth or with tabs lands in a file as it was read, and in no other.
    #[test]
    fn a_loose_place_needs_the_file_that_was_read(
        lines in words(3..6),
        depth in 1..4_usize,
        tabs in any::<bool>(),
    ) {
        let at = |blanks: &str, lines: &[String]| -> String {
            lines.iter().map(|line| format!("{blanks}{line}\n")).collect()
        };
        let blanks = if tabs { "\t".repeat(depth) } else { "    ".repeat(depth) };
        let said = if tabs { "    ".repeat(depth) } else { String::new() };
        let file = format!("before:\n{}behind\n", at(&blanks, &lines));
        let gone = &lines[lines.len() / 2];
        let kept: Vec<String> = lines.iter().filter(|line| *line != gone).cloned().collect();
        let body: String = lines
            .iter()
            .map(|line| format!("{}{said}{line}\n", if line == gone { '-' } else { ' ' }))
            .collect();
        let patch = format!("--- a/m\n+++ b/m\n@@\n{body}");
        let landed = format!("before:\n{}behind\n", at(&blanks, &kept));
        prop_assert_eq!(patched(&file, &patch, Basis::Unknown).ok(), Some(landed));
        let outdated = patched(&file, &patch, Basis::Outdated);
        prop_assert!(outdated.is_err(), "{outdated:?}");
    }

    /// Text with an indentation of its own is found at another depth only in a file that was read as it is.
    #[test]
    fn indented_text_is_found_at_another_depth_only_in_a_file_that_was_read(
        lines in words(3..6),
        there in 0..4_usize,
        own in 1..4_usize,
        is_patch in any::<bool>(),
        place in 0..6_usize,
    ) {
        prop_assume!(there != own);
        let place = place % lines.len();
        let text = |depth: usize, changed: &str| -> String {
            let line = |(at, line): (usize, &String)| {
                format!("{}{}\n", "    ".repeat(depth), if at == place { changed } else { line })
            };
            lines.iter().enumerate().map(line).collect()
        };
        let file = |changed: &str| format!("before\n{}behind\n", text(there, changed));
        let edited = |basis: Basis| -> Result<String, Failure> {
            if is_patch {
                let marked = |mark: char, text: &str| -> String {
                    text.lines().map(|line| format!("{mark}{line}\n")).collect()
                };
                let (old, new) = (text(own, &lines[place]), text(own, "changed"));
                let patch = format!("--- a/m\n+++ b/m\n@@\n{}{}", marked('-', &old), marked('+', &new));
                return patched(&file(&lines[place]), &patch, basis);
            }
            let edit = TextEdit { number: 1, old: text(own, &lines[place]), new: text(own, "changed"), expect: 1 };
            let before = Text::new(file(&lines[place]));
            Ok(apply(&before, Edits::Texts(&[edit]), basis, &endless())?.text.content().to_owned())
        };
        prop_assert_eq!(edited(Basis::Read).map_err(|failure| failure.message), Ok(file("changed")));
        let unread = edited(Basis::Unknown).map_err(|failure| failure.rule().map(str::to_owned));
        prop_assert_eq!(unread, Err(Some("weak-match".to_owned())));
    }

    /// An empty line of context with its mark is context, in every dialect.
    #[test]
    fn an_empty_line_with_its_mark_has_to_be_there(
        lines in words(3..7),
        place in 0..7_usize,
        blank in any::<bool>(),
        context in any::<bool>(),
        numbers in select(&["-1,2 +1,3", "-7,2 +7,2", "-9 +9"][..]),
    ) {
        let place = place % (lines.len() - 1);
        let file = |new: &str| -> String {
            let line = |(at, line): (usize, &String)| match at == place {
                true => format!("{line}\n{new}{}", if blank { "\n" } else { "" }),
                false => format!("{line}\n"),
            };
            lines.iter().enumerate().map(line).collect()
        };
        let body = format!(" {}\n+new\n \n", lines[place]);
        let patch = match context {
            true => format!("*** Begin Patch\n*** Update File: m\n@@\n{body}*** End Patch\n"),
            false => format!("--- a/m\n+++ b/m\n@@ {numbers} @@\n{body}"),
        };
        let result = patched(&file(""), &patch, Basis::Unknown);
        match blank {
            true => prop_assert_eq!(result.ok(), Some(file("new\n"))),
            false => prop_assert!(result.is_err(), "{result:?}"),
        }
    }

    /// A mail is the diff in it, whatever Git's version is and no matter who wrote it.
    #[test]
    fn a_mail_says_what_its_diff_says(
        lines in words(3..8),
        place in 0..8_usize,
        version in "[1-3]\\.[0-9]{1,2}(\\.[0-9])?( \\(Apple Git-[0-9]{3}\\))?",
        subject in "[a-z ]{1,30}",
        ends in 0..3_usize,
    ) {
        let place = place % lines.len();
        let file: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let body: String = lines
            .iter()
            .enumerate()
            .map(|(at, line)| if at == place { format!("-{line}\n+new\n") } else { format!(" {line}\n") })
            .collect();
        let count = lines.len();
        let diff = format!("diff --git a/m b/m\nindex 1..2 100644\n--- a/m\n+++ b/m\n@@ -1,{count} +1,{count} @@\n{body}");
        let mail = format!(
            "From 1f Mon Sep 17 00:00:00 2001\nFrom: A <a@example.org>\nSubject: [PATCH] {subject}\n\n---\n m | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n\n{diff}-- \n{version}\n{}",
            "\n".repeat(ends)
        );
        prop_assert_eq!(parse_patch(&mail).ok(), parse_patch(&diff).ok());
        let landed = file.replace(&lines[place], "new");
        prop_assert_eq!(patched(&file, &mail, Basis::Unknown).ok(), Some(landed));
    }

    /// A path is the same with Git's prefixes, with one of them, with none, and in what a patch is wrapped in.
    #[test]
    fn a_path_is_read_the_same_in_every_form(
        parts in proptest::collection::vec("[c-z]{1,6}( [c-z]{1,3})?", 1..4),
        prefixes in select(&[("a/", "b/"), ("a/", ""), ("", "b/"), ("", ""), ("b/", "a/")][..]),
        from_git in any::<bool>(),
        wrapped in 0..4_usize,
    ) {
        let path = parts.join("/");
        let (old, new) = prefixes;
        let git = match from_git && prefixes == ("a/", "b/") {
            true => format!("diff --git a/{path} b/{path}\nold mode 100644\nnew mode 100755\nindex 1..2\n"),
            false => String::new(),
        };
        let diff = format!("{git}--- {old}{path}\t\n+++ {new}{path}\t\n@@ -1 +1 @@\n-x\n+y\n");
        let text = match wrapped {
            0 => diff,
            1 => format!("```diff\n{diff}```\n"),
            2 => format!("Here it is:\n\n```\n{diff}```\n"),
            _ => format!("git apply <<'EOF'\n{diff}EOF\n"),
        };
        let files = parse_patch(&text).map_err(|failure| failure.message);
        let paths = files.map(|files| files.into_iter().map(|file| file.path).collect::<Vec<_>>());
        prop_assert_eq!(paths, Ok(vec![path]), "{}", text);
    }

    /// Lines of blanks that an edit keeps stay as the file has them, at whatever depth it is said, with their blanks or without.
    #[test]
    fn lines_of_blanks_that_an_edit_keeps_stay_as_they_are(
        lines in words(4..8),
        blanks in proptest::collection::vec(0..9_usize, 8),
        depth in 0..4_usize,
        has_blanks in any::<bool>(),
        is_patch in any::<bool>(),
        place in 0..8_usize,
    ) {
        let place = place % lines.len();
        let of = |at: usize| " ".repeat(blanks[at]);
        let file = |changed: &str| -> String {
            let line = |(at, line): (usize, &String)| {
                let line = if at == place { changed } else { line };
                format!("{}{line}\n{}\n", "    ".repeat(depth), of(at))
            };
            lines.iter().enumerate().map(line).collect()
        };
        let said = |at: usize| if has_blanks { of(at) } else { String::new() };
        let result = if is_patch {
            let line = |(at, line): (usize, &String)| match at == place {
                true => format!("-{line}\n+changed\n {}\n", said(at)),
                false => format!(" {line}\n {}\n", said(at)),
            };
            let body: String = lines.iter().enumerate().map(line).collect();
            patched(&file(&lines[place]), &format!("--- a/m\n+++ b/m\n@@\n{body}"), Basis::Unknown)
        } else {
            let text = |changed: &str| -> String {
                let line = |(at, line): (usize, &String)| {
                    format!("{}\n{}\n", if at == place { changed } else { line }, said(at))
                };
                lines.iter().enumerate().map(line).collect()
            };
            let edit = TextEdit { number: 1, old: text(&lines[place]), new: text("changed"), expect: 1 };
            let before = Text::new(file(&lines[place]));
            apply(&before, Edits::Texts(&[edit]), Basis::Unknown, &endless())
                .map(|applied| applied.text.content().to_owned())
        };
        prop_assert_eq!(result.map_err(|failure| failure.message), Ok(file("changed")));
    }

    /// A line of blanks that an edit changes gets the blanks that it is given, as the file writes them.
    #[test]
    fn a_line_of_blanks_that_an_edit_changes_has_the_blanks_of_the_edit(
        lines in words(3..6),
        depth in 1..4_usize,
        old_blanks in 0..4_usize,
        new_blanks in 0..4_usize,
        has_tabs in any::<bool>(),
        is_patch in any::<bool>(),
        place in 0..6_usize,
    ) {
        prop_assume!(old_blanks != new_blanks);
        let place = place % lines.len();
        let blanks = |tabs: bool, count: usize| if tabs { "\t".repeat(count) } else { "    ".repeat(count) };
        let text = |tabs: bool, count: usize| -> String {
            let line = |(at, line): (usize, &String)| match at == place {
                true => format!("{}{line}\n{}\n", blanks(tabs, depth), blanks(tabs, count)),
                false => format!("{}{line}\n", blanks(tabs, depth)),
            };
            lines.iter().enumerate().map(line).collect()
        };
        let file = format!("before\n{}behind\n", text(has_tabs, old_blanks));
        let result = if is_patch {
            let line = |(at, line): (usize, &String)| {
                let own = format!(" {}{line}\n", blanks(!has_tabs, depth));
                match at == place {
                    true => format!("{own}-{}\n+{}\n", blanks(!has_tabs, old_blanks), blanks(!has_tabs, new_blanks)),
                    false => own,
                }
            };
            let body: String = lines.iter().enumerate().map(line).collect();
            patched(&file, &format!("--- a/m\n+++ b/m\n@@\n{body}"), Basis::Unknown)
        } else {
            let (old, new) = (text(!has_tabs, old_blanks), text(!has_tabs, new_blanks));
            let edit = TextEdit { number: 1, old, new, expect: 1 };
            apply(&Text::new(file), Edits::Texts(&[edit]), Basis::Unknown, &endless())
                .map(|applied| applied.text.content().to_owned())
        };
        let right = format!("before\n{}behind\n", text(has_tabs, new_blanks));
        prop_assert_eq!(result.map_err(|failure| failure.message), Ok(right));
    }

    /// A hunk of which some lines of context have lost their mark puts nothing into another column.
    #[test]
    fn context_without_its_mark_puts_no_line_in_another_column(
        lines in words(3..7),
        marked in proptest::collection::vec(any::<bool>(), 7),
        place in 0..7_usize,
        depth in 0..3_usize,
        removes in any::<bool>(),
    ) {
        let place = place % lines.len();
        let indentation = "    ".repeat(depth);
        let file = |changed: bool| -> String {
            let line = |(at, line): (usize, &String)| match changed && at == place {
                true if removes => format!("{indentation}added\n"),
                true => format!("{indentation}{line}\n{indentation}added\n"),
                false => format!("{indentation}{line}\n"),
            };
            lines.iter().enumerate().map(line).collect()
        };
        let line = |(at, line): (usize, &String)| {
            let mark = if marked[at] { " " } else { "" };
            match at == place {
                true if removes => format!("-{indentation}{line}\n+{indentation}added\n"),
                true => format!("{mark}{indentation}{line}\n+{indentation}added\n"),
                false => format!("{mark}{indentation}{line}\n"),
            }
        };
        let body: String = lines.iter().enumerate().map(line).collect();
        let patch = format!("--- a/m\n+++ b/m\n@@\n{body}");
        // What has lost its mark may be no patch at all.
        let landed = parse_patch(&patch).and_then(|_| patched(&file(false), &patch, Basis::Unknown));
        prop_assert!(landed.as_ref().map_or(true, |text| *text == file(true)), "{landed:?}");
        let all = (0..lines.len()).all(|at| marked[at] || removes && at == place);
        prop_assert!(!all || landed.is_ok(), "{landed:?}");
    }

    /// A diff gives a file its final line end, and takes it, however its lines end.
    #[test]
    fn a_diff_gives_and_takes_the_final_line_end(
        lines in words(2..6),
        has_crlf in any::<bool>(),
        gives in any::<bool>(),
        numbers in any::<bool>(),
    ) {
        let ending = if has_crlf { "\r\n" } else { "\n" };
        let file = |is_ended: bool| format!("{}{}", lines.join(ending), if is_ended { ending } else { "" });
        let context: String = lines[..lines.len() - 1].iter().map(|line| format!(" {line}\n")).collect();
        let (last, none) = (&lines[lines.len() - 1], "\\ No newline at end of file\n");
        let (old, new) = if gives { (none, "") } else { ("", none) };
        let count = lines.len();
        let header = if numbers { format!("@@ -1,{count} +1,{count} @@") } else { "@@".to_owned() };
        let patch = format!("--- a/m\n+++ b/m\n{header}\n{context}-{last}\n{old}+{last}\n{new}");
        prop_assert_eq!(patched(&file(!gives), &patch, Basis::Unknown).ok(), Some(file(gives)));
    }

    /// The answer names every edit that does not fit, and no other.
    #[test]
    fn every_edit_that_does_not_fit_is_named(
        lines in words(4..12),
        broken in proptest::collection::btree_set(1..12_usize, 0..6),
    ) {
        let file: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let broken: BTreeSet<usize> = broken.into_iter().filter(|number| *number <= lines.len()).collect();
        let edit = |(at, line): (usize, &String)| TextEdit {
            number: at + 1,
            old: if broken.contains(&(at + 1)) { format!("{line}abab") } else { line.clone() },
            new: format!("new {line}"),
            expect: 1,
        };
        let edits: Vec<TextEdit> = lines.iter().enumerate().map(edit).collect();
        let result = apply(&Text::new(file.clone()), Edits::Texts(&edits), Basis::Unknown, &endless());
        let named: BTreeSet<usize> = match &result {
            Ok(_) => BTreeSet::new(),
            Err(failure) => {
                let all = failure.details.get("failures").and_then(|it| it.as_array().cloned());
                let all = all.unwrap_or_else(|| vec![serde_json::Value::Object(failure.details.clone())]);
                let number = |entry: &serde_json::Value| entry["edit"].as_u64().and_then(|it| it.try_into().ok());
                all.iter().filter_map(number).collect()
            }
        };
        prop_assert_eq!(named, broken);
    }
}

proptest! {
    // Each is a service of its own.
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    /// A patch for a folder changes the files below it that it names, from the folder or from the scope's; where both
    /// are there, nothing.
    #[test]
    fn a_patch_for_a_folder_changes_what_it_names_below_it(
        folder in "[c-z]{1,6}(/[c-z]{1,4})?",
        path in "[c-z]{1,6}(/[c-z]{1,4}){0,2}\\.txt",
        prefixes in select(&[("a/", "b/"), ("", "")][..]),
        from_scope in any::<bool>(),
        is_outside in any::<bool>(),
        is_doubled in any::<bool>(),
    ) {
        // A name that begins with the folder's is one from the scope's folder.
        prop_assume!(!path.starts_with(&format!("{folder}/")));
        let world = TestScope::new();
        let put = |name: &str| {
            let file = world.root().join(name);
            fs::create_dir_all(file.parent().expect("a folder")).expect("the scope can be written");
            fs::write(&file, "x\n").expect("the scope can be written");
        };
        // Of the same name from the scope's folder, and below the folder once more.
        let (meant, other, twice) =
            (format!("{folder}/{path}"), path.clone(), format!("{folder}/{folder}/{path}"));
        put(&meant);
        if is_outside {
            put(&other);
        }
        if is_doubled {
            put(&twice);
        }
        let named = if from_scope { &meant } else { &path };
        let (old, new) = prefixes;
        let patch = format!("--- {old}{named}\n+++ {new}{named}\n@@ -1 +1 @@\n-x\n+y\n");
        let service = world.boot();
        let answer = call(&service, json!({"op": "file.patch", "target": folder, "input": {"patch": patch}}));
        let is_ambiguous = from_scope && is_doubled;
        prop_assert_eq!(answer["ok"].as_bool(), Some(!is_ambiguous), "{}", answer);
        for name in [&meant, &other, &twice] {
            let text = fs::read_to_string(world.root().join(name)).unwrap_or_default();
            let is_changed = name == &meant && !is_ambiguous;
            prop_assert_eq!(text == "y\n", is_changed, "{}: {}", name, answer);
        }
    }
}
