//! Several requests in one call: `then` has those that follow the first, each run if the one before it succeeded.
//!
//! Each is judged, run and recorded on its own, as if it had come in a call of its own.

use std::fmt::Write;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use bailiwick_contract::envelope::kind;
use bailiwick_contract::json::read_unambiguous;
use bailiwick_contract::{Envelope, Failure, Progress, Reply, TargetRule};
use bailiwick_engine::requests;

use super::super::backend::{Backend, Origin};

/// The field of the requests that follow.
pub(super) const THEN: &str = "then";
/// How many requests one call may have in all.
const MAX_REQUESTS: usize = 16;

/// Takes the requests that follow the first out of its arguments. They are in its scope unless they name one.
///
/// # Errors
/// `invalid_request` when they are no list of objects, or too many.
pub(super) fn take(arguments: &mut Map<String, Value>) -> Result<Vec<Map<String, Value>>, Failure> {
    let refuse = |problem: String| {
        Failure::invalid(THEN, problem)
            .hint(format!("`{THEN}` takes a list of further requests: [{{\"op\": …, \"input\": …}}]."))
    };
    let value = match arguments.remove(THEN) {
        Some(Value::String(text)) => read_unambiguous(text.as_bytes()).unwrap_or(Value::String(text)),
        other => other.unwrap_or_default(),
    };
    let list = match value {
        Value::Null => Vec::new(),
        Value::Array(list) => list,
        one @ Value::Object(_) => vec![one],
        other => return Err(refuse(format!("`{THEN}` must be a list, not {}", kind(&other)))),
    };
    if list.len() >= MAX_REQUESTS {
        return Err(refuse(format!(
            "a call has at most {MAX_REQUESTS} requests; these are {}",
            list.len() + 1
        )));
    }
    let scope = arguments.get("scope");
    let mut rest = Vec::new();
    for (at, request) in list.into_iter().enumerate() {
        let Value::Object(mut request) = request else {
            return Err(refuse(format!("`{THEN}[{at}]` must be an object, not {}", kind(&request))));
        };
        if let Some(scope) = scope
            && !request.contains_key("scope")
        {
            request.insert("scope".to_owned(), scope.clone());
        }
        rest.push(request);
    }
    Ok(rest)
}

/// Runs what a call asks for. Several replies become one: `{ok, answers, notRun}`.
pub(super) async fn run(
    backend: &Backend,
    origin: &Origin,
    sent: Result<Vec<Envelope>, Failure>,
    gone: &CancellationToken,
    progress: Option<&Progress>,
) -> Reply {
    let mut sent = match sent {
        Ok(sent) => sent.into_iter(),
        Err(failure) => return backend.submit_from(origin, Err(failure), gone, progress).await,
    };
    let is_one = sent.len() == 1;
    let mut replies = Vec::new();
    let mut started = None;
    for mut request in sent.by_ref() {
        if let Some(process) = &started
            && is_about_one_process(&request)
        {
            request.target.get_or_insert_with(|| String::clone(process));
        }
        let reply = backend.submit_from(origin, Ok(request), gone, progress).await;
        let outcome = if is_one { Value::Null } else { outcome(&reply) };
        replies.push(reply);
        if !succeeded(&outcome) {
            break;
        }
        started = outcome["data"]["processId"].as_str().map(str::to_owned).or(started);
    }
    match replies.pop() {
        Some(only) if is_one => only,
        last => {
            replies.extend(last);
            joined(replies, &sent.map(|it| it.op).collect::<Vec<_>>())
        }
    }
}

fn outcome(reply: &Reply) -> Value {
    serde_json::from_str(&reply.text).expect("a reply is JSON text")
}

/// Returns whether a request did what it was sent for: a command that fails is answered, but did not.
fn succeeded(outcome: &Value) -> bool {
    let data = &outcome["data"];
    outcome["ok"] == true
        && data["exitCode"].as_i64().is_none_or(|code| code == 0)
        && !data["signal"].is_string()
        && data["timedOut"] != true
        && !matches!(data["outcome"].as_str(), Some("timeOver" | "impossible"))
}

