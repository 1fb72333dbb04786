//! What the user is asked to approve, and what an approval is bound to.

use std::path::MAIN_SEPARATOR;

use serde_json::Value;
use sha2::{Digest, Sha256};

use bailiwick_contract::path::encode_name;
use bailiwick_contract::{
    Caller, Capability, Effect, Envelope, ErrorCode, FOR_USER, Failure, OperationSpec, hex,
};

use super::Scope;
use super::command::{JudgedCommand, PermittedCommand, RuleChange};
use super::located_path::LocatedPath;
use super::paths::ASK_FILES;
use super::stage::path::AskedPath;
use super::untrusted::{AFTER_UNTRUSTED, UntrustedCause};

/// The rule by which each use of pointer and keyboard needs approval.
const VISIBLE_INPUT_ASK: &str = "visible-input-ask";
/// The rule that asks where a command or process is given secrets.
const SECRET_HANDLES: &str = "secret-handles";

/// One request that needs approval, as it was judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The scope.
    pub scope: String,
    /// The operation.
    pub op: &'static str,
    /// What it does to the computer.
    pub effect: Effect,
    /// The target, resolved; `None` where there is none.
    pub target: Option<String>,
    /// The commands that would start: what joins each to the one before, and its words.
    pub commands: Vec<(&'static str, Vec<String>)>,
    /// What would contain them.
    pub containment: Option<String>,
    /// The capabilities that need approval.
    pub capabilities: Vec<Capability>,
    /// The rule that asks.
    pub rule: String,
    /// Why it is asked, as sentences without a full stop.
    pub why: Vec<String>,
    /// What keeps it from being asked again; `None` where no change of the rules does.
    pub change: Option<RuleChange>,
    /// Whether an answer that is given in the client counts.
    pub client_may_answer: bool,
    /// Whether an approval is for every such use in the client's session, and not for the request alone.
    pub is_first_use: bool,
    /// What an approval is bound to.
    pub key: String,
}

/// An approval that was given for one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// The key of the question.
    pub key: String,
    /// Whether it was given in the client, and not by the user with `bailiwick approve`.
    pub is_of_client: bool,
    /// The changes of a preview, where it is for these alone and the command does not run again.
    pub changes: Option<ApprovedChanges>,
}

/// The changes of a preview that the user has approved.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ApprovedChanges {
    /// The ticket whose preview it was. Ids are in the order of time.
    pub ticket: String,
    /// The SHA-256 of the changes.
    pub sha256: String,
}

impl Approval {
    /// Returns whether it answers this question, and no other.
    pub(super) fn covers(&self, question: &Question) -> bool {
        self.key == question.key && (!self.is_of_client || question.client_may_answer)
    }
}

/// Names one request: who asks for what, with every field as sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RequestKey([u8; 32]);

impl RequestKey {
    pub fn new(caller: &Caller, scope: &str, target: Option<&str>, envelope: &Envelope) -> Self {
        let mut hash = Sha256::new();
        for text in [caller.identity(), scope, &envelope.op, target.unwrap_or_default()] {
            feed_text(&mut hash, text);
        }
        for fields in [&envelope.input, &envelope.options] {
            feed_fields(&mut hash, fields);
        }
        Self(hash.finalize().into())
    }
}

/// What is asked about, before it is put into words.
#[derive(Clone)]
pub(super) struct ApprovalSubject<'a> {
    pub scope: &'a Scope,
    pub spec: &'static OperationSpec,
    pub target: Option<String>,
    pub capabilities: &'a [Capability],
    /// The entries of `askOperations` that name the operation.
    pub operations: Vec<&'a str>,
    /// The paths that `askFiles` matches.
    pub files: &'a [AskedPath],
    pub command: Option<&'a JudgedCommand>,
    /// Whether pointer and keyboard are used, where each such use needs approval.
    pub is_input: bool,
    /// The handles of the secrets that a command or process is given.
    pub handles: &'a [String],
    /// Whether that needs approval.
    pub asks_handles: bool,
    /// What the caller has read before, where that is why it is asked.
    pub untrusted: Option<UntrustedCause<'a>>,
}

impl ApprovalSubject<'_> {
    /// Returns whether anything in this very request needs approval.
    pub fn is_asked(&self) -> bool {
        !self.capabilities.is_empty()
            || !self.operations.is_empty()
            || !self.files.is_empty()
            || self.command.is_some_and(JudgedCommand::is_asked)
            || self.is_input
            || self.asks_handles
            || self.untrusted.is_some()
    }
}

