//! Real changes, in every form a file can have, through every dialect: nothing lands in a wrong place.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use bailiwick::providers::edit::{Basis, Edits, PatchAction, Text, Tier, apply, parse_patch};

use super::endless;
use super::sources::{Pair, pairs};
use super::variants::{Change, Form, git_diff};
use crate::system::{Need, lacks};

/// How many changes there must be.
const LEAST_CHANGES: usize = 400;
/// How far two differences may see the same change apart, in lines.
const SLACK: usize = 40;
/// The most parts of one change.
const MOST_PARTS: usize = 12;

/// The dialects; anchors with the version that they came with, and without.
const DIALECTS: [&str; 5] = ["edits", "unified diff", "context patch", "lines", "lines alone"];

#[derive(Debug, Default, Clone, Copy)]
struct Count {
    landed: usize,
    refused: usize,
    /// Those that no client could have said, since a place is not the only one of its kind.
    unsayable: usize,
}

fn bytes(text: &str, form: Form) -> Vec<u8> {
    match form {
        Form::Bom => format!("\u{feff}{text}").into_bytes(),
        Form::Utf16 => format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect(),
        Form::Latin1 => text
            .chars()
            .map(|character| u8::try_from(u32::from(character)).expect("it was made so"))
            .collect(),
        _ => text.as_bytes().to_vec(),
    }
}

/// The file's bytes after a change, and the tiers that were named.
type Landing = (Vec<u8>, Vec<Tier>);

/// Says the change in a dialect and applies it; `None` if it cannot be said.
fn run(dialect: &str, seen: &Change, real: &[u8]) -> Option<Result<Landing, String>> {
    let text = Text::decode(real.to_vec()).expect("sources are text");
    let hunks = |patch: &str| match parse_patch(patch).expect("it is a patch").remove(0).action {
        PatchAction::Update { hunks, .. } => hunks,
        other => panic!("{other:?}"),
    };
    let applied = match dialect {
        "edits" => apply(&text, Edits::Texts(&seen.as_texts()?), Basis::Unknown, &endless()),
        "unified diff" => apply(
            &text,
            Edits::Hunks(&hunks(&git_diff(&seen.base.concat(), &seen.after(), 3)?)),
            Basis::Unknown,
            &endless(),
        ),
        "context patch" => {
            apply(&text, Edits::Hunks(&hunks(&seen.as_context_patch()?)), Basis::Unknown, &endless())
        }
        // The version is that of what was seen; if the file is another, the service refuses before this.
        "lines" => apply(
            &text,
            Edits::Lines(&seen.as_lines()),
            if seen.base.concat().replace('\r', "") == text.content().replace('\r', "") {
                Basis::Current
            } else {
                Basis::Unknown
            },
            &endless(),
        ),
        _ => apply(&text, Edits::Lines(&seen.as_lines()), Basis::Unknown, &endless()),
    };
    Some(match applied {
        Ok(applied) => Ok((
            applied.text.encode().expect("it can be stored"),
            applied.landed.iter().map(|it| it.tier).collect(),
        )),
        Err(failure) => Err(failure.message),
    })
}

/// Compares without some bytes, and what is before and behind all changes byte for byte.
fn same_but(without: &[u8], got: &[u8], expected: &[u8], real: &Change) -> bool {
    let plain =
        |bytes: &[u8]| bytes.iter().copied().filter(|byte| !without.contains(byte)).collect::<Vec<_>>();
    let (Some(first), Some(last)) = (real.parts.first(), real.parts.last()) else { return false };
    let before = real.base[..first.start.saturating_sub(SLACK)].concat();
    let behind = real.base[(last.start + last.gone + SLACK).min(real.base.len())..].concat();
    plain(got) == plain(expected) && got.starts_with(before.as_bytes()) && got.ends_with(behind.as_bytes())
}

/// Returns which tiers may be named for a form; any other would be a change of tier in silence.
fn allowed(form: Form, dialect: &str) -> &'static [Tier] {
    match (form, dialect) {
        (_, "lines" | "lines alone") => &[Tier::Anchor],
        (Form::Crlf, _) => &[Tier::LineEndings],
        (Form::Unended, _) => &[Tier::Exact, Tier::LineEndings],
        (Form::Trailing, _) => &[Tier::Exact, Tier::TrailingSpace],
        _ => &[Tier::Exact],
    }
}

