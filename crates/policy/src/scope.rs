//! Scopes, compiled from the config: open roots, grants and rules.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use globset::GlobSet;
use sha2::{Digest, Sha256};

use bailiwick_config::{
    AfterUntrusted, Config, PreviewMode, ScopeConfig, SecretCommands, SecretMode, UndoMode,
};
use bailiwick_contract::limits::{MAX_TIMEOUT_SECONDS, SCOPE_OUTPUT_BYTES};
use bailiwick_contract::{
    Access, Caller, Capability, Effect, ErrorCode, FOR_USER, Failure, RawPath, SCOPE, ScopeType, StageName,
    hex,
};
use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::{FileId, PathProblem, RelPath, ResolvedPath, Root};
use bailiwick_platform::paths;
use bailiwick_platform::quoting::quote;

use super::command::Commands;
use super::first_use::FirstUses;
use super::located_path::LocatedPath;
use super::paths::globs;
use super::root_paths::{RootPaths, is_below, link_in_roots, unreachable};
use super::{PathRules, PermittedPath, ProcessPolicy, ScreenRules};

/// How many hexadecimal digits of a hash are in the name of a scope in stores.
const KEY_DIGITS: usize = 16;

/// How a scope stands to a capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CapabilityStatus {
    /// Not granted, or denied.
    Denied,
    /// Set to `ask`: each request needs approval.
    Ask,
    /// Granted.
    Granted,
}

/// One root folder of a scope.
#[derive(Debug)]
pub struct ScopeRoot {
    /// The name in `rootName:path`.
    pub name: String,
    /// The folder as configured.
    pub path: PathBuf,
    /// The identity of the folder when the service first opened it, which it keeps across reloads of the config.
    pub identity: Option<FileId>,
    /// The open folder, or why it could not be opened or may not be served. It never leaves the policy but by what a
    /// permitted path opens.
    folder: Result<Root, Failure>,
}

impl ScopeRoot {
    /// Returns the open folder.
    pub(super) fn folder(&self) -> Result<&Root, Failure> {
        self.folder.as_ref().map_err(Clone::clone)
    }

    /// Returns why the folder could not be opened or may not be served, if so.
    pub fn problem(&self) -> Option<&Failure> {
        self.folder.as_ref().err()
    }

    /// Returns the identity of the open folder.
    pub fn open_id(&self) -> Option<FileId> {
        self.folder.as_ref().ok().map(Root::id)
    }

    /// Returns the path under which the open folder is found now, links resolved; `None` if it was moved.
    pub fn current_path(&self) -> Option<PathBuf> {
        self.folder.as_ref().ok()?.current_path()
    }
}

/// One permission boundary.
#[derive(Debug)]
pub struct Scope {
    id: String,
    name: String,
    scope_type: ScopeType,
    roots: Vec<Arc<ScopeRoot>>,
    granted: BTreeSet<Capability>,
    ask: BTreeSet<Capability>,
    deny: BTreeSet<Capability>,
    max_runtime: Duration,
    max_output_bytes: usize,
    rules: Arc<PathRules>,
    commands: Commands,
    processes: ProcessPolicy,
    screen: ScreenRules,
    client_approvals: Vec<Effect>,
    undo: UndoMode,
    preview: PreviewMode,
    storage_key: String,
    ask_operations: Vec<String>,
    first_uses: FirstUses,
    after_untrusted: AfterUntrusted,
    /// The rules for paths after untrusted content was read, where they are others.
    rules_after_untrusted: Option<Arc<PathRules>>,
    untrusted_files: GlobSet,
    secrets: SecretMode,
    secret_commands: SecretCommands,
    /// The variables that every command gets, of which some hold secrets.
    environment: Vec<(String, String)>,
}

/// Returns the name of a scope in stores: by its folders too, so that a scope that was given other ones finds nothing of the old.
pub fn storage_key(config: &ScopeConfig) -> String {
    let mut key = config.id.clone();
    for root in &config.roots {
        key.push('\0');
        key.push_str(&root.to_string_lossy());
    }
    let mut digits = hex(&Sha256::digest(key.as_bytes()));
    digits.truncate(KEY_DIGITS);
    format!("{} {digits}", config.id)
}

