//! `scope edit`: folders, how commands are held, limits, screens.

use std::path::{Path, PathBuf};

use bailiwick_config::{HostList, NetworkRule, OtherHosts, ScopeConfig, ScopePolicy, WindowPattern};
use bailiwick_contract::{Capability, ErrorCode, Failure, ScopeType};
use bailiwick_platform::paths;

use super::super::args::Preset;
use super::super::commands_setup;
use super::super::home::Home;
use super::super::open_folder::find_folder;
use super::super::printer::{Printer, Report, one_line, with_nearest};
use super::args::{ScopeEditArgs, ScreenShare};
use super::report::{change_in, confirmed};
use crate::scope_setup::scope_words::roots;

/// Changes a scope.
///
/// # Errors
/// When there is no such scope, a folder cannot be opened or is not there, or the scope would be refused.
pub fn run(home: &Home, printer: Printer, args: &ScopeEditArgs) -> Result<Report, Failure> {
    confirmed(home, printer, args.confirm, "Change it?", |home, config| {
        change_in(home, config, &args.id, |scope| edit(home, scope, args))
    })
}

fn edit(home: &Home, scope: &mut ScopeConfig, args: &ScopeEditArgs) -> Result<(), Failure> {
    if args.name.is_some() {
        scope.name.clone_from(&args.name);
    }
    folders(home, scope, args)?;
    if !args.screen.is_empty() {
        if scope.scope_type != ScopeType::Computer {
            return Err(Failure::invalid("--screen", "a folder scope takes no pictures of screens")
                .hint("Make one for the computer: `bailiwick scope add-screen screen`."));
        }
        share(scope, &args.screen);
    }
    if let Some(preset) = args.preset {
        scope.capabilities = preset.capabilities();
    }
    if args.commands || args.preset == Some(Preset::Full) {
        if scope.scope_type == ScopeType::Computer {
            return Err(Failure::invalid("--commands", "commands run in folders, not in a computer scope"));
        }
        commands_setup::turn_on(scope);
    }
    args.forget.iter().try_for_each(|rule| forget(scope, rule))?;
    commands(&mut scope.policy, args)?;
    scope.policy.after_untrusted = args.after_untrusted.unwrap_or(scope.policy.after_untrusted);
    for glob in &args.untrusted_files {
        if !scope.policy.untrusted_files.contains(glob) {
            scope.policy.untrusted_files.push(glob.clone());
        }
    }
    limits(&mut scope.policy, args)
}

fn folders(home: &Home, scope: &mut ScopeConfig, args: &ScopeEditArgs) -> Result<(), Failure> {
    for folder in &args.remove_root {
        // A folder that is gone can still be closed, by the path that the config has.
        let found = paths::real(folder).unwrap_or_else(|_| folder.clone());
        let before = scope.roots.len();
        scope.roots.retain(|root| *root != found && root != folder);
        if scope.roots.len() == before {
            return Err(Failure::new(
                ErrorCode::NotFound,
                format!("scope `{}` has no folder `{}`", args.id, one_line(&folder.display().to_string())),
            )
            .hint(format!("It has: {}.", roots(scope))));
        }
    }
    for folder in &args.add_root {
        let folder = find_folder(home, folder, args.whole_home.into())?;
        if !scope.roots.contains(&folder) {
            scope.roots.push(folder);
        }
    }
    if scope.roots.is_empty() && scope.scope_type == ScopeType::Folder {
        return Err(Failure::invalid("--remove-root", "a scope needs at least one folder")
            .hint(format!("Remove the scope with `bailiwick scope remove {}`.", args.id)));
    }
    Ok(())
}

