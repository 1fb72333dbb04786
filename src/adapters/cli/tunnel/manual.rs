//! `tunnel manual` and `tunnel off`: a URL that you forward yourself.

use bailiwick_config::{Config, PublicUrl, TunnelLock};
use bailiwick_contract::Failure;

use super::super::args::TunnelManualArgs;
use super::super::ask;
use super::super::printer::{Printer, Report, one_line};
use crate::client_settings::connection::url;
use crate::installation::home::{Home, IfMissing};
use crate::installation::running::RunningNote;
use crate::tunnels::added_token::refuse_without_token;
use crate::tunnels::output::TunnelOutput;

/// Uses a URL.
///
/// # Errors
/// When the URL is none, or the config cannot be read or written.
pub fn manual(home: &Home, printer: Printer, args: &TunnelManualArgs) -> Result<Report, Failure> {
    let public = PublicUrl::try_from(args.url.clone()).map_err(|problem| {
        Failure::invalid("URL", format!("`{}` cannot be used: {problem}", one_line(&args.url)))
    })?;
    let config = home.config()?;
    refuse_without_token(&config)?;
    let mut output = output_of(&config, Some(&public));
    let shown = output.described(&format!(
        "{public} would serve the MCP endpoint and the page for logins, and nothing else.\n\
         Nobody gets in without a token, or a login that you allow there with a code of `bailiwick token code`."
    ));
    if args.confirm.dry_run {
        return Ok(Report::of(format!("{shown}\nNothing was changed.\n"), &output));
    }
    if args.confirm.asks(printer) {
        printer.talk(shown.trim_end());
        if !ask::yes(printer, "Use this URL?")? {
            return Ok(Report::of("Left as it was.\n", &output));
        }
    }
    home.edit(IfMissing::Fail, |config| {
        config.http.public_base_url = Some(public.clone());
        Ok(())
    })?;
    output.written = true;
    let who = public.reached_by();
    let report = Report::of(format!("The MCP endpoint for {who} is {}.\n", public.resource()), &output);
    let report = if public.is_https() {
        report
            .note(format!("Forward {public} to {}.", forward_to(&config)))
            .note("Then: `bailiwick client connect chatgpt`, or `bailiwick client connect claude`.")
    } else {
        report.note("Clients log in there: `bailiwick token code` lets one in.")
    };
    Ok(with_restart(home, report))
}

/// Takes the URL away.
///
/// # Errors
/// When the config cannot be read or written.
pub fn off(home: &Home) -> Result<Report, Failure> {
    let before = home.config()?;
    home.edit(IfMissing::Fail, |config| {
        config.http.public_base_url = None;
        Ok(())
    })?;
    let is_public = before.http.public_base_url.is_some();
    let written = is_public && !home.is_dry_run;
    let output = TunnelOutput { written, ..output_of(&before, None) };
    let text = match (is_public, written) {
        (false, _) => "There was no public URL.\n",
        (true, false) => "Would serve no public URL any more.\n",
        (true, true) => "There is no public URL any more.\n",
    };
    let report = Report::of(text, &output);
    let report = if written { with_restart(home, report) } else { report };
    Ok(match TunnelLock::exposure(&home.dirs).and_then(|tunnel| tunnel.process_id) {
        Some(process) => report
            .note(format!("A tunnel runs still, as process {process}: end it with Ctrl-C in its terminal.")),
        None => report,
    })
}

/// Adds that a service that runs has to be started again.
fn with_restart(home: &Home, report: Report) -> Report {
    if RunningNote::of_running(home).is_some() {
        report.note("The service that runs has to be started again for that: `bailiwick serve`.")
    } else {
        report
    }
}

fn output_of(config: &Config, public: Option<&PublicUrl>) -> TunnelOutput {
    TunnelOutput {
        url: public.map(PublicUrl::resource),
        forward_to: Some(forward_to(config)),
        ..TunnelOutput::new(config)
    }
}

fn forward_to(config: &Config) -> String {
    url(config.http.tls.is_some(), &config.host, config.port).trim_end_matches("/mcp").to_owned()
}
