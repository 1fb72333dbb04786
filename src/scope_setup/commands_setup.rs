//! Turning commands on for a scope: the rules it begins with, the toolchains it finds, and what that means.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use bailiwick_config::{
    CommandRule, NetworkRule, SandboxLevel, ScopeConfig, ShellMode, TokenPattern, TokenRule, UndoMode,
};
use bailiwick_contract::{Capability, Containment, Failure, Network};
use bailiwick_platform::fs::modes::MetadataExt;
use bailiwick_platform::fs::{CAN_RESTORE_TREES, OtherUsers, Ownership};
use bailiwick_platform::programs::usual_folders;
use bailiwick_platform::{dirs, machine};
use bailiwick_policy::command::{Commands, Rules, rule_text};
use bailiwick_providers::command::level;

use crate::installation::text::one_line;

/// Programs that projects use, and that can run the project's code.
const PROJECT_PROGRAMS: &[&str] = &[
    "npm", "pnpm", "yarn", "bun", "node", "npx", "deno", "git", "cargo", "rustc", "rustup", "make", "just",
    "python", "python3", "pytest", "pip", "pip3", "uv", "poetry", "go", "tsc", "eslint", "prettier", "jest",
    "vitest", "ruff", "mypy", "dotnet", "mvn", "gradle", "cmake", "ctest", "ninja",
];
/// Programs that look at files and at text.
const PLAIN_PROGRAMS: &[&str] = &[
    "ls", "cat", "head", "tail", "wc", "grep", "rg", "uniq", "cut", "tr", "diff", "cmp", "echo", "printf",
    "pwd", "date", "jq", "basename", "dirname", "realpath", "stat", "file", "tree", "du", "true", "false",
    "mkdir", "touch",
];
/// What is asked about although a rule or the sandbox allows it: what others get, and what runs elsewhere.
const ASKED: &[&str] = &["git push *", "git remote add *", "gem push *", "docker push *"];
/// What is asked about, word for word: one of each.
const ASKED_WORDS: &[&[&[&str]]] = &[
    &[&["npm", "pnpm", "yarn", "bun"], &["run"], RELEASES],
    &[&["pnpm", "yarn", "bun", "deno", "uv", "poetry", "hatch", "flit"], RELEASES],
    &[&["make", "gmake", "just", "task", "rake", "invoke"], RELEASES],
    &[&["python", "python3"], &["-m"], &["twine"]],
];
/// Names of scripts and of subcommands that give something away.
const RELEASES: &[&str] = &["deploy*", "publish*", "release*"];
/// What never runs.
const DENIED: &[&str] = &[
    "rm -r /",
    "rm -r ~",
    "del /s *",
    "rmdir /s *",
    "format *",
    "mkfs* *",
    "shutdown *",
    "reboot *",
    "halt *",
    "poweroff *",
    "sudo *",
    "su *",
    "doas *",
];
/// The longest run and the largest output of a scope with commands, unless it says otherwise.
const MAX_RUNTIME_SECONDS: u64 = 1_800;
const MAX_OUTPUT_BYTES: u64 = 200_000;
/// Folders that every sandbox has anyway.
const SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/etc"];

/// Grants commands, and fills in what the scope does not say itself.
pub fn turn_on(scope: &mut ScopeConfig) {
    for capability in [Capability::CommandRun, Capability::ProcessManage, Capability::PackageRun] {
        if !scope.capabilities.contains(&capability)
            && !scope.ask.contains(&capability)
            && !scope.deny.contains(&capability)
        {
            scope.capabilities.push(capability);
        }
    }
    let found = Toolchains::find(&scope.roots);
    let policy = &mut scope.policy;
    let fill = |list: &mut Vec<CommandRule>, lines: Vec<String>| {
        if list.is_empty() {
            *list = lines.into_iter().map(CommandRule::Line).collect();
        }
    };
    let programs = PROJECT_PROGRAMS.iter().chain(PLAIN_PROGRAMS);
    fill(&mut policy.allowed_commands, programs.map(|program| format!("{program} *")).collect());
    let asks_by_words = policy.ask_commands.is_empty();
    fill(&mut policy.ask_commands, ASKED.iter().map(|line| (*line).to_owned()).collect());
    if asks_by_words {
        policy.ask_commands.extend(ASKED_WORDS.iter().map(|words| by_words(words)));
    }
    fill(&mut policy.denied_commands, DENIED.iter().map(|line| (*line).to_owned()).collect());
    policy.shell = ShellMode::Sandboxed;
    if CAN_RESTORE_TREES {
        policy.undo = UndoMode::Commands;
    }
    policy.max_runtime_seconds.get_or_insert(MAX_RUNTIME_SECONDS);
    policy.max_output_bytes.get_or_insert(MAX_OUTPUT_BYTES);
    if policy.search_path.is_empty() && !found.search_path.is_empty() {
        policy.search_path = found.search_path;
        policy.search_path.extend(system_path());
    }
    for folder in found.read_paths {
        if !policy.read_paths.contains(&folder) {
            policy.read_paths.push(folder);
        }
    }
    for (name, value) in found.environment {
        policy.environment.entry(name).or_insert(value);
    }
}