/// Names what a session of a client uses, for what is asked about once in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SessionKey([u8; 32]);

impl SessionKey {
    pub fn new(caller: &Caller, scope: &str) -> Self {
        let mut hash = Sha256::new();
        for text in ["first use", caller.identity(), scope, caller.client_session().unwrap_or_default()] {
            feed_text(&mut hash, text);
        }
        Self(hash.finalize().into())
    }
}

impl Question {
    pub(super) fn new(asked: &ApprovalSubject<'_>, request: RequestKey) -> Self {
        let ApprovalSubject { scope, spec, capabilities, .. } = *asked;
        let asks = asked.command.filter(|judged| judged.is_asked());
        let names: Vec<&str> = capabilities.iter().map(|capability| capability.as_str()).collect();
        let mut why = Vec::new();
        if !names.is_empty() {
            why.push(format!("{} needs approval in scope `{}`", names.join(" and "), scope.id()));
        }
        let refusal = asks.and_then(JudgedCommand::refusal);
        why.extend(refusal.as_ref().map(|failure| failure.message.clone()));
        if !asked.operations.is_empty() {
            why.push(format!("`{}` needs approval in scope `{}`", spec.name, scope.id()));
        }
        if !asked.files.is_empty() {
            let shown: Vec<String> = asked.files.iter().map(|file| format!("`{}`", file.shown)).collect();
            why.push(format!("{} needs approval in scope `{}`", shown.join(" and "), scope.id()));
        }
        if asked.is_input {
            why.push(format!("using pointer and keyboard needs approval in scope `{}`", scope.id()));
        }
        if asked.asks_handles {
            let handles: Vec<String> = asked.handles.iter().map(|it| format!("`{it}`")).collect();
            why.push(format!(
                "`{}` hands {} to a program, which needs approval in scope `{}`",
                spec.name,
                handles.join(" and "),
                scope.id()
            ));
        }
        let untrusted = asked.untrusted.as_ref();
        why.extend(untrusted.map(|cause| cause.why(spec.name, scope.id())));
        let rule = match (why.len(), refusal.as_ref().and_then(Failure::rule)) {
            (1, Some(rule)) => rule.to_owned(),
            _ if !names.is_empty() => "scope-ask".to_owned(),
            _ if !asked.operations.is_empty() => "ask-operations".to_owned(),
            _ if asked.is_input => VISIBLE_INPUT_ASK.to_owned(),
            _ if untrusted.is_some() => AFTER_UNTRUSTED.to_owned(),
            _ if asked.asks_handles => SECRET_HANDLES.to_owned(),
            _ => ASK_FILES.to_owned(),
        };
        let removed: Vec<String> = asked.operations.iter().map(|it| (*it).to_owned()).collect();
        let mut files: Vec<String> =
            asked.files.iter().flat_map(|file| file.patterns.iter().cloned()).collect();
        files.sort();
        files.dedup();
        let change = match asks {
            None => Some(RuleChange::default()),
            Some(judged) => judged.allowed_by().cloned(),
        };
        // No rule says that a client may send what it was told to, or hand a secret to this program alone, and none has its value.
        let has_rule = untrusted.is_none() && asked.handles.is_empty();
        // None is made in passing that frees the pointer.
        let change = change.filter(|_| has_rule && !asked.is_input).map(|change| {
            change.and_removes(scope.id(), removed.clone()).and_opens(scope.id(), files.clone())
        });
        let permitted = asked.command.map(|judged| &judged.permitted);
        let containment = permitted.map(containment);
        let mut hash = Sha256::new();
        hash.update(request.0);
        for list in [&names, &removed.iter().chain(&files).map(String::as_str).collect()] {
            feed_count(&mut hash, list.len());
            list.iter().for_each(|name| feed_text(&mut hash, name));
        }
        feed_text(&mut hash, containment.as_deref().unwrap_or_default());
        if let Some(command) = permitted {
            let plan = serde_json::to_string(command.plan()).expect("a plan has a JSON form");
            feed_text(&mut hash, &plan);
        }
        if !asked.handles.is_empty() {
            feed_text(&mut hash, SECRET_HANDLES);
            asked.handles.iter().for_each(|handle| feed_text(&mut hash, handle));
        }
        // What was approved before the read counts for nothing after it.
        if let Some(cause) = untrusted {
            feed_text(&mut hash, AFTER_UNTRUSTED);
            feed_text(&mut hash, &cause.read.operation_id);
        }
        Self {
            scope: scope.id().to_owned(),
            op: spec.name,
            effect: spec.effect,
            target: asked.target.clone(),
            commands: permitted.map(shown).unwrap_or_default(),
            containment,
            capabilities: capabilities.to_vec(),
            rule,
            why,
            change,
            client_may_answer: has_rule && scope.takes_approvals_of_clients(spec.effect),
            is_first_use: false,
            key: hex(&hash.finalize()),
        }
    }

