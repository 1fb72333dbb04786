//! Turning what was asked for into a plan of literal words.

use crate::contract::{CommandInput, CommandPlan, Failure};

/// Recognises a command.
///
/// # Errors
/// `invalid_request` for what is no command, `permission_denied` for what is more than literal words.
pub fn plan(input: &CommandInput) -> Result<CommandPlan, Failure> {
    match input {
        CommandInput::Argv(argv) if argv.is_empty() => {
            Err(Failure::invalid("input.command", "the command has no words"))
        }
        CommandInput::Argv(argv) => Ok(CommandPlan::of_argv(argv.clone())),
        CommandInput::Line(_) => {
            Err(Failure::denied("not-literal", "command strings are not recognised yet")
                .hint("Give the command as an array of words."))
        }
    }
}
