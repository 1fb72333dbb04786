//! How a project is built, tested, linted, formatted and run.
//!
//! From the scripts that manifests define, from what is usual with a manifest, and from what CI runs. Nothing is
//! tried: whether a command works, and whether it may be run, is for others to say.

use schemars::JsonSchema;
use serde::Serialize;

use crate::package::{Script, find_scripts};
use bailiwick_contract::{Cancel, Failure};
use bailiwick_policy::PermittedPath;

use super::build_tools::{build_tools, is_no_build, is_of_another_language, with_wrapper};
use super::ci::{ci_commands, tests_of_readme};
use super::excerpt::{clean, clip};
use super::languages::Language;
use super::{Manifests, Survey};

/// How much of a command is told, in characters.
const MAX_RUN_CHARS: usize = 160;
/// How much of what a script runs is told, in characters.
const MAX_MEANS_CHARS: usize = 80;

/// What a command is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Purpose {
    /// Building.
    Build,
    /// Testing.
    Test,
    /// Finding mistakes without running.
    Lint,
    /// Formatting.
    Format,
    /// Running it.
    Run,
    /// Something else.
    Other,
}

/// A command of the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Command {
    /// What it is for.
    #[serde(rename = "for")]
    pub purpose: Purpose,
    /// The command, to be run in the target folder.
    pub run: String,
    /// The name of the script that package.run takes, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    /// What the script runs, shortened.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub means: String,
    /// The file that names it.
    pub from: String,
    /// Whether no file names the command itself: it is what is usual with such a file.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub usual: bool,
    /// What is missing for it to run here: the program that is not on this computer or in the project, or
    /// `permission` where the scope does not allow it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// Finds the commands of the target folder: the best for each purpose first. Returns also what could not be read.
///
/// # Errors
/// Those of opening the folder; `cancelled`, `timeout`.
pub fn find_commands(
    target: &PermittedPath,
    manifests: &Manifests,
    survey: &Survey,
    cancel: &Cancel,
) -> Result<(Vec<Command>, Vec<String>), Failure> {
    // Data and prose say nothing about what a project is built with.
    let language = survey.languages.first().map(|language| language.name);
    let language = language.filter(|name| Language::named(name).is_some_and(Language::is_program));
    let is_aside = |from: &str| is_of_another_language(from, language);
    let scripts = find_scripts(target, cancel)?;
    let mut commands: Vec<Command> = Vec::new();
    for script in &scripts.list {
        if script.runner.is_some() {
            commands.push(of_script(script));
        }
    }
    let add = |commands: &mut Vec<Command>, command: Command| {
        if !commands.iter().any(|other| other.run == command.run) {
            commands.push(command);
        }
    };
    let make = |purpose, run: &str, from: &str, usual| Command {
        purpose,
        run: with_wrapper(target, run),
        script: None,
        means: String::new(),
        from: from.to_owned(),
        usual,
        missing: None,
    };
    let has_cmake =
        manifests.usual.iter().any(|(_, run, _)| run.starts_with("cmake ")) && !is_aside("CMakeLists.txt");
    // A project's own words go before what is usual.
    let has_own = |commands: &[Command], purpose: Purpose| {
        let is_own =
            |command: &&Command| command.purpose == purpose && !command.usual && !is_aside(&command.from);
        // A Makefile beside CMake's files is often a helper.
        let is_helper = |command: &Command| has_cmake && command.run.starts_with("make");
        commands.iter().filter(is_own).any(|command| command.is_plain() && !is_helper(command))
    };
    let (named, usual): (Vec<_>, Vec<_>) = build_tools(target).into_iter().partition(|known| known.is_named);
    for known in &named {
        if !has_own(&commands, known.purpose) {
            add(&mut commands, make(known.purpose, &known.run, &known.from, false));
        }
    }
    let of_ci = ci_commands(target, cancel)?;
    let usual = usual.iter().map(|known| (known.purpose, known.run.as_str(), known.from.as_str()));
    let stated = manifests.usual.iter().map(|(purpose, run, from)| (*purpose, *run, from.as_str()));
    // Files of Meson and Bazel beside those of another tool are often there for those who depend on the project.
    let is_beside = |run: &str| run.starts_with("meson ") || run.starts_with("bazel ");
    let (last, usual): (Vec<_>, Vec<_>) = usual.partition(|(_, run, _)| is_beside(run));
    for (purpose, run, from) in usual.into_iter().chain(stated).chain(last) {
        // What CI runs itself is no guess.
        let stated = of_ci.iter().find(|(_, other, _)| *other == run);
        if !has_own(&commands, purpose) {
            let from = stated.map_or(from, |(.., from)| from);
            add(&mut commands, make(purpose, run, from, stated.is_none()));
        }
    }
    for (purpose, run, from) in &of_ci {
        add(&mut commands, make(*purpose, run, from, false));
    }
    if !commands.iter().any(|command| command.purpose == Purpose::Test) {
        for (run, from) in tests_of_readme(target) {
            add(&mut commands, make(Purpose::Test, &run, &from, false));
        }
    }
    if manifests.is_cargo_workspace {
        // `cargo test` in the root package of a workspace leaves out its members.
        for command in
            commands.iter_mut().filter(|it| matches!(it.run.as_str(), "cargo build" | "cargo test"))
        {
            command.run.push_str(" --workspace");
            command.script = None;
        }
    }
    let rank = |command: &Command| {
        let is_helper = has_cmake && command.run.starts_with("make");
        (is_aside(&command.from), is_helper)
    };
    Ok((in_order(commands, rank), scripts.warnings))
}