/// Bailiwick's own folders, which no scope may reach.
#[derive(Debug, Clone, Default)]
pub struct OwnFolders {
    paths: Vec<PathBuf>,
}

impl OwnFolders {
    /// Names the folders; those that do not exist yet are found by their nearest existing parent.
    pub fn new(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { paths: paths.into_iter().collect() }
    }

    /// Names the folders of an installation.
    pub fn of(dirs: &Dirs) -> Self {
        Self::new([&dirs.config, &dirs.state, &dirs.runtime].map(Clone::clone))
    }

    /// Returns whether a root contains one of the folders or is inside one.
    ///
    /// Compared by identity, from each folder up to the top, so that links, other spellings of the
    /// path and bind mounts make no difference.
    pub fn touches(&self, root: &Path) -> bool {
        let Some(root_chain) = id_chain(root) else { return false };
        self.paths.iter().any(|own| {
            let inside_own = FileId::of(own).is_some_and(|own| root_chain.contains(&own));
            let holds_own = id_chain(own).is_some_and(|chain| chain.contains(&root_chain[0]));
            inside_own || holds_own
        })
    }

    /// Returns the identities of the folders that exist.
    pub fn ids(&self) -> Vec<FileId> {
        self.paths.iter().filter_map(|path| FileId::of(path)).collect()
    }
}

/// Gives the identities of a folder (or its nearest existing parent) and of all folders above it.
#[expect(
    clippy::disallowed_methods,
    reason = "a root's configured path is compared by identity, at the start"
)]
fn id_chain(path: &Path) -> Option<Vec<FileId>> {
    let existing = path.ancestors().find_map(|ancestor| ancestor.canonicalize().ok())?;
    let chain: Vec<FileId> = existing.ancestors().filter_map(FileId::of).collect();
    (!chain.is_empty()).then_some(chain)
}

impl Scope {
    /// Compiles a scope and opens its roots. A root that cannot be served is kept with its reason. `paths` are those of
    /// the whole config.
    ///
    /// # Errors
    /// `invalid_request` for globs that do not compile and for folder scopes without roots.
    pub fn compile(config: &ScopeConfig, paths: &RootPaths, own: &OwnFolders) -> Result<Self, Failure> {
        Self::compile_again(config, paths, own, &Scopes::default())
    }

    fn compile_again(
        config: &ScopeConfig,
        paths: &RootPaths,
        own: &OwnFolders,
        before: &Scopes,
    ) -> Result<Self, Failure> {
        if config.scope_type == ScopeType::Folder && config.roots.is_empty() {
            return Err(Failure::invalid(
                "roots",
                format!("scope `{}` is a folder scope without roots", config.id),
            ));
        }
        let rules = Arc::new(PathRules::compile(&config.id, &config.policy, own.ids())?);
        let after_untrusted = config.policy.after_untrusted;
        let has_rules_after =
            after_untrusted == AfterUntrusted::Ask && !config.policy.open_sensitive.is_empty();
        let rules_after_untrusted = has_rules_after.then(|| Arc::new(rules.after_untrusted()));
        let commands = Commands::compile(&config.id, &config.policy)?;
        let mut roots: Vec<Arc<ScopeRoot>> = Vec::new();
        for path in &config.roots {
            let base = path
                .file_name()
                .map_or_else(|| "root".to_owned(), |name| name.to_string_lossy().replace(':', "_"));
            let taken = |name: &str| roots.iter().any(|root| root.name == name);
            let name = if taken(&base) {
                (2..).map(|n| format!("{base}-{n}")).find(|name| !taken(name)).unwrap_or(base)
            } else {
                base
            };
            let expected = before.identity_of(path);
            let folder = open_root(path, paths, own).and_then(|root| match expected {
                Some(expected) if expected != root.id() => Err(replaced_by_another()),
                _ => Ok(root),
            });
            let identity = expected.or_else(|| folder.as_ref().ok().map(Root::id));
            roots.push(Arc::new(ScopeRoot { name, path: path.clone(), identity, folder }));
        }
        Ok(Self {
            id: config.id.clone(),
            name: config.name.clone().unwrap_or_else(|| config.id.clone()),
            scope_type: config.scope_type,
            roots,
            granted: config.capabilities.iter().copied().collect(),
            ask: config.ask.iter().copied().collect(),
            deny: config.deny.iter().copied().collect(),
            max_runtime: Duration::from_secs(
                config.policy.max_runtime_seconds.unwrap_or(MAX_TIMEOUT_SECONDS),
            ),
            max_output_bytes: usize::try_from(config.policy.max_output_bytes.unwrap_or(SCOPE_OUTPUT_BYTES))
                .unwrap_or(usize::MAX),
            rules,
            commands,
            processes: ProcessPolicy::new(&config.policy),
            screen: ScreenRules::compile(&config.policy)?,
            client_approvals: config.policy.client_approvals.clone(),
            undo: config.policy.undo,
            preview: config.policy.preview,
            storage_key: storage_key(config),
            ask_operations: asked_operations(&config.policy.ask_operations)?,
            first_uses: FirstUses::compile(&config.policy.ask_first_use)?,
            after_untrusted,
            rules_after_untrusted,
            untrusted_files: globs("policy.untrustedFiles", &config.policy.untrusted_files)?,
            secrets: config.policy.secrets,
            secret_commands: config.policy.secret_commands,
            environment: config.policy.environment.clone().into_iter().collect(),
        })
    }

