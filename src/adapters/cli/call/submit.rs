//! Running one call: words to envelope, envelope to the service, outcome to text and exit code.

use std::sync::Arc;

use std::ffi::OsString;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::adapters::auth::KeyRing;
use crate::adapters::backend::{Backend, Embed, Embedded};
use crate::adapters::socket::Hello;
use bailiwick_contract::{Envelope, ErrorCode, Failure, Transport};

use super::super::args::Shared;
use super::super::home::Home;
use super::super::printer::{Printer, Report, failure_text, one_line, to_user};
use super::super::runtime;
use super::fields::{self, Words};
use super::{help, render};

/// Runs one operation.
///
/// # Errors
/// When the words make no envelope, Bailiwick is not set up, or the caller is refused.
pub fn run(shared: &Shared, rest: Vec<OsString>) -> Result<(Printer, Report), (Printer, Failure)> {
    let printer = Printer { json: shared.json || wants_json(&rest) };
    let words = Words::sort(rest).map_err(|failure| (printer, failure))?;
    call(shared, printer, words).map(|report| (printer, report)).map_err(|failure| (printer, failure))
}

/// Tells whether `--json` is among words that may be wrong otherwise.
pub fn wants_json(rest: &[OsString]) -> bool {
    rest.iter().take_while(|word| *word != "--").any(|word| word == "--json")
}

fn call(shared: &Shared, printer: Printer, words: Words) -> Result<Report, Failure> {
    if words.help {
        return match words.first.as_deref().filter(|first| !first.starts_with('{')) {
            None => Ok(Report::new(help::overview(), json!({"ok": true, "help": help::overview()}))),
            Some(op) => {
                let entry = fields::entry(op)?;
                let mut json = json!({"ok": true});
                json["operation"] = help::operation_json(entry);
                Ok(Report::new(help::operation(entry), json))
            }
        };
    }
    let home = Home::find(words.config.as_deref().or(shared.config.as_deref()))?;
    let caller = words.caller.clone();
    // A whole envelope is judged as it is by the service, and recorded even when it is malformed.
    let is_whole = words.first.as_deref().is_some_and(|first| first.trim_start().starts_with('{'));
    let envelope = match words.envelope() {
        Err(failure) if !is_whole => return Err(failure),
        other => other,
    };
    let outcome = submit(&home, caller, envelope)?;
    Ok(report(printer, outcome))
}

/// Sends one envelope to the running service, or to one in this process.
///
/// # Errors
/// When there is neither, or the caller is refused.
pub fn submit(
    home: &Home,
    caller: Option<String>,
    envelope: Result<Envelope, Failure>,
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
        let outcome = backend.submit(envelope, &gone).await.into_value();
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
        Ok(Embedded { service: own.boot()?, caller, keys })
    });
    Backend::open(&home.dirs, hello, embed).await
}

fn report(printer: Printer, mut outcome: Value) -> Report {
    if outcome["ok"] == true {
        if printer.json {
            return Report::new("", outcome);
        }
        let op = outcome["op"].as_str().unwrap_or_default().to_owned();
        let data = outcome["data"].take();
        let rendered = render::render(&op, &data);
        let mut report = Report::new(rendered.text, Value::Null);
        report.notes = rendered.notes;
        for warning in outcome["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            report = report.note(format!("warning: {}", one_line(&to_user(warning))));
        }
        if let Some(images) = outcome["images"].as_array().filter(|images| !images.is_empty()) {
            report = report.note(format!("{} images; --json has them", images.len()));
        }
        return report;
    }
    let failure = failure_of(&outcome["error"]);
    let warnings: Vec<String> = outcome["warnings"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(one_line)
        .map(|text| format!("warning: {text}"))
        .collect();
    let exit = failure.code.facts().exit_code;
    let mut report = Report::new("", outcome);
    report.notes.push(failure_text(&failure));
    report.notes.extend(warnings);
    Report { exit, ..report }
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
