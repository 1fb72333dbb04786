//! Making a run of Codex ready: the program, its version and login, its home, and what holds it and its commands.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::command::{
    FolderAccess, ReadyCommand, Roots, SANDBOX_TEMPORARY, SearchPath, Tool, closed_folders,
    full_sandbox_hint, granted, let_git_pass, level, make_shared, must_be_full, process_limits, readable,
    unique,
};
use crate::repositories::{Repositories, Review};
use bailiwick_config::SandboxLevel;
use bailiwick_contract::{Cancel, Containment, ErrorCode, FOR_USER, Failure, Network, SCOPE};
use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::create_private_dir;
use bailiwick_platform::launch::{
    FolderChanges, InnerSandboxes, Launcher, PathGrant, SandboxRequest, SetGroupId,
};
use bailiwick_platform::machine::user_name;
use bailiwick_policy::command::PermittedCommand;
use bailiwick_policy::{AllRoots, PermittedPath, Scope};

use super::login::{AUTH_FILE, person_home};
use super::settings::{CommandAccess, UserSettings};
use super::{Installation, Login, Version, home};

/// The service around a run.
#[derive(Debug, Clone)]
pub struct CodexContext {
    /// What starts programs.
    pub launcher: Arc<Launcher>,
    /// Bailiwick's own folders.
    pub dirs: Dirs,
    /// The scope.
    pub scope: Arc<Scope>,
    /// Where the roots of all scopes are: Codex is not taken out of any of them.
    pub roots: AllRoots,
    /// The repositories below their folders.
    pub repositories: Arc<Repositories>,
    /// When to stop.
    pub cancel: Cancel,
}

/// What Codex's commands may do with files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Read.
    ReadOnly,
    /// Read, and write in the working folder.
    WorkspaceWrite,
}

impl Mode {
    /// Returns the name in results.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::WorkspaceWrite => "workspace-write",
        }
    }

    /// Returns the name of the profile by which Codex holds its commands.
    pub(super) const fn profile(self) -> &'static str {
        match self {
            Self::ReadOnly => "bailiwick-read",
            Self::WorkspaceWrite => "bailiwick-write",
        }
    }
}

/// What is asked of Codex, but the prompt: that goes by standard input, and into nothing that is kept.
#[derive(Debug, Clone)]
pub struct CodexOptions {
    /// What its commands may do.
    pub mode: Mode,
    /// The model, if not the one of the user's settings.
    pub model: Option<String>,
    /// The session to continue with.
    pub resume: Option<String>,
    /// Whether Codex keeps no session.
    pub ephemeral: bool,
}

impl CodexOptions {
    /// Returns the words of the command, which hold nothing of the prompt.
    pub fn words(&self) -> Vec<String> {
        let profile = format!("default_permissions=\"{}\"", self.mode.profile());
        let mut words: Vec<String> =
            ["codex", "exec", "--json", "--skip-git-repo-check", "--color", "never", "-c"]
                .map(str::to_owned)
                .to_vec();
        words.push(profile);
        if self.ephemeral {
            words.push("--ephemeral".to_owned());
        }
        if let Some(model) = &self.model {
            words.extend(["--model".to_owned(), model.clone()]);
        }
        if let Some(session) = &self.resume {
            words.extend(["resume".to_owned(), session.clone()]);
        }
        words.push("-".to_owned());
        words
    }
}

/// A run that can be started as it is.
#[derive(Debug)]
pub struct PreparedCodex {
    /// What is started.
    pub prepared: ReadyCommand,
    /// The version of Codex.
    pub version: Version,
    /// By what it is allowed in.
    pub login: Login,
    /// Whether its commands may reach the network.
    pub network: bool,
    /// The working folder on disk.
    pub folder: PathBuf,
}

/// What there is of Codex for a scope.
#[derive(Debug, Clone)]
pub struct CodexSetup {
    /// The version.
    pub version: Version,
    /// By what it is allowed in.
    pub login: Login,
    /// The level at which it would be held.
    pub level: Containment,
}

/// What was found on disk, before anything was started.
struct FoundCodex {
    installation: Installation,
    level: Containment,
    /// The user's own home of Codex.
    person: Option<PathBuf>,
    taken: UserSettings,
    login: Login,
    home: PathBuf,
}

/// Looks what there is of Codex for a scope, and whether it could be run.
///
/// # Errors
/// `provider_unavailable` with the fix.
pub async fn look(around: &CodexContext) -> Result<CodexSetup, Failure> {
    let (version, found) = find(around).await?;
    Ok(CodexSetup { version, login: found.login, level: found.level })
}