    /// Returns the id that envelopes name.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns its name in stores: by its folders too, so that a scope that was given other ones finds nothing of the old.
    pub fn storage_key(&self) -> &str {
        &self.storage_key
    }

    /// Returns the name that people read.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the type.
    pub fn scope_type(&self) -> ScopeType {
        self.scope_type
    }

    /// Returns the roots; the first is the default.
    pub fn roots(&self) -> &[Arc<ScopeRoot>] {
        &self.roots
    }

    /// Returns the longest time for one operation.
    pub fn max_runtime(&self) -> Duration {
        self.max_runtime
    }

    /// Returns the largest result in bytes.
    pub fn max_output_bytes(&self) -> usize {
        self.max_output_bytes
    }

    /// Returns the rules for the names of files.
    pub fn path_rules(&self) -> &Arc<PathRules> {
        &self.rules
    }

    /// Returns the rules for commands, and how they are held.
    pub fn commands(&self) -> &Commands {
        &self.commands
    }

    /// Returns what bounds the processes that are started.
    pub fn processes(&self) -> ProcessPolicy {
        self.processes
    }

    /// Returns the rules for what is on the screen.
    pub fn screen(&self) -> &ScreenRules {
        &self.screen
    }

    /// Returns whose changes can be taken back.
    pub fn undo(&self) -> UndoMode {
        self.undo
    }

    /// Returns whether the user sees what a command would do before approving it.
    pub fn preview(&self) -> PreviewMode {
        self.preview
    }

    /// Returns whether an approval that is given in a client counts for operations of this kind.
    pub fn takes_approvals_of_clients(&self, effect: Effect) -> bool {
        let shows_changes = effect == Effect::RunsCode && self.preview == PreviewMode::Commit;
        self.client_approvals.contains(&effect) && !shows_changes
    }

    /// Returns the operations and families that need approval, as the config names them.
    pub fn ask_operations(&self) -> &[String] {
        &self.ask_operations
    }

    /// Returns what needs approval the first time in a session.
    pub(super) fn first_uses(&self) -> &FirstUses {
        &self.first_uses
    }

    /// Returns what happens after a client has read untrusted content.
    pub fn after_untrusted(&self) -> AfterUntrusted {
        self.after_untrusted
    }

    /// Returns what answers show in the place of secrets.
    pub fn secrets(&self) -> SecretMode {
        self.secrets
    }

    /// Returns whether commands may be given secrets by their handles.
    pub fn secret_commands(&self) -> SecretCommands {
        self.secret_commands
    }

