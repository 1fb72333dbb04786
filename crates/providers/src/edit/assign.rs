//! Which place each hunk of a patch means, where it fits several.
//!
//! A place is taken if it is the only one, if it is the only one in the order of the hunks, if the
//! patch itself names it (a line after `@@`, the end of the file), or if credible line numbers point at it
//! ([`by_number`]). Otherwise the hunk is refused: there is no nearest and no first.

use bailiwick_contract::Failure;

use super::evidence::{Doubt, doubt, is_done};
use super::failure::{Failures, Name, ambiguous, conflict, no_match, refused, weak_match};
use super::hunk::{Hunk, Mark};
use super::matching::{Index, Match, Shift};
use super::section::{Section, sections};
use super::text::Text;
use super::tier::{Basis, TieBreak, Tier};

/// How many lines a hunk needs so that its line number may decide.
const LINES_FOR_NUMBERS: usize = 3;

/// In how many places a hunk may fit, before nothing else is asked which is meant.
const MAX_PLACES: usize = 10_000;

/// Where a hunk goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HunkPlacement {
    /// Where, and how it is indented.
    pub at: Match,
    /// How many lines of the file it covers.
    pub lines: usize,
    /// How closely it fits.
    pub tier: Tier,
    /// What decided, if it fits several places.
    pub chosen: Option<TieBreak>,
}

struct Candidates {
    tier: Tier,
    found: Vec<Match>,
    lines: usize,
    chosen: Option<TieBreak>,
}

/// Places every hunk. `basis` says for which version of the file the patch was made.
///
/// # Errors
/// `conflict` for the hunks that fit nowhere, or several places.
pub fn place_hunks(
    index: &mut Index<'_>,
    hunks: &[Hunk],
    basis: Basis,
) -> Result<Vec<HunkPlacement>, Failure> {
    let text = index.text();
    let mut all = Vec::with_capacity(hunks.len());
    let mut failures = Failures::default();
    for (at, hunk) in hunks.iter().enumerate() {
        all.extend(failures.take(candidates(index, name(at), hunk, basis))?);
    }
    // Where one fits nowhere, nothing is said of those that fit several places: its place could decide.
    std::mem::take(&mut failures).check()?;
    if all.iter().any(|it| it.found.len() > 1) {
        by_order(&mut all);
    }
    for at in 0..all.len() {
        if all[at].found.len() > 1 {
            let place = by_number(text, &all, hunks, at, basis);
            let candidates = &mut all[at];
            match place {
                Some(place) => {
                    candidates.found = vec![place];
                    candidates.chosen = Some(TieBreak::LineNumber);
                }
                None => {
                    let starts: Vec<usize> = candidates.found.iter().map(|it| it.line).collect();
                    failures.take::<()>(Err(ambiguous(name(at), text, &starts, candidates.lines)))?;
                }
            }
        }
    }
    failures.check()?;
    let placed: Vec<HunkPlacement> = all
        .into_iter()
        .filter_map(|mut it| {
            let at = it.found.pop()?;
            Some(HunkPlacement { at, lines: it.lines, tier: it.tier, chosen: it.chosen })
        })
        .collect();
    let mut order: Vec<usize> = (0..placed.len()).collect();
    order.sort_by_key(|at| (placed[*at].at.line, *at));
    for pair in order.windows(2) {
        let (before, after) = (&placed[pair[0]], &placed[pair[1]]);
        if before.at.line + before.lines > after.at.line {
            return Err(refused(
                name(pair[1]),
                "overlap",
                format!("{} and {} change the same lines", name(pair[0]), name(pair[1])),
            )
            .hint("Put both into one hunk. Every hunk sees the file as it was before the call."));
        }
    }
    Ok(placed)
}

fn name(at: usize) -> Name {
    Name { kind: "hunk", number: at + 1 }
}