/// Strikes a rule from every list that holds it.
fn forget(scope: &mut ScopeConfig, rule: &str) -> Result<(), Failure> {
    let policy = &mut scope.policy;
    let mut removed = false;
    for list in [&mut policy.allowed_commands, &mut policy.ask_commands, &mut policy.denied_commands] {
        let before = list.len();
        list.retain(|it| it.spelled() != rule);
        removed |= list.len() < before;
    }
    for list in [
        &mut policy.open_sensitive,
        &mut policy.closed_files,
        &mut policy.ask_files,
        &mut policy.ask_operations,
        &mut policy.ask_first_use,
        &mut policy.untrusted_files,
    ] {
        let before = list.len();
        list.retain(|it| it != rule);
        removed |= list.len() < before;
    }
    let is_named = |it: &WindowPattern| [&it.app, &it.title].iter().any(|glob| glob.as_deref() == Some(rule));
    for list in [&mut policy.denied_windows, &mut policy.open_sensitive_windows] {
        let before = list.len();
        list.retain(|it| !is_named(it));
        removed |= list.len() < before;
    }
    for list in [&mut policy.read_paths, &mut policy.search_path] {
        let before = list.len();
        list.retain(|it| it != Path::new(rule));
        removed |= list.len() < before;
    }
    if removed {
        return Ok(());
    }
    Err(Failure::new(ErrorCode::NotFound, format!("scope `{}` has no rule `{}`", scope.id, one_line(rule)))
        .hint(format!("`bailiwick scope show {}` lists its rules.", scope.id)))
}

/// How commands are held, and what they get.
fn commands(policy: &mut ScopePolicy, args: &ScopeEditArgs) -> Result<(), Failure> {
    if let Some(network) = &args.network {
        policy.network = Some(network.clone());
    }
    let names_no_hosts = matches!(policy.network, Some(NetworkRule::None | NetworkRule::Loopback));
    // They are refused already.
    let otherwise = args.other_hosts.filter(|it| *it != OtherHosts::Deny || !names_no_hosts);
    if let Some(otherwise) = otherwise {
        let hosts = match policy.network.take() {
            Some(NetworkRule::Hosts(list)) => list.hosts,
            Some(NetworkRule::Full) => {
                policy.network = Some(NetworkRule::Full);
                return Err(Failure::invalid(
                    "--other-hosts",
                    "commands reach the whole network, and so every host",
                )
                .hint("Run `bailiwick scope edit ID --network loopback` first, then name the hosts."));
            }
            None | Some(NetworkRule::None | NetworkRule::Loopback) => Vec::new(),
        };
        policy.network = Some(match (otherwise, hosts.is_empty()) {
            (OtherHosts::Deny, true) => NetworkRule::Loopback,
            _ => NetworkRule::Hosts(HostList { hosts, otherwise }),
        });
    }
    policy.sandbox = args.sandbox.unwrap_or(policy.sandbox);
    policy.shell = args.shell.unwrap_or(policy.shell);
    policy.undo = args.undo.unwrap_or(policy.undo);
    policy.preview = args.preview.unwrap_or(policy.preview);
    policy.process_lifetime = args.process_lifetime.unwrap_or(policy.process_lifetime);
    for folder in &args.read_path {
        let folder = whole("--read-path", folder)?;
        if !policy.read_paths.contains(&folder) {
            policy.read_paths.push(folder);
        }
    }
    for folder in args.search_path.iter().rev() {
        let folder = whole("--search-path", folder)?;
        if policy.search_path.is_empty() {
            policy.search_path = commands_setup::system_path();
        }
        policy.search_path.retain(|it| *it != folder);
        policy.search_path.insert(0, folder);
    }
    for variable in &args.env {
        let Some((name, value)) = variable.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            return Err(Failure::invalid("--env", "a variable is given as NAME=VALUE"));
        };
        policy.environment.insert(name.to_owned(), value.to_owned());
    }
    for name in &args.allow_env {
        if !policy.allowed_environment.contains(name) {
            policy.allowed_environment.push(name.clone());
        }
    }
    for name in &args.unset_env {
        let was_given = policy.environment.remove(name).is_some();
        let before = policy.allowed_environment.len();
        policy.allowed_environment.retain(|it| it != name);
        if !was_given && policy.allowed_environment.len() == before {
            return Err(Failure::new(
                ErrorCode::NotFound,
                format!("there is no variable `{}`", one_line(name)),
            ));
        }
    }
    Ok(())
}

