//! The computer: how commands can be sandboxed, which programs are there, who runs Bailiwick.

use std::env;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use bailiwick_config::{Config, SandboxLevel};
use bailiwick_contract::Capability;
use bailiwick_contract::command::{Containment, Network};
use bailiwick_platform::dirs::System;
use bailiwick_platform::launch::levels;
use bailiwick_platform::machine;
use bailiwick_platform::paths;
use bailiwick_policy::{OwnFolders, RootPaths, Scope};
use bailiwick_providers::command::SearchPath;

use super::finding::Findings;
use crate::installation::bounded_run::run_to_end;
use crate::installation::home::Home;
use crate::installation::limit::Limit;
use crate::installation::own_program::on_path;

/// How long a program may take to say its version.
const VERSION_TIME: Duration = Duration::from_millis(800);

/// Looks at the computer.
pub fn look(home: &Home, config: Option<&Config>, found: &mut Findings) {
    found.group("Computer");
    sandbox(config, found);
    user(found);
    open_files(found);
    other_binary(found);
    if let Some(config) = config {
        programs(home, config, found);
    }
}

/// With fewer files than this a service cannot serve many clients, and commands may not start.
const ENOUGH_OPEN_FILES: u64 = 512;

fn open_files(found: &mut Findings) {
    if let Some(limit) = machine::raise_open_files().filter(|limit| *limit < ENOUGH_OPEN_FILES) {
        found.warn(
            "open-files",
            format!("a process may open {limit} files here: with so few, commands may not start"),
            "Raise the hard limit: `ulimit -Hn 4096`, or `LimitNOFILE=4096` in the service's unit.",
        );
    }
}

fn sandbox(config: Option<&Config>, found: &mut Findings) {
    let levels = levels();
    let missing = |level| levels.missing(level).unwrap_or("the system does not say why");
    let runs = |config: &Config| {
        config.scopes.iter().any(|it| it.grants_any(&[Capability::CommandRun, Capability::PackageRun]))
    };
    let is_used = config.is_some_and(runs);
    match levels.strongest {
        Containment::Full => {
            found.ok("sandbox", "commands run in the full sandbox: files, network, processes");
            let is_open = |config: &Config| {
                config.scopes.iter().any(|scope| {
                    scope.grants_any(&[Capability::CommandRun, Capability::PackageRun])
                        && scope.policy.network() == Network::Full
                        && scope.policy.sandbox != SandboxLevel::None
                })
            };
            if !levels.shuts_abstract_sockets() && config.is_some_and(is_open) {
                found.warn(
                    "sandbox-sockets",
                    "commands with `network: full` reach sockets of the desktop that have no path, and results show the \
                     level `partial`: the kernel's Landlock is older than version 6",
                    "Use Linux 6.12 or newer, or `bailiwick scope edit ID --network loopback`.",
                );
            }
        }
        // Whose commands do not run for it is told of each scope.
        Containment::None => {
            let why = missing(Containment::Partial);
            found.ok(
                "sandbox",
                format!(
                    "commands cannot be sandboxed here, and run only where a scope wants no sandbox: {why}"
                ),
            );
        }
        level @ Containment::Partial => {
            let why = missing(Containment::Full);
            let says = format!("commands are sandboxed at `{level}`, not in full: {why}");
            if is_used {
                found.warn("sandbox", says, user_namespaces());
            } else {
                found.ok("sandbox", format!("no scope runs commands ({says})"));
            }
        }
    }
}

/// Returns which setting of the system forbids namespaces, if one does.
fn user_namespaces() -> String {
    let is = |name: &str, value: &str| {
        std::fs::read_to_string(Path::new("/proc/sys").join(name)).is_ok_and(|text| text.trim() == value)
    };
    if is("kernel/unprivileged_userns_clone", "0") {
        "Allow user namespaces: `sudo sysctl kernel.unprivileged_userns_clone=1`.".to_owned()
    } else if is("user/max_user_namespaces", "0") {
        "Allow user namespaces: `sudo sysctl user.max_user_namespaces=10000`.".to_owned()
    } else if is("kernel/apparmor_restrict_unprivileged_userns", "1") {
        let program =
            env::current_exe().map_or_else(|_| "bailiwick".to_owned(), |path| path.display().to_string());
        apparmor_fix(&program)
    } else {
        "`bailiwick help sandbox` says what each level needs. `bailiwick scope edit SCOPE --sandbox full` refuses commands \
         that are sandboxed less."
            .to_owned()
    }
}

