//! Changes of a scope one by one: folders, rules, what commands reach and get, limits.

use std::path::{Path, PathBuf};

use bailiwick_config::{HostList, NetworkRule, OtherHosts, ScopeConfig, ScopePolicy, WindowPattern};
use bailiwick_contract::{ErrorCode, Failure, ScopeType};
use bailiwick_platform::paths;

use super::commands_setup;
use super::open_folder::{WholeHome, find_folder};
use super::scope_words::roots;
use crate::installation::home::Home;
use crate::installation::text::{one_line, with_nearest};

/// Closes folders of a scope, and opens others.
///
/// # Errors
/// `not_found` for one that it does not have; `invalid_request` if none is left; when one cannot be opened.
pub fn folders(
    home: &Home,
    scope: &mut ScopeConfig,
    removed: &[PathBuf],
    added: &[PathBuf],
    whole_home: WholeHome,
) -> Result<(), Failure> {
    for folder in removed {
        // A folder that is gone can still be closed, by the path that the config has.
        let found = paths::real(folder).unwrap_or_else(|_| folder.clone());
        let before = scope.roots.len();
        scope.roots.retain(|root| *root != found && root != folder);
        if scope.roots.len() == before {
            return Err(Failure::new(
                ErrorCode::NotFound,
                format!("scope `{}` has no folder `{}`", scope.id, one_line(&folder.display().to_string())),
            )
            .hint(format!("It has: {}.", roots(scope))));
        }
    }
    for folder in added {
        let folder = find_folder(home, folder, whole_home)?;
        if !scope.roots.contains(&folder) {
            scope.roots.push(folder);
        }
    }
    if scope.roots.is_empty() && scope.scope_type == ScopeType::Folder {
        return Err(Failure::invalid("--remove-root", "a scope needs at least one folder")
            .hint(format!("Remove the scope with `bailiwick scope remove {}`.", scope.id)));
    }
    Ok(())
}

/// Strikes a rule from every list that holds it.
///
/// # Errors
/// `not_found` if none does.
pub fn forget(scope: &mut ScopeConfig, rule: &str) -> Result<(), Failure> {
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

/// Sets what commands reach, and what becomes of hosts that are not named.
///
/// # Errors
/// `invalid_request` where the whole network is open.
pub fn network(
    policy: &mut ScopePolicy,
    network: Option<&NetworkRule>,
    other_hosts: Option<OtherHosts>,
) -> Result<(), Failure> {
    if let Some(network) = network {
        policy.network = Some(network.clone());
    }
    let names_no_hosts = matches!(policy.network, Some(NetworkRule::None | NetworkRule::Loopback));
    // They are refused already.
    let otherwise = other_hosts.filter(|it| *it != OtherHosts::Deny || !names_no_hosts);
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
    Ok(())
}

/// Adds folders that commands may read.
///
/// # Errors
/// `not_found`; `permission_denied` for the whole file system.
pub fn read_paths(policy: &mut ScopePolicy, folders: &[PathBuf]) -> Result<(), Failure> {
    for folder in folders {
        let folder = whole("--read-path", folder)?;
        if !policy.read_paths.contains(&folder) {
            policy.read_paths.push(folder);
        }
    }
    Ok(())
}

/// Adds folders in which programs are looked up first.
///
/// # Errors
/// As [`read_paths`].
pub fn search_path(policy: &mut ScopePolicy, folders: &[PathBuf]) -> Result<(), Failure> {
    for folder in folders.iter().rev() {
        let folder = whole("--search-path", folder)?;
        if policy.search_path.is_empty() {
            policy.search_path = commands_setup::system_path();
        }
        policy.search_path.retain(|it| *it != folder);
        policy.search_path.insert(0, folder);
    }
    Ok(())
}

/// Gives commands variables, lets clients set some, and takes some away.
///
/// # Errors
/// `invalid_request` for what is no variable; `not_found` for one that is not there.
pub fn environment(
    policy: &mut ScopePolicy,
    given: &[String],
    allowed: &[String],
    unset: &[String],
) -> Result<(), Failure> {
    for variable in given {
        let Some((name, value)) = variable.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            return Err(Failure::invalid("--env", "a variable is given as NAME=VALUE"));
        };
        policy.environment.insert(name.to_owned(), value.to_owned());
    }
    for name in allowed {
        if !policy.allowed_environment.contains(name) {
            policy.allowed_environment.push(name.clone());
        }
    }
    for name in unset {
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

/// Sets limits, each as `NAME=NUMBER`.
///
/// # Errors
/// `invalid_request` for a name or a number that is none.
pub fn limits(policy: &mut ScopePolicy, limits: &[String]) -> Result<(), Failure> {
    for limit in limits {
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
