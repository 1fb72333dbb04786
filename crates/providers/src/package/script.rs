//! A script as it is found, and finding all of a folder.

use schemars::JsonSchema;
use serde::Serialize;

use bailiwick_contract::{Cancel, Failure};
use bailiwick_policy::PermittedPath;

use super::manifest::Folder;
use super::{cargo, just, make, node, python};

/// How many scripts one manifest is searched for.
const MAX_SCRIPTS: usize = 300;
/// The longest name of a script that is told.
const MAX_NAME_BYTES: usize = 200;
/// How much of what a script runs is told.
const MAX_RUNS_CHARS: usize = 300;

/// What a script takes beyond its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arguments {
    /// None.
    None,
    /// Words, each taken literally.
    Words,
    /// Words of letters, digits and `_./:=@,+%-`, since the script puts them into a line that a shell reads.
    PlainWords,
}

/// One script that a manifest defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// Its name.
    pub name: String,
    /// The program that runs it, if one is known for this project.
    pub runner: Option<&'static str>,
    /// The manifest that defines it, as results name it.
    pub source: String,
    /// What it runs, or what is said about it, shortened.
    pub runs: String,
    /// The words that run it.
    pub argv: Vec<String>,
    /// What it takes after them.
    pub arguments: Arguments,
}

impl Script {
    /// Returns the words that run it with these arguments.
    ///
    /// # Errors
    /// `invalid_request` for arguments that it does not take.
    pub fn with_arguments(&self, arguments: &[String]) -> Result<Vec<String>, Failure> {
        if arguments.is_empty() {
            return Ok(self.argv.clone());
        }
        let runner = self.runner.unwrap_or_default();
        match self.arguments {
            Arguments::None => {
                return Err(Failure::invalid(
                    "input.args",
                    format!("`{}` is run by {runner} and takes no arguments", self.name),
                )
                .hint("Leave `input.args` out, or use command.run where the scope allows it."));
            }
            Arguments::PlainWords => {
                let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_./:=@,+%-".contains(&byte);
                if let Some(word) = arguments.iter().find(|it| it.starts_with('-') || !it.bytes().all(plain))
                {
                    return Err(Failure::invalid(
                        "input.args",
                        format!(
                            "`{}` cannot be handed to {runner}, which lets a shell read it",
                            clip(word, 60)
                        ),
                    )
                    .hint("Use words of letters, digits and `_./:=@,+%-` that do not begin with `-`."));
                }
            }
            Arguments::Words => {}
        }
        let mut argv = self.argv.clone();
        // Everything after `--` is the script's own.
        if matches!(runner, "npm" | "cargo") {
            argv.push("--".to_owned());
        }
        argv.extend_from_slice(arguments);
        Ok(argv)
    }
}

/// What a folder's manifests define.
#[derive(Debug, Default)]
pub struct Scripts {
    /// The scripts, by manifest, in the order of the manifests.
    pub list: Vec<Script>,
    /// What could not be read, in words.
    pub warnings: Vec<String>,
}

impl Scripts {
    /// Adds a script, unless its name is none that can be handed to a runner, or there are too many.
    pub(super) fn add(&mut self, script: Script) {
        let fitting = (1..=MAX_NAME_BYTES).contains(&script.name.len())
            && !script.name.starts_with('-')
            && !script.name.chars().any(char::is_control);
        let so_far = self.list.iter().filter(|other| other.source == script.source).count();
        if fitting && so_far < MAX_SCRIPTS {
            self.list.push(Script { runs: clip(&script.runs, MAX_RUNS_CHARS), ..script });
        }
    }

    /// Notes what could not be read.
    pub(super) fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }
}

/// Finds the scripts that the manifests of a folder define.
///
/// # Errors
/// Those of opening the folder; a manifest that cannot be read is a warning.
pub fn find_scripts(folder: &PermittedPath, cancel: &Cancel) -> Result<Scripts, Failure> {
    let folder = Folder::open(folder)?;
    let mut scripts = Scripts::default();
    for find in [node::find, cargo::find, make::find, just::find, python::find] {
        cancel.check()?;
        find(&folder, &mut scripts);
    }
    Ok(scripts)
}

/// Shortens a text.
pub(super) fn clip(text: &str, max_chars: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(max_chars) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_runner_would_hand_to_a_shell_is_no_argument() {
        let script = |runner, arguments| Script {
            name: "test".to_owned(),
            runner: Some(runner),
            source: String::new(),
            runs: String::new(),
            argv: vec![runner.to_owned(), "test".to_owned()],
            arguments,
        };
        let hostile = [
            "$(touch evil)",
            "`id`",
            "a;b",
            "a b",
            "a|b",
            "a&b",
            "a>b",
            "*",
            "~",
            "'",
            "\"",
            "\\",
            "\n",
            "#a",
            "!a",
            "(a)",
            "{a}",
            "[a]",
            "ä",
            "-f",
            "--justfile=x",
        ];
        for word in hostile {
            let words = ["plain".to_owned(), word.to_owned()];
            for script in [script("make", Arguments::None), script("just", Arguments::PlainWords)] {
                let refused = script.with_arguments(&words).expect_err(word);
                assert_eq!(refused.details["field"], "input.args", "{word}");
            }
            // A runner that hands words on gets them behind the mark where its own options end.
            let argv = script("npm", Arguments::Words).with_arguments(&words).expect("words");
            assert_eq!(argv, ["npm", "test", "--", "plain", word]);
        }
        let plain = ["a/b.c:D=@e,+f%g-h_1".to_owned()];
        assert!(script("make", Arguments::None).with_arguments(&plain).is_err());
        let argv = script("just", Arguments::PlainWords).with_arguments(&plain).expect("a plain word");
        assert_eq!(argv[2..], plain);
    }
}