    /// Creates the question about the first use of something in a session.
    pub(super) fn first_use(asked: &ApprovalSubject<'_>, session: &SessionKey, uses: &[&str]) -> Self {
        let ApprovalSubject { scope, spec, .. } = *asked;
        let named: Vec<String> = uses.iter().map(|it| format!("`{it}`")).collect();
        let mut hash = Sha256::new();
        hash.update(session.0);
        feed_count(&mut hash, uses.len());
        uses.iter().for_each(|name| feed_text(&mut hash, name));
        let permitted = asked.command.map(|judged| &judged.permitted);
        let removed = uses.iter().map(|it| (*it).to_owned()).collect();
        Self {
            scope: scope.id().to_owned(),
            op: spec.name,
            effect: spec.effect,
            target: asked.target.clone(),
            commands: permitted.map(shown).unwrap_or_default(),
            containment: permitted.map(containment),
            capabilities: Vec::new(),
            rule: "ask-first-use".to_owned(),
            why: vec![format!(
                "the first use of {} in this session needs approval in scope `{}`",
                named.join(" and "),
                scope.id()
            )],
            change: Some(RuleChange::default().and_removes(scope.id(), removed)),
            client_may_answer: scope.takes_approvals_of_clients(spec.effect),
            is_first_use: true,
            key: hex(&hash.finalize()),
        }
    }

    /// Returns the commands of the program that keep it from being asked again.
    pub fn allowed_by(&self) -> Option<Vec<String>> {
        let change = self.change.as_ref()?;
        let mut commands = change.commands.clone();
        if !self.capabilities.is_empty() {
            let names: Vec<&str> = self.capabilities.iter().map(|it| it.as_str()).collect();
            commands.push(format!("bailiwick scope allow {} {}", self.scope, names.join(" ")));
        }
        Some(commands)
    }

    /// Returns the failure of a request that nobody has approved.
    pub fn failure(&self) -> Failure {
        let failure =
            Failure::new(ErrorCode::ApprovalRequired, self.why.join("; ")).detail("rule", self.rule.as_str());
        if self.rule == SECRET_HANDLES {
            return failure.hint(format!(
                "{FOR_USER}`bailiwick scope edit {} --secret-commands allow` lets commands have secrets without approval.",
                self.scope
            ));
        }
        match self.allowed_by().as_deref() {
            None | Some([]) if self.rule == VISIBLE_INPUT_ASK => failure.hint(format!(
                "{FOR_USER}`bailiwick scope edit {} --visible-input allow` allows it without approval.",
                self.scope
            )),
            None | Some([]) => failure,
            Some([one]) => failure.hint(format!("{FOR_USER}`{one}` allows it without approval.")),
            Some(several) => {
                let several: Vec<String> = several.iter().map(|it| format!("`{it}`")).collect();
                failure
                    .hint(format!("{FOR_USER}{} allow it without approval together.", several.join(" and ")))
            }
        }
    }
}

/// Returns the target as the user knows it: a path from the top.
pub(super) fn target_of(path: Option<&LocatedPath>, id: Option<&str>) -> Option<String> {
    let Some(path) = path else { return id.map(str::to_owned) };
    let root = path.root.path.to_string_lossy();
    let rest = encode_name(path.rel.as_bytes());
    Some(if rest.is_empty() { root.into_owned() } else { format!("{root}{MAIN_SEPARATOR}{rest}") })
}

fn containment(command: &PermittedCommand) -> String {
    let hold = command.hold();
    let level = match command.must_be_full() {
        Some(_) => "full",
        None => hold.sandbox.as_str(),
    };
    format!("sandbox {level}, network {}", hold.network.as_str())
}

