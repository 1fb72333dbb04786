//! Running Git so that it does only what it was asked: nothing that the repository or anyone's settings name is
//! run, nothing is fetched, and the sandbox shows it the repository and nothing else.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::command::{
    Capture, CapturedStream, ReadyCommand, RunOptions, SearchPath, Tool, closed_folders,
    describe_memory_excess, granted, process_limits, run, tool_level, unique,
};
use bailiwick_contract::{Cancel, Containment, ErrorCode, FOR_USER, Failure, Network, SCOPE};
use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::{FileId, create_private_dir};
use bailiwick_platform::launch::{
    FolderChanges, InnerSandboxes, LaunchCommand, Launcher, PathGrant, ProcessLimits, SandboxRequest,
    SetGroupId, Step,
};
use bailiwick_platform::machine::home_folder;
use bailiwick_platform::names::OsStrExt;
use bailiwick_platform::paths::{HAS_DRIVES, for_programs};
use bailiwick_platform::programs::{SEARCH_PATH_SEPARATOR, bare_environment, folders_behind};
use bailiwick_policy::{AllRoots, Scope};

use super::Repository;
use super::drivers::{may_name_drivers, without_drivers};
use super::neutral::{EmptyFile, ListedSettings, as_words, environment, settings};

/// How much of its messages is kept.
const MAX_MESSAGE_BYTES: usize = 16_384;
/// How much of the list of settings is read.
const MAX_SETTINGS_BYTES: usize = 4 << 20;
/// What a call may do to the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Everything is read-only.
    Read,
    /// Git's own folder can be written; the working tree cannot.
    Write,
    /// The user's own settings are seen too. Only for asking what they are.
    Settings,
}

/// The service around a call.
#[derive(Debug, Clone)]
pub struct GitContext {
    /// What starts programs.
    pub launcher: Arc<Launcher>,
    /// Bailiwick's own folders.
    pub dirs: Dirs,
    /// The scope.
    pub scope: Arc<Scope>,
    /// Where the roots of all scopes are: Git is not taken out of any of them.
    pub roots: AllRoots,
    /// When to stop.
    pub cancel: Cancel,
}

/// One call.
#[derive(Debug)]
pub struct GitCall {
    /// The words behind `git`.
    pub words: Vec<OsString>,
    /// What it reads.
    pub stdin: Option<Vec<u8>>,
    /// What it may do.
    pub reach: Reach,
    /// A folder that it may write too, with [`Reach::Write`]: the working tree that is made or removed.
    pub folder: Option<PathBuf>,
    /// Variables for this call.
    pub environment: Vec<(OsString, OsString)>,
    /// How much of what it prints is kept.
    pub keep_bytes: usize,
}

impl GitCall {
    /// Creates a call that only reads.
    pub fn to_read<Word: Into<OsString>>(words: impl IntoIterator<Item = Word>) -> Self {
        Self {
            words: words.into_iter().map(Into::into).collect(),
            stdin: None,
            reach: Reach::Read,
            folder: None,
            environment: Vec::new(),
            keep_bytes: 64 << 20,
        }
    }

    /// Creates a call that may write Git's own folder.
    pub fn to_write<Word: Into<OsString>>(words: impl IntoIterator<Item = Word>) -> Self {
        Self { reach: Reach::Write, ..Self::to_read(words) }
    }

    /// Adds a word.
    #[must_use]
    pub fn word(mut self, word: impl Into<OsString>) -> Self {
        self.words.push(word.into());
        self
    }

    /// Adds `--` and a path, if there is one.
    #[must_use]
    pub fn path(mut self, path: Option<impl Into<OsString>>) -> Self {
        if let Some(path) = path {
            self.words.push("--".into());
            self.words.push(path.into());
        }
        self
    }

    /// Lets it write a folder.
    #[must_use]
    pub fn folder(mut self, folder: &Path) -> Self {
        self.folder = Some(folder.to_owned());
        self
    }

    /// Gives it bytes to read.
    #[must_use]
    pub fn stdin(mut self, bytes: Vec<u8>) -> Self {
        self.stdin = Some(bytes);
        self
    }

    /// Keeps at most this much of what it prints.
    #[must_use]
    pub fn keep(mut self, bytes: usize) -> Self {
        self.keep_bytes = bytes;
        self
    }
}

/// What a call printed.
#[derive(Debug)]
pub struct GitOutput {
    /// The exit code.
    pub code: i32,
    /// Standard output, from its beginning.
    pub out: Vec<u8>,
    /// Whether that is all.
    pub is_whole: bool,
    /// Messages.
    pub messages: String,
}