impl PreparedCodex {
    /// Creates a run ready in a folder of the scope. The command is the one that the policy has judged.
    ///
    /// # Errors
    /// `provider_unavailable` with the fix; those of a file for the folder.
    pub async fn make(
        around: &CodexContext,
        command: &PermittedCommand,
        folder: &PermittedPath,
        mode: Mode,
    ) -> Result<Self, Failure> {
        let (version, found) = find(around).await?;
        must_be_full(found.level, command.must_be_full())?;
        let (around, folder) = (around.clone(), folder.clone());
        let argv =
            command.plan().first.commands.first().map(|command| command.argv.clone()).unwrap_or_default();
        blocking(move || {
            let (folder, place) = folder.open_dir()?;
            let cwd_path = place.on_disk()?;
            let network = around.scope.commands().hold().network == Network::Full;
            let confined = RunEnvironment::new(&around, &found, &cwd_path, mode)?;
            let settings = found.taken.confined(&CommandAccess {
                readable: &confined.readable,
                writable: std::slice::from_ref(&confined.commands_home),
                denied: &confined.denied,
                network,
                home: &confined.commands_home,
            });
            home::make(&found.home, &settings, found.person.as_deref(), found.login)?;
            let prepared = ReadyCommand::of_tool(Tool {
                step: found.installation.program.step(argv.into_iter().map(OsString::from).collect()),
                environment: confined.environment,
                cwd: folder.into_handle(),
                cwd_path: cwd_path.clone(),
                hold: confined.hold,
                limits: process_limits(around.scope.commands().hold().limits),
                review: confined.review,
            });
            Ok(Self { prepared, version, login: found.login, network, folder: cwd_path })
        })
        .await
    }
}

async fn find(around: &CodexContext) -> Result<(Version, FoundCodex), Failure> {
    let looking = around.clone();
    let found = blocking(move || FoundCodex::look(&looking)).await?;
    around.cancel.check()?;
    let version = match Version::known(&found.installation) {
        Some(version) => version,
        None => {
            let prepared = asks_version(around, &found)?;
            Version::ask(&around.launcher, &found.installation, prepared).await?
        }
    };
    version.check()?;
    Ok((version, found))
}

impl FoundCodex {
    fn look(around: &CodexContext) -> Result<Self, Failure> {
        let installation = Installation::find(&around.scope, &around.roots, &around.dirs)?;
        let policy = around.scope.commands().hold();
        let level = level_for_codex(policy.sandbox)?;
        let person = person_home(&policy.environment);
        let nowhere = Path::new("/nonexistent");
        let taken = UserSettings::read(person.as_deref().unwrap_or(nowhere))?;
        let login = Login::find(person.as_deref().unwrap_or(nowhere), &taken.provider, &policy.environment)?;
        let home = home::folder(&around.dirs, around.scope.id());
        create_private_dir(&home).map_err(|error| {
            Failure::new(
                ErrorCode::ProviderUnavailable,
                format!("Codex's home of the scope cannot be made: {}", error.kind()),
            )
            .hint("For the user: `bailiwick doctor` checks the owner of Bailiwick's state folder and the space left there.")
        })?;
        Ok(Self { installation, level, person, taken, login, home })
    }
}

/// Returns the level for Codex: inside `partial` its own sandbox, without which its commands could do what it can,
/// does not work.
fn level_for_codex(wanted: SandboxLevel) -> Result<Containment, Failure> {
    match level(wanted)? {
        Containment::Partial => Err(Failure::new(
            ErrorCode::ProviderUnavailable,
            "nothing was run: Codex's own sandbox needs namespaces, which the level `partial` has none of",
        )
        .detail("rule", "sandbox-level")
        .hint(full_sandbox_hint())
        .hint(format!(
            "{FOR_USER}`bailiwick scope edit {SCOPE} --sandbox none` leaves commands to Codex's own sandbox alone."
        ))),
        level => Ok(level),
    }
}

/// The settings of a project that Codex reads itself. It takes nothing of them, since no project is trusted, and gives up
/// where it cannot read them.
const PROJECT_SETTINGS: &str = ".codex/config.toml";

