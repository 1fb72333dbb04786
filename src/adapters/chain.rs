//! Several requests in one call: `then` has those that follow the first, each run if the one before it succeeded.
//!
//! Each is judged, run and recorded on its own, as if it had come in a call of its own. One mechanism for MCP, the JSON
//! API and the CLI.

use std::fmt::Write;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use bailiwick_contract::envelope::kind;
use bailiwick_contract::json::read_unambiguous;
use bailiwick_contract::{Envelope, Failure, Progress, Reply, TargetRule, is_success};
use bailiwick_engine::requests;

use super::backend::{Backend, Origin};

/// The field of the requests that follow.
pub const THEN: &str = "then";
/// How many requests one call may have in all.
const MAX_REQUESTS: usize = 16;

/// Takes the requests that follow the first out of its arguments. They are in its scope unless they name one.
///
/// # Errors
/// `invalid_request` when they are no list of objects, or too many.
pub fn take(arguments: &mut Map<String, Value>) -> Result<Vec<Map<String, Value>>, Failure> {
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

/// Reads the requests of a call from JSON, or why they cannot be read: then none of them is run.
///
/// # Errors
/// As [`requests::read_json`] and [`take`].
pub fn read_json(bytes: &[u8]) -> Result<Vec<Envelope>, Failure> {
    match read_unambiguous(bytes) {
        Ok(Value::Object(mut fields)) if fields.contains_key(THEN) => {
            let rest = take(&mut fields)?;
            read(requests::read(Value::Object(fields))?, rest)
        }
        _ => requests::read_json(bytes).map(|request| vec![request]),
    }
}

/// Reads the requests that follow one.
///
/// # Errors
/// As [`requests::read`].
pub fn read(first: Envelope, rest: Vec<Map<String, Value>>) -> Result<Vec<Envelope>, Failure> {
    let mut all = vec![first];
    for fields in rest {
        let request =
            requests::read(Value::Object(fields)).map_err(|failure| failure.hint(about(all.len())))?;
        if !is_known(&request) {
            return Ok(vec![request]);
        }
        all.push(request);
    }
    Ok(all)
}

/// Returns whether there is the operation of a request. A request that follows without one is all that is handed in: it
/// is refused, and nothing of the call is run.
pub fn is_known(request: &Envelope) -> bool {
    requests::operation(&request.op).is_some()
}

/// Returns which request of a call cannot be read, for one that follows.
pub fn about(at: usize) -> String {
    format!("This is about `{THEN}[{}]`; nothing of the call was run.", at - 1)
}

/// What holds an operation back from its answer, and so is bounded where a client does not wait for long.
const BOUNDS: &[(&str, &str, u64)] = &[
    // The operation, the option, and what is meant without it, in seconds.
    ("command.run", "answerWithinSeconds", 40),
    ("package.run", "answerWithinSeconds", 40),
    ("process.wait", "timeoutSeconds", 45),
];

/// Has the answer of a request come while its client still waits for it. A caller that says when a command's answer is
/// due knows its client.
fn bound(request: &mut Envelope, left: Duration) {
    let Some((_, option, usual)) = BOUNDS.iter().find(|(op, ..)| *op == request.op) else { return };
    let asked = request.options.get(*option).and_then(Value::as_u64);
    if asked.is_some() && *option == "answerWithinSeconds" {
        return;
    }
    let left = left.as_secs().max(1);
    if asked.unwrap_or(*usual) > left {
        request.options.insert((*option).to_owned(), Value::from(left));
    }
}

/// Runs what a call asks for, while the client waits. Several replies become one: `{ok, answers, notRun}`.
pub async fn run(
    backend: &Backend,
    origin: &Origin,
    sent: Result<Vec<Envelope>, Failure>,
    patience: Option<Duration>,
    gone: &CancellationToken,
    progress: Option<&Progress>,
) -> Reply {
    let began = Instant::now();
    let mut sent = match sent {
        Ok(sent) => sent.into_iter(),
        Err(failure) => return backend.submit_from(origin, Err(failure), gone, progress).await,
    };
    let is_one = sent.len() == 1;
    let mut replies = Vec::new();
    let mut started = None;
    while let Some(left) = left(patience, began, replies.len())
        && let Some(mut request) = sent.next()
    {
        if let Some(left) = left {
            bound(&mut request, left);
        }
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

/// Returns how long the client still waits, or that nothing more is to be begun.
fn left(patience: Option<Duration>, began: Instant, done: usize) -> Option<Option<Duration>> {
    let Some(patience) = patience else { return Some(None) };
    let left = patience.saturating_sub(began.elapsed());
    (done == 0 || left >= Duration::from_secs(1)).then_some(Some(left))
}

fn outcome(reply: &Reply) -> Value {
    serde_json::from_str(&reply.text).expect("a reply is JSON text")
}

/// Returns whether a request did what it was sent for: a command that fails is answered, but did not.
fn succeeded(outcome: &Value) -> bool {
    outcome["ok"] == true && is_success(&outcome["data"])
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
            (json!({"exitCode": null, "running": true, "processId": "p"}), false),
        ] {
            assert_eq!(succeeded(&json!({"ok": true, "data": data})), expected, "{data}");
            assert!(!succeeded(&json!({"ok": false, "data": data})));
        }
    }

    #[test]
    fn an_answer_comes_while_its_client_waits() {
        let bounded = |request: Value, left: u64| {
            let mut request = requests::read(request).expect("a request");
            bound(&mut request, Duration::from_millis(left));
            Value::Object(request.options)
        };
        let run =
            |options: Value| json!({"op": "command.run", "input": {"command": "x"}, "options": options});
        assert_eq!(bounded(run(json!({})), 4_000), json!({"answerWithinSeconds": 4}));
        assert_eq!(bounded(run(json!({})), 50_000), json!({}));
        assert_eq!(bounded(run(json!({})), 200), json!({"answerWithinSeconds": 1}));
        let own = json!({"answerWithinSeconds": 30, "timeoutSeconds": 300});
        assert_eq!(bounded(run(own.clone()), 4_000), own);
        let wait = |options: Value| json!({"op": "process.wait", "target": "p", "options": options});
        assert_eq!(bounded(wait(json!({})), 4_900), json!({"timeoutSeconds": 4}));
        assert_eq!(bounded(wait(json!({"timeoutSeconds": 300})), 50_000), json!({"timeoutSeconds": 50}));
        assert_eq!(bounded(wait(json!({"timeoutSeconds": 2})), 4_000), json!({"timeoutSeconds": 2}));
        assert_eq!(bounded(json!({"op": "file.read", "target": "a"}), 100), json!({}));
        for (op, option, _) in BOUNDS {
            let entry = requests::operation(op).expect(op);
            let own = entry.schemas().options["properties"].get(option).is_some();
            assert!(own || *option == "timeoutSeconds", "{op} has {option}");
        }
    }

    #[test]
    fn nothing_is_begun_for_a_client_that_has_given_up() {
        let long_ago = Instant::now().checked_sub(Duration::from_secs(60)).expect("a moment");
        assert_eq!(left(None, long_ago, 3), Some(None));
        assert_eq!(left(Some(Duration::from_secs(50)), long_ago, 0), Some(Some(Duration::ZERO)));
        assert_eq!(left(Some(Duration::from_secs(50)), long_ago, 1), None);
        assert!(matches!(left(Some(Duration::from_secs(50)), Instant::now(), 1), Some(Some(_))));
    }

    #[test]
    fn requests_of_one_text_are_read_together_or_not_at_all() {
        let read = |request: Value| read_json(request.to_string().as_bytes());
        let two =
            json!({"op": "file.read", "target": "a", "then": [{"op": "bash", "input": {"command": "ls"}}]});
        let names: Vec<String> = read(two).expect("two").into_iter().map(|it| it.op).collect();
        assert_eq!(names, ["file.read", "command.run"]);
        assert_eq!(read(json!({"op": "file.read", "target": "a"})).expect("one").len(), 1);
        let with = |step: Value| read(json!({"op": "file.read", "target": "a", "then": [step]}));
        let failure = with(json!({"op": "file.stat", "nonsense": 1})).expect_err("an unknown field");
        assert!(failure.hints.iter().any(|it| it.contains("`then[0]`")), "{failure:?}");
        let unknown = with(json!({"op": "no.such"})).expect("what the policy refuses");
        assert!(unknown.len() == 1 && unknown[0].op == "no.such", "{unknown:?}");
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
