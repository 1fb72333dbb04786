//! `tunnel …`: the public URL under which clients elsewhere reach the service.

use schemars::JsonSchema;
use serde::Serialize;

use bailiwick_config::{Config, PublicUrl};
use bailiwick_contract::{Capability, Failure};

use super::args::{TunnelCommand, TunnelManualArgs};
use super::ask;
use super::connect::url;
use super::home::{Home, IfMissing};
use super::printer::{Printer, Report, one_line};
use super::running::RunningNote;

/// `tunnel manual` and `tunnel off`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TunnelOutput {
    /// Always true.
    pub ok: bool,
    /// Whether the config was changed.
    pub written: bool,
    /// The URL of the MCP endpoint for clients elsewhere; null where there is none.
    pub url: Option<String>,
    /// Where the tunnel or proxy has to forward it to.
    pub forward_to: String,
    /// What you could allow a client at most.
    pub scopes: Vec<ReachableScope>,
}

/// A scope that clients could use.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReachableScope {
    /// The scope's id.
    pub id: String,
    /// What it grants.
    pub capabilities: Vec<Capability>,
}

/// Runs one of the commands.
///
/// # Errors
/// When the URL is none, or the config cannot be read or written.
pub fn run(home: &Home, printer: Printer, command: &TunnelCommand) -> Result<Report, Failure> {
    match command {
        TunnelCommand::Manual(args) => manual(home, printer, args),
        TunnelCommand::Off => off(home),
    }
}

fn manual(home: &Home, printer: Printer, args: &TunnelManualArgs) -> Result<Report, Failure> {
    let public = PublicUrl::try_from(args.url.clone()).map_err(|problem| {
        Failure::invalid("URL", format!("`{}` cannot be used: {problem}", one_line(&args.url)))
    })?;
    let config = home.config()?;
    if config.http.allow_loopback_without_token {
        return Err(Failure::denied(
            "token-needed",
            "`http.allowLoopbackWithoutToken` is on: through a tunnel it could admit everybody",
        )
        .hint("Set it to false first: `bailiwick config edit`."));
    }
    let mut output = output_of(&config, Some(&public));
    let shown = described(&output, &public);
    if args.dry_run {
        return Ok(Report::of(format!("{shown}\nNothing was changed.\n"), &output));
    }
    if !args.yes && ask::is_possible(printer) {
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
            .note(format!("Forward {public} to {}.", output.forward_to))
            .note("Then: `bailiwick connect chatgpt`, or `bailiwick connect claude`.")
    } else {
        report.note("Clients log in there: `bailiwick token code` lets one in.")
    };
    Ok(with_restart(home, report))
}

fn off(home: &Home) -> Result<Report, Failure> {
    let before = home.config()?;
    home.edit(IfMissing::Fail, |config| {
        config.http.public_base_url = None;
        Ok(())
    })?;
    let written = before.http.public_base_url.is_some();
    let output = TunnelOutput { written, ..output_of(&before, None) };
    let text = if written { "There is no public URL any more.\n" } else { "There was no public URL.\n" };
    let report = Report::of(text, &output);
    Ok(if written { with_restart(home, report) } else { report })
}

/// Adds that a service that runs has to be started again.
fn with_restart(home: &Home, report: Report) -> Report {
    if RunningNote::of_running(home).is_some() {
        report.note("The service that runs has to be started again for that: `bailiwick start`.")
    } else {
        report
    }
}

fn output_of(config: &Config, public: Option<&PublicUrl>) -> TunnelOutput {
    let local = url(&config.host, config.port);
    let scopes = config.scopes.iter().map(|scope| ReachableScope {
        id: scope.id.clone(),
        capabilities: Capability::ALL.iter().copied().filter(|it| scope.grants(*it)).collect(),
    });
    TunnelOutput {
        ok: true,
        written: false,
        url: public.map(PublicUrl::resource),
        forward_to: local.trim_end_matches("/mcp").to_owned(),
        scopes: scopes.collect(),
    }
}

/// Says what would be open.
fn described(output: &TunnelOutput, public: &PublicUrl) -> String {
    let mut text = format!(
        "{public} would serve the MCP endpoint and the page for logins, and nothing else.\n\
         Nobody gets in without a token, or a login that you allow there with a code of `bailiwick token code`.\n"
    );
    text.push_str(if output.scopes.is_empty() {
        "No scope is open yet.\n"
    } else {
        "You could allow at most:\n"
    });
    for scope in &output.scopes {
        let all: Vec<String> = scope.capabilities.iter().map(ToString::to_string).collect();
        let all = if all.is_empty() { "nothing".to_owned() } else { all.join(" ") };
        text.push_str(&format!("  {}: {all}\n", one_line(&scope.id)));
    }
    text
}