fn candidates(index: &mut Index<'_>, name: Name, hunk: &Hunk, basis: Basis) -> Result<Candidates, Failure> {
    let text = index.text();
    let old = hunk.old();
    if old.is_empty() {
        return insertion(text, name, hunk, basis);
    }
    for tier in Tier::OF_TEXT {
        let found = index.find(&old, tier)?;
        if found.is_empty() {
            continue;
        }
        if found.len() > MAX_PLACES {
            let starts: Vec<usize> = found.iter().map(|it| it.line).collect();
            return Err(ambiguous(name, text, &starts, old.len()));
        }
        // Where the new lines cannot be indented as the old ones are, the hunk does not fit. And where all lines of
        // context are one space less, they have lost their marks: then the new lines have not.
        let unmarked =
            |shift: &Shift| *shift == Shift::Deeper(" ".to_owned()) && hunk.count(Mark::Remove) == 0;
        let found: Vec<Match> =
            found.into_iter().filter(|at| hunk.takes(&at.shift) && !unmarked(&at.shift)).collect();
        let Some(first) = found.first() else { continue };
        if let Some(doubt) = found.iter().find_map(|at| doubt(&old, tier, &at.shift, basis)) {
            return Err(weak_match(name, text, first.line, &old, doubt));
        }
        if tier > Tier::TrailingSpace {
            for at in &found {
                if is_done(index, &hunk.new_lines(), at.line, old.len())? {
                    return Err(weak_match(name, text, at.line, &old, Doubt::Done));
                }
            }
        }
        let mut candidates = Candidates { tier, found, lines: old.len(), chosen: None };
        narrow(text, name, hunk, &mut candidates)?;
        return Ok(candidates);
    }
    Err(no_match(name, text, &old))
}

/// Finds where lines go that come without any others around them.
fn insertion(text: &Text, name: Name, hunk: &Hunk, basis: Basis) -> Result<Candidates, Failure> {
    let at = match hunk.hint {
        _ if text.is_empty() => Some((0, None)),
        _ if hunk.at_end => Some((text.len(), Some(TieBreak::EndOfFile))),
        Some(line) if basis == Basis::Current && line <= text.len() => {
            Some((line, Some(TieBreak::LineNumber)))
        }
        _ => None,
    };
    let Some((line, chosen)) = at else {
        return Err(refused(
            name,
            "no-context",
            format!("{name}: it has only new lines, so nothing shows where they belong"),
        )
        .hint("Add lines of context before or after them, as they are in the file.")
        .hint("Or set `options.ifVersion`, so that the line numbers of a unified diff hold."));
    };
    let found = vec![Match { line, shift: Shift::None }];
    Ok(Candidates { tier: Tier::Exact, found, lines: 0, chosen })
}

