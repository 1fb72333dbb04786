//! Whether lines say enough to be found by a reading that allows them to differ.

use std::collections::HashSet;

use bailiwick_contract::Failure;

use super::matching::{Index, Shift, is_blank};
use super::text::body;
use super::tier::{Basis, Tier};

/// How many letters and digits a line has so that it counts.
const LINE_CHARS: usize = 3;
/// How many letters and digits one more line is worth.
const EACH_LINE: usize = 4;
/// What lines with other blanks, at the same depth, have to say.
const OTHER_BLANKS: usize = 10;
/// What lines at another depth have to say.
const MOVED_LINES: usize = 30;

/// Why a place that fits is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// Its lines are like too many others.
    Little,
    /// The file was changed since it was read.
    Outdated,
    /// The text has an indentation of its own, and nobody has read the file as it is.
    Unread,
    /// The place is within the new lines, which are there already.
    Done,
}

/// Returns why a place must not be taken by a tier, if so.
///
/// Lines that are there as written are there. Those that are there with another indentation can be others: of a text that
/// is gone, `}` and `end` are still somewhere. They need more than one line that says something,
/// and more than two where nobody has read the file as it is. There, whole parts of a text that is gone can be elsewhere at
/// another depth, too: what was copied without its indentation is found, what has one of its own is not.
pub fn doubt(old: &[&str], tier: Tier, shift: &Shift, basis: Basis) -> Option<Doubt> {
    if tier <= Tier::TrailingSpace {
        return None;
    }
    if basis == Basis::Outdated {
        return Some(Doubt::Outdated);
    }
    let enough = match shift {
        Shift::None => true,
        Shift::Tabs(_) => says(old, 1, OTHER_BLANKS),
        Shift::Deeper(_) | Shift::Shallower(_) if basis == Basis::Unknown && is_indented(old) => {
            return Some(Doubt::Unread);
        }
        Shift::Deeper(_) | Shift::Shallower(_) => {
            // A text that is there no more has often left another at another depth that is like it in a line or two.
            let lines = if basis == Basis::Unknown { 3 } else { 2 };
            says(old, lines, MOVED_LINES)
        }
    };
    (!enough).then_some(Doubt::Little)
}

/// Returns whether all lines that are not blank are indented.
fn is_indented(lines: &[&str]) -> bool {
    let mut lines = lines.iter().map(|line| body(line)).filter(|line| !line.trim().is_empty());
    lines.all(|line| line.starts_with(is_blank))
}

/// Returns whether a place is within lines that are what the edit makes of it: those that put old lines deeper into
/// something new have them at another depth.
///
/// # Errors
/// `timeout`, `cancelled`.
pub fn is_done(index: &mut Index<'_>, new: &[&str], at: usize, lines: usize) -> Result<bool, Failure> {
    let there = index.find(new, Tier::TrailingSpace)?;
    Ok(there.iter().any(|it| it.line <= at && at + lines <= it.line + new.len()))
}

/// Returns whether there are as many different lines that say something, and enough in them: letters and digits, and some
/// more for each line, since lines that follow each other are less often there again.
pub fn says(old: &[&str], lines: usize, enough: usize) -> bool {
    let mut distinct = HashSet::new();
    let mut sum = 0;
    for line in old {
        let line = body(line).trim();
        let own = line.chars().filter(|it| it.is_alphanumeric()).count();
        if own >= LINE_CHARS && distinct.insert(line) {
            sum += own + EACH_LINE;
        }
    }
    distinct.len() >= lines && sum >= enough
}
