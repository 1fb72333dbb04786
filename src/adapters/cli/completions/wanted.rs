//! What a word behind other words stands for, by the command line's definition.

use clap::{Arg, Command};

use crate::diagnosis::known_values::Kind;

/// Flags, and what their values are, at whichever command. Those that the definition does not know are read by `call`
/// and `policy explain` themselves.
pub const FLAGS: &[(&str, Kind)] = &[("scope", Kind::Scope), ("caller", Kind::Token), ("token", Kind::Token)];

/// Words of commands, with the place among the words that are no flags, and what is there.
const PLACES: &[(&str, usize, Kind)] = &[
    ("scope show", 0, Kind::Scope),
    ("scope edit", 0, Kind::Scope),
    ("scope remove", 0, Kind::Scope),
    ("scope allow", 0, Kind::Scope),
    ("scope deny", 0, Kind::Scope),
    ("token rotate", 0, Kind::Token),
    ("token revoke", 0, Kind::Token),
    ("ps logs", 0, Kind::Process),
    ("ps stop", 0, Kind::LiveProcess),
    ("log show", 0, Kind::Done),
    ("client undo", 0, Kind::Change),
    ("call", 0, Kind::Operation),
    ("policy explain", 0, Kind::Operation),
];

/// What is wanted, and of which installation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompletionRequest {
    /// What is at the cursor; none where nothing is known of it.
    pub kind: Option<Kind>,
    /// The config that the words before name.
    pub config: Option<String>,
}

/// Returns what is behind words, which begin behind the program.
pub fn wanted(definition: &Command, words: &[String]) -> CompletionRequest {
    let mut command = definition;
    let mut path: Vec<&str> = Vec::new();
    let mut place = 0;
    let mut config = None;
    let mut flag: Option<String> = None;
    let mut only_values = false;
    for word in words {
        if let Some(name) = &flag {
            // Bash makes the sign a word of its own.
            if word == "=" {
                continue;
            }
            if name == "config" {
                config = Some(word.clone());
            }
            flag = None;
        } else if !only_values && word == "--" {
            only_values = true;
        } else if !only_values && word.len() > 1 && word.starts_with('-') {
            match word.split_once('=') {
                Some(("--config", value)) => config = Some(value.to_owned()),
                Some(_) => {}
                None => flag = takes_value(definition, command, word),
            }
        } else if let Some(below) = (place == 0).then(|| command.find_subcommand(word)).flatten() {
            command = below;
            path.push(below.get_name());
        } else if path == ["log"] && place == 0 && !only_values {
            // Its view reads like a command.
            path.push(if word == "get" { "show" } else { word });
        } else {
            place += 1;
        }
    }
    let path = path.join(" ");
    let kind = match &flag {
        Some(name) => FLAGS.iter().find(|(it, _)| it == name).map(|(_, kind)| *kind),
        None => PLACES.iter().find(|(it, at, _)| *it == path && *at == place).map(|(_, _, kind)| *kind),
    };
    CompletionRequest { kind, config }
}

/// Returns the name of a flag that a value follows.
fn takes_value(definition: &Command, command: &Command, word: &str) -> Option<String> {
    let of = |it: &&Arg| match word.strip_prefix("--") {
        Some(name) => {
            it.get_long() == Some(name) || it.get_all_aliases().is_some_and(|all| all.contains(&name))
        }
        None => it.get_short().is_some_and(|short| word.ends_with(short)),
    };
    let found = command.get_arguments().chain(definition.get_arguments()).find(of);
    match found {
        Some(arg) => arg.get_action().takes_values().then(|| arg.get_long().unwrap_or_default().to_owned()),
        None => {
            let name = word.strip_prefix("--")?;
            FLAGS.iter().any(|(it, _)| *it == name).then(|| name.to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::definition::definition;
    use super::*;

    fn at(line: &str) -> Option<Kind> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        wanted(&definition(), &words).kind
    }

    #[test]
    fn what_stands_at_the_cursor_is_told_by_the_words_before() {
        for (line, expected) in [
            ("", None),
            ("scope", None),
            ("scope show", Some(Kind::Scope)),
            ("scope show app", None),
            ("scope show --json", Some(Kind::Scope)),
            ("--config /c scope show", Some(Kind::Scope)),
            ("--config", None),
            ("scope edit --name show", Some(Kind::Scope)),
            ("scope edit --name", None),
            ("scope add", None),
            ("scope add --id", None),
            ("scope allow app", None),
            ("token create laptop --scope", Some(Kind::Scope)),
            ("token create laptop --scope =", Some(Kind::Scope)),
            ("token create laptop --scope = a --scope", Some(Kind::Scope)),
            ("token create", None),
            ("token revoke", Some(Kind::Token)),
            ("mcp --token", Some(Kind::Token)),
            ("mcp --caller", Some(Kind::Token)),
            ("tools --token", Some(Kind::Token)),
            ("processes stop", Some(Kind::LiveProcess)),
            ("processes stop --grace 3", Some(Kind::LiveProcess)),
            ("processes read --follow", Some(Kind::Process)),
            ("history get", Some(Kind::Done)),
            ("log show", Some(Kind::Done)),
            ("ps logs", Some(Kind::Process)),
            ("history timeline", None),
            ("history --scope", Some(Kind::Scope)),
            ("history -f --scope", Some(Kind::Scope)),
            ("client undo", Some(Kind::Change)),
            ("call", Some(Kind::Operation)),
            ("call file.read --scope", Some(Kind::Scope)),
            ("call file.read", None),
            ("policy explain", Some(Kind::Operation)),
            ("policy explain --caller", Some(Kind::Token)),
            ("setup", None),
            ("nothing of the kind", None),
        ] {
            assert_eq!(at(line), expected, "{line}");
        }
    }

    #[test]
    fn the_config_that_is_named_is_the_one_that_is_asked() {
        for line in [["--config", "/c", "scope"], ["--config=/c", "scope", "show"]] {
            let words = line.map(str::to_owned);
            assert_eq!(wanted(&definition(), &words).config.as_deref(), Some("/c"));
        }
    }

    #[test]
    fn every_place_is_one_of_the_definition() {
        let definition = definition();
        for (path, place, _) in PLACES.iter().filter(|(path, _, _)| !path.starts_with("log")) {
            let below = path.split(' ').try_fold(&definition, |it, word| it.find_subcommand(word));
            let command = below.unwrap_or_else(|| panic!("there is no command {path}"));
            assert!(command.get_positionals().nth(*place).is_some(), "{path} takes a word");
        }
    }
}
