//! The permit: what a request may do, and the only key to the providers.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bailiwick_contract::{
    Access, Capability, CommandInput, CommonOptions, ContentOrigin, ErrorCode, FOR_USER, Failure, Limits,
    Network, OperationSpec, RawPath, StageName,
};

use super::approval::{ApprovalSubject, RequestKey, SessionKey, target_of};
use super::command::{Grant, JudgedCommand, PermittedCommand};
use super::located_path::LocatedPath;
use super::{
    AFTER_UNTRUSTED, Approval, ApprovedChanges, Grants, ParsedArguments, PathRules, PermittedPath, Question,
    Scope, ScreenRules, UntrustedRead, WritablePath, closed_words,
};

/// A judged target.
#[derive(Debug, Clone, Default)]
pub enum PermittedTarget {
    /// The operation has none, or it was left out.
    #[default]
    None,
    /// A path that the rules allow to be read.
    Path(PermittedPath),
    /// A path that the rules allow to be written.
    WritablePath(WritablePath),
    /// An identifier, as written.
    Id(String),
}

impl PermittedTarget {
    /// Returns the path, if it is one.
    pub fn path(&self) -> Option<&PermittedPath> {
        match self {
            Self::Path(path) => Some(path),
            Self::WritablePath(path) => Some(path),
            Self::None | Self::Id(_) => None,
        }
    }
}

/// The product of the policy. Only [`super::decide`] makes one.
pub struct Permit {
    pub(super) spec: &'static OperationSpec,
    pub(super) scope: Option<Arc<Scope>>,
    pub(super) capability: Option<Capability>,
    pub(super) grants: Grants,
    pub(super) target: PermittedTarget,
    pub(super) paths: Vec<PermittedPath>,
    pub(super) writable_paths: Vec<WritablePath>,
    pub(super) command: Option<PermittedCommand>,
    pub(super) limits: Limits,
    pub(super) parsed: ParsedArguments,
    pub(super) approved: Option<String>,
    /// Whether the request, or the first use of something in it, needed approval.
    pub(super) was_asked: bool,
    /// The changes of a preview that were approved with the request, the newest.
    pub(super) changes: Option<ApprovedChanges>,
    pub(super) later: Option<DeferredApproval>,
    /// Where the content comes from that it shows.
    pub(super) origin: Option<ContentOrigin>,
    /// What the caller has read before, where the scope asks after that and nobody has approved this request.
    pub(super) untrusted: Option<UntrustedRead>,
    /// The rules for paths, where they are not those of the scope.
    pub(super) rules: Option<Arc<PathRules>>,
}

/// What an operation asks about whose command is known only when it has looked.
pub(super) struct DeferredApproval {
    request: RequestKey,
    session: SessionKey,
    /// The handles of secrets in the request.
    handles: Vec<String>,
    question: Mutex<Option<Box<Question>>>,
    approval: OnceLock<Approval>,
}

impl DeferredApproval {
    pub(super) fn new(request: RequestKey, session: SessionKey, handles: &[String]) -> Self {
        Self {
            request,
            session,
            handles: handles.to_vec(),
            question: Mutex::default(),
            approval: OnceLock::new(),
        }
    }

    fn question(&self) -> MutexGuard<'_, Option<Box<Question>>> {
        self.question.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Permit {
    /// Returns the operation that was permitted.
    pub fn spec(&self) -> &'static OperationSpec {
        self.spec
    }

    /// Returns the scope; `None` only for operations that need none.
    pub fn scope(&self) -> Option<&Arc<Scope>> {
        self.scope.as_ref()
    }

    /// Returns the scope of an operation that acts in one.
    ///
    /// # Errors
    /// `invalid_request` where none is named.
    pub fn needed_scope(&self) -> Result<&Arc<Scope>, Failure> {
        self.scope.as_ref().ok_or_else(|| Failure::invalid("scope", "no scope is named"))
    }

    /// Returns the capability by which it was permitted.
    pub fn capability(&self) -> Option<Capability> {
        self.capability
    }

    /// Returns whether scope and caller both grant a capability, or it was approved for this request.
    pub fn allows(&self, capability: Capability) -> bool {
        self.grants.allows(capability)
    }

    /// Returns what scope and caller grant together.
    pub fn grants(&self) -> &Grants {
        &self.grants
    }

