//! Elements as lines that cost a model little: `B3 "Save" [10 20 80 24]`. Mathematics only.

use std::fmt::Write as _;

use bailiwick_platform::accessibility::{Element, Role, State};
use bailiwick_platform::screen::Rect;

/// The longest text of a field, in characters.
pub const FIELD: usize = 240;

/// Writes a text of a program so that it cannot be taken for our own words: in quotes, on one line, cut.
pub fn quoted(text: &str) -> String {
    let mut written = String::with_capacity(text.len() + 2);
    written.push('"');
    for character in text.chars().take(FIELD) {
        match character {
            '"' | '\\' => {
                written.push('\\');
                written.push(character);
            }
            '\n' => written.push_str("\\n"),
            '\t' => written.push_str("\\t"),
            // What shows nothing, or turns round what is read.
            it if it.is_control()
                || matches!(it, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}') =>
            {
                let _ = write!(written, "\\u{{{:x}}}", u32::from(it));
            }
            it => written.push(it),
        }
    }
    written.push('"');
    if text.chars().nth(FIELD).is_some() {
        written.push('…');
    }
    written
}

/// Writes an element: its id, role, name, value, what is unusual in its states, and its place. A role that the letter of
/// the id means is not written, and neither is an empty id.
pub fn line(id: &str, element: &Element, name: &str, value: Option<&str>, place: Option<Rect>) -> String {
    let role = Some(element.role.name()).filter(|_| id.is_empty() || !element.role.is_usual_of_letter());
    let words: Vec<&str> = [id].into_iter().filter(|id| !id.is_empty()).chain(role).collect();
    let mut written = words.join(" ");
    if !name.is_empty() {
        let _ = write!(written, " {}", quoted(name));
    }
    if let Some(value) = value {
        let _ = write!(written, " = {value}");
    }
    for word in state_words(element) {
        let _ = write!(written, " {word}");
    }
    if let Some(place) = place {
        let _ = write!(written, " [{} {} {} {}]", place.x, place.y, place.width, place.height);
    }
    written
}

/// Returns whether an element can be checked.
pub const fn is_checkable(element: &Element) -> bool {
    matches!(element.role, Role::CheckBox | Role::Switch | Role::RadioButton)
}

/// Returns what of an element's states is not as it usually is.
fn state_words(element: &Element) -> Vec<&'static str> {
    let has = |state| element.states.has(state);
    let is_checkable = is_checkable(element);
    let words = [
        (element.role == Role::PasswordField, "secure"),
        (
            !has(State::Enabled) && !matches!(element.role, Role::Label | Role::Heading | Role::Image),
            "disabled",
        ),
        (has(State::Checked), "checked"),
        (is_checkable && !has(State::Checked) && !has(State::Indeterminate), "unchecked"),
        (has(State::Indeterminate), "half-checked"),
        (has(State::Pressed), "pressed"),
        (has(State::Selected), "selected"),
        (has(State::Expandable) && has(State::Expanded), "expanded"),
        (has(State::Focused), "focused"),
        (element.role == Role::TextField && (has(State::ReadOnly) || !has(State::Editable)), "read-only"),
        (has(State::Busy), "busy"),
        (has(State::Visible) && !has(State::Showing), "out-of-view"),
    ];
    words.iter().filter(|(applies, _)| *applies).map(|(_, word)| *word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_a_program_stays_on_its_line_and_in_its_quotes() {
        assert_eq!(quoted("Save"), "\"Save\"");
        assert_eq!(quoted("a \"b\" \\ c\nB1 button"), "\"a \\\"b\\\" \\\\ c\\nB1 button\"");
        assert_eq!(quoted("a\u{202e}b\u{7}\u{200b}"), "\"a\\u{202e}b\\u{7}\\u{200b}\"");
        let long = quoted(&"x".repeat(FIELD + 1));
        assert!(long.ends_with("x\"…") && long.chars().count() == FIELD + 3);
    }
}
