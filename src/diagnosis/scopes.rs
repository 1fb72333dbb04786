//! The scopes: whether their folders can be served, and whether what they grant can be used.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bailiwick_config::{Config, SandboxLevel, ScopeConfig, SecretCommands, SecretMode};
use bailiwick_contract::command::{Containment, Network};
use bailiwick_contract::{Capability, ScopeType, in_scope};
use bailiwick_engine::operations::FAMILIES;
use bailiwick_engine::registry::Registry;
use bailiwick_platform::fs::{FileId, Volume};
use bailiwick_platform::launch::levels;
use bailiwick_platform::quoting::quote;
use bailiwick_platform::{machine, paths};
use bailiwick_policy::{OwnFolders, RootPaths, Scope};
use bailiwick_providers::command::level;
use bailiwick_providers::file::files_left;

use super::finding::Findings;
use crate::installation::home::Home;
use crate::installation::text::{one_line, to_user};

/// How long the scopes' folders are searched for what a killed process left.
const LOOK: Duration = Duration::from_millis(500);
/// How many of those files are named.
const SHOWN_FILES: usize = 5;

/// Looks at the scopes.
pub fn look(home: &Home, config: &Config, found: &mut Findings) {
    found.group("Scopes");
    if config.scopes.is_empty() {
        found.warn("scopes", "no scope is open: clients can do nothing", "Run `bailiwick setup FOLDER`.");
    }
    let (own, paths) = (OwnFolders::of(&home.dirs), RootPaths::new(&config.scopes));
    let registry = Registry::new(FAMILIES);
    for scope in &config.scopes {
        let compiled = Scope::compile(scope, &paths, &own);
        match compiled.and_then(|it| registry.check_asked_operations(&it).map(|()| it)) {
            Ok(compiled) => one(scope, &compiled, found),
            Err(failure) => {
                let fix = failure.hints.first().cloned();
                let fix = fix.unwrap_or_else(|| "Correct it with `bailiwick config edit`.".to_owned());
                found.fail("scope", format!("scope `{}`: {}", scope.id, failure.message), fix);
            }
        }
    }
    half_written(config, found);
    overlaps(config, found);
    if config.http.allow_loopback_without_token {
        for scope in config.scopes.iter().filter(|scope| reaches_the_service(scope)) {
            let id = &scope.id;
            found.fail(
                "commands-no-token",
                format!(
                    "commands of scope `{id}` are the local user over HTTP, in every scope: they reach the service's port, and \
                     `http.allowLoopbackWithoutToken` lets them in"
                ),
                "Set `http.allowLoopbackWithoutToken` to false with `bailiwick config edit`.",
            );
        }
    }
}

/// Names files that were being written when a process was killed.
fn half_written(config: &Config, found: &mut Findings) {
    let until = Instant::now() + LOOK;
    let roots: BTreeSet<&PathBuf> = config.scopes.iter().flat_map(|scope| &scope.roots).collect();
    let left: BTreeSet<String> = roots
        .into_iter()
        .flat_map(|root| {
            files_left(root, until).into_iter().map(|path| root.join(path).display().to_string())
        })
        .collect();
    if left.is_empty() {
        return;
    }
    let count = left.len();
    let mut shown: Vec<String> =
        left.into_iter().take(SHOWN_FILES).map(|path| format!("`{}`", one_line(&path))).collect();
    if count > shown.len() {
        shown.push(format!("{} more", count - shown.len()));
    }
    found.warn(
        "half-written",
        format!("a killed process left half-written files: {}", shown.join(", ")),
        "Nothing has to be done: the next change in that folder removes them.",
    );
}

/// Returns whether programs of a scope share the computer's network.
fn reaches_the_service(scope: &ScopeConfig) -> bool {
    let policy = &scope.policy;
    runs_commands(scope) && (policy.network() == Network::Full || policy.sandbox == SandboxLevel::None)
}

