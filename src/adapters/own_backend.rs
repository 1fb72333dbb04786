//! The backend of an installation for its user's own commands: the running service, or one in this process.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use bailiwick_contract::{Envelope, ErrorCode, Failure, Transport};
use bailiwick_providers::process::Process;

use super::auth::KeyRing;
use super::backend::{Backend, Embed, EmbeddedService, Origin};
use super::chain;
use super::socket::Hello;
use crate::installation::home::Home;
use crate::installation::runtime;

/// Sends the requests of one call to the running service, or to one in this process.
///
/// # Errors
/// When there is neither, or the caller is refused.
pub fn submit(
    home: &Home,
    caller: Option<String>,
    requests: Result<Vec<Envelope>, Failure>,
) -> Result<Value, Failure> {
    let runtime = runtime::small()?;
    let outcome = runtime.block_on(async {
        let gone = CancellationToken::new();
        let watch = tokio::spawn({
            let gone = gone.clone();
            let asked_to_stop = runtime::asked_to_stop();
            async move {
                asked_to_stop.await;
                gone.cancel();
            }
        });
        let backend = backend(home, Transport::Cli, caller).await?;
        let reply = chain::run(&backend, &Origin::default(), requests, None, &gone, None).await;
        let outcome = reply.into_value();
        watch.abort();
        Ok(outcome)
    });
    runtime.shutdown_background();
    outcome
}

/// Finds the running service, or makes one in this process.
///
/// # Errors
/// When there is neither, or the caller is refused.
pub async fn backend(home: &Home, transport: Transport, caller: Option<String>) -> Result<Backend, Failure> {
    let hello = Hello::new(transport, caller.clone());
    let own = home.clone();
    let embed: Embed = Box::new(move || {
        let keys = caller.is_some().then(|| Arc::new(KeyRing::open(own.dirs.clone())));
        let caller = own.caller(caller.as_deref(), transport)?;
        Ok(EmbeddedService { service: own.boot()?, caller, keys })
    });
    Backend::open(&home.dirs, hello, embed).await
}

/// Returns parts of what `computer.info` tells.
///
/// # Errors
/// Those of the operation.
pub async fn service_facts(backend: &Backend, include: &[&str]) -> Result<Value, Failure> {
    let mut envelope = Envelope { op: "computer.info".to_owned(), ..Envelope::default() };
    envelope.input.insert("include".to_owned(), json!(include));
    let mut outcome = backend.submit(Ok(envelope), &CancellationToken::new()).await.into_value();
    if outcome["ok"] == true { Ok(outcome["data"].take()) } else { Err(failure_of(&outcome["error"])) }
}

/// Reads the `error` object of an outcome back.
pub fn failure_of(error: &Value) -> Failure {
    let code = serde_json::from_value(error["code"].clone()).unwrap_or(ErrorCode::ExecutionFailed);
    let mut failure = Failure::new(code, error["message"].as_str().unwrap_or("the answer cannot be read"));
    failure.hints = error["hints"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    if let Some(details) = error["details"].as_object() {
        failure.details.clone_from(details);
    }
    failure
}

/// Has the service end a process. Returns whether it did.
pub async fn end_process(home: &Home, process: &Process, grace: Duration) -> bool {
    let Ok(backend) = backend(home, Transport::Cli, None).await else { return false };
    let mut envelope = Envelope {
        scope: Some(process.facts.scope.clone()),
        op: "process.stop".to_owned(),
        target: Some(process.facts.id.clone()),
        ..Envelope::default()
    };
    envelope.options.insert("graceSeconds".to_owned(), json!(grace.as_secs()));
    envelope
        .options
        .insert("timeoutSeconds".to_owned(), json!(grace.as_secs().saturating_add(10).min(3_600)));
    backend.submit(Ok(envelope), &CancellationToken::new()).await.ok
}
