//! `connect chatgpt` and `connect claude`, after they have printed what to enter: whether the URL leads here, then each step
//! of the client as it makes it.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::adapters::http::{ClientStep, StepRecord, StepWatch};
use bailiwick_config::PublicUrl;
use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_providers::http_client::HttpUrl;

use super::args::RemoteClient;
use super::printer::{Paint, Printer, Report, paint};
use super::url_check::hop_line;
use crate::installation::home::Home;
use crate::installation::runtime;
use crate::public_urls::check::UrlCheck;
use crate::public_urls::hop::{HopReport, first_failure};

/// How often it is looked for new steps.
const LOOK: Duration = Duration::from_millis(20);
/// The pause between round trips while the URL does not lead here.
const PAUSE: Duration = Duration::from_secs(1);

/// Shows what happens until the client has made a call.
///
/// # Errors
/// `cancelled` by Ctrl-C, `conflict` where another `connect` watches.
pub fn wait_for_client(
    home: &Home,
    printer: Printer,
    client: RemoteClient,
    public: &PublicUrl,
) -> Result<Report, Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(ErrorCode::ProviderUnavailable, format!("{}: {error}", home.dirs.runtime.display()))
    };
    let Some(mut watch) = StepWatch::begin(&home.dirs).map_err(failed)? else {
        return Err(Failure::new(ErrorCode::Conflict, "another `bailiwick client connect` watches already")
            .hint("End it with Ctrl-C, or print what to enter with --no-wait."));
    };
    let url = HttpUrl::parse(&public.resource())
        .map_err(|problem| Failure::invalid("URL", format!("{public}: {problem}")))?;
    let runtime = runtime::small()?;
    let called = runtime.block_on(async {
        let asked_to_stop = runtime::asked_to_stop();
        tokio::select! {
            () = asked_to_stop => None,
            took = until_call(home, printer, client, &url, &mut watch) => Some(took),
        }
    });
    runtime.shutdown_background();
    let name = client.name();
    let took = called.ok_or_else(|| {
        Failure::new(ErrorCode::Cancelled, format!("{name} has not made a call yet"))
            .hint("Everything stays as it is: enter the URL at any time. `bailiwick token list` shows who has logged in.")
    })?;
    let text = format!(
        "{} {name} has made its first call, {:.1} s after this began to wait.\n",
        paint(Paint::Good, "Connected."),
        took.as_secs_f64()
    );
    Ok(Report::new(text, json!({"ok": true})))
}

async fn until_call(
    home: &Home,
    printer: Printer,
    client: RemoteClient,
    url: &HttpUrl,
    watch: &mut StepWatch,
) -> Duration {
    printer.text("\nFrom this computer, through the URL:\n");
    let mut before: Vec<HopReport> = Vec::new();
    loop {
        let mut hops = Vec::new();
        let mut report = |hop| hops.push(hop);
        UrlCheck::new(url, &mut report).round_trip(&home.dirs).await;
        if hops != before {
            printer.text(&hops.iter().map(hop_line).collect::<String>());
        }
        if first_failure(&hops).is_none() {
            break;
        }
        before = hops;
        tokio::time::sleep(PAUSE).await;
    }
    // Those were the steps of the round trip.
    watch.records();
    let began = Instant::now();
    printer.text(&format!("\n{}, step by step (Ctrl-C ends this):\n", client.name()));
    let mut progress = ClientProgress { client, passed: Vec::new() };
    loop {
        for record in watch.records() {
            if let Some(line) = progress.line(&record) {
                printer.text(&line);
            }
            if progress.passed.contains(&ClientStep::Call) {
                return began.elapsed();
            }
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// How far a client is.
struct ClientProgress {
    client: RemoteClient,
    passed: Vec<ClientStep>,
}

impl ClientProgress {
    /// Returns the line that shows a step, where it is news.
    fn line(&mut self, record: &StepRecord) -> Option<String> {
        if !self.concerns(record) || self.passed.contains(&record.step) {
            return None;
        }
        if !record.is_passed() {
            // The owner is asked again for the code, then for the scopes: the page itself says so.
            let is_failure = record.step != ClientStep::Consent || record.status >= 400;
            return is_failure.then(|| {
                let mark = paint(Paint::Bad, "FAILED ");
                format!(
                    "  {mark}  {}: the answer was {}\n           {}\n",
                    name(record.step),
                    record.status,
                    fix(record.step)
                )
            });
        }
        self.passed.push(record.step);
        Some(format!("  {}  {}\n", paint(Paint::Good, "ok     "), name(record.step)))
    }

    /// Returns whether a call is one of this client: it has logged in just now, or has its name.
    fn concerns(&self, record: &StepRecord) -> bool {
        let Some(caller) = &record.caller else { return true };
        let has_logged_in =
            [ClientStep::Consent, ClientStep::Token].iter().all(|step| self.passed.contains(step));
        let has_its_name = caller.to_lowercase().contains(&self.client.name().to_lowercase());
        has_logged_in || has_its_name
    }
}

const fn name(step: ClientStep) -> &'static str {
    match step {
        ClientStep::Metadata => "metadata: it has read how to log in",
        ClientStep::Registration => "registration",
        ClientStep::Page => "page: open in your browser",
        ClientStep::Consent => "consent: you have answered",
        ClientStep::Token => "token",
        ClientStep::ToolsList => "tools/list",
        ClientStep::Call => "first call",
    }
}

const fn fix(step: ClientStep) -> &'static str {
    match step {
        ClientStep::Metadata | ClientStep::Registration | ClientStep::Page => {
            "Enter the URL as it is printed above, and leave client id and secret empty."
        }
        ClientStep::Consent => {
            "Open the page again from the client, and enter a new code: `bailiwick token code`."
        }
        ClientStep::Token => "Let the client connect again: its code was too old, or was used twice.",
        ClientStep::ToolsList | ClientStep::Call => "See why with `bailiwick log last`.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_other_clients_are_not_taken_for_those_of_this_one() {
        let mut progress = ClientProgress { client: RemoteClient::Chatgpt, passed: Vec::new() };
        let made = |step, status, caller: Option<&str>| StepRecord {
            step,
            status,
            caller: caller.map(str::to_owned),
        };
        let laptop = made(ClientStep::Call, 200, Some("laptop"));
        assert_eq!(progress.line(&laptop), None);
        assert!(progress.line(&made(ClientStep::Registration, 400, None)).expect("shown").contains("400"));
        assert_eq!(
            progress.line(&made(ClientStep::Consent, 200, None)),
            None,
            "the page asks for the scopes"
        );
        for (step, status) in
            [(ClientStep::Registration, 201), (ClientStep::Consent, 303), (ClientStep::Token, 200)]
        {
            assert!(progress.line(&made(step, status, None)).is_some(), "{step:?}");
            assert_eq!(progress.line(&made(step, status, None)), None, "once");
        }
        assert!(progress.line(&laptop).is_some(), "whatever it calls itself, it has just logged in");
        let mut known = ClientProgress { client: RemoteClient::Claude, passed: Vec::new() };
        assert!(
            known.line(&made(ClientStep::Call, 200, Some("Claude (2)"))).is_some(),
            "it has its login already"
        );
    }
}