impl Command {
    /// Returns whether a command does its purpose as a whole, as far as its name says.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.script.as_deref().is_none_or(|name| !name.contains([':', '/', '.', '-', '_']))
    }
}

fn of_script(script: &Script) -> Command {
    let runner = script.runner.unwrap_or_default();
    // What cargo's own verbs do is known.
    let means = if runner == "cargo" { String::new() } else { clip(&clean(&script.runs), MAX_MEANS_CHARS) };
    Command {
        purpose: match purpose_of(&script.name, runner) {
            Purpose::Build if is_no_build_of(script) => Purpose::Other,
            purpose => purpose,
        },
        run: clip(&line_of(&script.argv), MAX_RUN_CHARS),
        script: Some(script.name.clone()),
        means,
        from: script.source.clone(),
        usual: false,
        missing: None,
    }
}

/// Returns whether a script that is named as a build does something else: tests as well, or makes a release.
fn is_no_build_of(script: &Script) -> bool {
    script.name == "all" && is_no_build(&script.runs) || script.runs.starts_with("goreleaser ")
}

/// Writes words as a person would type them.
fn line_of(argv: &[String]) -> String {
    let plain = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_./:=@,+%-".contains(&byte))
    };
    let words = argv.iter().map(|word| match word {
        word if plain(word) => word.clone(),
        word => format!("'{}'", clean(word).replace('\'', "'\\''")),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns what a script is for, by its name.
fn purpose_of(name: &str, runner: &str) -> Purpose {
    let lower = name.to_ascii_lowercase();
    let first = lower.split([':', '-', '_', '.', '/']).next().unwrap_or_default();
    match (first, runner) {
        // A file that is made.
        (_, "make") if name.contains('.') => Purpose::Other,
        // The GNU coding standards name it so.
        ("check", "make") => Purpose::Test,
        ("typecheck" | "type" | "types", _) => Purpose::Lint,
        ("build" | "compile" | "bundle" | "dist" | "all", _) => Purpose::Build,
        ("test" | "tests" | "spec" | "e2e" | "unit", _) => Purpose::Test,
        ("lint" | "clippy" | "check" | "eslint" | "vet" | "tsc" | "mypy" | "ruff", _) => Purpose::Lint,
        ("fmt" | "format" | "prettier", _) => Purpose::Format,
        ("start" | "dev" | "serve" | "run" | "watch", _) => Purpose::Run,
        _ => Purpose::Other,
    }
}

/// Puts the first command of each purpose first, then the second of each; what is for nothing known comes last.
fn in_order(mut commands: Vec<Command>, rank_of: impl Fn(&Command) -> (bool, bool)) -> Vec<Command> {
    // A script that is named as what it is for goes before one for a part of it, and CI's words come last.
    let is_called_so = |command: &Command| {
        matches!(
            (command.purpose, command.script.as_deref()),
            (Purpose::Test, Some("test"))
                | (Purpose::Build, Some("build" | "compile"))
                | (Purpose::Lint, Some("lint"))
        )
    };
    commands.sort_by_key(|command| {
        let order = (!command.is_plain(), command.script.is_none(), !is_called_so(command));
        (command.purpose, rank_of(command), order)
    });
    let mut ranked: Vec<((bool, usize, Purpose), Command)> = Vec::new();
    let (mut rank, mut last) = (0, None);
    for command in commands {
        rank = if last == Some(command.purpose) { rank + 1 } else { 0 };
        last = Some(command.purpose);
        ranked.push(((command.purpose == Purpose::Other, rank, command.purpose), command));
    }
    ranked.sort_by_key(|(order, _)| *order);
    ranked.into_iter().map(|(_, command)| command).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_a_script_is_for() {
        for (name, runner, purpose) in [
            ("build", "npm", Purpose::Build),
            ("test:unit", "npm", Purpose::Test),
            ("check", "cargo", Purpose::Lint),
            ("check", "make", Purpose::Test),
            ("type-check", "pnpm", Purpose::Lint),
            ("run:tool", "cargo", Purpose::Run),
            ("release", "npm", Purpose::Other),
            ("typeset", "make", Purpose::Other),
            ("BUILD.bazel", "make", Purpose::Other),
        ] {
            assert_eq!(purpose_of(name, runner), purpose, "{runner} {name}");
        }
    }

    #[test]
    fn the_first_of_each_purpose_comes_first() {
        let command = |purpose, name: &str| Command {
            purpose,
            run: name.to_owned(),
            script: Some(name.to_owned()),
            means: String::new(),
            from: "m".to_owned(),
            usual: false,
            missing: None,
        };
        let commands = vec![
            command(Purpose::Other, "release"),
            command(Purpose::Test, "test:a"),
            command(Purpose::Test, "test"),
            command(Purpose::Run, "dev"),
        ];
        let ordered = in_order(commands, |_| (false, false));
        let names: Vec<&str> = ordered.iter().map(|command| &*command.run).collect();
        assert_eq!(names, ["test", "dev", "test:a", "release"]);
    }

    #[test]
    fn words_are_written_as_they_are_typed() {
        let words = ["npm", "run", "a b", "it's"].map(str::to_owned);
        assert_eq!(line_of(&words), r"npm run 'a b' 'it'\''s'");
    }
}
