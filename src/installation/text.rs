//! Text for the user that needs no terminal: what comes from elsewhere is made harmless, hints are made theirs.

use bailiwick_contract::{FOR_USER, Failure, fields};

/// Returns a hint as its reader at this terminal needs it. That is the user, so no hint has to say whom it is for.
pub fn to_user(hint: &str) -> String {
    let mut parts = hint.split(FOR_USER);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut rest = part.chars();
        text.extend(rest.next().into_iter().flat_map(char::to_uppercase));
        text.push_str(rest.as_str());
    }
    text
}

/// Adds to a failure about an unknown name the nearest known one, or the command that lists them.
pub fn with_nearest<'a>(
    failure: Failure,
    name: &str,
    known: impl Iterator<Item = &'a str>,
    otherwise: &str,
) -> Failure {
    match fields::nearest(name, known, 1).first() {
        Some(near) => failure.hint(format!("Did you mean `{near}`?")),
        None => failure.hint(otherwise),
    }
}

/// Shows text from elsewhere so that it cannot steer the terminal: control characters, and those that
/// reorder or hide text, are written as escapes. Line breaks and tabs stay.
pub fn printable(text: &str) -> String {
    let steers = |it: char| {
        (it.is_control() && it != '\n' && it != '\t')
            || matches!(it, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    if !text.contains(steers) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for it in text.chars() {
        if steers(it) {
            shown.push_str(&format!("\\u{{{:x}}}", it as u32));
        } else {
            shown.push(it);
        }
    }
    shown
}

/// As [`printable`], on one line: line breaks and tabs are written as escapes too.
pub fn one_line(text: &str) -> String {
    printable(text).replace('\n', "\\n").replace('\t', "\\t")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_elsewhere_cannot_steer_the_terminal() {
        assert_eq!(printable("größe\n\tok"), "größe\n\tok");
        assert_eq!(printable("a\x1b[2Jb\r\u{9b}"), "a\\u{1b}[2Jb\\u{d}\\u{9b}");
        assert_eq!(printable("exe.\u{202e}gnp"), "exe.\\u{202e}gnp");
        assert_eq!(one_line("a\nb"), "a\\nb");
    }

    #[test]
    fn hints_do_not_tell_their_reader_whom_they_are_for() {
        assert_eq!(to_user("Use another name."), "Use another name.");
        assert_eq!(to_user(&format!("{FOR_USER}put it back.")), "Put it back.");
        assert_eq!(
            to_user(&format!("It is shut out. {FOR_USER}`x` opens it.")),
            "It is shut out. `x` opens it."
        );
    }
}
