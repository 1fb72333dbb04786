//! `client check`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::adapters::http_client::HttpUrl;
use bailiwick_contract::Failure;

use super::super::client::CheckArgs;
use super::super::printer::{Printer, Report, one_line};
use super::super::runtime;
use super::check::UrlCheck;
use super::hop::{HopReport, first_failure, hop_line};

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
    let url = HttpUrl::parse(&args.url).map_err(|problem| {
        Failure::invalid("URL", format!("`{}` cannot be checked: {problem}", one_line(&args.url)))
    })?;
    // Who enters no path means the endpoint.
    let url = if url.path == "/" { url.with_path("/mcp") } else { url };
    let token = args.token.as_deref().filter(|token| !token.is_empty());
    if token.is_some() && !url.is_https && !url.is_loopback() {
        return Err(Failure::denied(
            "token-in-the-clear",
            format!("the token would go to {} without encryption", one_line(&url.origin())),
        )
        .hint("Use the https URL, or check without a token."));
    }
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
