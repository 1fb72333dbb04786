//! The command line's definition as a whole: what `args` says, laid out so that the help of a command fits a screen.
//!
//! Help, completions and man pages are made of it. Below the flags stand the details, and examples that tests run.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Command, CommandFactory, FromArgMatches};

use super::args::Arguments;
use super::examples::examples;
use super::topics;

/// The groups of the help with their commands, in the order in which they are shown.
pub const GROUPS: &[(&str, &[&str])] = &[
    ("Get started", &["setup", "status", "doctor"]),
    ("Every day", &["watch", "log", "undo", "ps", "approve"]),
    ("Manage", &["scope", "client", "token", "policy", "config"]),
    ("Run", &["serve", "mcp", "service", "tunnel"]),
    ("Advanced", &["call", "completions", "man", "uninstall"]),
];
/// Where the flags of every command are among its flags.
const SHARED_ORDER: usize = 900;

/// Returns the definition of the command line.
pub fn definition() -> Command {
    definition_for(&|_| true)
}

/// Returns the definition with only those commands laid out that are asked for.
fn definition_for(is_wanted: &dyn Fn(&Command) -> bool) -> Command {
    let command = Arguments::command();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}\nOptions:\n{{options}}{{after-help}}",
        groups(&command)
    );
    let command = command.help_template(template);
    // What every command has is below what is its own.
    let flags = ["config", "json"].into_iter().zip(SHARED_ORDER..);
    laid_out(
        flags.fold(command, |command, (flag, order)| command.mut_arg(flag, |arg| arg.display_order(order))),
        "",
        is_wanted,
    )
}

/// Lays out the commands of each group, a line for each.
fn groups(command: &Command) -> String {
    let mut text = String::new();
    for (group, names) in GROUPS {
        for (place, name) in names.iter().enumerate() {
            let heading = if place == 0 { group } else { "" };
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            text.push_str(&format!("{heading:<12} {name:<12} {about}\n"));
        }
    }
    text
}

/// Reads the words of the process.
///
/// # Errors
/// What the parser says of a wrong usage; also help and version, which are no errors.
pub fn parse(words: &[OsString]) -> Result<Arguments, clap::Error> {
    // The help of a command is shown only where a word names it, and to lay out all of them is most of a start.
    let is_named = |name: &str| words.iter().any(|word| word == name);
    let mut definition =
        definition_for(&|command| is_named(command.get_name()) || command.get_all_aliases().any(is_named));
    let mut matches = definition.try_get_matches_from_mut(words)?;
    Arguments::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut definition))
}

/// Lays out the help of a command and of those below it that are wanted; `path` names it, without the program.
fn laid_out(command: Command, path: &str, is_wanted: &dyn Fn(&Command) -> bool) -> Command {
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
        if !is_wanted(&below) {
            return below;
        }
        let path = format!("{path} {}", below.get_name());
        laid_out(below, path.trim_start(), is_wanted)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_command_that_is_shown_is_in_one_group_and_no_other_is() {
        let definition = definition();
        let shown: BTreeSet<&str> =
            definition.get_subcommands().filter(|it| !it.is_hide_set()).map(Command::get_name).collect();
        let named: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        assert_eq!(shown, named.iter().copied().collect());
        assert_eq!(shown.len(), named.len(), "one is named twice");
    }

    /// Adds the words that lead to a command and to each below it, by its name and by its other names.
    fn add_paths(command: &Command, above: &[String], paths: &mut Vec<Vec<String>>) {
        for below in command.get_subcommands() {
            for name in std::iter::once(below.get_name()).chain(below.get_all_aliases()) {
                let path = [above, &[name.to_owned()]].concat();
                add_paths(below, &path, paths);
                paths.push(path);
            }
        }
    }

    #[test]
    fn help_is_the_same_where_only_named_commands_are_laid_out() {
        let whole = definition();
        let mut paths = vec![vec!["bailiwick".to_owned()]];
        add_paths(&whole, &paths[0].clone(), &mut paths);
        assert!(paths.len() > 80, "only {} commands were found", paths.len());
        for mut words in paths {
            words.push("--help".to_owned());
            let said = |result: Result<(), clap::Error>| result.err().map(|error| error.to_string());
            let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
            let of_whole = whole.clone().try_get_matches_from(&words).map(|_| ());
            assert_eq!(said(parse(&words).map(|_| ())), said(of_whole), "{words:?}");
        }
    }

    #[test]
    fn older_names_are_taken_for_their_commands() {
        for (older, name) in [("history", "log"), ("processes", "ps"), ("start", "serve")] {
            let found = definition().find_subcommand(older).map(|it| it.get_name().to_owned());
            assert_eq!(found.as_deref(), Some(name), "{older}");
        }
        for line in [
            "history get 01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "history connections --query x",
            "history failed-replay",
            "processes read X --tail 3",
            "client install codex --caller laptop",
            "status --details",
            "approve X --refuse",
            "approve --stay",
            "scope edit app --forget x",
            "mcp --caller laptop --json",
            "tools --caller laptop",
            "connect",
            "here",
            "bundle",
            "try",
            "self-test",
        ] {
            let words: Vec<OsString> =
                ["bailiwick"].into_iter().chain(line.split(' ')).map(OsString::from).collect();
            assert!(parse(&words).is_ok(), "{line}");
        }
    }
}