/// The names of the limits.
const LIMITS: &[&str] = &[
    "runtime-seconds",
    "output-bytes",
    "memory-megabytes",
    "job-memory-megabytes",
    "processes",
    "file-megabytes",
    "live-processes",
    "process-seconds",
];

fn limits(policy: &mut ScopePolicy, args: &ScopeEditArgs) -> Result<(), Failure> {
    policy.max_runtime_seconds = args.max_runtime_seconds.or(policy.max_runtime_seconds);
    policy.max_output_bytes = args.max_output_bytes.or(policy.max_output_bytes);
    policy.refuse_hard_links = args.refuse_hard_links.unwrap_or(policy.refuse_hard_links);
    for limit in &args.limit {
        let (name, value) = limit.split_once('=').unwrap_or((limit, ""));
        let number = match value {
            "default" => None,
            number => Some(number.parse::<u32>().ok().filter(|number| *number > 0).ok_or_else(|| {
                Failure::invalid("--limit", format!("`{}` is no limit", one_line(limit)))
                    .hint("Write it as `--limit processes=64`; `default` ends a limit.")
            })?),
        };
        let wide = number.map(u64::from);
        match name {
            "runtime-seconds" => policy.max_runtime_seconds = wide,
            "output-bytes" => policy.max_output_bytes = wide,
            "memory-megabytes" => policy.max_memory_megabytes = wide,
            "job-memory-megabytes" => policy.max_job_memory_megabytes = wide,
            "processes" => policy.max_processes = wide,
            "file-megabytes" => policy.max_file_megabytes = wide,
            "live-processes" => policy.max_live_processes = number,
            "process-seconds" => policy.max_process_seconds = wide,
            _ => {
                let failure = Failure::invalid("--limit", format!("there is no limit `{}`", one_line(name)));
                let otherwise = format!("There are: {}.", LIMITS.join(", "));
                return Err(with_nearest(failure, name, LIMITS.iter().copied(), &otherwise));
            }
        }
    }
    Ok(())
}

/// Returns the whole path of a folder that commands are to reach.
fn whole(flag: &str, folder: &Path) -> Result<PathBuf, Failure> {
    let shown = one_line(&folder.display().to_string());
    let found = paths::real(folder)
        .map_err(|error| Failure::new(ErrorCode::NotFound, format!("{flag}: `{shown}`: {error}")))?;
    if found.parent().is_none() {
        return Err(Failure::denied(
            "whole-computer",
            format!("{flag}: the whole file system is not opened"),
        )
        .hint("Name the folder that commands need."));
    }
    Ok(found)
}

/// Lets clients take pictures of what is named, or of nothing any more.
pub fn share(scope: &mut ScopeConfig, what: &[ScreenShare]) {
    for what in what {
        let policy = &mut scope.policy;
        match what {
            ScreenShare::Displays => policy.allow_displays = Some(true),
            ScreenShare::Windows => policy.allow_windows = Some(true),
            ScreenShare::Processes => policy.allow_processes = Some(true),
            ScreenShare::Nothing => {
                (policy.allow_displays, policy.allow_windows, policy.allow_processes) = (None, None, None);
                scope.capabilities.retain(|it| *it != Capability::ScreenCapture);
                scope.ask.retain(|it| *it != Capability::ScreenCapture);
                return;
            }
        }
    }
    let has_it =
        [&scope.capabilities, &scope.ask].iter().any(|list| list.contains(&Capability::ScreenCapture));
    if !what.is_empty() && !has_it {
        scope.capabilities.push(Capability::ScreenCapture);
    }
}
