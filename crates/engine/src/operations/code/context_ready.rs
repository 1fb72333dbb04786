//! Which of a project's commands run here: what the scope allows, and whose programs are there.

use std::path::PathBuf;

use bailiwick_contract::{Capability, CommandInput};
use bailiwick_policy::Permit;
use bailiwick_policy::command::Grant;
use bailiwick_providers::command::SearchPath;
use bailiwick_providers::orientation::{Command, Purpose};

/// Notes of each command what is missing for it to run, and puts those that run before others of their purpose. What does
/// only a part of it stays behind what does all.
pub(super) fn note_missing(permit: &Permit, commands: &mut [Command]) {
    for command in commands.iter_mut() {
        command.missing = missing(permit, command);
    }
    for purpose in
        [Purpose::Build, Purpose::Test, Purpose::Lint, Purpose::Format, Purpose::Run, Purpose::Other]
    {
        let places: Vec<usize> = (0..commands.len()).filter(|at| commands[*at].purpose == purpose).collect();
        let mut ordered: Vec<Command> = places.iter().map(|at| commands[*at].clone()).collect();
        ordered.sort_by_key(|command| (!command.is_plain(), command.missing.is_some()));
        for (at, command) in places.into_iter().zip(ordered) {
            commands[at] = command;
        }
    }
}

/// Returns what is missing for a command: a program, or the permission.
fn missing(permit: &Permit, command: &Command) -> Option<String> {
    let input = CommandInput::Line(command.run.clone());
    let judge = |grant, capability| {
        permit.allows(capability).then(|| permit.judge_command(&input, grant).ok()).flatten()
    };
    // A script may be started by package.run, too.
    let by_package = || command.script.as_ref().and_then(|_| judge(Grant::Package, Capability::PackageRun));
    let judged = judge(Grant::Rules, Capability::CommandRun).or_else(by_package);
    let Some(permitted) = judged else { return Some("permission".to_owned()) };
    let folders: &[PathBuf] = &permitted.hold().search_path;
    let search = SearchPath::new(folders, &[]);
    let programs = permitted.plan().commands().filter_map(|command| command.argv.first());
    let is_there = |program: &&String| match program.contains('/') {
        true => is_in_project(permit, program),
        false => search.find(program).is_ok(),
    };
    // What an earlier command of the line makes cannot be there yet.
    let mut absent = programs
        .enumerate()
        .filter(|(at, program)| !(is_there(program) || *at > 0 && program.starts_with("./")));
    absent.next().map(|(_, program)| program.clone())
}

/// Returns whether a program that is named by its path is in the project.
fn is_in_project(permit: &Permit, program: &str) -> bool {
    let mut place = permit.path().clone();
    for name in program.split('/').filter(|name| !name.is_empty() && *name != ".") {
        match place.child(std::ffi::OsStr::new(name)) {
            Ok(child) => place = child,
            Err(_) => return false,
        }
    }
    place.stat().is_ok()
}
