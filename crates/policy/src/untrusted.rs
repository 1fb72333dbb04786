//! What clients have read that anybody may have written, and what needs approval after that.
//!
//! Text of the network, of the screen or of untrusted files can hold instructions for a model. So in a scope that says
//! `afterUntrusted: ask`, a client that has read such text needs approval for what could carry something away.

use bailiwick_config::{AfterUntrusted, SandboxLevel};
use bailiwick_contract::{
    Access, Capability, Containment, ContentOrigin, Effect, Network, OperationSpec, TargetRule, time,
};
use bailiwick_platform::launch::levels;

use super::Scope;
use super::command::JudgedCommand;
use super::scope::clip;
use super::stage::path::Targets;

/// The rule that asks.
pub const AFTER_UNTRUSTED: &str = "after-untrusted";

/// The capabilities whose operations show what is on the screen or in the clipboard.
const SCREEN: &[Capability] = &[
    Capability::ScreenCapture,
    Capability::UiRead,
    Capability::UiControl,
    Capability::InputControl,
    Capability::WindowRead,
    Capability::WindowControl,
    Capability::ClipboardRead,
];

/// One request that showed untrusted content to its caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UntrustedRead {
    /// The scope; `None` where the record of the reads is damaged, so that it may have been any.
    pub scope: Option<String>,
    /// The request's id in the history.
    pub operation_id: String,
    /// The operation.
    pub op: String,
    /// Its target, or the command.
    pub target: Option<String>,
    /// When it came, in milliseconds since the epoch.
    pub at_ms: i64,
}

impl UntrustedRead {
    /// How long a read counts, in milliseconds: a day.
    pub const LIFE_MS: i64 = 24 * 60 * 60 * 1_000;

    /// Creates the read that is assumed where the record is damaged.
    pub fn unknown() -> Self {
        let operation_id = "unknown".to_owned();
        Self { scope: None, operation_id, op: String::new(), target: None, at_ms: 0 }
    }

    fn words(&self) -> String {
        let Some(scope) = &self.scope else {
            return "what this client has read is not known: the record of it is damaged".to_owned();
        };
        let target = self.target.as_ref().map(|target| format!(" of `{}`", clip(target)));
        format!(
            "this client has read untrusted content: `{}`{} in scope `{scope}` at {} ({})",
            self.op,
            target.unwrap_or_default(),
            time::rfc3339(self.at_ms),
            self.operation_id,
        )
    }
}

/// Why a request needs approval after untrusted content was read.
#[derive(Debug, Clone)]
pub(super) struct UntrustedCause<'a> {
    /// What the request can do.
    what: String,
    /// What was read.
    pub read: &'a UntrustedRead,
}

impl<'a> UntrustedCause<'a> {
    /// Returns why a request needs approval, if it does.
    pub fn of(
        reads: &'a [UntrustedRead],
        scope: &Scope,
        spec: &OperationSpec,
        judged: Option<&JudgedCommand>,
        targets: &Targets,
        has_effect: bool,
    ) -> Option<Self> {
        let first = reads.first().filter(|_| scope.after_untrusted() == AfterUntrusted::Ask)?;
        if sends(spec, scope, judged) {
            return Some(Self { what: "can send data".to_owned(), read: first });
        }
        if !targets.credentials.is_empty() {
            return Some(Self {
                what: format!("opens `{}`", targets.credentials.join("` and `")),
                read: first,
            });
        }
        let is_elsewhere = |read: &&UntrustedRead| read.scope.as_deref() != Some(scope.id());
        let other = reads.iter().find(is_elsewhere).filter(|_| has_effect)?;
        Some(Self { what: "changes something in another scope".to_owned(), read: other })
    }

    /// Returns the sentence that shows it to the user, without a full stop.
    pub fn why(&self, op: &str, scope: &str) -> String {
        let Self { what, read } = self;
        format!("`{op}` {what} and needs approval in scope `{scope}`, since {}", read.words())
    }
}

/// Returns whether an operation can send something to where others can read it.
fn sends(spec: &OperationSpec, scope: &Scope, judged: Option<&JudgedCommand>) -> bool {
    let has = |capability| spec.capabilities.iter().any(|group| group.contains(&capability));
    match spec.effect {
        Effect::RunsCode if has(Capability::CodexRun) => true,
        Effect::RunsCode => match judged {
            Some(judged) if judged.permitted.must_be_full().is_some() => opens_network(scope),
            Some(_) | None => reaches_network(scope),
        },
        Effect::ControlsDesktop => true,
        Effect::ReadOnly | Effect::Writes | Effect::Destroys | Effect::Captures => {
            has(Capability::ClipboardWrite) || has(Capability::ScreenGround)
        }
    }
}

/// Returns where the content comes from that an operation shows; `None` for what the user trusts.
pub(super) fn origin_of(
    spec: &OperationSpec,
    scope: Option<&Scope>,
    targets: &Targets,
) -> Option<ContentOrigin> {
    let has = |wanted: &[Capability]| {
        spec.capabilities.iter().any(|group| group.iter().any(|it| wanted.contains(it)))
    };
    if has(SCREEN) {
        return Some(ContentOrigin::Screen);
    }
    if has(&[Capability::CodexRun]) {
        return Some(ContentOrigin::Network);
    }
    if spec.effect != Effect::RunsCode && !has(&[Capability::ProcessManage]) {
        let mut read = targets.path.iter().chain(&targets.inputs).filter(|path| path.access != Access::Write);
        let is_untrusted = read.any(|path| scope.is_some_and(|scope| scope.is_untrusted_file(&path.shown())));
        return is_untrusted.then_some(ContentOrigin::UntrustedFile);
    }
    scope.is_some_and(reaches_network).then_some(ContentOrigin::Network)
}

/// Returns whether a request shows untrusted content, as far as its operation and its target say.
pub fn shows_untrusted(spec: &OperationSpec, scope: Option<&Scope>, target: Option<&str>) -> bool {
    let is_file = {
        let is_path = matches!(
            spec.target,
            TargetRule::Path(Access::Read | Access::Search) | TargetRule::PathOrRoot(_)
        );
        is_path && target.zip(scope).is_some_and(|(target, scope)| scope.is_untrusted_file(target))
    };
    is_file || origin_of(spec, scope, &Targets::default()).is_some()
}

/// Returns whether the scope opens more than a loopback of their own to its commands.
fn opens_network(scope: &Scope) -> bool {
    matches!(scope.commands().hold().network, Network::Hosts | Network::Full)
}

/// Returns whether commands of the scope may reach more than a loopback of their own: weaker sandboxes do not keep
/// programs from everything that the computer reaches.
fn reaches_network(scope: &Scope) -> bool {
    let is_full = match scope.commands().hold().sandbox {
        SandboxLevel::Full => true,
        SandboxLevel::Auto => levels().strongest == Containment::Full,
        SandboxLevel::Partial | SandboxLevel::None => false,
    };
    opens_network(scope) || !is_full
}