/// Returns whether a request is about the process that was started before it, unless it names another.
fn is_about_one_process(request: &Envelope) -> bool {
    let target = requests::operation(&request.op).map(|entry| entry.spec.target);
    matches!(target, Some(TargetRule::Id(what) | TargetRule::OptionalId(what)) if what.starts_with("the processId"))
        && !request.input.contains_key("all")
}

fn joined(replies: Vec<Reply>, not_run: &[String]) -> Reply {
    let ok = replies.iter().all(|reply| reply.ok);
    let mut text = format!("{{\"ok\":{ok},\"answers\":[");
    let mut images = Vec::new();
    for (at, reply) in replies.into_iter().enumerate() {
        let _ = write!(text, "{}{}", if at == 0 { "" } else { "," }, reply.text);
        images.extend(reply.images);
    }
    let _ = write!(text, "],\"notRun\":{}}}", Value::from(not_run));
    Reply { ok, text, images }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn taken(arguments: Value) -> Result<Vec<Value>, String> {
        let Value::Object(mut arguments) = arguments else { unreachable!("arguments are an object") };
        let rest = take(&mut arguments).map_err(|failure| failure.message)?;
        assert!(!arguments.contains_key(THEN));
        Ok(rest.into_iter().map(Value::Object).collect())
    }

    #[test]
    fn requests_that_follow_are_a_list_and_in_the_first_ones_scope() {
        assert_eq!(taken(json!({"op": "a.b"})), Ok(vec![]));
        let two = json!([{"op": "c.d"}, {"op": "e.f", "scope": "other"}]);
        let there = vec![json!({"op": "c.d", "scope": "app"}), json!({"op": "e.f", "scope": "other"})];
        assert_eq!(taken(json!({"op": "a.b", "scope": "app", "then": two})), Ok(there.clone()));
        assert_eq!(taken(json!({"op": "a.b", "scope": "app", "then": two.to_string()})), Ok(there));
        assert_eq!(taken(json!({"op": "a.b", "then": {"op": "c.d"}})), Ok(vec![json!({"op": "c.d"})]));
        for (then, problem) in [
            (json!("c.d"), "`then` must be a list, not a string"),
            (json!([1]), "`then[0]` must be an object, not a number"),
            (json!(vec![json!({}); 16]), "a call has at most 16 requests; these are 17"),
        ] {
            assert_eq!(taken(json!({"op": "a.b", "then": then})), Err(problem.to_owned()));
        }
    }

    #[test]
    fn what_failed_or_printed_that_it_failed_ends_the_call() {
        for (data, expected) in [
            (json!({"outcome": "held"}), true),
            (json!({"outcome": "timeOver"}), false),
            (json!({"exitCode": 0, "timedOut": false, "signal": null}), true),
            (json!({"path": "a"}), true),
            (json!({"exitCode": 1}), false),
            (json!({"exitCode": null, "signal": "SIGKILL"}), false),
            (json!({"exitCode": null, "timedOut": true}), false),
        ] {
            assert_eq!(succeeded(&json!({"ok": true, "data": data})), expected, "{data}");
            assert!(!succeeded(&json!({"ok": false, "data": data})));
        }
    }

    #[test]
    fn what_follows_a_start_is_about_that_process() {
        let request = |request: Value| requests::read(request).expect("a request");
        for (sent, expected) in [
            (json!({"op": "process.read"}), true),
            (json!({"op": "process.stop"}), true),
            (json!({"op": "process.list"}), false),
            (json!({"op": "file.read", "target": "a"}), false),
            (json!({"op": "history.get"}), false),
        ] {
            assert_eq!(is_about_one_process(&request(sent.clone())), expected, "{sent}");
        }
    }
}