    /// Returns the variables that every command gets, with their values.
    pub fn environment(&self) -> &[(String, String)] {
        &self.environment
    }

    /// Returns whether the policy names files that anybody may have written.
    pub fn has_untrusted_files(&self) -> bool {
        !self.untrusted_files.is_empty()
    }

    /// Returns whether a path, as results name it, is one of a file that anybody may have written.
    pub fn is_untrusted_file(&self, shown: &str) -> bool {
        let path = match shown.split_once(':') {
            Some((root, rest)) if self.roots.iter().any(|it| it.name == root) => rest,
            _ => shown,
        };
        self.untrusted_files.is_match(path)
    }

    /// Returns the rules for paths after untrusted content was read, where they are others.
    pub(super) fn rules_after_untrusted(&self) -> Option<&Arc<PathRules>> {
        self.rules_after_untrusted.as_ref()
    }

    /// Returns how the scope stands to a capability: deny beats ask beats grant.
    pub fn standing(&self, capability: Capability) -> CapabilityStatus {
        if self.deny.contains(&capability) {
            CapabilityStatus::Denied
        } else if self.ask.contains(&capability) {
            CapabilityStatus::Ask
        } else if self.granted.contains(&capability) {
            CapabilityStatus::Granted
        } else {
            CapabilityStatus::Denied
        }
    }

    /// Finds the root and the path beneath it that a client's text means. Touches no disk.
    ///
    /// `rootName:path` chooses a root where the scope has several; an absolute path is taken if it
    /// spells one of the roots and then continues beneath it (it is still opened beneath the root's handle).
    ///
    /// # Errors
    /// `path_out_of_scope` or `invalid_request`.
    pub(super) fn locate(&self, path: &RawPath, access: Access) -> Result<LocatedPath, Failure> {
        let text = path.0.as_str();
        let (root, rest) = self.choose_root(text).ok_or_else(|| self.outside(text))?;
        let rel = RelPath::parse(&paths::client_bytes(rest)).map_err(|problem| match problem {
            PathProblem::Climbs | PathProblem::Absolute => self.outside(text),
            PathProblem::Nul | PathProblem::TooLong | PathProblem::Name(_) => {
                Failure::invalid("target", format!("{problem}: `{}`", clip(text)))
            }
        })?;
        Ok(self.located(root, rel, access))
    }

    fn located(&self, root: &Arc<ScopeRoot>, rel: RelPath, access: Access) -> LocatedPath {
        let is_further = self.roots.len() > 1 && !Arc::ptr_eq(root, &self.roots[0]);
        LocatedPath {
            root: Arc::clone(root),
            rel,
            access,
            rules: Arc::clone(&self.rules),
            prefix: is_further.then(|| Arc::from(root.name.as_str())),
        }
    }

    /// Returns a path that may be read, judged by the scope's rules.
    ///
    /// # Errors
    /// `invalid_request`, `path_out_of_scope` or `permission_denied`, with the stage.
    pub fn readable(&self, path: &RawPath) -> Result<PermittedPath, Failure> {
        PermittedPath::judge(
            self.locate(path, Access::Read).map_err(|failure| failure.at_stage(StageName::Path))?,
        )
    }

    /// Returns the paths of the roots that are open.
    pub fn root_paths(&self) -> impl Iterator<Item = PermittedPath> {
        let located = |root| self.located(root, RelPath::root(), Access::Read);
        self.roots.iter().filter_map(move |root| PermittedPath::judge(located(root)).ok())
    }

    fn choose_root<'a>(&self, text: &'a str) -> Option<(&Arc<ScopeRoot>, &'a str)> {
        let first = self.roots.first()?;
        if paths::is_absolute(text) {
            return self.roots.iter().find_map(|root| Some((root, paths::beneath(&root.path, text)?)));
        }
        if self.roots.len() > 1
            && let Some((name, rest)) = text.split_once(':')
            && let Some(root) = self.roots.iter().find(|root| root.name == name)
        {
            return Some((root, rest));
        }
        Some((first, text))
    }

    fn outside(&self, text: &str) -> Failure {
        Failure::new(ErrorCode::PathOutOfScope, format!("`{}` is not inside scope `{}`", clip(text), self.id))
            .detail("rule", "roots")
            .hint("Use a path relative to the scope's folder, without `..` beyond it.")
            .hint("For the user: `bailiwick scope add FOLDER` opens another folder.")
    }
}

