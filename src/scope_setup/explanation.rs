//! What each stage of the policy says of a request, by the code that judges real ones.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use bailiwick_contract::{Envelope, Failure, Transport};
use bailiwick_engine::operations::FAMILIES;
use bailiwick_engine::registry::Registry;
use bailiwick_policy::{Case, StageVerdict, Verdict, explain};
use bailiwick_providers::untrusted_reads::UntrustedReads;

use crate::installation::home::Home;

/// `policy explain` of a request.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainOutput {
    /// Always true.
    pub ok: bool,
    /// Whether it would be permitted.
    pub permitted: bool,
    /// The code of the first refusal.
    pub code: Option<&'static str>,
    /// Whose rights it was judged with.
    pub caller: String,
    /// The request.
    pub envelope: Envelope,
    /// What each stage says: `stage`, `asks`, `verdict`, and `note` or `error`.
    pub stages: Vec<Value>,
}

/// What the stages say.
pub struct Explanation {
    /// What a program gets.
    pub output: ExplainOutput,
    /// What each stage says.
    pub verdicts: Vec<StageVerdict>,
    /// The first refusal.
    pub refusal: Option<Failure>,
}

impl Explanation {
    /// Judges a request with the rights of a token, or of the local user; runs nothing.
    ///
    /// # Errors
    /// When config or tokens cannot be read, or there is no such token; those of `envelope`.
    pub fn of(
        home: &Home,
        token: Option<&str>,
        envelope: impl FnOnce() -> Result<Envelope, Failure>,
    ) -> Result<Self, Failure> {
        let scopes = home.scopes()?;
        let caller = home.caller(token, Transport::Cli)?;
        let envelope = envelope()?;
        let registry = Registry::new(FAMILIES);
        let untrusted = match scopes.asks_after_untrusted(&caller, envelope.scope.as_deref()) {
            true => UntrustedReads::below(&home.dirs.state).of(&caller),
            false => Vec::new(),
        };
        let case = Case {
            caller: &caller,
            envelope: &envelope,
            scopes: &scopes,
            catalogue: &registry,
            approvals: &[],
            untrusted: &untrusted,
            secret_handles: &[],
            is_rollback: false,
        };
        let verdicts = explain(&case);
        let refusal = verdicts.iter().find_map(|it| match &it.verdict {
            Verdict::Refused(failure) => Some(failure.clone()),
            Verdict::Passed(_) | Verdict::NotAsked => None,
        });
        let output = ExplainOutput {
            ok: true,
            permitted: refusal.is_none(),
            code: refusal.as_ref().map(|failure| failure.code.as_str()),
            caller: caller.name.clone(),
            envelope: envelope.clone(),
            stages: verdicts.iter().map(StageVerdict::to_json).collect(),
        };
        Ok(Self { output, verdicts, refusal })
    }
}
