//! The command line's definition as a whole: what `args` says, laid out so that the help of a command fits a screen.
//!
//! Help, completions and man pages are made of it. Below the flags stand the details, and examples that tests run.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Command, CommandFactory, FromArgMatches};

use super::args::Arguments;
use super::examples::examples;
use super::topics;

/// Where the flags of every command are among its flags.
const SHARED_ORDER: usize = 900;

/// Returns the definition of the command line.
pub fn definition() -> Command {
    let command = Arguments::command();
    // What every command has is below what is its own.
    let flags = ["config", "json"].into_iter().zip(SHARED_ORDER..);
    laid_out(
        flags.fold(command, |command, (flag, order)| command.mut_arg(flag, |arg| arg.display_order(order))),
        "",
    )
}

/// Reads the words of the process.
///
/// # Errors
/// What the parser says of a wrong usage; also help and version, which are no errors.
pub fn parse(words: &[OsString]) -> Result<Arguments, clap::Error> {
    let mut definition = definition();
    let mut matches = definition.try_get_matches_from_mut(words)?;
    Arguments::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut definition))
}

/// Lays out the help of a command and of those below it; `path` names it, without the program.
fn laid_out(command: Command, path: &str) -> Command {
    // Those that read their own words have their own help.
    if command.is_disable_help_flag_set() {
        return command;
    }
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let long = command.get_long_about().map(ToString::to_string).unwrap_or_default();
    let details = long.strip_prefix(&about).unwrap_or(&long).trim_start_matches('.').trim();
    // A paragraph is one line here: the printer folds it.
    let joined = |paragraph: &str| {
        let is_prose = !paragraph.contains("\n ");
        if is_prose { paragraph.replace('\n', " ") } else { paragraph.to_owned() }
    };
    let paragraphs: Vec<String> = details.split("\n\n").map(joined).collect();
    let mut below = paragraphs.join("\n\n");
    if path.is_empty() {
        below.push_str(&format!(" {}", topics::list()));
    }
    if let Some(lines) = examples(path) {
        if !below.is_empty() {
            below.push_str("\n\n");
        }
        below.push_str("Examples:\n");
        below.push_str(&lines.iter().map(|line| format!("  {line}\n")).collect::<String>());
    }
    let help = Arg::new("help")
        .short('h')
        .long("help")
        .action(ArgAction::HelpShort)
        .help("Print help")
        .display_order(SHARED_ORDER + 9);
    let command = command
        .long_about(None::<&'static str>)
        .mut_args(|arg| arg.long_help(None::<&'static str>))
        .disable_help_flag(true)
        // Texts are written to fit; else a long flag would put all of them into lines of their own.
        .term_width(0)
        .max_term_width(0)
        .arg(help);
    let command = if below.is_empty() { command } else { command.after_help(below) };
    command.mut_subcommands(|below| {
        let path = format!("{path} {}", below.get_name());
        laid_out(below, path.trim_start())
    })
}