/// Keeps the places that the patch itself names.
///
/// # Errors
/// `conflict` if there is none: what a patch says about its place is no less to be there than its lines.
fn narrow(text: &Text, name: Name, hunk: &Hunk, candidates: &mut Candidates) -> Result<(), Failure> {
    let several = candidates.found.len() > 1;
    if hunk.at_end {
        candidates.found.retain(|at| at.line + candidates.lines == text.len());
        if candidates.found.is_empty() {
            let message = format!("{name}: it says `*** End of File`, and its lines are elsewhere");
            return Err(conflict(name, "not-at-end", message).hint("Leave `*** End of File` out."));
        }
        candidates.chosen = several.then_some(TieBreak::EndOfFile);
        return Ok(());
    }
    if !hunk.headers.is_empty() {
        let sections = sections(text, &hunk.headers).map_err(|header| {
            let message = format!("{name}: no line of the file is `{header}`, which is after its `@@`");
            conflict(name, "header", message)
                .hint("Copy the line after `@@` from the file, or write `@@` alone.")
        })?;
        let line = candidates.found[0].line;
        candidates.found.retain(|at| is_in(hunk, at.line, candidates.lines, &sections));
        if candidates.found.is_empty() {
            let header = hunk.headers.last().map_or("", String::as_str);
            let message = format!(
                "{name}: its lines are at line {} and not below `{header}`, which is after its `@@`",
                line + 1
            );
            return Err(conflict(name, "header", message)
                .detail("places", vec![super::failure::place(text, line, candidates.lines)])
                .hint("Read the file again: what is meant below that line may have been changed.")
                .hint("Or write the line after `@@` that is before the place, or `@@` alone."));
        }
        candidates.chosen = (several && candidates.found.len() == 1).then_some(TieBreak::Header);
    } else if several && !hunk.heading.is_empty() {
        // What `git diff` writes behind the numbers can be of the function before.
        let sections = sections(text, std::slice::from_ref(&hunk.heading)).unwrap_or_default();
        let named = |at: &&Match| {
            sections.iter().any(|it| it.takes(at.line)) || is_in(hunk, at.line, candidates.lines, &sections)
        };
        let mut inside = candidates.found.iter().filter(named);
        if let (Some(only), None) = (inside.next(), inside.next()) {
            candidates.found = vec![only.clone()];
            candidates.chosen = Some(TieBreak::Header);
        }
    }
    Ok(())
}

/// Returns whether a hunk at a line changes a section first, or has the section's own line among its lines.
fn is_in(hunk: &Hunk, line: usize, lines: usize, sections: &[Section]) -> bool {
    let (leading, _) = hunk.context();
    let first = line + leading;
    let removes = hunk.lines.get(leading).is_some_and(|(mark, _)| *mark == Mark::Remove);
    sections.iter().any(|section| {
        let own = (line..line + lines).contains(&section.header);
        own || if removes { section.holds(first) } else { section.takes(first) }
    })
}

/// Keeps the places that are left when the hunks must follow each other, if that leaves one for each.
fn by_order(all: &mut [Candidates]) {
    // From the end: how many ways there are to place this hunk here and all that follow after it.
    let mut ways: Vec<Vec<u8>> = Vec::with_capacity(all.len());
    let mut later: Option<(Vec<usize>, Vec<u8>)> = None;
    for it in all.iter().rev() {
        let own: Vec<u8> = it
            .found
            .iter()
            .map(|at| match &later {
                None => 1,
                Some((starts, sums)) => {
                    let from = starts.partition_point(|start| *start < at.line + it.lines);
                    sums.get(from).copied().unwrap_or(0)
                }
            })
            .collect();
        // Sums from each place on; two are as good as many.
        let mut sums = own.clone();
        for at in (0..sums.len().saturating_sub(1)).rev() {
            sums[at] = (sums[at] + sums[at + 1]).min(2);
        }
        later = Some((it.found.iter().map(|at| at.line).collect(), sums));
        ways.push(own);
    }
    ways.reverse();
    let total = later.and_then(|(_, sums)| sums.first().copied()).unwrap_or(0);
    if total != 1 {
        return;
    }
    let mut from = 0;
    for (it, ways) in all.iter_mut().zip(ways) {
        let Some(at) = (0..it.found.len()).find(|at| it.found[*at].line >= from && ways[*at] == 1) else {
            return;
        };
        if it.found.len() > 1 {
            it.chosen = Some(TieBreak::Order);
        }
        let place = it.found[at].clone();
        from = place.line + it.lines;
        it.found = vec![place];
    }
}

