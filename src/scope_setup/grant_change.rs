//! Changes of what a scope grants: capabilities, files, commands and windows, one by one.

use bailiwick_config::{CommandRule, HostList, NetworkRule, OtherHosts, ScopeConfig, WindowPattern};
use bailiwick_contract::{Capability, ErrorCode, Failure};
use bailiwick_engine::operations::FAMILIES;
use bailiwick_engine::registry::Registry;

use super::registries;
use crate::installation::text::{one_line, with_nearest};

/// What is granted, or taken away.
#[derive(Debug, Clone, Default)]
pub struct GrantChange {
    /// Capabilities.
    pub capabilities: Vec<Capability>,
    /// Files, by globs.
    pub files: Vec<String>,
    /// Commands, by rules.
    pub commands: Vec<String>,
    /// Windows of apps, by globs.
    pub apps: Vec<String>,
    /// Windows by their title.
    pub titles: Vec<String>,
    /// Hosts that commands may reach.
    pub hosts: Vec<String>,
    /// Whether to these belong the hosts of the user's package registries.
    pub package_registries: bool,
    /// Operations that need approval each time.
    pub operations: Vec<String>,
    /// What needs approval the first time in a session.
    pub first_use: Vec<String>,
}

/// Grants what is named, or has it asked about.
///
/// # Errors
/// For hosts where the whole network is open.
pub fn allow(scope: &mut ScopeConfig, args: &GrantChange, ask: bool) -> Result<(), Failure> {
    allow_hosts(scope, &hosts(args))?;
    for capability in &args.capabilities {
        scope.deny.retain(|it| it != capability);
        move_to(*capability, if ask { &mut scope.ask } else { &mut scope.capabilities });
        let other = if ask { &mut scope.capabilities } else { &mut scope.ask };
        other.retain(|it| it != capability);
    }
    let policy = &mut scope.policy;
    for glob in &args.files {
        policy.closed_files.retain(|it| it != glob);
        let was_asked = policy.ask_files.contains(glob);
        if ask {
            move_to(glob.clone(), &mut policy.ask_files);
        } else {
            policy.ask_files.retain(|it| it != glob);
        }
        // To ask no more about files opens none that are closed because they are sensitive.
        if ask || !was_asked {
            move_to(glob.clone(), &mut policy.open_sensitive);
        }
    }
    for name in &args.operations {
        let name = operation(name)?;
        if ask {
            move_to(name, &mut policy.ask_operations);
        } else {
            policy.ask_operations.retain(|it| *it != name);
        }
    }
    for name in &args.first_use {
        move_to(name.clone(), &mut policy.ask_first_use);
    }
    for rule in rules(args) {
        policy.denied_commands.retain(|it| *it != rule);
        if ask {
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
    Ok(())
}

/// Takes what is named away, and keeps it closed.
///
/// # Errors
/// `not_found` for a host that is not allowed.
pub fn deny(scope: &mut ScopeConfig, args: &GrantChange) -> Result<(), Failure> {
    if !args.operations.is_empty() || !args.first_use.is_empty() {
        let field = if args.operations.is_empty() { "--first-use" } else { "--operation" };
        return Err(Failure::invalid(field, "operations are denied by their capability").hint(
            "`bailiwick scope deny ID CAPABILITY` denies; `bailiwick scope allow ID --operation NAME --ask` asks each time.",
        ));
    }
    for host in hosts(args) {
        deny_host(scope, &host)?;
    }
    for capability in &args.capabilities {
        scope.capabilities.retain(|it| it != capability);
        scope.ask.retain(|it| it != capability);
        move_to(*capability, &mut scope.deny);
    }
    let policy = &mut scope.policy;
    for glob in &args.files {
        policy.open_sensitive.retain(|it| it != glob);
        policy.ask_files.retain(|it| it != glob);
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
    Ok(())
}

/// Returns the name of an operation or family as the policy knows it.
///
/// # Errors
/// `unknown_operation`, with the nearest name.
fn operation(name: &str) -> Result<String, Failure> {
    let registry = Registry::new(FAMILIES);
    if let Some(entry) = registry.entry(name) {
        return Ok(entry.alias_of.unwrap_or(entry.spec.name).to_owned());
    }
    let is_family = |family: &str| registry.operations().any(|entry| entry.spec.name.starts_with(family));
    if name.strip_suffix('*').is_some_and(|family| family.ends_with('.') && is_family(family)) {
        return Ok(name.to_owned());
    }
    let failure =
        Failure::new(ErrorCode::UnknownOperation, format!("there is no operation `{}`", one_line(name)));
    let known = registry.operations().map(|entry| entry.spec.name);
    Err(with_nearest(failure, name, known, "`bailiwick client tools` lists them; `git.*` is a family."))
}

fn hosts(args: &GrantChange) -> Vec<String> {
    let registries = if args.package_registries { registries::hosts() } else { Vec::new() };
    args.hosts.iter().cloned().chain(registries).collect()
}

/// Lets commands reach further hosts.
///
/// # Errors
/// Where the whole network is open.
pub fn allow_hosts(scope: &mut ScopeConfig, hosts: &[String]) -> Result<(), Failure> {
    if hosts.is_empty() {
        return Ok(());
    }
    let mut list = match scope.policy.network.take() {
        Some(NetworkRule::Hosts(list)) => list,
        Some(NetworkRule::Full) => {
            let id = &scope.id;
            return Err(Failure::invalid(
                "--host",
                format!("commands of scope `{id}` reach the whole network, and so every host"),
            )
            .hint(format!(
                "`bailiwick scope edit {id} --network loopback` closes it; then name the hosts."
            )));
        }
        None | Some(NetworkRule::None | NetworkRule::Loopback) => {
            HostList { hosts: Vec::new(), otherwise: OtherHosts::Deny }
        }
    };
    for host in hosts {
        move_to(host.to_ascii_lowercase(), &mut list.hosts);
    }
    scope.policy.network = Some(NetworkRule::Hosts(list));
    Ok(())
}

/// Takes a host away. Without the last one a loopback is left.
fn deny_host(scope: &mut ScopeConfig, host: &str) -> Result<(), Failure> {
    if let Some(NetworkRule::Hosts(list)) = &mut scope.policy.network {
        let before = list.hosts.len();
        list.hosts.retain(|it| !it.eq_ignore_ascii_case(host));
        let is_removed = list.hosts.len() < before;
        if list.hosts.is_empty() {
            scope.policy.network = Some(NetworkRule::Loopback);
        }
        if is_removed {
            return Ok(());
        }
    }
    let (id, host) = (&scope.id, one_line(host));
    Err(Failure::new(ErrorCode::NotFound, format!("scope `{id}` does not name the host `{host}`"))
        .hint(format!("`bailiwick scope show {id}` lists its hosts; all others are refused.")))
}

fn move_to<T: PartialEq>(it: T, list: &mut Vec<T>) {
    if !list.contains(&it) {
        list.push(it);
    }
}

fn rules(args: &GrantChange) -> impl Iterator<Item = CommandRule> {
    args.commands.iter().map(|line| CommandRule::Line(line.clone()))
}

fn windows(args: &GrantChange) -> impl Iterator<Item = WindowPattern> {
    let apps = args.apps.iter().map(|app| WindowPattern { app: Some(app.clone()), title: None });
    apps.chain(args.titles.iter().map(|title| WindowPattern { app: None, title: Some(title.clone()) }))
}
