//! Requests that need approval: shown, and answered by the user alone.
//!
//! What is decided goes into Bailiwick's own files and into the history. No transport leads here.

use schemars::JsonSchema;
use serde::Serialize;

use bailiwick_config::{CommandRule, NetworkRule, ScopeConfig};
use bailiwick_contract::time::{now_ms, rfc3339};
use bailiwick_contract::{Caller, Capability, ErrorCode, Failure, Transport};
use bailiwick_engine::service::decision_event;
use bailiwick_history::{EventDraft, HistoryHandle, Phase};
use bailiwick_platform::machine::BootMoment;
use bailiwick_platform::quoting::quote;
use bailiwick_providers::approval::{
    ApprovalError, ApprovalTerm, Approvals, Decision, EffectPreview, PathChange, PreviewCommit, Ticket,
};

use crate::installation::home::Home;
use crate::installation::running::unusable_approvals;
use crate::installation::text::one_line;

/// Makes a change of the rules of a scope, and says in words what that changes.
pub type ChangeScope = fn(&Home, &str, &ApprovedRules) -> Result<String, Failure>;

/// What `h` answers at the terminal: an hour.
const AN_HOUR_MS: i64 = 60 * 60 * 1_000;

/// A request that waits for approval.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TicketOutput {
    /// Its id.
    pub id: String,
    /// The scope.
    pub scope: String,
    /// The operation.
    pub op: String,
    /// The target, resolved.
    pub target: Option<String>,
    /// The commands that would start, without secrets.
    pub commands: Vec<String>,
    /// What would contain them.
    pub containment: Option<String>,
    /// The other fields of the request, in short.
    pub fields: Vec<String>,
    /// The capabilities that need approval.
    pub capabilities: Vec<String>,
    /// Why it is asked.
    pub why: Vec<String>,
    /// The commands that keep it from being asked again; what `--always` does.
    pub always: Vec<String>,
    /// The caller that asks.
    pub caller: String,
    /// What the client calls itself.
    pub client: Option<String>,
    /// The transport.
    pub transport: String,
    /// The id of the request in the history.
    pub operation_id: String,
    /// What the command would do, as far as a preview has shown it; null without one.
    pub preview: Option<EffectPreview>,
    /// Since when it waits (RFC 3339).
    pub opened_at: String,
    /// Until when it waits (RFC 3339).
    pub expires_at: String,
}

/// What the user answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Approved for one request.
    Once,
    /// Approved for the session of the client.
    Session,
    /// Approved for so many milliseconds.
    For(i64),
    /// Allowed by the scope's rules from now on.
    Always,
    /// Refused.
    Refuse,
}

impl Answer {
    /// Finds the answer of a word that was typed at the question.
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" | "once" => Self::Once,
            "s" | "session" => Self::Session,
            "h" | "hour" => Self::For(AN_HOUR_MS),
            "a" | "always" => Self::Always,
            "n" | "no" => Self::Refuse,
            _ => return None,
        })
    }

    /// Returns what it means for a ticket: the first use of something is approved for all of them. `commit` is what becomes of the
    /// changes of its preview.
    pub fn in_words(self, ticket: &Ticket, commit: Option<&PreviewCommit>) -> String {
        match self {
            Self::Once if matches!(commit, Some(PreviewCommit::Ready { .. })) => {
                "approved once, to take over the changes of the preview".to_owned()
            }
            Self::Once if !ticket.is_first_use => "approved once".to_owned(),
            Self::Once if ticket.session.is_none() => {
                format!("approved for {} h", Decision::MAX_MS / AN_HOUR_MS)
            }
            Self::Once => "approved for the session".to_owned(),
            Self::Session => "approved for the session".to_owned(),
            Self::For(ms) => format!("approved for {} min", ms / 60_000),
            Self::Always => "allowed by a rule".to_owned(),
            Self::Refuse => "refused".to_owned(),
        }
    }
}

