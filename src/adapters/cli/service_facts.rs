//! Asking a service, the running one or one in this process, how it is.

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::adapters::backend::Backend;
use bailiwick_contract::{Envelope, Failure};

use super::call::failure_of;

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