fn one(scope: &ScopeConfig, compiled: &Scope, found: &mut Findings) {
    let id = &scope.id;
    let mut in_order = true;
    for root in compiled.roots() {
        let shown = root.path.display();
        if let Some(failure) = root.problem() {
            in_order = false;
            let fix = if root.path.exists() {
                failure
                    .hints
                    .first()
                    .cloned()
                    .unwrap_or_else(|| "Check the folder's owner and permissions.".to_owned())
            } else {
                format!(
                    "Make the folder or mount its disk; or close it: `bailiwick scope edit {id} --remove-root {}`.",
                    quote(&shown.to_string())
                )
            };
            found.fail("scope-folder", format!("scope `{id}`: {}", failure.message), fix);
            continue;
        }
        if scope.grants(Capability::FsWrite) && !Volume::may_write(&root.path) {
            in_order = false;
            found.warn(
                "scope-write",
                format!("scope `{id}` grants fs:write, but {shown} cannot be written by this user"),
                "Check the folder's permissions, and whether its disk is read-only.",
            );
        }
        if holds_the_home(&root.path) {
            in_order = false;
            found.warn(
                "scope-home",
                format!("scope `{id}` opens {shown}, your home folder or one that contains it: keys, mail and browsers are there"),
                "Open the folder of one project instead.",
            );
        }
    }
    in_order &= commands(scope, found);
    in_order &= held(scope, found);
    in_order &= folders_of_programs(scope, found);
    if scope.capabilities.is_empty() && scope.ask.is_empty() {
        in_order = false;
        found.warn(
            "scope-grants",
            format!("scope `{id}` grants nothing"),
            format!("Run `bailiwick scope allow {id} fs:read`, or remove the scope."),
        );
    }
    if in_order {
        let roots: Vec<String> = scope.roots.iter().map(|root| root.display().to_string()).collect();
        let what = if scope.scope_type == ScopeType::Computer {
            "this computer".to_owned()
        } else {
            roots.join(", ")
        };
        found.ok("scope", format!("`{id}` can be served: {what}"));
    }
}

/// Whether what is granted for commands can be used.
fn commands(scope: &ScopeConfig, found: &mut Findings) -> bool {
    let id = &scope.id;
    let policy = &scope.policy;
    let runs = scope.grants(Capability::CommandRun);
    let mut in_order = true;
    if runs && policy.allowed_commands.is_empty() && policy.ask_commands.is_empty() {
        in_order = false;
        found.warn(
            "commands-none",
            format!("scope `{id}` grants command:run, but no rule allows a command"),
            format!("Run `bailiwick scope edit {id} --commands`: it adds a first set of rules."),
        );
    }
    if !runs && !scope.grants(Capability::PackageRun) {
        if scope.grants(Capability::ProcessManage) {
            in_order = false;
            found.warn(
                "commands-manage",
                format!("scope `{id}` grants process:manage, but nothing that could be started"),
                format!("Grant command:run or package:run too, or take it away: `bailiwick scope deny {id} process:manage`."),
            );
        }
        return in_order;
    }
    if policy.network() == Network::Hosts && levels().strongest < Containment::Full {
        in_order = false;
        found.warn(
            "commands-hosts",
            format!("no command of scope `{id}` runs: its network names hosts, which only a full sandbox can enforce"),
            format!("Without hosts they run: `bailiwick scope edit {id} --network loopback`."),
        );
    }
    if policy.secret_commands == SecretCommands::Allow && policy.secrets != SecretMode::Handles {
        in_order = false;
        found.warn(
            "commands-secrets",
            format!("scope `{id}` gives commands secrets by their handles, but its answers show no handles"),
            format!("Run `bailiwick scope edit {id} --secrets handles`."),
        );
    }
    if policy.network() == Network::Full {
        in_order = false;
        found.warn(
            "commands-network",
            format!("commands of scope `{id}` reach the whole network: they can send away what they read"),
            format!("Where loopback is enough, run `bailiwick scope edit {id} --network loopback`."),
        );
    }
    in_order
}