impl GitOutput {
    /// Returns the output of a call that must have succeeded.
    ///
    /// # Errors
    /// `execution_failed` with what Git said.
    pub fn success(self) -> Result<Vec<u8>, Failure> {
        if self.code == 0 { Ok(self.out) } else { Err(self.failure()) }
    }

    /// Returns what it means that a branch has a lock; `None` if that is not what Git reports.
    pub fn branch_locked(&self) -> Option<Failure> {
        let is_locked = self.code != 0 && self.messages.contains(".lock");
        is_locked.then(|| {
            let message = "another Git is changing the branch, or one ended while it did; nothing was committed";
            Failure::new(ErrorCode::Conflict, message).hint(
                "Try again. For the user: if no Git runs, remove `.git/HEAD.lock` and the branch's `.lock` below `.git/refs`.",
            )
        })
    }

    /// Returns what it means that Git could not change the index.
    pub fn index_failure(&self) -> Failure {
        if self.messages.contains("index.lock") {
            return Failure::new(
                ErrorCode::Conflict,
                "another Git is changing the index, or one ended while it did",
            )
            .hint("Try again. For the user: if no Git runs, remove `.git/index.lock`.");
        }
        self.failure()
    }

    /// Says that the call failed.
    pub fn failure(&self) -> Failure {
        let said =
            self.messages.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("no reason given");
        let said: String = said.chars().filter(|c| !c.is_control()).take(300).collect();
        Failure::new(ErrorCode::ExecutionFailed, format!("Git failed (exit code {}): {said}", self.code))
    }
}

/// Git, ready for one repository.
#[derive(Debug)]
pub struct Git {
    /// The repository.
    pub repository: Repository,
    around: GitContext,
    program: PathBuf,
    identity: FileId,
    readable: Vec<PathGrant>,
    trusted: Vec<PathBuf>,
    level: Containment,
    home: PathBuf,
    nothing: EmptyFile,
    settings: Vec<(OsString, OsString)>,
    blame_leads_out: bool,
}

impl Git {
    /// Finds Git, and switches off what the repository names.
    ///
    /// # Errors
    /// `provider_unavailable` without Git, or where it cannot be sandboxed as the scope wants; those of a call.
    pub async fn ready(repository: Repository, around: GitContext) -> Result<Self, Failure> {
        let look = move || Self::look(repository, around);
        let (mut git, ask) = tokio::task::spawn_blocking(look).await.map_err(|error| {
            Failure::new(ErrorCode::ExecutionFailed, format!("Git could not be made ready: {error}"))
        })??;
        if HAS_DRIVES {
            // How lines end is what the user chose when they installed Git, and no other call sees that.
            let words = ["config", "--list", "--show-scope", "-z"];
            let listed = ListedSettings::of(
                &git.list(GitCall { reach: Reach::Settings, ..GitCall::to_read(words) }).await?,
            );
            git.blame_leads_out = listed.blame_leads_out;
            git.settings.extend(as_words(without_drivers(&listed.names)));
            git.settings.extend(listed.line_ends);
        } else if ask {
            let names = git.list(GitCall::to_read(["config", "--list", "--name-only", "-z"])).await?;
            git.settings.extend(as_words(without_drivers(&names)));
        }
        Ok(git)
    }

    /// Lists settings, all of them.
    async fn list(&self, asked: GitCall) -> Result<Vec<u8>, Failure> {
        let listed = self.run(asked.keep(MAX_SETTINGS_BYTES)).await?;
        if !listed.is_whole {
            return Err(Failure::new(
                ErrorCode::ExecutionFailed,
                "the repository's configuration is too large to be looked through",
            ));
        }
        listed.success()
    }