/// Reads the names of operations and families. Whether there are such operations is for those to say who know them.
fn asked_operations(names: &[String]) -> Result<Vec<String>, Failure> {
    let is_part = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'_')
    };
    for (at, name) in names.iter().enumerate() {
        let is_name = name
            .split_once('.')
            .is_some_and(|(family, verb)| is_part(family) && (verb == "*" || is_part(verb)));
        if !is_name {
            return Err(Failure::invalid(
                &format!("policy.askOperations[{at}]"),
                format!(
                    "`{}` is no operation; expected one (`git.commit`) or a family (`git.*`)",
                    clip(name)
                ),
            ));
        }
    }
    Ok(names.to_vec())
}

fn open_root(path: &Path, paths: &RootPaths, own: &OwnFolders) -> Result<Root, Failure> {
    if !path.is_absolute() {
        return Err(Failure::invalid(
            "roots",
            format!("the root `{}` must be an absolute path", path.display()),
        ));
    }
    if let Some(why) = paths::not_served(path) {
        return Err(Failure::denied("path-kind", format!("the scope's folder is not served: {why}"))
            .hint("For the user: name a folder of a drive of this computer."));
    }
    let resolved = match paths.resolved(path) {
        Err(failure) if failure.code == ErrorCode::PermissionDenied => return Err(failure),
        other => other,
    };
    // Where it leads nowhere, it is judged by the folder above it.
    if own.touches(resolved.as_deref().unwrap_or(path)) {
        if FileId::of(path).is_none() {
            // Judged by the folder above it, which says nothing about what it held. It stays closed all the same.
            return Err(Failure::new(ErrorCode::ProviderUnavailable, "the scope's folder does not exist")
                .hint("For the user: put it back, or close it with `bailiwick scope remove ID`."));
        }
        return Err(Failure::denied(
            "own-folders",
            "the scope's folder contains Bailiwick's own config or state, or is inside it",
        )
        .hint("For the user: give the scope a narrower folder, or move Bailiwick's with BAILIWICK_HOME."));
    }
    Root::open_resolved(&resolved?).map_err(|error| unreachable(&error))
}

fn replaced_by_another() -> Failure {
    Failure::new(
        ErrorCode::ProviderUnavailable,
        "another folder has taken the place of the scope's folder since the service opened it",
    )
    .hint("For the user: put the folder back; if the new one is right, restart the service.")
}