fn by_words(words: &[&[&str]]) -> CommandRule {
    let tokens = words.iter().map(|words| match words {
        [word] => TokenPattern::Word((*word).to_owned()),
        _ => TokenPattern::OneOf(words.iter().map(|word| (*word).to_owned()).collect()),
    });
    CommandRule::Tokens(TokenRule { tokens: tokens.collect(), matches: Vec::new(), not_match: Vec::new() })
}

/// Returns the folders in which the system has its programs, in the order in which they are looked up.
pub fn system_path() -> Vec<PathBuf> {
    usual_folders().into_iter().filter(|folder| folder.is_dir()).collect()
}

/// Returns in plain words what the rules of a scope mean.
///
/// # Errors
/// When a rule does not compile.
pub fn describe(scope: &ScopeConfig) -> Result<Vec<(&'static str, String)>, Failure> {
    let policy = &scope.policy;
    let may_write = scope.grants(Capability::FsWrite) && !scope.ask.contains(&Capability::FsWrite);
    let changes = match policy.sandbox {
        _ if may_write => "What runs can change files here.",
        SandboxLevel::None => "What runs can change files here, although fs:write is not granted.",
        _ => "What runs can change no files here, as fs:write is not granted.",
    };
    let implications = Rules::compile(policy)?.implications();
    let names = |any_code: bool| {
        let names = implications.iter().filter(|(_, why)| why.is_some() == any_code);
        names.map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" ")
    };
    let lines = |rules: &[CommandRule]| {
        let lines: Vec<String> =
            rules.iter().map(|rule| rule_text(rule).trim_matches('`').to_owned()).collect();
        if lines.is_empty() { "nothing".to_owned() } else { lines.join(", ") }
    };
    let now = level(policy.sandbox);
    let hosts = match &policy.network {
        Some(NetworkRule::Hosts(list)) => list.hosts.join(", "),
        _ => String::new(),
    };
    let by_proxy = format!("a loopback of their own, and by a proxy {}", one_line(&hosts));
    let network = match (&now, policy.network()) {
        // Nothing is there that could hold it.
        (Ok(Containment::None), _) => "full",
        (Ok(Containment::Partial), Network::Loopback) => {
            "none, as only a full sandbox has a loopback of its own"
        }
        (Ok(Containment::Partial), Network::Hosts) => {
            "named hosts, which only a full sandbox can enforce: none of them runs here"
        }
        (_, Network::Hosts) => &by_proxy,
        (_, Network::Loopback) => "a loopback of their own",
        (_, network) => network.as_str(),
    };
    let held = match (policy.sandbox, &now) {
        (SandboxLevel::None, _) => "NOTHING: they can do what you can do".to_owned(),
        (_, Err(_)) => "nothing, so none runs: `bailiwick doctor` shows what this computer lacks".to_owned(),
        (SandboxLevel::Auto, Ok(Containment::Full)) => {
            "a sandbox, as strong as this computer has one: full".to_owned()
        }
        (SandboxLevel::Auto, Ok(level)) => {
            format!("a sandbox, as strong as this computer has one: {level} (files and system calls)")
        }
        (SandboxLevel::Full, Ok(_)) => "a full sandbox".to_owned(),
        (SandboxLevel::Partial, Ok(_)) => "a partial sandbox (files and system calls)".to_owned(),
    };
    let folders = |folders: &[PathBuf]| {
        folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join("\n")
    };
    let mut said = Vec::new();
    let runs_any_program = Commands::compile("", policy)?.runs_any_program();
    if runs_any_program && matches!(now, Ok(Containment::Full)) {
        said.push((
            "may run",
            format!(
                "any program and any text for bash, in a full sandbox: it has\nnone of your keys, tokens and agents and no \
                 network but its\nown loopback.\n{changes}"
            ),
        ));
        said.push(("otherwise", format!("{} {}", names(false), names(true))));
    } else {
        let bounds = match now {
            Ok(Containment::None) => "Neither the rules nor anything else holds that.",
            Ok(_) => "The rules do not hold that; the sandbox does.",
            Err(_) => "None of it runs here.",
        };
        said.push(("may run", format!("{}\n{changes}", names(false))));
        said.push((
            "any code",
            format!(
                "{}\nThese run scripts, tests or build files: a client that may\nwrite files here can run any code by \
                 them.\n{bounds}",
                names(true)
            ),
        ));
    }
    if runs_any_program && !matches!(now, Ok(Containment::Full)) {
        said.push(("not here", "other programs and texts for bash: they need a full sandbox".to_owned()));
    }
    said.extend([
        ("held by", if now.is_ok() { format!("{held}; network: {network}") } else { held }),
        ("never run", lines(&policy.denied_commands)),
        ("undo", undo_words(policy.undo).to_owned()),
    ]);
    if !policy.ask_commands.is_empty() {
        let rules = lines(&policy.ask_commands);
        said.push(("asks you", format!("{rules}\nEach of these needs your approval: `bailiwick approve`.")));
    }
    if !policy.search_path.is_empty() {
        said.push(("programs in", folders(&policy.search_path)));
    }
    if !policy.read_paths.is_empty() {
        said.push(("may read", folders(&policy.read_paths)));
    }
    if !policy.environment.is_empty() {
        let names: Vec<&str> = policy.environment.keys().map(String::as_str).collect();
        said.push(("variables", names.join(" ")));
    }
    Ok(said)
}