/// Finds the place that the hunk's line number means, if it is credible.
///
/// A number counts for the version that the patch was made for; or moved by as many lines as the hunks around it, which fit
/// one place only; or, where no other hunk says anything, exactly where it points. The last needs a hunk of some lines whose
/// shape is right there, and line 1 is never meant so: it is what is written by who does not know the number.
///
/// Lines that repeat fit one line on as well. A number tells such places apart only in a file that was read as it is, or
/// between two hunks that are moved alike: of lines that were added or removed among them, nothing else would tell.
fn by_number(text: &Text, all: &[Candidates], hunks: &[Hunk], at: usize, basis: Basis) -> Option<Match> {
    let hint = hunks[at].hint?;
    let it = &all[at];
    let distance = |other: usize| -> Option<isize> {
        let [only] = &all[other].found[..] else { return None };
        let fits_one_place = all[other].chosen.is_none() || all[other].chosen == Some(TieBreak::Order);
        fits_one_place.then_some(())?;
        only.line.checked_signed_diff(hunks[other].hint?)
    };
    let before = (0..at).rev().find_map(distance);
    let after = (at + 1..all.len()).find_map(distance);
    let distance = match (before, after) {
        _ if basis == Basis::Current => 0,
        (Some(before), Some(after)) if before != after => return None,
        (Some(distance), _) | (None, Some(distance)) => distance,
        (None, None) if hint > 0 && it.tier <= Tier::TrailingSpace && basis != Basis::Outdated => 0,
        (None, None) => return None,
    };
    let line = hint.checked_add_signed(distance)?;
    let place = it.found.iter().find(|place| place.line == line)?;
    let is_moved_alike = before.is_some() && after.is_some();
    let repeats = it.found.iter().any(|other| (1..it.lines).contains(&other.line.abs_diff(line)));
    if repeats && !is_moved_alike && matches!(basis, Basis::Unknown | Basis::Outdated) {
        return None;
    }
    // A hunk with less context on one side was made at that end of the file.
    let (leading, trailing) = hunks[at].context();
    let fits_shape = match leading.cmp(&trailing) {
        std::cmp::Ordering::Less => line == 0,
        std::cmp::Ordering::Greater => line + it.lines == text.len(),
        std::cmp::Ordering::Equal => true,
    };
    // Little text fits by chance.
    let credible = match basis {
        Basis::Current => hint > 0 || fits_shape,
        Basis::Read | Basis::Unknown | Basis::Outdated => it.lines >= LINES_FOR_NUMBERS && fits_shape,
    };
    credible.then(|| place.clone())
}

#[cfg(test)]
mod tests {
    use bailiwick_contract::Cancel;
    use proptest::prelude::*;

    use super::super::{Edits, PatchAction, apply, parse_patch};
    use super::*;

    /// Applies a patch; gives the text after it, or the rule that refuses it.
    fn patched(file: &str, patch: &str, basis: Basis) -> Result<String, String> {
        let files = parse_patch(patch).expect("it is a patch");
        let PatchAction::Update { hunks, .. } = &files[0].action else { panic!("{patch}") };
        let cancel = Cancel::after(std::time::Duration::from_secs(3_600));
        apply(&Text::new(file.to_owned()), Edits::Hunks(hunks), basis, &cancel)
            .map(|applied| applied.text.content().to_owned())
            .map_err(|failure| failure.rule().unwrap_or_default().to_owned())
    }

    #[test]
    fn line_one_is_no_hint() {
        let file = format!("alpha\nbeta\ngamma\n{}alpha\nbeta\ngamma\n", "filler\n".repeat(8));
        for numbers in [
            "@@ -1,1 +1,1 @@",
            "@@ -1,3 +1,3 @@",
            "@@ -1 +1 @@",
            "@@",
            "@@ -12,2 +12,2 @@",
            "@@ -11,3 +11,3 @@",
        ] {
            let patch = format!("--- a/m\n+++ b/m\n{numbers}\n alpha\n-beta\n+BETA\n gamma\n");
            assert_eq!(patched(&file, &patch, Basis::Unknown), Err("ambiguous".to_owned()), "{numbers}");
        }
        // Exactly there, and with counts that fit.
        let patch = "--- a/m\n+++ b/m\n@@ -12,3 +12,3 @@\n alpha\n-beta\n+BETA\n gamma\n";
        let (head, tail) = file.split_at(file.rfind("beta").expect("it is there"));
        assert_eq!(patched(&file, patch, Basis::Unknown), Ok(format!("{head}BETA{}", &tail[4..])));
    }

