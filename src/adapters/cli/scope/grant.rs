//! `scope allow` and `scope deny`: capabilities, files, commands and windows, one by one.

use bailiwick_config::{CommandRule, ScopeConfig, WindowPattern};
use bailiwick_contract::Failure;

use super::super::home::Home;
use super::super::printer::Report;
use super::args::GrantArgs;
use super::report::change;

/// Grants or denies what is named.
///
/// # Errors
/// When there is no such scope, or a rule or glob is not of its form.
pub fn run(
    home: &Home,
    args: &GrantArgs,
    grant: fn(&mut ScopeConfig, &GrantArgs),
) -> Result<Report, Failure> {
    change(home, &args.id, args.dry_run, |scope| {
        grant(scope, args);
        Ok(())
    })
}

/// Grants what is named, or has it asked about.
pub fn allow(scope: &mut ScopeConfig, args: &GrantArgs) {
    for capability in &args.capabilities {
        scope.deny.retain(|it| it != capability);
        move_to(*capability, if args.ask { &mut scope.ask } else { &mut scope.capabilities });
        let other = if args.ask { &mut scope.capabilities } else { &mut scope.ask };
        other.retain(|it| it != capability);
    }
    let policy = &mut scope.policy;
    for glob in &args.files {
        policy.closed_files.retain(|it| it != glob);
        move_to(glob.clone(), &mut policy.open_sensitive);
    }
    for rule in rules(args) {
        policy.denied_commands.retain(|it| *it != rule);
        if args.ask {
            policy.allowed_commands.retain(|it| *it != rule);
            move_to(rule, &mut policy.ask_commands);
        } else {
            policy.ask_commands.retain(|it| *it != rule);
            move_to(rule, &mut policy.allowed_commands);
        }
    }
    for window in windows(args) {
        policy.denied_windows.retain(|it| *it != window);
        move_to(window, &mut policy.open_sensitive_windows);
    }
}

/// Takes what is named away, and keeps it closed.
pub fn deny(scope: &mut ScopeConfig, args: &GrantArgs) {
    for capability in &args.capabilities {
        scope.capabilities.retain(|it| it != capability);
        scope.ask.retain(|it| it != capability);
        move_to(*capability, &mut scope.deny);
    }
    let policy = &mut scope.policy;
    for glob in &args.files {
        policy.open_sensitive.retain(|it| it != glob);
        move_to(glob.clone(), &mut policy.closed_files);
    }
    for rule in rules(args) {
        policy.allowed_commands.retain(|it| *it != rule);
        policy.ask_commands.retain(|it| *it != rule);
        move_to(rule, &mut policy.denied_commands);
    }
    for window in windows(args) {
        policy.open_sensitive_windows.retain(|it| *it != window);
        move_to(window, &mut policy.denied_windows);
    }
}

fn move_to<T: PartialEq>(it: T, list: &mut Vec<T>) {
    if !list.contains(&it) {
        list.push(it);
    }
}

fn rules(args: &GrantArgs) -> impl Iterator<Item = CommandRule> {
    args.command.iter().map(|line| CommandRule::Line(line.clone()))
}

fn windows(args: &GrantArgs) -> impl Iterator<Item = WindowPattern> {
    let apps = args.app.iter().map(|app| WindowPattern { app: Some(app.clone()), title: None });
    apps.chain(args.title.iter().map(|title| WindowPattern { app: None, title: Some(title.clone()) }))
}