/// Whether the computer can hold commands as the scope wants them held, and Git with them.
fn held(scope: &ScopeConfig, found: &mut Findings) -> bool {
    let Some((says, fix)) = not_run(scope) else { return true };
    // Presets grant Git unasked, so that without commands less is amiss.
    match runs_commands(scope) {
        true => found.fail("commands-sandbox", says, fix),
        false => found.warn("commands-sandbox", says, fix),
    };
    false
}

fn runs_commands(scope: &ScopeConfig) -> bool {
    scope.grants_any(&[Capability::CommandRun, Capability::PackageRun])
}

/// Returns what of a scope does not run because this computer lacks the sandbox, and what to do.
pub fn not_run(scope: &ScopeConfig) -> Option<(String, String)> {
    let git = scope.grants_any(&[Capability::GitRead, Capability::GitWrite]);
    let what = match (runs_commands(scope), git) {
        (true, true) => "no command and no Git runs",
        (true, false) => "no command runs",
        (false, true) => "no Git runs",
        (false, false) => return None,
    };
    let failure = level(scope.policy.sandbox).err()?;
    let id = &scope.id;
    let fix = match failure.hints.first() {
        Some(hint) => to_user(&in_scope(hint, id)),
        None => format!("Run `bailiwick scope edit {id} --sandbox auto`."),
    };
    let why = failure.message.strip_prefix("nothing was run: ").unwrap_or(&failure.message);
    Some((format!("scope `{id}`: {what}: {why}"), fix))
}

fn folders_of_programs(scope: &ScopeConfig, found: &mut Findings) -> bool {
    let lists =
        [("finds programs in", &scope.policy.search_path), ("lets commands read", &scope.policy.read_paths)];
    let (id, mut in_order) = (&scope.id, true);
    for (what, folders) in lists {
        for folder in folders.iter().filter(|folder| !folder.is_dir()) {
            in_order = false;
            found.warn(
                "commands-folder",
                format!("scope `{id}` {what} {}, which is not there", folder.display()),
                format!(
                    "Make the folder, or run `bailiwick scope edit {id} --remove-rule {}`.",
                    quote(&folder.display().to_string())
                ),
            );
        }
    }
    in_order
}

fn holds_the_home(root: &Path) -> bool {
    let home = machine::home_folder().and_then(|path| paths::real(&path).ok());
    let root = paths::real(root).ok();
    home.zip(root).is_some_and(|(home, root)| home.starts_with(root))
}

/// Two scopes with the same folder, or one inside the other: what one refuses, the other may allow.
fn overlaps(config: &Config, found: &mut Findings) {
    let chain = |path: &Path| -> Vec<FileId> { path.ancestors().filter_map(FileId::of).collect() };
    let roots: Vec<(&str, PathBuf, Vec<FileId>)> = config
        .scopes
        .iter()
        .flat_map(|scope| scope.roots.iter().map(|root| (scope.id.as_str(), root)))
        .filter_map(|(id, root)| {
            let root = paths::real(root).ok()?;
            let chain = chain(&root);
            Some((id, root, chain))
        })
        .collect();
    for (at, (outer, outer_root, outer_chain)) in roots.iter().enumerate() {
        for (other, (inner, inner_root, inner_chain)) in roots.iter().enumerate() {
            let lies_inside = outer_chain.first().is_some_and(|id| inner_chain.contains(id));
            let is_same = outer_chain.first() == inner_chain.first();
            // Within one scope it makes no difference.
            if outer == inner || !lies_inside || is_same && at > other {
                continue;
            }
            let says = if is_same {
                format!("`{outer}` and `{inner}` open the same folder, {}", outer_root.display())
            } else {
                format!(
                    "{} of `{inner}` is inside {} of `{outer}`",
                    inner_root.display(),
                    outer_root.display()
                )
            };
            found.warn(
                "scope-overlap",
                format!("{says}: what one refuses, the other may allow"),
                "Make sure that both grant the same, or close one of them.",
            );
        }
    }
}