/// Returns who asks for what. Everything that a client chose is in lines of its own, and cannot leave them.
pub fn described(ticket: &Ticket) -> String {
    let client = ticket
        .client
        .as_deref()
        .map_or_else(String::new, |client| format!("; it calls itself \u{201c}{}\u{201d}", one_line(client)));
    let mut text = format!("\nA client asks for approval ({}).\n\n", ticket.id);
    let mut line = |label: &str, words: &str| text.push_str(&format!("  {label:<9} {}\n", one_line(words)));
    line("scope", &ticket.scope);
    line("operation", &ticket.op);
    let target = if ticket.commands.is_empty() { "target" } else { "folder" };
    ticket.target.iter().for_each(|it| line(target, it));
    for (at, command) in ticket.commands.iter().enumerate() {
        for (row, part) in command.lines().enumerate() {
            line(if at == 0 && row == 0 { "command" } else { "" }, part);
        }
    }
    ticket.containment.iter().for_each(|it| line("in", it));
    for (at, field) in ticket.fields.iter().enumerate() {
        line(if at == 0 { "with" } else { "" }, field);
    }
    line("asked by", &format!("{}, over {}{client}", ticket.caller, ticket.transport));
    for (at, why) in ticket.why.iter().enumerate() {
        line(if at == 0 { "because" } else { "" }, why);
    }
    for (at, command) in always(ticket).iter().enumerate() {
        line(if at == 0 { "always" } else { "" }, command);
    }
    text.push('\n');
    text
}

/// Shows what the command of a ticket would do.
pub fn previewed(preview: &EffectPreview) -> String {
    let mut text = String::new();
    let mut line = |label: &str, words: &str| text.push_str(&format!("  {label:<9} {words}\n"));
    line("preview", &one_line(&preview.summary()));
    let (mut label, mut lines) = ("paths", Vec::new());
    for path in &preview.paths {
        let change = match path.change {
            PathChange::Created => "created",
            PathChange::Changed => "changed",
            PathChange::Removed => "removed",
        };
        lines.push(format!("{change} {}", one_line(&path.path)));
    }
    let more =
        (preview.created + preview.changed + preview.removed).saturating_sub(preview.paths.len() as u64);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    for words in lines {
        line(label, &words);
        label = "";
    }
    for (label, shown) in [("diff", &preview.diff), ("prints", &preview.output)] {
        for (at, row) in shown.lines().enumerate() {
            line(if at == 0 { label } else { "" }, &format!("| {}", one_line(row)));
        }
    }
    for (at, note) in preview.notes.iter().enumerate() {
        line(if at == 0 { "but" } else { "" }, &one_line(note));
    }
    line("approval", &one_line(&preview.approval_words()));
    text.push('\n');
    text
}

/// Returns what becomes of the changes of a ticket's preview, where an approval of the one request takes them over.
pub fn commit_of(ticket: &Ticket, shown: Option<&EffectPreview>) -> Option<PreviewCommit> {
    let known = shown.and_then(|preview| preview.commit.clone());
    ticket.awaits_preview.then(|| known.unwrap_or(PreviewCommit::Pending))
}

/// Returns the question, with what each answer means.
pub fn question(ticket: &Ticket, commit: Option<&PreviewCommit>) -> String {
    let session = if ticket.session.is_some() { ", s: for this session" } else { "" };
    let always = if ticket.has_rule { ", a: always" } else { "" };
    match commit {
        Some(PreviewCommit::Ready { .. }) => {
            return format!(
                "y: take over these changes; run it{session}, h: for an hour{always}; n: refuse, Enter alone: later > "
            );
        }
        Some(PreviewCommit::Pending) => {
            return format!(
                "The preview runs. Run it{session}, h: for an hour{always}; n: refuse, Enter alone: later > "
            );
        }
        Some(PreviewCommit::Unavailable { .. }) | None => {}
    }
    let yes = match (ticket.is_first_use, &ticket.session) {
        (false, _) => "once",
        (true, Some(_)) => "for this session",
        (true, None) => "for a day",
    };
    let session = if ticket.is_first_use { "" } else { session };
    format!("y: {yes}{session}, h: for an hour{always}, n: refuse, Enter alone: later > ")
}

/// Returns a line of the list.
pub fn listed(ticket: &Ticket) -> String {
    let what = match (ticket.commands.first(), &ticket.target) {
        (Some(command), _) => command.clone(),
        (None, Some(target)) => target.clone(),
        (None, None) => String::new(),
    };
    let minutes = (ticket.expires_at_ms - now_ms()).max(0) / 60_000;
    format!(
        "{}  {} {} in scope {}, asked by {}; {minutes} min left\n",
        ticket.id,
        ticket.op,
        one_line(&what),
        one_line(&ticket.scope),
        one_line(&ticket.caller),
    )
}