/// Returns whether what commands change can be taken back.
const fn undo_words(undo: UndoMode) -> &'static str {
    match undo {
        UndoMode::Commands if CAN_RESTORE_TREES => {
            "`bailiwick undo` takes back what commands change here, except in\nfolders that tools make again, such as \
             node_modules and target"
        }
        UndoMode::Commands => "what commands change cannot be taken back on this system",
        UndoMode::Files => "what commands change cannot be taken back",
    }
}

/// The toolchains of the account that are outside the system's folders.
#[derive(Debug, Default)]
struct Toolchains {
    search_path: Vec<PathBuf>,
    read_paths: Vec<PathBuf>,
    environment: BTreeMap<String, String>,
}

impl Toolchains {
    fn find(roots: &[PathBuf]) -> Self {
        let Some(home) = machine::home_folder() else { return Self::default() };
        let mut found = Self::default();
        let place =
            |variable: &str, usual: &str| dirs::absolute(variable).unwrap_or_else(|| home.join(usual));
        // Rust: the proxies of rustup need to know where the toolchains are. Credentials stay outside.
        let (cargo, rustup) = (place("CARGO_HOME", ".cargo"), place("RUSTUP_HOME", ".rustup"));
        if found.programs(roots, &cargo.join("bin")) {
            found.set("CARGO_HOME", &cargo);
            found.reads(roots, &cargo.join("registry"));
            found.reads(roots, &cargo.join("git"));
            found.reads(roots, &cargo.join("config.toml"));
            if rustup.join("toolchains").is_dir() && found.reads(roots, &rustup) {
                found.set("RUSTUP_HOME", &rustup);
            }
        }
        // Node: the newest version of nvm, and what keeps its own.
        let nvm = place("NVM_DIR", ".nvm").join("versions/node");
        if let Some(version) = newest(&nvm) {
            found.programs(roots, &version.join("bin"));
            found.reads(roots, &version);
        }
        let volta = place("VOLTA_HOME", ".volta");
        if found.programs(roots, &volta.join("bin")) {
            found.reads(roots, &volta);
            found.set("VOLTA_HOME", &volta);
        }
        for (name, usual) in
            [("BUN_INSTALL", ".bun"), ("DENO_INSTALL", ".deno"), ("PNPM_HOME", ".local/share/pnpm")]
        {
            let folder = place(name, usual);
            found.programs(roots, &if usual.ends_with("pnpm") { folder } else { folder.join("bin") });
        }
        // Python: shims are scripts that find their version by the root; the version itself goes first.
        let pyenv = place("PYENV_ROOT", ".pyenv");
        let chosen = fs::read_to_string(pyenv.join("version")).unwrap_or_default();
        let version = chosen.split_whitespace().next().map(|name| pyenv.join("versions").join(name));
        if let Some(version) = version.filter(|it| it.is_dir()).or_else(|| newest(&pyenv.join("versions"))) {
            found.programs(roots, &version.join("bin"));
            found.reads(roots, &version);
        }
        if found.programs(roots, &pyenv.join("shims")) {
            found.reads(roots, &pyenv);
            found.set("PYENV_ROOT", &pyenv);
        }
        // Go.
        found.programs(roots, Path::new("/usr/local/go/bin"));
        let gopath = place("GOPATH", "go");
        found.programs(roots, &gopath.join("bin"));
        if found.reads(roots, &gopath.join("pkg/mod")) {
            found.set("GOMODCACHE", &gopath.join("pkg/mod"));
        }
        // Whose commits these are: the home of a command is not the account's, nor is its Git configuration.
        for (key, value) in identity(&fs::read_to_string(home.join(".gitconfig")).unwrap_or_default()) {
            for part in ["AUTHOR", "COMMITTER"] {
                found.environment.insert(format!("GIT_{part}_{key}"), value.clone());
            }
        }
        // What the account has installed for itself.
        if found.programs(roots, &home.join(".local/bin")) {
            for folder in [".local/lib", ".local/share/uv", ".local/share/pipx", ".local/pipx"] {
                found.reads(roots, &home.join(folder));
            }
        }
        found
    }