/// The folders and the environment of a run.
struct RunEnvironment {
    hold: SandboxRequest,
    environment: Vec<(OsString, OsString)>,
    readable: Vec<PathBuf>,
    /// The homes of Codex, the scope's and the user's, where they are in a root or among temporary files.
    denied: Vec<PathBuf>,
    /// The home of the scope's commands, which is that of Codex's commands too.
    commands_home: PathBuf,
    review: Option<Review>,
}

impl RunEnvironment {
    fn new(around: &CodexContext, found: &FoundCodex, cwd: &Path, mode: Mode) -> Result<Self, Failure> {
        let policy = around.scope.commands().hold();
        let closed = closed_folders(&around.roots, &around.dirs);
        let trusted = SearchPath::new(&policy.search_path, &closed).trusted();
        let commands_home = around.dirs.state.join("homes").join(format!("scope-{}", around.scope.id()));
        let temporary = create_private_dir(&commands_home)
            .and_then(|()| match found.level {
                Containment::Full => Ok(PathBuf::from(SANDBOX_TEMPORARY)),
                Containment::None | Containment::Partial => make_shared(&commands_home),
            })
            .map_err(|error| {
                Failure::new(
                    ErrorCode::ProviderUnavailable,
                    format!(
                        "the private home folder of the scope's commands cannot be made: {}",
                        error.kind()
                    ),
                )
            })?;
        let access = match mode {
            Mode::WorkspaceWrite => FolderAccess::Write,
            Mode::ReadOnly => FolderAccess::Read,
        };
        let Roots {
            folders: roots,
            protected,
            lacks_protected,
            closed: mut closed_files,
            lacks_closed,
            review,
        } = Roots::new(&around.repositories, &around.scope, access, cwd, found.level)?;
        closed_files.retain(|file| !file.path.ends_with(PROJECT_SETTINGS));
        let package = &found.installation.package;
        let tools = found.installation.tools.clone();
        let mut read_only = unique(trusted.iter().cloned().chain([package.clone()]));
        read_only.extend(readable(&around.roots, &policy.read_paths)?);
        let granted_to_codex = read_only.iter().chain(&roots).map(|grant| grant.path.clone());
        let mut readable: Vec<PathBuf> = granted_to_codex.collect();
        // Codex itself writes its home, and the user's where a login is renewed; neither can its commands see.
        let mut read_write = vec![granted(&commands_home)?];
        if let Some(person) = found.person.as_ref().filter(|_| home::reads_file(found.login)) {
            // The file alone, which Codex writes in its place: beside it are settings that start programs.
            let file = person.join(AUTH_FILE);
            match found.login {
                Login::Account => read_write.push(granted(&file)?),
                _ => read_only.extend(PathGrant::of(&file)),
            }
        }
        // In the private tree of `full` a home among temporary files is there only if it is mounted. Codex would make
        // one that is not, and two of its sandboxes at a time are in each other's way.
        let is_there = |home: &PathBuf| {
            found.level != Containment::Full
                || home == &found.home
                || read_only.iter().chain(&read_write).any(|grant| grant.path.starts_with(home))
        };
        let shown = |home: &PathBuf| {
            let temporary = [Path::new(SANDBOX_TEMPORARY), &std::env::temp_dir()];
            roots.iter().any(|root| home.starts_with(&root.path))
                || is_there(home) && temporary.iter().any(|folder| home.starts_with(folder))
        };
        let denied = found.person.iter().chain([&found.home]).filter(|home| shown(home)).cloned().collect();
        match mode {
            Mode::WorkspaceWrite => read_write.extend(roots),
            Mode::ReadOnly => read_only.extend(roots),
        }
        if found.level == Containment::Full {
            // The job's own: of its processes alone.
            readable.push("/proc".into());
        }
        let mut variables =
            environment(&policy.environment, &trusted, tools.as_deref(), &found.home, &temporary);
        if !closed_files.is_empty() {
            let_git_pass(&mut variables);
        }
        Ok(Self {
            hold: SandboxRequest {
                level: found.level,
                // Codex speaks to its provider; what its commands may reach is for its own sandbox to hold.
                network: Network::Full,
                network_group: None,
                read_only,
                read_write,
                protected,
                lacks_protected,
                closed: closed_files,
                lacks_closed,
                home: granted(&found.home)?,
                inner: InnerSandboxes::Allowed,
                set_group_id: SetGroupId::Refused,
                changes: FolderChanges::Lasting,
            },
            environment: variables,
            readable,
            denied,
            commands_home,
            review,
        })
    }
}