    fn look(repository: Repository, around: GitContext) -> Result<(Self, bool), Failure> {
        let policy = around.scope.commands().hold();
        let closed = closed_folders(&around.roots, &around.dirs);
        let search = SearchPath::new(&policy.search_path, &closed);
        let found = search.find("git").map_err(|failure| {
            let failure = Failure { code: ErrorCode::ProviderUnavailable, hints: Vec::new(), ..failure };
            failure.hint(format!(
                "{FOR_USER}install Git, or name its folder: `bailiwick scope edit {SCOPE} --search-path FOLDER`."
            ))
        })?;
        let behind = folders_behind(&found.path);
        let real = if behind.is_empty() { None } else { SearchPath::new(&behind, &closed).find("git").ok() };
        let found = real.unwrap_or(found);
        let level = tool_level(policy.sandbox)?;
        let home = around.dirs.state.join("homes").join("git");
        create_private_dir(&home).map_err(|error| {
            let why = error.kind();
            Failure::new(
                ErrorCode::ProviderUnavailable,
                format!("no private folder can be made for Git: {why}"),
            )
            .hint("For the user: `bailiwick doctor` checks the owner of Bailiwick's state folder and the space left there.")
        })?;
        let nothing = EmptyFile::ready(&home)?;
        let ask = may_name_drivers(&repository)?;
        let trusted = search.trusted();
        let in_repository = [repository.start.on_disk()?].into_iter().chain(repository.alternates.clone());
        let mut readable: Vec<PathGrant> =
            in_repository.filter_map(|folder| PathGrant::of_resolved(&folder)).collect();
        let elsewhere = [found.real_folder].into_iter().chain(rules_above(&repository)?);
        readable.extend(unique(elsewhere.chain(trusted.iter().cloned())));
        let git = Self {
            program: found.path,
            identity: found.identity,
            readable,
            trusted,
            level,
            home,
            settings: settings(&nothing),
            blame_leads_out: false,
            nothing,
            repository,
            around,
        };
        Ok((git, ask))
    }

    /// Returns when to stop.
    pub fn cancel(&self) -> &Cancel {
        &self.around.cancel
    }

    /// Returns the scope.
    pub fn scope(&self) -> &Scope {
        &self.around.scope
    }

    /// Runs one call to its end.
    ///
    /// # Errors
    /// `timeout`, `cancelled`, `provider_unavailable`, `execution_failed`.
    pub async fn run(&self, asked: GitCall) -> Result<GitOutput, Failure> {
        self.around.cancel.check()?;
        if self.blame_leads_out && asked.words.first().is_some_and(|word| word == "blame") {
            return Err(Failure::new(
                ErrorCode::ExecutionFailed,
                "`blame.ignoreRevsFile` of the repository leads out of its working tree, and Git would read it",
            )
            .hint("For the user: take it out of `.git/config`, or name a file in the working tree."));
        }
        let prepared = self.prepare(&asked)?;
        let folder = asked.folder.clone();
        let running = RunOptions {
            stdin: asked.stdin,
            deadline: self.around.cancel.deadline(),
            stdout: Capture::new(asked.keep_bytes, 0),
            stderr: Capture::new(MAX_MESSAGE_BYTES, 0),
            listener: None,
        };
        let ran = run(&self.around.launcher, prepared, running).await?;
        if ran.timed_out {
            return Err(self.around.cancel.timed_out());
        }
        if let Some(excess) = ran.ended.as_ref().and_then(|ended| ended.memory_excess) {
            let why = describe_memory_excess(excess, self.around.scope.id());
            return Err(Failure::new(ErrorCode::ExecutionFailed, format!("Git: {why}")));
        }
        let ended = ran.ended.as_ref().and_then(|ended| ended.exit_code);
        let code = ended.ok_or_else(|| {
            let failure = Failure::new(ErrorCode::ExecutionFailed, "Git was ended by a signal");
            failure.detail("signal", ran.ended.and_then(|ended| ended.signal))
        })?;
        let is_whole = CapturedStream::is_whole(&ran.stdout);
        let messages = self.without_places(&String::from_utf8_lossy(&ran.stderr.head), folder.as_deref());
        Ok(GitOutput { code, out: ran.stdout.head, is_whole, messages })
    }

    /// Takes the places of the repository on this computer out of a message.
    fn without_places(&self, message: &str, folder: Option<&Path>) -> String {
        if message.is_empty() {
            return String::new();
        }
        let repository = &self.repository;
        let places = [&repository.git_dir, &repository.common_dir, &repository.work_tree, &self.home];
        folder
            .into_iter()
            .chain(places.iter().map(|place| place.as_path()))
            .flat_map(|place| [for_programs(place), place.to_owned()])
            .filter_map(|place| place.into_os_string().into_string().ok())
            .fold(message.to_owned(), |message, place| message.replace(&place, "."))
    }

