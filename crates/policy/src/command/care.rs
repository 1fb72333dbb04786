//! Finding the rows of a program's profile that a command touches.

use super::profile::{Row, RowPattern};
use super::reading::{ReadOption, Reading};

/// A row that a command touches.
pub struct CarefulRow {
    /// The program.
    pub program: &'static str,
    /// The row.
    pub row: &'static Row,
    /// The words that a rule must name literally to lift the row; none lifts a row that looks at values.
    pub words: Vec<String>,
    /// Whether a message may repeat the words: those of the table, not those of the caller.
    pub may_say: bool,
}

/// Finds the rows that a command touches, in the order of the table.
pub fn care(reading: &Reading<'_>) -> Vec<CarefulRow> {
    let Some(profile) = reading.profile else { return Vec::new() };
    let found = profile.rows.iter().filter_map(|row| {
        let words = touches(reading, &row.what)?;
        let may_say = !matches!(row.what, RowPattern::Word(..) | RowPattern::UnknownSub);
        Some(CarefulRow { program: profile.name(), row, words, may_say })
    });
    found.collect()
}

fn touches(reading: &Reading<'_>, what: &RowPattern) -> Option<Vec<String>> {
    match what {
        RowPattern::Option(at, names) => {
            let hit = |found: &&ReadOption<'_>| reading.counts(found, *at) && !found.after_dashes;
            let mut hits = reading.options.iter().filter(hit);
            hits.find_map(|found| named(reading, found, names)).map(|name| vec![name.to_owned()])
        }
        RowPattern::OptionOutside(at, names) => {
            let mut hits =
                reading.options.iter().filter(|found| reading.counts(found, *at) && !found.after_dashes);
            hits.find_map(|found| {
                let name = named(reading, found, names)?;
                (!found.value.or(found.next).is_some_and(stays_inside)).then(|| vec![name.to_owned()])
            })
        }
        RowPattern::Sub(names) => {
            let sub = reading.subs.iter().find(|sub| names.contains(sub))?;
            Some(vec![(*sub).to_owned()])
        }
        RowPattern::Words(names) => {
            let (sub, rest) = names.split_first()?;
            let here = reading.has_sub(&[sub])
                && rest.iter().all(|name| reading.words.iter().any(|word| word.text == *name));
            here.then(|| names.iter().map(|name| (*name).to_owned()).collect())
        }
        RowPattern::UnknownSub => {
            let profile = reading.profile?;
            let sub = reading.subs.first()?;
            // Where it is not sure which word it is, all that it may be have to be known.
            let known = reading.subs.iter().all(|sub| profile.subcommands.contains(sub));
            (!known).then(|| vec![(*sub).to_owned()])
        }
        RowPattern::Word(at, test) => {
            let here = match at {
                super::profile::Position::Sub(names) => reading.has_sub(names),
                super::profile::Position::Any | super::profile::Position::Global => true,
            };
            let word = reading.words.iter().find(|word| test(word.text));
            let value = || reading.options.iter().filter_map(|found| found.value).find(|value| test(value));
            let word = word.map(|word| word.text).or_else(value)?;
            here.then(|| vec![word.to_owned()])
        }
        RowPattern::Program => Some(vec![reading.program.to_owned()]),
        RowPattern::Check(test) => test(reading).then(Vec::new),
    }
}

/// Returns the name under which an option is one of a row's, unless it is another option in full.
fn named<'n>(reading: &Reading<'_>, found: &ReadOption<'_>, names: &'n [&'n str]) -> Option<&'n str> {
    let exact = |name: &&&str| found.letter.is_none() && found.name == **name;
    if let Some(name) = names.iter().find(exact) {
        return Some(name);
    }
    let other =
        |known: &super::profile::KnownOption| found.letter.is_none() && known.names.contains(&found.name);
    let is_other = reading.profile.is_some_and(|profile| profile.options.iter().any(other));
    names.iter().find(|name| !is_other && found.is(name)).copied()
}

/// Returns whether a path stays inside the working folder, as far as its text says.
pub(super) fn stays_inside(path: &str) -> bool {
    let path = path.strip_prefix('=').unwrap_or(path);
    !path.is_empty() && !path.starts_with(['/', '~']) && path.split('/').all(|part| part != "..")
}
