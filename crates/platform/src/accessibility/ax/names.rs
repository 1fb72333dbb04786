//! What macOS calls actions and errors.
//!
//! # Source
//!
//! `AXActionConstants.h` and `AXError.h` of HIServices.

use std::time::Duration;

use crate::program_error::ProgramError;
use crate::screen::plain::plain;

/// How long a program may take to answer one call.
pub(super) const CALL: Duration = Duration::from_secs(1);

/// What pressing is called, by what says it most plainly. `AXConfirm` is not among them: it sends the form of a field.
const PRESSING: &[&str] = &["AXPress", "AXPick"];

/// Returns the action that presses an element, of those that it has. A menu is what a button is there for that has nothing else.
pub(super) fn pressing(actions: &[String], opens_menu: bool) -> Option<&str> {
    let menu = opens_menu.then_some("AXShowMenu");
    PRESSING.iter().copied().chain(menu).find(|wanted| actions.iter().any(|it| it == wanted))
}

/// Returns what an action is called in answers: `AXShowMenu` is `show menu`. Those of a program's own come as several lines.
pub(super) fn action_name(action: &str) -> String {
    let own = action.lines().next().and_then(|line| line.strip_prefix("Name:"));
    if let Some(own) = own {
        return plain(own).trim().to_lowercase();
    }
    let mut name = String::new();
    for character in action.strip_prefix("AX").unwrap_or(action).chars() {
        if character.is_uppercase() && !name.is_empty() {
            name.push(' ');
        }
        name.extend(character.to_lowercase());
    }
    plain(&name)
}

/// Returns what a call failed with that took so long.
pub(super) fn program_error(number: i32, took: Duration) -> ProgramError {
    match number {
        // It is said of a program that hangs, and at once of one that has gone or does not want to answer.
        -25204 if took >= CALL / 2 => ProgramError::Unresponsive,
        -25204 => ProgramError::NoReply,
        -25202 => ProgramError::Gone,
        // No such attribute, action or call, and no value.
        -25205 | -25206 | -25208 | -25212 | -25213 => ProgramError::Unable,
        number => ProgramError::Refused(format!("AXError.{}", number.unsigned_abs())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_called_in_words() {
        for (action, name) in [
            ("AXPress", "press"),
            ("AXShowMenu", "show menu"),
            ("AXScrollToVisible", "scroll to visible"),
            ("Name:Archive\nTarget:0x0\nSelector:(null)", "archive"),
            ("open", "open"),
            ("", ""),
        ] {
            assert_eq!(action_name(action), name);
        }
    }

    #[test]
    fn pressing_sends_no_form_and_opens_a_menu_only_where_that_is_what_it_is_for() {
        let has = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        assert_eq!(pressing(&has(&["AXShowMenu", "AXPress"]), true), Some("AXPress"));
        assert_eq!(pressing(&has(&["AXShowMenu"]), true), Some("AXShowMenu"));
        assert_eq!(pressing(&has(&["AXShowMenu"]), false), None);
        assert_eq!(pressing(&has(&["AXConfirm", "AXRaise"]), true), None);
    }

    #[test]
    fn a_call_that_was_not_answered_in_time_may_be_done() {
        assert_eq!(program_error(-25204, CALL), ProgramError::Unresponsive);
        assert!(program_error(-25204, Duration::ZERO).may_be_done());
        assert_eq!(program_error(-25202, CALL), ProgramError::Gone);
        for unable in [-25205, -25206, -25208, -25212, -25213] {
            assert_eq!(program_error(unable, CALL), ProgramError::Unable);
        }
        assert_eq!(program_error(-25201, CALL), ProgramError::Refused("AXError.25201".to_owned()));
    }
}
