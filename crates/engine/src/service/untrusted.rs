//! Untrusted content that callers read: recorded before it is shown, looked up before the next request is judged.
//!
//! Nothing of this happens where no scope has `afterUntrusted: ask`.

use serde_json::Value;

use bailiwick_contract::{Caller, Envelope, ErrorCode, FOR_USER, Failure, Json};
use bailiwick_platform::quoting::quote_command;
use bailiwick_policy::{Permit, Scopes, UntrustedRead};
use bailiwick_providers::untrusted_reads::UntrustedReads;

use super::record::Record;
use super::{Service, dispatch};

/// A read that is recorded if its answer turns out to show untrusted content.
pub(super) struct ReadNote {
    store: UntrustedReads,
    caller: Caller,
    read: UntrustedRead,
}

impl ReadNote {
    /// Records the read.
    ///
    /// # Errors
    /// `provider_unavailable`; then nothing may be shown.
    pub fn record(&self) -> Result<(), Failure> {
        self.store.add(&self.caller, &self.read).map_err(|error| {
            Failure::new(
                ErrorCode::ProviderUnavailable,
                format!("nothing is shown: that untrusted content is read cannot be recorded: {error}"),
            )
            .detail("rule", "no-record-no-content")
            .hint(format!("{FOR_USER}check the owner and the free space of the state folder."))
        })
    }
}

impl Service {
    /// Returns what the caller has read before, where its request may be one to a scope that asks after that.
    pub(super) async fn untrusted_reads(
        &self,
        scopes: &Scopes,
        caller: &Caller,
        envelope: &Envelope,
    ) -> Vec<UntrustedRead> {
        if !scopes.asks_after_untrusted(caller, envelope.scope.as_deref()) {
            return Vec::new();
        }
        let store = UntrustedReads::below(&self.in_force().facts.dirs.state);
        if store.are_none(caller) {
            return Vec::new();
        }
        let caller = caller.clone();
        let reads = tokio::task::spawn_blocking(move || store.of(&caller)).await;
        reads.unwrap_or_else(|_| vec![UntrustedRead::unknown()])
    }

    /// Records a request that will show untrusted content, before it runs. Returns the note of one of which only the answer says
    /// whether it does.
    ///
    /// # Errors
    /// As [`ReadNote::record`].
    pub(super) async fn note_read(
        &self,
        scopes: &Scopes,
        caller: &Caller,
        permit: &Permit,
        envelope: &Envelope,
        record: &Record,
    ) -> Result<Option<ReadNote>, Failure> {
        if !scopes.ask_after_untrusted() {
            return Ok(None);
        }
        let origin = permit.origin();
        if origin.is_none() && !may_show_untrusted(permit) {
            return Ok(None);
        }
        let store = UntrustedReads::below(&self.in_force().facts.dirs.state);
        let command = command_of(envelope).map(|line| record.history().redacted_words(&[&line]).concat());
        let note = ReadNote { store, caller: caller.clone(), read: record.untrusted_read(command) };
        if origin.is_none() {
            return Ok(Some(note));
        }
        let recorded = tokio::task::spawn_blocking(move || note.record()).await;
        recorded.unwrap_or_else(|_| Err(dispatch::panicked())).map(|()| None)
    }
}

/// Returns whether only the answer says whether it shows untrusted content.
pub(super) fn may_show_untrusted(permit: &Permit) -> bool {
    permit.origin().is_none() && permit.scope().is_some_and(|scope| scope.has_untrusted_files())
}

/// Returns whether an answer may show a file that the scope does not trust. A result names the files that it shows; a failure
/// may show lines of a file that the request alone names.
pub(super) fn shows_untrusted(permit: &Permit, result: &Result<Json, Failure>) -> bool {
    let Some(scope) = permit.scope().filter(|_| may_show_untrusted(permit)) else { return false };
    let data = match result {
        Ok(data) => serde_json::from_str(data.text()).unwrap_or_default(),
        Err(_) if permit.names_untrusted_file() => return true,
        Err(failure) => failure.to_json(),
    };
    names(&data, &|text| {
        text.lines().any(|line| {
            let path = line.strip_prefix("+++ b/").or_else(|| line.strip_prefix("--- a/")).unwrap_or(line);
            scope.is_untrusted_file(path)
        })
    })
}

fn names(value: &Value, is_untrusted: &impl Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => is_untrusted(text),
        Value::Array(items) => items.iter().any(|it| names(it, is_untrusted)),
        Value::Object(fields) => {
            fields.iter().any(|(name, it)| is_untrusted(name) || names(it, is_untrusted))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns the command that an envelope names, as a line.
fn command_of(envelope: &Envelope) -> Option<String> {
    match envelope.input.get("command")? {
        Value::String(line) => Some(line.clone()),
        Value::Array(words) => Some(quote_command(words.iter().filter_map(Value::as_str))),
        _ => None,
    }
}