    #[test]
    fn the_line_after_the_signs_has_to_be_there() {
        let file =
            "class A:\n    def f(self):\n        pass\n\n\nclass B:\n    def f(self):\n        return 1\n";
        let patch = |headers: &str| {
            format!(
                "*** Begin Patch\n*** Update File: m\n{headers}-        return 1\n+        return 2\n*** End Patch\n"
            )
        };
        let landed = Ok(file.replace("return 1", "return 2"));
        for headers in
            ["@@\n", "@@ class B:\n", "@@ class B:\n@@     def f(self):\n", "@@ class B\n@@ def f(self\n"]
        {
            assert_eq!(patched(file, &patch(headers), Basis::Unknown), landed, "{headers}");
        }
        for headers in [
            "@@ class A:\n",
            "@@ class A:\n@@     def f(self):\n",
            "@@ class Nothing:\n",
            "@@ class B:\n@@ def g\n",
        ] {
            assert_eq!(patched(file, &patch(headers), Basis::Unknown), Err("header".to_owned()), "{headers}");
        }
        // The line may be one of the hunk's own.
        let patch = "*** Begin Patch\n*** Update File: m\n@@ class B:\n+@final\n class B:\n*** End Patch\n";
        assert_eq!(patched(file, patch, Basis::Unknown), Ok(file.replace("class B", "@final\nclass B")));
    }

    #[test]
    fn what_stands_behind_the_numbers_decides_between_places_and_refuses_none() {
        let file = "def f():\n    a = 1\n    go()\n\n\ndef g():\n    a = 1\n    go()\n";
        let patch = |heading: &str| {
            format!("--- a/m\n+++ b/m\n@@ -1,1 +1,1 @@{heading}\n-    a = 1\n+    a = 2\n     go()\n")
        };
        let (head, tail) = file.split_at(file.rfind("a = 1").expect("it is there"));
        let landed = Ok(format!("{head}{}", tail.replace('1', "2")));
        assert_eq!(patched(file, &patch(" def g():"), Basis::Unknown), landed);
        assert_eq!(patched(file, &patch(" def h():"), Basis::Unknown), Err("ambiguous".to_owned()));
        let one = "a = 0\n    a = 1\n    go()\n";
        assert_eq!(patched(one, &patch(" def h():"), Basis::Unknown), Ok(one.replace("a = 1", "a = 2")));
    }

    #[test]
    fn an_empty_line_of_context_at_the_end_counts() {
        let file = "def f():\n    a()\n    c()\n    x()\n";
        for numbers in ["-7,2 +7,2", "-7,2 +7,3", "-3,2 +3,3"] {
            let patch = format!("--- a/m.py\n+++ b/m.py\n@@ {numbers} @@\n     c()\n+    d()\n \n");
            assert_eq!(patched(file, &patch, Basis::Unknown), Err("no-match".to_owned()), "{numbers}");
        }
        let context = |blank: &str| {
            format!("*** Begin Patch\n*** Update File: m.py\n@@\n     c()\n+    d()\n{blank}*** End Patch\n")
        };
        assert_eq!(patched(file, &context(" \n"), Basis::Unknown), Err("no-match".to_owned()));
        assert_eq!(
            patched(file, &context("\n"), Basis::Unknown),
            Err("no-match".to_owned()),
            "too little without it"
        );
        let two = format!("{file}\ndef g():\n    c()\n\n\n");
        let landed = Ok(format!("{file}\ndef g():\n    c()\n    d()\n\n\n"));
        for blank in [" \n", "\n", "\n\n", " \n*** End of File\n"] {
            let expected = if blank.contains("File") { Err("not-at-end".to_owned()) } else { landed.clone() };
            assert_eq!(patched(&two, &context(blank), Basis::Unknown), expected, "{blank:?}");
        }
        // Lines that say enough are found without it.
        let told = file.replace("c()", "call_with(some, arguments)");
        let patch = context("\n").replace("c()", "call_with(some, arguments)");
        assert_eq!(patched(&told, &patch, Basis::Unknown), Ok(told.replace("    x()", "    d()\n    x()")));
        assert_eq!(patched(&told, &patch, Basis::Outdated), Err("no-match".to_owned()));
    }