/// Builds Codex's environment: what every command of the scope has, and where its home is.
fn environment(
    fixed: &BTreeMap<String, String>,
    trusted: &[PathBuf],
    tools: Option<&Path>,
    home: &Path,
    temporary: &Path,
) -> Vec<(OsString, OsString)> {
    let mut path = OsString::new();
    for folder in tools.into_iter().chain(trusted.iter().map(PathBuf::as_path)) {
        if !path.is_empty() {
            path.push(":");
        }
        path.push(folder);
    }
    let mut variables: BTreeMap<OsString, OsString> =
        fixed.iter().map(|(name, value)| (name.into(), value.into())).collect();
    let user = user_name();
    let own = [
        ("PATH", path.as_os_str()),
        ("HOME", home.as_os_str()),
        ("CODEX_HOME", home.as_os_str()),
        ("TMPDIR", temporary.as_os_str()),
        ("USER", OsStr::new(&user)),
        ("LANG", OsStr::new("C.UTF-8")),
        ("TERM", OsStr::new("dumb")),
        ("NO_COLOR", OsStr::new("1")),
        ("CI", OsStr::new("1")),
    ];
    for (name, value) in own {
        variables.insert(name.into(), value.into());
    }
    variables.into_iter().collect()
}

/// Creates the question for the version ready: in Codex's home of the scope, without a network.
fn asks_version(around: &CodexContext, found: &FoundCodex) -> Result<ReadyCommand, Failure> {
    #[expect(clippy::disallowed_methods, reason = "the folder is Bailiwick's own, in its state folder")]
    let cwd = std::fs::File::open(&found.home).map_err(|error| {
        Failure::new(
            ErrorCode::ProviderUnavailable,
            format!("Codex's home cannot be opened: {}", error.kind()),
        )
    })?;
    Ok(ReadyCommand::of_tool(Tool {
        step: found.installation.program.step(["codex", "--version"].map(OsString::from).to_vec()),
        environment: environment(&BTreeMap::new(), &[], None, &found.home, Path::new(SANDBOX_TEMPORARY)),
        cwd: cwd.into(),
        cwd_path: found.home.clone(),
        hold: SandboxRequest {
            level: found.level,
            network: Network::None,
            network_group: None,
            read_only: unique([found.installation.package.clone()].into_iter()),
            read_write: Vec::new(),
            protected: Vec::new(),
            lacks_protected: false,
            closed: Vec::new(),
            lacks_closed: false,
            home: granted(&found.home)?,
            inner: InnerSandboxes::Refused,
            set_group_id: SetGroupId::Refused,
            changes: FolderChanges::Lasting,
        },
        limits: process_limits(around.scope.commands().hold().limits),
        review: None,
    }))
}

/// Returns whether a text has the form of a session's id.
pub fn is_session_id(text: &str) -> bool {
    let groups = [8, 4, 4, 4, 12];
    let mut parts = text.split('-');
    groups.iter().all(|length| {
        parts
            .next()
            .is_some_and(|part| part.len() == *length && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
    }) && parts.next().is_none()
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        Failure::new(ErrorCode::ExecutionFailed, format!("Codex could not be made ready: {error}"))
    })?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_of_the_command_can_be_the_prompts() {
        let asked = CodexOptions {
            mode: Mode::WorkspaceWrite,
            model: Some("m".to_owned()),
            resume: Some("01a1ffb5-5a6d-7530-a949-c9dfe0be7d07".to_owned()),
            ephemeral: false,
        };
        let words = asked.words();
        assert_eq!(words.last().map(String::as_str), Some("-"), "the prompt comes by standard input");
        assert!(!words.iter().any(|word| word.contains("danger") || word.contains("bypass")));
        let plain = CodexOptions { mode: Mode::ReadOnly, model: None, resume: None, ephemeral: true };
        assert!(plain.words().contains(&"default_permissions=\"bailiwick-read\"".to_owned()));
        assert!(plain.words().contains(&"--ephemeral".to_owned()));
    }

    #[test]
    fn an_id_of_a_session_is_one_and_nothing_else() {
        assert!(is_session_id("01a1ffb5-5a6d-7530-a949-c9dfe0be7d07"));
        for other in [
            "",
            "--last",
            "01a1ffb5",
            "01a1ffb5-5a6d-7530-a949-c9dfe0be7d0g",
            "01a1ffb5-5a6d-7530-a949-c9dfe0be7d07-",
        ] {
            assert!(!is_session_id(other), "{other}");
        }
    }
}