/// Returns the facts of a ticket.
pub fn facts(ticket: &Ticket, preview: Option<EffectPreview>) -> TicketOutput {
    TicketOutput {
        id: ticket.id.clone(),
        scope: ticket.scope.clone(),
        op: ticket.op.clone(),
        target: ticket.target.clone(),
        commands: ticket.commands.clone(),
        containment: ticket.containment.clone(),
        fields: ticket.fields.clone(),
        capabilities: ticket.capabilities.iter().map(ToString::to_string).collect(),
        why: ticket.why.clone(),
        always: always(ticket),
        caller: ticket.caller.clone(),
        client: ticket.client.clone(),
        transport: ticket.transport.clone(),
        operation_id: ticket.operation_id.clone(),
        preview,
        opened_at: rfc3339(ticket.opened_at_ms),
        expires_at: rfc3339(ticket.expires_at_ms),
    }
}

/// Answers a ticket, with rows in the history before and after. `shown` is the preview that the user has seen: where an approval takes
/// over its changes, it is for these alone. Returns what was done, in words.
///
/// # Errors
/// `conflict` if it does not wait any more, or if the preview whose changes are taken over has not ended; `invalid_request` for an answer that it does not take, those of the config
/// and of the history; nothing is approved then.
pub fn answer(
    home: &Home,
    ticket: &Ticket,
    answer: Answer,
    shown: Option<&EffectPreview>,
    change: ChangeScope,
) -> Result<String, Failure> {
    answer_from(home, ticket, answer, shown, "", change)
}

/// As [`answer`], with the place where it was given, such as ` on a phone`, for the history.
///
/// # Errors
/// As [`answer`].
pub fn answer_from(
    home: &Home,
    ticket: &Ticket,
    answer: Answer,
    shown: Option<&EffectPreview>,
    place: &str,
    change: ChangeScope,
) -> Result<String, Failure> {
    let now = now_ms();
    let commit = commit_of(ticket, shown).filter(|_| answer == Answer::Once);
    let changes_sha256 = match &commit {
        Some(PreviewCommit::Ready { sha256 }) => Some(sha256.clone()),
        Some(PreviewCommit::Pending) => return Err(preview_runs()),
        Some(PreviewCommit::Unavailable { .. }) | None => None,
    };
    let (approved, life_ms) = match answer {
        Answer::Once => {
            let (term, life_ms) = ticket.plain_approval();
            (Some(term), life_ms)
        }
        Answer::Session => (Some(session(ticket)?), Decision::MAX_MS),
        Answer::For(ms) => (Some(ApprovalTerm::Time), ms.min(Decision::MAX_MS)),
        Answer::Always if ticket.has_rule => (Some(ApprovalTerm::Once), Decision::ONCE_MS),
        Answer::Always => {
            return Err(Failure::invalid("--always", "no rule is known that allows it")
                .hint("Approve it with `--once` or `--for 1h`."));
        }
        Answer::Refuse => (None, Decision::REFUSAL_MS),
    };
    let decision = Decision {
        ticket: ticket.clone(),
        approved,
        is_of_client: false,
        changes_sha256,
        at_ms: now,
        expires_at_ms: now + life_ms,
        decided: BootMoment::now(),
    };
    let store = Approvals::below(&home.dirs.state);
    let words = answer.in_words(ticket, commit.as_ref());
    let log = Log::open(home, ticket, &format!("{words}{place}"))?;
    log.write(Phase::Received, None)?;
    let done = decide(home, &store, &decision, (answer, &words), change);
    log.write(Phase::Finished, done.as_ref().err())?;
    done
}

fn decide(
    home: &Home,
    store: &Approvals,
    decision: &Decision,
    (answer, words): (Answer, &str),
    change: ChangeScope,
) -> Result<String, Failure> {
    if answer != Answer::Always {
        store.decide(decision).map_err(|error| not_decided(&error))?;
        return Ok(format!("{words}\n"));
    }
    let ticket = &decision.ticket;
    let text = change(home, &ticket.scope, &rules_of(ticket))?;
    // The rule allows it, and nothing else is granted. Where somebody has answered meanwhile the rule applies all the same.
    // The proxy of a command that runs keeps the rules that it was started with, and finds the approval.
    let _ = match ticket.hosts_to_add.is_empty() {
        true => store.decide_by_rule(decision),
        false => store.decide(decision),
    };
    Ok(text)
}

/// Creates the failure for an approval of changes that are not known yet.
pub fn preview_runs() -> Failure {
    Failure::new(ErrorCode::Conflict, "the preview has not ended, and an approval takes over its changes")
        .hint("Try again when it has; `bailiwick approve --list --json` shows it.")
        .hint("`--for 1m` approves the command itself, which runs for real.")
}

fn session(ticket: &Ticket) -> Result<ApprovalTerm, Failure> {
    let session = ticket.session.clone().ok_or_else(|| {
        Failure::invalid("--session", "this client has no session that is known")
            .hint("Approve it with `--once` or `--for 1h`.")
    })?;
    Ok(ApprovalTerm::Session { session })
}