/// Shortens a client's text for a message.
pub(super) fn clip(text: &str) -> String {
    match text.char_indices().nth(200) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// What commands of one scope need to know of all: where their roots are. No scope comes out of it.
#[derive(Debug, Clone)]
pub struct AllRoots(Arc<Scopes>);

impl AllRoots {
    /// Creates the view of these scopes.
    pub fn of(scopes: Arc<Scopes>) -> Self {
        Self(scopes)
    }

    /// Returns the identities of all roots that are open.
    pub fn ids(&self) -> impl Iterator<Item = FileId> {
        self.0.list.iter().flat_map(|scope| scope.roots()).filter_map(|root| root.open_id())
    }

    /// Resolves a path of the config that is no root, as [`Scopes::resolve`].
    ///
    /// # Errors
    /// As [`Scopes::resolve`].
    pub fn resolve(&self, path: &Path) -> Result<Option<PathBuf>, Failure> {
        self.0.resolve(path)
    }

    /// Returns whether a file of the config is in a root of any scope, or is reached by a link in one.
    pub fn reach(&self, path: &Path) -> bool {
        let roots: Vec<FileId> =
            self.0.list.iter().flat_map(|scope| scope.roots()).filter_map(|root| root.identity).collect();
        ResolvedPath::new(path)
            .is_ok_and(|it| link_in_roots(&it, &roots).is_some() || is_below(&it.path, &roots))
    }
}

/// All scopes of the config.
#[derive(Debug, Default)]
pub struct Scopes {
    list: Vec<Arc<Scope>>,
}

impl Scopes {
    /// Compiles the scopes of a config.
    ///
    /// # Errors
    /// As [`Scope::compile`], and `invalid_request` for an id that occurs twice.
    pub fn compile(config: &Config, own: &OwnFolders) -> Result<Self, Failure> {
        Self::compile_after(config, own, &Self::default())
    }

    /// Compiles the scopes of a config that takes the place of another one. A root that was open stays the folder that it
    /// was: another one at the same path is not opened until the service starts again, or the root is taken out of the
    /// config and put back.
    ///
    /// # Errors
    /// As [`Scopes::compile`].
    pub fn compile_after(config: &Config, own: &OwnFolders, before: &Self) -> Result<Self, Failure> {
        let paths = RootPaths::new(&config.scopes);
        let mut list: Vec<Arc<Scope>> = Vec::new();
        for scope in &config.scopes {
            if list.iter().any(|other| other.id == scope.id) {
                return Err(Failure::invalid("scopes", format!("two scopes have the id `{}`", scope.id)));
            }
            list.push(Arc::new(Scope::compile_again(scope, &paths, own, before)?));
        }
        Ok(Self { list })
    }

    /// Returns the identity that a root had when it was first opened.
    fn identity_of(&self, path: &Path) -> Option<FileId> {
        let mut roots = self.list.iter().flat_map(|scope| scope.roots());
        roots.find_map(|root| root.identity.filter(|_| root.path == path))
    }

    /// Resolves a path of the config that is no root, such as one of `readPaths`; `None` where nothing is there.
    ///
    /// # Errors
    /// `permission_denied` for a path through a link that is in a root of any scope.
    pub fn resolve(&self, path: &Path) -> Result<Option<PathBuf>, Failure> {
        let Ok(resolved) = ResolvedPath::new(path) else { return Ok(None) };
        let roots: Vec<FileId> =
            self.list.iter().flat_map(|scope| scope.roots()).filter_map(|root| root.identity).collect();
        match link_in_roots(&resolved, &roots) {
            None => Ok(Some(resolved.path)),
            Some(link) => Err(Failure::denied(
                "root-link",
                format!(
                    "nothing was run: `{}` in the config leads through the link `{}`, in a folder that commands of a scope can change",
                    path.display(),
                    link.display()
                ),
            )
            .hint(format!(
                "{FOR_USER}if it leads where it should, `bailiwick scope edit {SCOPE} --remove-rule {} --read-path {}`.",
                quote(&path.display().to_string()),
                quote(&resolved.path.display().to_string())
            ))),
        }
    }

    /// Finds a scope by id.
    pub fn find(&self, id: &str) -> Option<&Arc<Scope>> {
        self.list.iter().find(|scope| scope.id == id)
    }

    /// Returns whether the answers of any scope show something in the place of secrets.
    pub fn hide_secrets(&self) -> bool {
        self.list.iter().any(|scope| scope.secrets != SecretMode::Off)
    }

    /// Returns whether any scope asks after untrusted content was read.
    pub fn ask_after_untrusted(&self) -> bool {
        self.list.iter().any(|scope| scope.after_untrusted == AfterUntrusted::Ask)
    }

    /// Returns whether a request may be one to a scope that asks after untrusted content was read.
    pub fn asks_after_untrusted(&self, caller: &Caller, named: Option<&str>) -> bool {
        self.open_to(caller).any(|scope| {
            scope.after_untrusted == AfterUntrusted::Ask && named.is_none_or(|id| id == scope.id)
        })
    }

    /// Returns every scope, no matter who may name it.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Scope>> {
        self.list.iter()
    }

    /// Returns the scopes that a caller may name.
    pub fn open_to<'a>(&'a self, caller: &'a Caller) -> impl Iterator<Item = &'a Arc<Scope>> {
        self.list.iter().filter(|scope| caller.scopes.allows(&scope.id))
    }
}