/// Returns the commands of a plan; of a text for bash the text.
fn shown(command: &PermittedCommand) -> Vec<(&'static str, Vec<String>)> {
    let plan = command.plan();
    let joined = std::iter::once(("", &plan.first))
        .chain(plan.rest.iter().map(|(joiner, pipeline)| (joiner.as_str(), pipeline)));
    let mut all = Vec::new();
    for (joiner, pipeline) in joined {
        for (at, one) in pipeline.commands.iter().enumerate() {
            let redirects = one.redirects.iter().map(|redirect| redirect.as_str().to_owned());
            let words: Vec<String> = one.argv.iter().cloned().chain(redirects).collect();
            all.push((if at == 0 { joiner } else { "|" }, words));
        }
    }
    if let Some((_, words)) = all.first_mut() {
        words.drain(..command.own_words().min(words.len()));
    }
    all
}

fn feed_count(hash: &mut Sha256, count: usize) {
    hash.update((count as u64).to_le_bytes());
}

fn feed_text(hash: &mut Sha256, text: &str) {
    feed_count(hash, text.len());
    hash.update(text.as_bytes());
}

fn feed_fields(hash: &mut Sha256, fields: &serde_json::Map<String, Value>) {
    let mut names: Vec<&String> = fields.keys().collect();
    names.sort();
    feed_count(hash, names.len());
    for name in names {
        feed_text(hash, name);
        feed(hash, &fields[name]);
    }
}

/// Feeds a value so that two values feed the same only if they are the same, in whatever order their fields are.
fn feed(hash: &mut Sha256, value: &Value) {
    match value {
        Value::Null => hash.update(b"n"),
        Value::Bool(is_true) => hash.update(if *is_true { b"t" } else { b"f" }),
        Value::Number(number) => {
            hash.update(b"#");
            feed_text(hash, &number.to_string());
        }
        Value::String(text) => {
            hash.update(b"s");
            feed_text(hash, text);
        }
        Value::Array(items) => {
            hash.update(b"[");
            feed_count(hash, items.len());
            items.iter().for_each(|item| feed(hash, item));
        }
        Value::Object(fields) => {
            hash.update(b"{");
            feed_fields(hash, fields);
        }
    }
}

#[cfg(test)]
mod tests {
    use bailiwick_contract::Transport;
    use serde_json::json;

    use super::*;

    fn key(caller: &Caller, target: Option<&str>, envelope: Value) -> RequestKey {
        let envelope = Envelope::from_value(envelope).expect("an envelope");
        RequestKey::new(caller, "app", target, &envelope)
    }

    #[test]
    fn a_key_is_of_one_request_of_one_caller() {
        let caller = Caller::local(Transport::Stdio);
        let envelope = json!({"op": "file.write", "input": {"content": "a", "createParents": true}});
        let first = key(&caller, Some("/app/x"), envelope.clone());
        let reordered = json!({"input": {"createParents": true, "content": "a"}, "op": "file.write"});
        assert_eq!(key(&caller, Some("/app/x"), reordered), first, "the order of fields says nothing");
        for (other, target, envelope) in [
            (Caller { token: Some("t".to_owned()), ..caller.clone() }, "/app/x", envelope.clone()),
            (caller.clone(), "/app/y", envelope.clone()),
            (
                caller.clone(),
                "/app/x",
                json!({"op": "file.create", "input": {"content": "a", "createParents": true}}),
            ),
            (
                caller.clone(),
                "/app/x",
                json!({"op": "file.write", "input": {"content": "b", "createParents": true}}),
            ),
            (caller.clone(), "/app/x", json!({"op": "file.write", "input": {"content": "a"}})),
            (
                caller.clone(),
                "/app/x",
                json!({"op": "file.write", "options": {"content": "a", "createParents": true}}),
            ),
        ] {
            assert_ne!(key(&other, Some(target), envelope.clone()), first, "{target} {envelope}");
        }
        let words =
            |words: Value| key(&caller, None, json!({"op": "command.run", "input": {"command": words}}));
        assert_ne!(words(json!(["a", "b"])), words(json!(["a b"])));
        assert_ne!(words(json!(["a", ["b"]])), words(json!([["a"], "b"])));
        assert_ne!(words(json!(["1"])), words(json!([1])));
    }
}
