//! `client check`.

use schemars::JsonSchema;
use serde::Serialize;

use bailiwick_contract::Failure;

use super::super::client::CheckArgs;
use super::super::printer::{Paint, Printer, Report, one_line, paint};
use crate::installation::runtime;
use crate::installation::steps::StepState;
use crate::public_urls::check::UrlCheck;
use crate::public_urls::hop::{HopReport, first_failure};
use crate::public_urls::typed_url::typed_url;

/// `client check`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UrlCheckOutput {
    /// Whether no hop fails.
    pub ok: bool,
    /// The URL.
    pub url: String,
    /// The hops, in order; those after one that fails are not tried.
    pub hops: Vec<HopReport>,
}

/// Checks a URL. Exits 1 if a hop fails.
///
/// # Errors
/// When the URL is none.
pub fn run(printer: Printer, args: &CheckArgs) -> Result<Report, Failure> {
    let token = args.token.as_deref().filter(|token| !token.is_empty());
    let url = typed_url(&args.url, token.is_some())?;
    let mut hops = Vec::new();
    let mut report = |hop: HopReport| {
        if !printer.json {
            printer.text(&hop_line(&hop));
        }
        hops.push(hop);
    };
    let runtime = runtime::small()?;
    runtime.block_on(UrlCheck::new(&url, &mut report).run(token));
    runtime.shutdown_background();
    let failure = first_failure(&hops);
    let text = match failure {
        None => "Every hop that was tried is passed.\n".to_owned(),
        Some(hop) => format!("It fails at: {}.\n", hop.hop.name()),
    };
    let ok = failure.is_none();
    let output = UrlCheckOutput { ok, url: url.to_string(), hops };
    Ok(Report { exit: u8::from(!ok), ..Report::of(text, &output) })
}

/// Writes a hop as a line, and what to change below it.
pub fn hop_line(report: &HopReport) -> String {
    let mark = match report.state {
        StepState::Ok => paint(Paint::Good, "ok     "),
        StepState::Skipped => paint(Paint::Hint, "skipped"),
        StepState::Failed => paint(Paint::Bad, "FAILED "),
    };
    let mut line = format!("  {mark}  {}: {}\n", report.hop.name(), one_line(&report.saw));
    if let Some(fix) = &report.fix {
        line.push_str(&format!("           {}\n", one_line(fix)));
    }
    line
}