    #[test]
    fn tabs_and_spaces_stand_for_each_other_at_the_same_depth() {
        let file = "func f() {\n\tif first {\n\t\tsecond()\n\t}\n}\n";
        let patch = |unit: &str| {
            "--- a/m.go\n+++ b/m.go\n@@\n >if first {\n->>second()\n+>>for {\n+>>>third()\n+>>}\n >}\n"
                .replace('>', unit)
        };
        let landed = file.replace("second()", "for {\n\t\t\tthird()\n\t\t}");
        assert_eq!(patched(file, &patch("    "), Basis::Unknown), Ok(landed));
        let spaces = file.replace('\t', "  ");
        let landed = spaces.replace("second()", "for {\n      third()\n    }");
        assert_eq!(patched(&spaces, &patch("\t"), Basis::Unknown), Ok(landed));
        // At another depth, or with too little to go by.
        let deeper = file.replace("\n\t", "\n\t\t");
        assert_eq!(patched(&deeper, &patch("    "), Basis::Unknown), Err("no-match".to_owned()));
        let little = "--- a/m.go\n+++ b/m.go\n@@\n-    }\n+    } // end\n";
        assert_eq!(patched(file, little, Basis::Unknown), Err("weak-match".to_owned()));
        assert_eq!(patched(file, &patch("    "), Basis::Outdated), Err("weak-match".to_owned()));
        // A table keeps its tabs; a new row of it says nothing of them.
        let table = "name\tsize of it\nsome file\t12\n";
        let patch = |new: &str| format!("--- a/t\n+++ b/t\n@@\n name    size of it\n-some file    12\n{new}");
        assert_eq!(
            patched(table, &patch("+some file    13\n"), Basis::Unknown),
            Ok(table.replace("12", "13"))
        );
        let two = patch("+some file    13\n+other file    14\n");
        assert_eq!(patched(table, &two, Basis::Unknown), Err("no-match".to_owned()));
    }

    #[test]
    fn an_edit_that_puts_lines_deeper_is_not_made_twice() {
        let file = "fn a() {\n    first_function_call();\n    second_function_call();\n}\n";
        let (old, new) = (
            "    first_function_call();\n    second_function_call();\n",
            "    if ready {\n        first_function_call();\n        second_function_call();\n    }\n",
        );
        let marked =
            |mark: &str, text: &str| text.lines().map(|line| format!("{mark}{line}\n")).collect::<String>();
        let patch = format!("--- a/m\n+++ b/m\n@@\n{}{}", marked("-", old), marked("+", new));
        let done = file.replace(old, new);
        assert_eq!(patched(file, &patch, Basis::Unknown), Ok(done.clone()));
        assert_eq!(patched(&done, &patch, Basis::Unknown), Err("weak-match".to_owned()));
        // Where they are deeper and the edit was not made, it is.
        let deeper = format!("fn b() {{\n{}}}\n", marked("    ", old));
        assert_eq!(
            patched(&deeper, &patch, Basis::Read),
            Ok(deeper.replace(&marked("    ", old), &marked("    ", new)))
        );
    }

    #[test]
    fn context_that_has_lost_its_marks_is_no_indentation() {
        let file = "fn a() {\n    first_function_call();\n    second_function_call();\n}\n";
        let patch =
            "--- a/m\n+++ b/m\n@@\n    first_function_call();\n+    third();\n    second_function_call();\n";
        assert_eq!(patched(file, patch, Basis::Unknown), Err("no-match".to_owned()));
    }