/// What was found out so far.
#[derive(Debug, Default)]
struct Tally {
    counts: BTreeMap<(Form, &'static str), Count>,
    languages: BTreeMap<String, usize>,
    wrong: Vec<String>,
    refusals: Vec<String>,
    changes: usize,
    long: usize,
}

impl Tally {
    fn take(&mut self, seed: usize, pair: &Pair) {
        // What git and we call a line must be the same.
        if pair.old.contains('\r') || pair.new.contains('\r') || !pair.old.ends_with('\n') {
            return;
        }
        let Some(mut change) = Change::between(&pair.old, &pair.new) else { return };
        // Of a large change, some parts.
        change.parts.truncate(MOST_PARTS);
        self.changes += 1;
        self.long += usize::from(change.base.len() >= 19_000);
        *self.languages.entry(pair.language.clone()).or_default() += 1;
        // Every change as it is, and in two more forms, which take turns.
        let others = Form::ALL.len() - 1;
        let forms = [Form::Plain, Form::ALL[1 + seed % others], Form::ALL[1 + (seed / others + 3) % others]];
        for form in forms {
            for dialect in DIALECTS {
                self.take_one(seed, pair, &change, form, dialect);
            }
        }
    }

    fn take_one(&mut self, seed: usize, pair: &Pair, change: &Change, form: Form, dialect: &'static str) {
        let (seen, real) = form.of(change, seed);
        let (file, expected) = (bytes(&real.base.concat(), form), bytes(&real.after(), form));
        let count = self.counts.entry((form, dialect)).or_default();
        let name = || format!("{} ({form:?}, {dialect})", pair.name);
        match run(dialect, &seen, &file) {
            None => count.unsayable += 1,
            Some(Err(message)) => {
                count.refused += 1;
                self.refusals.push(format!("{}: {message}", name()));
            }
            Some(Ok((got, tiers))) => {
                count.landed += 1;
                // Anchors say nothing of line ends: new lines end as those around them. And which of
                // several like lines are new ones, two differences can see in two ways.
                let same = match (form, dialect) {
                    (Form::MixedEnds, "lines" | "lines alone") => same_but(b"\r", &got, &expected, &real),
                    (Form::Trailing, _) => same_but(b" ", &got, &expected, &real),
                    _ => got == expected,
                };
                if !same {
                    self.wrong.push(format!("{}: other bytes", name()));
                }
                if let Some(tier) = tiers.iter().find(|it| !allowed(form, dialect).contains(it)) {
                    self.wrong.push(format!("{}: read as {tier:?}", name()));
                }
            }
        }
    }
}

#[test]
fn real_changes_land_where_they_belong_in_every_form_and_dialect() {
    some_real_changes_land(11);
}

/// Applies one of so many real changes in every form and dialect. All of them: `edits::stress`.
pub(super) fn some_real_changes_land(one_of: usize) {
    // Among the changes are those of the repository's history.
    if lacks(Need::Git) {
        return;
    }
    let pairs = pairs();
    let mut all = Tally::default();
    for pair in &pairs {
        // By its contents alone: a commit adds its own changes, and leaves which others are taken, and in which forms.
        let mut hasher = DefaultHasher::new();
        (&pair.old, &pair.new).hash(&mut hasher);
        let seed = usize::try_from(hasher.finish() >> 32).expect("32 bits");
        if seed.is_multiple_of(one_of) {
            all.take(seed, pair);
        }
    }
    let mut report =
        format!("{} changes, {} in files of 20,000 lines, {:?}\n", all.changes, all.long, all.languages);
    let (mut landed, mut refused) = (0, 0);
    for ((form, dialect), count) in &all.counts {
        report.push_str(&format!("{form:?}, {dialect}: {count:?}\n"));
        // Anchors of lines that have changed or moved since are stale, and those of lines that are like
        // others prove nothing alone: they are to be refused.
        if !dialect.starts_with("lines")
            || *dialect == "lines" && !matches!(form, Form::Drifted | Form::Trailing)
        {
            landed += count.landed;
            refused += count.refused;
        }
    }
    report.push_str(&format!("{landed} landed, {refused} refused, {} wrong\n", all.wrong.len()));
    all.refusals.retain(|it| !it.contains("lines"));
    let shown = |lines: &[String]| lines[..lines.len().min(20)].join("\n");
    report.push_str(&format!("{}\n{}\n", shown(&all.wrong), shown(&all.refusals)));
    if let Some(file) = std::env::var_os("CORPUS_REPORT") {
        std::fs::write(file, &report).expect("the report can be written");
    }
    assert!(all.wrong.is_empty(), "{report}");
    assert!(all.changes >= LEAST_CHANGES / one_of && all.languages.len() >= 5, "{report}");
    assert!(landed * 100 >= (landed + refused) * 98, "{report}");
}