/// Returns the commands that let a program create user namespaces where AppArmor restricts them, as Ubuntu 23.10 and
/// later do.
///
/// # Source
/// Ubuntu Server documentation, "AppArmor: restricted unprivileged user namespaces".
fn apparmor_fix(program: &str) -> String {
    format!(
        "Ubuntu lets only programs with an AppArmor profile create user namespaces. Give this one a profile: \
         `printf 'abi <abi/4.0>,\\nprofile bailiwick \"{program}\" flags=(unconfined) {{ userns, }}\\n' | \
         sudo tee /etc/apparmor.d/bailiwick`, then `sudo apparmor_parser -r /etc/apparmor.d/bailiwick`."
    )
}

fn user(found: &mut Findings) {
    if machine::user_id() == 0 {
        found.warn(
            "user",
            "Bailiwick runs as root: what a scope lets clients do is done with all rights",
            "Run it as an ordinary user.",
        );
    } else {
        found.ok("user", format!("it runs as {}", machine::user_name()));
    }
}

/// The `bailiwick` that a shell would start.
fn other_binary(found: &mut Findings) {
    let Some(own) = env::current_exe().ok().and_then(|path| paths::real(&path).ok()) else { return };
    match on_path("bailiwick") {
        Some(first) if paths::real(&first).is_ok_and(|real| real != own) => {
            found.warn(
                "binary",
                format!("a shell starts {}, but this is {}", first.display(), own.display()),
                "Remove the older one, or put the folder of this one first on PATH.",
            );
        }
        Some(first) => found.ok("binary", format!("{} is what a shell starts", first.display())),
        None => {
            found.ok("binary", format!("this is {} (not on PATH; clients name it in full)", own.display()));
        }
    }
}

/// Programs without which something that is granted fails.
fn programs(home: &Home, config: &Config, found: &mut Findings) {
    let (own, paths) = (OwnFolders::of(&home.dirs), RootPaths::new(&config.scopes));
    let install_git = match System::THIS {
        System::Linux => "Install Git (on Debian: `apt-get install git`).",
        System::MacOs => "Install Git (`xcode-select --install`).",
        System::Windows => "Install Git (`winget install Git.Git`).",
    };
    let wanted: [(&str, &[Capability], &str); 2] = [
        ("git", &[Capability::GitRead, Capability::GitWrite], install_git),
        (
            "codex",
            &[Capability::CodexRun],
            "Install Codex (`npm install -g @openai/codex`), and run `codex login`.",
        ),
    ];
    for (program, capabilities, fix) in wanted {
        let needs = config.scopes.iter().filter(|scope| scope.grants_any(capabilities));
        let scopes: Vec<Scope> = needs.filter_map(|scope| Scope::compile(scope, &paths, &own).ok()).collect();
        let Some(first) = scopes.first() else { continue };
        match SearchPath::new(&first.commands().hold().search_path, &[]).find(program) {
            Ok(there) if machine::is_stand_in(System::THIS, &there.path, |path| Path::new(path).exists()) => {
                found.warn(
                    "program",
                    format!("{} only asks to install the real {program}", there.path.display()),
                    "Install Apple's tools for developers: `xcode-select --install`.",
                );
            }
            Ok(there) => match version(&there.path, &Limit::default()) {
                Some(version) => found.ok("program", format!("{version} ({})", there.path.display())),
                None => {
                    found.warn("program", format!("{} does not say its version", there.path.display()), fix);
                }
            },
            Err(failure) => {
                found.warn(
                    "program",
                    format!("scope `{}` grants what needs {program}: {}", first.id(), failure.message),
                    fix,
                );
            }
        }
    }
}

/// Asks a program for its version; one that takes its time is ended.
pub fn version(path: &Path, limit: &Limit) -> Option<String> {
    let mut command = Command::new(path);
    command.arg("--version").env_clear().envs(machine::needed_environment()).current_dir("/");
    let ended = run_to_end(&mut command, limit, VERSION_TIME).ok()?;
    let first = ended.out.lines().next().unwrap_or_default().trim().to_owned();
    (ended.status.success() && !first.is_empty()).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fix_for_apparmor_writes_a_profile_of_this_program() {
        let fix = apparmor_fix("/opt/my tools/bailiwick");
        let script = fix.split('`').nth(1).expect("a command");
        let profile = script.strip_prefix("printf '").and_then(|rest| rest.split_once("' | sudo tee "));
        let (profile, path) = profile.expect("it writes the profile");
        assert_eq!(path, "/etc/apparmor.d/bailiwick");
        assert_eq!(
            profile.replace("\\n", "\n"),
            "abi <abi/4.0>,\nprofile bailiwick \"/opt/my tools/bailiwick\" flags=(unconfined) { userns, }\n"
        );
    }
}
