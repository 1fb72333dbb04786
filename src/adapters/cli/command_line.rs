//! Whether words are a command line that Bailiwick takes. Runs nothing, reads no file: for documents that show such lines.

use std::ffi::OsString;

use clap::error::ErrorKind;

use bailiwick_contract::Failure;
use bailiwick_engine::operations::FAMILIES;
use bailiwick_engine::registry::Registry;
use bailiwick_policy::Candidate;

use super::args::{Command, PolicyCommand};
use super::call::Words;
use super::definition::parse;
use super::topics;

/// Why words are no command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLineError {
    /// What the program would say.
    pub said: String,
    /// Whether only something is missing: a sentence may name a command without all that it needs.
    pub is_incomplete: bool,
}

/// Checks a command line, the name of the program first; the fields of operations too.
///
/// A flag that names a file to read, such as `--content-file`, is taken as the field itself, and its file is not read.
///
/// # Errors
/// What the program would say about it.
pub fn check_command_line(words: &[String]) -> Result<(), CommandLineError> {
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    if topics::asked(&words).is_some() {
        return Ok(());
    }
    let arguments = match parse(&words) {
        Ok(arguments) => arguments,
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            return Ok(());
        }
        Err(error) => {
            let is_incomplete = matches!(
                error.kind(),
                ErrorKind::MissingRequiredArgument
                    | ErrorKind::MissingSubcommand
                    | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
            );
            return Err(CommandLineError { said: error.to_string(), is_incomplete });
        }
    };
    let (rest, is_explained) = match arguments.command {
        Some(Command::Call(args)) => (args.rest, false),
        Some(Command::Policy(PolicyCommand::Explain(args))) => (args.rest, true),
        _ => return Ok(()),
    };
    let is_incomplete = Words::sort(rest.clone()).is_ok_and(|words| words.first.is_none());
    operation(rest, is_explained).map_err(|failure| CommandLineError {
        said: format!("{} {}", failure.message, failure.hints.join(" ")),
        is_incomplete,
    })
}

fn operation(words: Vec<OsString>, is_explained: bool) -> Result<(), Failure> {
    let words = Words::sort(words.into_iter().map(without_file).collect())?;
    if words.help || (is_explained && words.command()?.is_some()) {
        return Ok(());
    }
    let envelope = words.envelope()?;
    match Registry::new(FAMILIES).entry(&envelope.op) {
        Some(entry) => entry.parse(&envelope).map(|_| ()),
        None => Err(Failure::invalid("op", format!("there is no operation `{}`", envelope.op))),
    }
}

fn without_file(word: OsString) -> OsString {
    match word.to_str().and_then(|word| word.strip_suffix("-file")) {
        Some(field) if field.starts_with("--") => field.into(),
        _ => word,
    }
}