/// A change of a scope's rules that keeps something from being asked again.
#[derive(Debug, Clone)]
pub struct ApprovedRules {
    /// The capabilities to grant without asking.
    pub capabilities: Vec<Capability>,
    /// The rules to remove from those that ask.
    pub removed: Vec<String>,
    /// The commands to allow.
    pub added: Vec<String>,
    /// The files to open without asking.
    pub files: Vec<String>,
    /// The hosts to allow.
    pub hosts: Vec<String>,
}

impl ApprovedRules {
    /// Returns the commands of the program that make the change.
    pub fn commands(&self, scope: &str) -> Vec<String> {
        let flags = |flag: &str, rules: &[String]| -> String {
            rules.iter().map(|rule| format!(" {flag} {}", quote(rule))).collect()
        };
        let mut commands = Vec::new();
        if !self.removed.is_empty() {
            commands.push(format!("bailiwick scope edit {scope}{}", flags("--remove-rule", &self.removed)));
        }
        let has_lists = [&self.added, &self.files, &self.hosts].iter().any(|list| !list.is_empty());
        if !self.capabilities.is_empty() || has_lists {
            let names: String = self.capabilities.iter().map(|it| format!(" {it}")).collect();
            commands.push(format!(
                "bailiwick scope allow {scope}{names}{}{}{}",
                flags("--command", &self.added),
                flags("--files", &self.files),
                flags("--host", &self.hosts)
            ));
        }
        commands
    }
}

/// Makes a change of the rules of a scope.
pub fn apply_rules(scope: &mut ScopeConfig, rules: &ApprovedRules) {
    for capability in &rules.capabilities {
        scope.ask.retain(|it| it != capability);
        if !scope.capabilities.contains(capability) {
            scope.capabilities.push(*capability);
        }
    }
    let policy = &mut scope.policy;
    policy.ask_commands.retain(|rule| !rules.removed.contains(&rule.spelled()));
    for list in [&mut policy.ask_operations, &mut policy.ask_first_use] {
        list.retain(|rule| !rules.removed.contains(rule));
    }
    // They are open as far as they were before: sensitive files below them stay closed.
    policy.ask_files.retain(|glob| !rules.files.contains(glob));
    if let Some(NetworkRule::Hosts(list)) = &mut policy.network {
        let new: Vec<String> =
            rules.hosts.iter().filter(|host| !list.hosts.contains(host)).cloned().collect();
        list.hosts.extend(new);
    }
    for line in &rules.added {
        let rule = CommandRule::Line(line.clone());
        if !policy.allowed_commands.contains(&rule) {
            policy.allowed_commands.push(rule);
        }
    }
}

fn rules_of(ticket: &Ticket) -> ApprovedRules {
    ApprovedRules {
        capabilities: ticket.capabilities.clone(),
        removed: ticket.rules_to_remove.clone(),
        added: ticket.rules_to_add.clone(),
        files: ticket.files_to_open.clone(),
        hosts: ticket.hosts_to_add.clone(),
    }
}

/// The commands that do what `--always` does.
fn always(ticket: &Ticket) -> Vec<String> {
    if ticket.has_rule { rules_of(ticket).commands(&ticket.scope) } else { Vec::new() }
}

/// The rows of one decision.
struct Log {
    history: HistoryHandle,
    event: EventDraft,
}

impl Log {
    fn open(home: &Home, ticket: &Ticket, words: &str) -> Result<Self, Failure> {
        let config = home.config()?;
        let history = home.history(&config);
        let event = decision_event(ticket, words, &Caller::local(Transport::Cli));
        Ok(Self { history, event })
    }

    fn write(&self, phase: Phase, failure: Option<&Failure>) -> Result<(), Failure> {
        let event = EventDraft {
            phase,
            code: failure.map(|failure| failure.code),
            error: failure.map(|failure| failure.message.clone()),
            ..self.event.clone()
        };
        self.history.append(event).map_err(|error| {
            Failure::new(
                ErrorCode::ProviderUnavailable,
                format!("the decision cannot be written to the history: {error}"),
            )
            .hint("`bailiwick doctor` says what is wrong with the history.")
        })
    }
}

fn not_decided(error: &ApprovalError) -> Failure {
    match error {
        ApprovalError::Io(_) => unusable_approvals(error),
        _ => Failure::new(ErrorCode::Conflict, format!("{error}; nothing was decided")),
    }
}