    /// Returns the judged target.
    pub fn target(&self) -> &PermittedTarget {
        &self.target
    }

    /// Returns the target of an operation whose spec says that it is a path.
    pub fn path(&self) -> &PermittedPath {
        // The path stage makes a path for every spec that wants one.
        self.target.path().unwrap_or_else(|| unreachable!("{} has no path target", self.spec.name))
    }

    /// Returns the target of an operation whose spec says that it is a path that is written.
    pub fn writable_path(&self) -> &WritablePath {
        match &self.target {
            PermittedTarget::WritablePath(path) => path,
            PermittedTarget::None | PermittedTarget::Path(_) | PermittedTarget::Id(_) => {
                unreachable!("{} writes no path target", self.spec.name)
            }
        }
    }

    /// Returns the target of an operation whose spec says that it is an identifier.
    pub fn id(&self) -> Option<&str> {
        match &self.target {
            PermittedTarget::Id(id) => Some(id),
            PermittedTarget::None | PermittedTarget::Path(_) | PermittedTarget::WritablePath(_) => None,
        }
    }

    /// Returns the paths of `input` that may be read, in the order in which the operation named them.
    pub fn input_paths(&self) -> &[PermittedPath] {
        &self.paths
    }

    /// Returns the paths of `input` that may be written, in the order in which the operation named them.
    pub fn writable_paths(&self) -> &[WritablePath] {
        &self.writable_paths
    }

    /// Judges one more path to be read by the same rules, for operations that take many, each for itself.
    ///
    /// # Errors
    /// `invalid_request`, `path_out_of_scope` or `permission_denied`, with the stage.
    pub fn resolve(&self, path: &RawPath) -> Result<PermittedPath, Failure> {
        self.locate(path, Access::Read).and_then(PermittedPath::judge)
    }

    /// Judges one more path to be written, as [`Permit::resolve`].
    ///
    /// # Errors
    /// As [`Permit::resolve`].
    pub fn resolve_writable(&self, path: &RawPath) -> Result<WritablePath, Failure> {
        // An operation that only reads was judged by other capabilities.
        assert!(!self.spec.effect.is_read_only(), "{} only reads", self.spec.name);
        self.locate(path, Access::Write).and_then(WritablePath::judge)
    }

    fn locate(&self, path: &RawPath, access: Access) -> Result<LocatedPath, Failure> {
        let scope = self.needed_scope()?;
        let located = scope.locate(path, access).map_err(|failure| failure.at_stage(StageName::Path))?;
        let rules = self.rules.as_ref().map_or(located.rules, Arc::clone);
        Ok(LocatedPath { rules, ..located })
    }

    /// Returns the judged command of an operation that names one in its `input`.
    pub fn command(&self) -> &PermittedCommand {
        // The command stage makes one for every input in which the operation names one.
        self.command.as_ref().unwrap_or_else(|| unreachable!("{} names no command", self.spec.name))
    }

    /// Judges a command by the same rules, for operations that know theirs only after looking.
    ///
    /// # Errors
    /// `invalid_request`, `permission_denied` or `approval_required`, with the stage.
    pub fn judge_command(&self, command: &CommandInput, grant: Grant) -> Result<PermittedCommand, Failure> {
        let scope = self.needed_scope()?;
        let judged =
            scope.commands().judge(command, grant).map_err(|failure| failure.at_stage(StageName::Command))?;
        if let Some(folder) = self.target.path() {
            closed_words::check(&judged.permitted, folder.located())?;
        }
        match self.unapproved(scope, &judged) {
            None => Ok(judged.permitted),
            Some(failure) => Err(failure.at_stage(StageName::Approval)),
        }
    }

