//! The values that fit, a line each: the value, a tab, and what it is about.

use std::ffi::OsString;
use std::path::Path;

use super::super::definition::definition;
use super::super::printer::one_line;
use super::wanted::{CompletionRequest, wanted};
use crate::diagnosis::known_values::known_values;
use crate::installation::home::Home;

/// No more of a text about a value than this is shown, in characters.
const ABOUT: usize = 60;

/// Reads the question that the scripts ask: `--values -- WORDS` of `completions`, which is hidden,. By hand, since the words are
/// those of a command line that is not yet whole.
pub fn asked(words: &[OsString]) -> Option<Vec<String>> {
    let ["completions", "--values", "--"] =
        [words.get(1)?.to_str()?, words.get(2)?.to_str()?, words.get(3)?.to_str()?]
    else {
        return None;
    };
    Some(words[4..].iter().map(|word| word.to_string_lossy().into_owned()).collect())
}

/// Returns the values that fit behind words. Where nothing is known, or anything is wrong, there are none.
pub fn values(words: &[String]) -> String {
    let CompletionRequest { kind: Some(kind), config } = wanted(&definition(), words) else {
        return String::new();
    };
    let found = Home::find(config.as_deref().map(Path::new)).ok().and_then(|home| known_values(&home, kind));
    let mut lines = String::new();
    for (value, about) in found.unwrap_or_default() {
        // One with a line end or a tab could be read as two.
        if value.is_empty() || value != one_line(&value) {
            continue;
        }
        let about: String = one_line(&about).chars().take(ABOUT).collect();
        lines.push_str(&value);
        if !about.is_empty() {
            lines.extend(["\t", &about]);
        }
        lines.push('\n');
    }
    lines
}