    #[test]
    fn a_file_that_was_changed_since_it_was_read_takes_no_loose_reading() {
        let file = "mod a {\n    fn first_function() {\n        second_function()\n    }\n}\n";
        let patch = "--- a/m\n+++ b/m\n@@\n fn first_function() {\n-    second_function()\n+    third_function()\n }\n";
        let landed = Ok(file.replace("second", "third"));
        assert_eq!(patched(file, patch, Basis::Read), landed);
        // Two lines that say something are too few where nobody knows which file they were written for.
        assert_eq!(patched(file, patch, Basis::Unknown), Err("weak-match".to_owned()));
        let third = patch.replace(" }\n", "     // The end of it.\n }\n");
        let longer = file.replace("    }\n}", "        // The end of it.\n    }\n}");
        assert_eq!(patched(&longer, &third, Basis::Unknown), Ok(longer.replace("second", "third")));
        assert_eq!(patched(file, patch, Basis::Outdated), Err("weak-match".to_owned()));
    }

    proptest! {
        /// Lines that every file has, at another depth than they are written, are no place.
        #[test]
        fn few_and_common_lines_are_not_found_at_another_depth(
            lines in proptest::collection::vec("(\\}|end|\\)|else|/\\*\\*|return 1|[a-z]{2} = [0-9])", 1..4),
            depth in 1..3_usize,
            deeper in any::<bool>(),
        ) {
            let indented = |by: usize| -> Vec<String> {
                lines.iter().map(|line| format!("{}{line}\n", " ".repeat(by * 4))).collect()
            };
            let (there, old) = if deeper { (indented(depth), indented(0)) } else { (indented(0), indented(depth)) };
            let file = format!("before the place\n{}behind the place\n", there.concat());
            let hunk = Hunk {
                lines: old.iter().map(|line| (Mark::Remove, line.clone())).collect(),
                ..Hunk::default()
            };
            let cancel = Cancel::after(std::time::Duration::from_secs(3_600));
            let text = Text::new(file.clone());
            let failure = apply(&text, Edits::Hunks(&[hunk]), Basis::Unknown, &cancel).map(|it| it.text).expect_err("it says too little");
            prop_assert!(matches!(failure.rule(), Some("weak-match" | "no-match")), "{failure:?}");
            // Nor as old and new text, unless it is there byte for byte.
            let edit = super::super::TextEdit { number: 1, old: old.concat(), new: "x\n".to_owned(), expect: 1 };
            if !file.contains(&edit.old) {
                apply(&text, Edits::Texts(&[edit]), Basis::Unknown, &cancel).map(|it| it.text).expect_err("it says too little");
            }
        }

        /// An edit that puts lines into something new is made once, however deep the lines and the new ones are.
        #[test]
        fn an_edit_that_wraps_lines_is_made_once(
            words in proptest::collection::vec("[a-z]{9,14}", 2..5),
            depth in 0..3_usize,
            further in 1..3_usize,
            texts in any::<bool>(),
        ) {
            let at = |depth: usize, line: &str| format!("{}{line}\n", "    ".repeat(depth));
            let old: String = words.iter().map(|word| at(depth, word)).collect();
            let inner: String = words.iter().map(|word| at(depth + further, word)).collect();
            let new = format!("{}{inner}{}", at(depth, "if ready {"), at(depth, "}"));
            let (file, done) = (format!("before\n{old}after\n"), format!("before\n{new}after\n"));
            let cancel = Cancel::after(std::time::Duration::from_secs(3_600));
            let marked = |mark: Mark, text: &str| -> Vec<(Mark, String)> {
                text.split_inclusive('\n').map(|line| (mark, line.to_owned())).collect()
            };
            let hunk = Hunk {
                lines: [marked(Mark::Remove, &old), marked(Mark::Add, &new)].concat(),
                ..Hunk::default()
            };
            let edit = super::super::TextEdit { number: 1, old, new, expect: 1 };
            let make = |file: &str| {
                let text = Text::new(file.to_owned());
                let applied = match texts {
                    true => apply(&text, Edits::Texts(std::slice::from_ref(&edit)), Basis::Unknown, &cancel),
                    false => apply(&text, Edits::Hunks(std::slice::from_ref(&hunk)), Basis::Unknown, &cancel),
                };
                applied.map(|it| it.text.content().to_owned())
            };
            prop_assert_eq!(make(&file).ok(), Some(done.clone()));
            // At depth 0 the old text is not within the new one byte for byte either: its lines are whole.
            let again = make(&done);
            prop_assert!(again.is_err(), "{again:?}");
        }

        /// Of lines that repeat, a number tells where a change belongs only if the file was read as it is.
        #[test]
        fn numbers_decide_among_repeated_lines_only_in_a_file_that_was_read(
            lines in 5..12_usize,
            meant in 1..12_usize,
        ) {
            let meant = meant % (lines - 3) + 1;
            let same = |count: usize| "same\n".repeat(count);
            let file = format!("first\n{}last\n", same(lines));
            let patch = format!("--- a/m\n+++ b/m\n@@ -{0},3 +{0},3 @@\n same\n-same\n+other\n same\n", meant + 1);
            prop_assert_eq!(patched(&file, &patch, Basis::Unknown), Err("ambiguous".to_owned()));
            let expected = format!("first\n{}other\n{}last\n", same(meant), same(lines - meant - 1));
            for basis in [Basis::Read, Basis::Current] {
                prop_assert_eq!(patched(&file, &patch, basis), Ok(expected.clone()));
            }
        }

        /// What decides between copies: the offset of another hunk, or a number that fits; never one of placeholders.
        #[test]
        fn numbers_decide_only_where_they_are_credible(
            copies in 2..5_usize,
            meant in 0..5_usize,
            drift in 0..40_usize,
            neighbour in any::<bool>(),
            placeholder in any::<bool>(),
        ) {
            let meant = meant % copies;
            let copy = "one\ntwo\nthree\n";
            let file = |change: Option<usize>, last: &str| -> String {
                let copies = (0..copies).map(|at| {
                    let text = if change == Some(at) { copy.replace("two", "TWO") } else { copy.to_owned() };
                    format!("{text}{}", "filler\n".repeat(7))
                });
                format!("{}{last}\n", copies.collect::<String>())
            };
            let drifted = |text: String| format!("{}{text}", "drift\n".repeat(drift));
            let start = 1 + meant * 10;
            let end = copies * 10 + 1;
            let numbers = |line: usize, count: usize| match placeholder {
                true => "@@ -1,1 +1,1 @@".to_owned(),
                false => format!("@@ -{line},{count} +{line},{count} @@"),
            };
            let mut patch = format!("--- a/m\n+++ b/m\n{}\n one\n-two\n+TWO\n three\n", numbers(start, 3));
            if neighbour {
                patch.push_str(&format!("{}\n-last\n+LAST\n", numbers(end, 1)));
            }
            let result = patched(&drifted(file(None, "last")), &patch, Basis::Unknown);
            let expected = drifted(file(Some(meant), if neighbour { "LAST" } else { "last" }));
            if neighbour && !placeholder {
                prop_assert_eq!(result, Ok(expected));
            } else if drift % 10 != 0 || placeholder || meant == 0 {
                // It points at no copy, or is no number at all; or at the first line.
                let exact = !placeholder && drift == 0 && meant > 0;
                prop_assert_eq!(result, if exact { Ok(expected) } else { Err("ambiguous".to_owned()) });
            } else if drift == 0 {
                prop_assert_eq!(result, Ok(expected));
            }
        }
    }
}