    /// Returns why a command needs approval that became known only now, unless it was given; notes it as the question.
    fn unapproved(&self, scope: &Scope, judged: &JudgedCommand) -> Option<Failure> {
        let uses: Vec<&str> = match &self.approved {
            // The request itself was approved.
            Some(_) => Vec::new(),
            None => scope.first_uses().of_command(Some(&judged.permitted)).collect(),
        };
        if !judged.is_asked() && uses.is_empty() {
            return None;
        }
        // A command that was named before was judged with the request.
        let Some(later) = &self.later else {
            return judged.is_asked().then(|| judged.refusal().expect("what needs approval has a reason"));
        };
        let asked = ApprovalSubject {
            scope,
            spec: self.spec,
            target: target_of(self.target.path().map(PermittedPath::located), self.id()),
            capabilities: &[],
            operations: Vec::new(),
            files: &[],
            command: Some(judged),
            is_input: false,
            handles: &later.handles,
            // That was asked with the request.
            asks_handles: false,
            untrusted: None,
        };
        let question = match judged.is_asked() {
            true => Question::new(&asked, later.request),
            false => Question::first_use(&asked, &later.session, &uses),
        };
        let is_approved = later.approval.get().is_some_and(|approval| approval.covers(&question));
        let failure = (!is_approved).then(|| question.failure());
        *later.question() = (!is_approved).then(|| Box::new(question));
        failure
    }

    /// Takes out what the operation needs approval for, where it came to that only after it had looked.
    pub fn take_question(&self) -> Option<Box<Question>> {
        self.later.as_ref()?.question().take()
    }

    /// Returns whether it was permitted because the user had approved it, or what it uses for the first time.
    pub fn was_asked(&self) -> bool {
        self.was_asked
    }

    /// Counts what was asked later as approved. The first approval counts.
    pub fn approve(&self, approval: Approval) {
        if let Some(later) = &self.later {
            let _ = later.approval.set(approval);
        }
    }

    /// Returns the key of the approval by which it was permitted, if it needed one.
    pub fn approved(&self) -> Option<&str> {
        self.approved.as_deref()
    }

    /// Returns the changes of a preview that were approved in place of the command, the newest.
    pub fn approved_changes(&self) -> Option<&ApprovedChanges> {
        let later = self.later.as_ref().and_then(|later| later.approval.get()?.changes.as_ref());
        later.max(self.changes.as_ref())
    }

    /// Returns whether the operation may come to need approval after it has looked.
    pub fn may_ask_later(&self) -> bool {
        self.later.is_some()
    }

    /// Returns the rules by which windows are judged at the instant of a picture.
    ///
    /// # Errors
    /// `invalid_request` where no scope is named.
    pub fn screen(&self) -> Result<&ScreenRules, Failure> {
        let scope = self.needed_scope()?;
        Ok(scope.screen())
    }

    /// Returns where the content comes from that it shows, if that is untrusted, as far as it is known before it runs.
    pub fn origin(&self) -> Option<ContentOrigin> {
        self.origin
    }

    /// Returns whether the request names a file that anybody may have written, to read or to change it.
    pub fn names_untrusted_file(&self) -> bool {
        let Some(scope) = self.scope.as_ref().filter(|scope| scope.has_untrusted_files()) else {
            return false;
        };
        let written = self.writable_paths.iter().map(|path| path.shown());
        let read = self.target.path().into_iter().chain(&self.paths).map(PermittedPath::shown);
        read.chain(written).any(|shown| scope.is_untrusted_file(&shown))
    }

    /// Checks that input may go to a process that has this network: it may have been started under other rules.
    ///
    /// # Errors
    /// `permission_denied` where the caller has read untrusted content, and the process can send it.
    pub fn check_sending(&self, network: Network) -> Result<(), Failure> {
        match (network, &self.untrusted) {
            (Network::Hosts | Network::Full, Some(_)) => Err(Failure::new(
                ErrorCode::PermissionDenied,
                "the process reaches the network, which commands of the scope do not any more, and this client has read \
                 untrusted content",
            )
            .at_stage(StageName::Approval)
            .detail("rule", AFTER_UNTRUSTED)
            .hint(format!("{FOR_USER}`bailiwick ps stop` ends it; one that is started now has no network."))),
            _ => Ok(()),
        }
    }

    /// Returns the limits that hold.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Returns the shared options.
    pub fn common(&self) -> &CommonOptions {
        &self.parsed.common
    }

    /// Returns whether it may change something: not where it reads, and not as a dry run.
    pub fn has_effect(&self) -> bool {
        !self.spec.effect.is_read_only() && !self.common().dry_run
    }

    /// Returns the operation's parsed `input` and `options`; the registry knows their type.
    pub fn fields(&self) -> &(dyn std::any::Any + Send + Sync) {
        &*self.parsed.fields
    }
}