    fn prepare(&self, asked: &GitCall) -> Result<ReadyCommand, Failure> {
        let repository = &self.repository;
        let (folder, place) = repository.start.open_dir()?;
        let git_places = repository.git_folders.iter().cloned();
        let mut read_only = self.readable.clone();
        let (mut read_write, mut protected) = (Vec::new(), Vec::new());
        match asked.reach {
            Reach::Read => read_only.extend(git_places),
            Reach::Write => {
                protected = crate::repositories::names_of([&repository.git_dir, &repository.common_dir]);
                read_write.extend(git_places);
                read_write.extend(asked.folder.as_deref().and_then(PathGrant::of_resolved));
            }
            Reach::Settings => {
                read_only.extend(git_places);
                read_only.extend(settings_of_the_person().iter().filter_map(|path| PathGrant::of(path)));
            }
        }
        let policy = self.around.scope.commands().hold();
        let words = [OsString::from("git"), "--no-pager".into()];
        Ok(ReadyCommand::of_tool(Tool {
            step: Step {
                joiner: None,
                commands: vec![LaunchCommand {
                    program: self.program.clone(),
                    identity: self.identity,
                    argv: words.into_iter().chain(asked.words.iter().cloned()).collect(),
                    redirects: Vec::new(),
                }],
            },
            environment: self.environment(asked),
            cwd: folder.into_handle(),
            cwd_path: place.on_disk()?,
            hold: SandboxRequest {
                level: self.level,
                network: Network::None,
                network_group: None,
                read_only,
                read_write,
                protected,
                lacks_protected: false,
                closed: Vec::new(),
                lacks_closed: false,
                home: granted(&self.home)?,
                inner: InnerSandboxes::Refused,
                // In a repository that several users share Git sets it on its folders.
                set_group_id: SetGroupId::Allowed,
                changes: FolderChanges::Lasting,
            },
            review: None,
            limits: ProcessLimits { memory_bytes: None, ..process_limits(policy.limits) },
        }))
    }

    fn environment(&self, asked: &GitCall) -> Vec<(OsString, OsString)> {
        let repository = &self.repository;
        let person = home_folder().filter(|_| asked.reach == Reach::Settings);
        let mut environment = environment(&self.nothing, person.is_some());
        let mut set = |name: &str, value: &OsStr| environment.push((name.into(), value.to_owned()));
        for (name, value) in bare_environment(&self.home) {
            set(name, &value);
        }
        set("GIT_DIR", for_programs(&repository.git_dir).as_os_str());
        set("GIT_WORK_TREE", for_programs(&repository.work_tree).as_os_str());
        if repository.is_linked() {
            set("GIT_COMMON_DIR", for_programs(&repository.common_dir).as_os_str());
        }
        let mut path = OsString::new();
        for folder in &self.trusted {
            if !path.is_empty() {
                path.push(SEARCH_PATH_SEPARATOR);
            }
            path.push(folder);
        }
        set("PATH", &path);
        set("TMPDIR", for_programs(&self.home).as_os_str());
        set("GIT_OPTIONAL_LOCKS", OsStr::new("0"));
        match person {
            Some(home) => set("HOME", for_programs(&home).as_os_str()),
            None => {
                set("HOME", for_programs(&self.home).as_os_str());
                set("GIT_CONFIG_GLOBAL", self.nothing.as_os_str());
            }
        }
        set("GIT_CONFIG_COUNT", OsStr::new(&self.settings.len().to_string()));
        for (at, (name, value)) in self.settings.iter().enumerate() {
            set(&format!("GIT_CONFIG_KEY_{at}"), name);
            set(&format!("GIT_CONFIG_VALUE_{at}"), value);
        }
        environment.retain(|(name, _)| !asked.environment.iter().any(|(again, _)| again == name));
        environment.extend(asked.environment.iter().cloned());
        environment
    }
}

/// Returns the files above the scope's folder that say what is ignored and how text is stored.
fn rules_above(repository: &Repository) -> Result<Vec<PathBuf>, Failure> {
    if repository.is_whole() {
        return Ok(Vec::new());
    }
    let start = repository.start.on_disk()?;
    let above = start.ancestors().skip(1).take_while(|folder| folder.starts_with(&repository.work_tree));
    Ok(above.flat_map(|folder| [".gitignore", ".gitattributes"].map(|name| folder.join(name))).collect())
}

/// Returns whether something is at a place of Git's.
pub(super) fn is_there(path: &Path) -> bool {
    FileId::of(path).is_some()
}

/// Returns where the user's own settings are.
fn settings_of_the_person() -> Vec<PathBuf> {
    let Some(home) = home_folder() else { return Vec::new() };
    vec![home.join(".gitconfig"), home.join(".config/git/config")]
}

/// Turns bytes into a word.
pub fn word(bytes: &[u8]) -> OsString {
    OsStr::from_bytes(bytes).to_owned()
}