    /// Adds a folder of programs, and where its links lead.
    fn programs(&mut self, roots: &[PathBuf], folder: &Path) -> bool {
        // A folder of Unix is no absolute path elsewhere.
        if !folder.is_absolute() || !folder.is_dir() || !is_safe(roots, folder) {
            return false;
        }
        if !self.search_path.iter().any(|it| it == folder) {
            self.search_path.push(folder.to_owned());
        }
        self.reads(roots, folder);
        let targets = fs::read_dir(folder).into_iter().flatten().flatten().filter_map(|entry| {
            let path = entry.path();
            if !fs::symlink_metadata(&path).ok()?.file_type().is_symlink() {
                return None;
            }
            path.canonicalize().ok()?.parent().map(Path::to_owned)
        });
        for target in targets.collect::<Vec<_>>() {
            if target.file_name() == Some(OsStr::new("bin")) {
                self.reads(roots, &target);
            }
        }
        true
    }

    /// Adds a folder that commands may read, unless they may anyway.
    fn reads(&mut self, roots: &[PathBuf], folder: &Path) -> bool {
        if !is_safe(roots, folder) {
            return false;
        }
        let known = SYSTEM.iter().any(|system| folder.starts_with(system))
            || self.read_paths.iter().any(|it| folder.starts_with(it));
        if !known {
            self.read_paths.retain(|it| !it.starts_with(folder));
            self.read_paths.push(folder.to_owned());
        }
        true
    }

    fn set(&mut self, name: &str, folder: &Path) {
        if let Some(folder) = folder.to_str() {
            self.environment.insert(name.to_owned(), folder.to_owned());
        }
    }
}

/// Reads `name` and `email` of the section `user` of a Git configuration, as `NAME` and `EMAIL`.
///
/// Plain values only: what is quoted within, continued or included is left for the user to set.
fn identity(config: &str) -> BTreeMap<&'static str, String> {
    let mut identity = BTreeMap::new();
    let mut in_user = false;
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            in_user = line.eq_ignore_ascii_case("[user]");
        }
        let Some((key, value)) = line.split_once('=').filter(|_| in_user) else { continue };
        let value = value.trim();
        let value = value.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(value);
        let key = match key.trim().to_ascii_lowercase().as_str() {
            "name" => "NAME",
            "email" => "EMAIL",
            _ => continue,
        };
        if !value.is_empty() && !value.contains(['"', '\\', '#', ';']) {
            identity.insert(key, value.to_owned());
        }
    }
    identity
}

/// Returns whether a place exists, is outside the roots, and only its owner and root can change it.
fn is_safe(roots: &[PathBuf], folder: &Path) -> bool {
    let Ok(real) = folder.canonicalize() else { return false };
    let inside = |root: &PathBuf| real.starts_with(root.canonicalize().as_ref().unwrap_or(root));
    let Ok(facts) = fs::metadata(&real) else { return false };
    // Where there are no bits, a list of rights tells it.
    let is_closed =
        facts.mode() & 0o022 == 0 && Ownership::of(&real).is_ok_and(|it| it.others != OtherUsers::Change);
    is_closed && !roots.iter().any(inside)
}

/// Returns the folder whose name has the highest version.
fn newest(folder: &Path) -> Option<PathBuf> {
    let numbers = |path: &Path| -> Vec<u64> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.split(|it: char| !it.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
    };
    let folders = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).filter(|path| path.is_dir());
    folders.max_by_key(|path| numbers(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plain_identity_of_a_git_configuration_is_read() {
        let config = "[core]\n\tname = no\n[user]\n\tname = Ada Lovelace\n\temail=\"ada@example.org\"\n[x \"y\"]\nemail = no\n";
        let expected = [("NAME", "Ada Lovelace".to_owned()), ("EMAIL", "ada@example.org".to_owned())];
        assert_eq!(identity(config), BTreeMap::from(expected));
        assert!(identity("[user]\nname = a \\\n b\nemail = \"a\"b\"\n").is_empty());
    }
}
