//! `tunnel cloudflare`, `tailscale` and `openai`: serve on a port of its own, and have a program forward a URL to it, until
//! Ctrl-C.

use std::time::Duration;

use bailiwick_config::TunnelLock;
use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::fs::{create_private_dir, replace_private_file};

use super::super::args::ConfirmArgs;
use super::super::ask;
use super::super::printer::{Printer, Report, one_line};
use crate::adapters::public_service::{PublicService, TellTunnel};
use crate::installation::home::Home;
use crate::installation::own_program::on_path;
use crate::installation::runtime;
use crate::tunnels::added_token::{AddedToken, refuse_without_token, token};
use crate::tunnels::keeper;
use crate::tunnels::output::{TunnelEvent, TunnelOutput};
use crate::tunnels::program::{AUTHORIZATION, TunnelProgram, empty_config, health_file};
use crate::tunnels::supervisor::ProgramStart;

/// Opens a tunnel, and serves until the process is asked to stop.
///
/// # Errors
/// When nothing may be exposed, the program is missing, or another tunnel runs: nothing is served then.
pub fn run(
    home: &Home,
    printer: Printer,
    program: TunnelProgram,
    confirm: &ConfirmArgs,
) -> Result<Option<Report>, Failure> {
    let config = home.config()?;
    refuse_without_token(&config)?;
    let folder = home.dirs.runtime.clone();
    let mut output = TunnelOutput::new(&config);
    let words = program.words("PORT", &folder);
    output.command = std::iter::once(program.name().to_owned())
        .chain(words.iter().map(|word| word.to_string_lossy().into_owned()))
        .collect();
    let token = if program.has_url() || confirm.dry_run { None } else { Some(token(home)?) };
    let shown = output.described(&head(&program, token.as_ref()));
    if confirm.dry_run {
        let text = format!("{shown}It would run:\n  {}\nNothing was done.\n", output.command.join(" "));
        return Ok(Some(Report::of(text, &output)));
    }
    let Some(file) = on_path(program.name()) else {
        return Err(Failure::new(
            ErrorCode::ProviderUnavailable,
            format!("there is no `{}` on the search path", program.name()),
        )
        .hint(format!("Install it from {}, then run this again.", program.home_page())));
    };
    if !confirm.yes {
        if !ask::is_possible(printer) {
            return Err(Failure::invalid(
                "--yes",
                "this opens your computer to others, and there is nobody to ask",
            )
            .hint("See what would be open with --dry-run, then run it with --yes."));
        }
        printer.talk(shown.trim_end());
        if !ask::yes(printer, "Open it?")? {
            return Ok(Some(Report::of("Nothing was opened.\n", &output)));
        }
    }
    let failed = |error: std::io::Error| {
        Failure::new(ErrorCode::ProviderUnavailable, format!("{}: {error}", folder.display()))
    };
    let Some(lock) = TunnelLock::take(&home.dirs).map_err(failed)? else {
        let process = TunnelLock::exposure(&home.dirs).and_then(|tunnel| tunnel.process_id);
        let process = process.map_or_else(String::new, |id| format!(", as process {id}"));
        return Err(Failure::new(
            ErrorCode::Conflict,
            format!("a tunnel of this installation runs already{process}"),
        )
        .hint("End it with Ctrl-C in its terminal."));
    };
    create_private_dir(&folder)
        .and_then(|()| replace_private_file(&empty_config(&folder), b""))
        .and_then(|()| replace_private_file(&health_file(&folder), b""))
        .map_err(failed)?;
    let start = |port: u16| ProgramStart {
        file: file.clone(),
        words: program.words(&port.to_string(), &folder),
        set: token.iter().map(|token| (AUTHORIZATION, format!("Bearer {}", token.secret))).collect(),
        command: keeper::command,
    };
    let runtime = runtime::large()?;
    let served = runtime.block_on(async {
        let tunnel = PublicService::open(home, tell(printer, program.name()), &program, lock, &config)?;
        let start = start(tunnel.port()?);
        tunnel.serve(start).await;
        Ok(())
    });
    runtime.shutdown_timeout(Duration::from_millis(200));
    served.map(|()| None)
}

fn head(program: &TunnelProgram, token: Option<&AddedToken>) -> String {
    let name = program.name();
    match (program, token) {
        (TunnelProgram::OpenAi { .. }, Some(token)) => format!(
            "`{name}` would reach the MCP endpoint, and nothing else.\nWhoever may use the tunnel in your organization at \
             OpenAI gets the rights of the token `{}`: {}.",
            one_line(&token.name),
            token.rights
        ),
        (TunnelProgram::OpenAi { .. }, None) => format!(
            "`{name}` would reach the MCP endpoint, and nothing else.\nWhoever may use the tunnel in your organization at \
             OpenAI gets the rights of the token in BAILIWICK_TOKEN."
        ),
        (TunnelProgram::Cloudflare | TunnelProgram::Tailscale, _) => format!(
            "`{name}` would serve the MCP endpoint and the page for logins to everybody, and nothing else.\n\
             Nobody gets in without a token, or a login that you allow there with a code of `bailiwick token code`."
        ),
    }
}

/// Returns what prints the events of a tunnel.
fn tell(printer: Printer, program: &'static str) -> TellTunnel {
    Box::new(move |event| match event {
        Err(failure) => printer.talk(&format!("Not served: {}.", failure.message)),
        Ok(event) if printer.json => {
            let line = serde_json::to_string(event).expect("an event has a JSON form");
            printer.data(&format!("{line}\n"));
        }
        Ok(event) => printer.text(&format!("{}\n", words(event, program))),
    })
}

fn words(event: &TunnelEvent, program: &str) -> String {
    match event {
        TunnelEvent::Open { url: Some(url), .. } => format!(
            "The MCP endpoint for clients elsewhere is {url}.\nIn another terminal: `bailiwick client connect chatgpt`, or \
             `bailiwick client connect claude`. `bailiwick token code` lets one in."
        ),
        TunnelEvent::Open { url: None, .. } => {
            "The tunnel's program runs. In ChatGPT, choose the connection `Tunnel`, and this tunnel."
                .to_owned()
        }
        TunnelEvent::Reachable => "A round trip has come back: it is reachable.".to_owned(),
        TunnelEvent::Unreachable { hop, saw, .. } => {
            format!("Not reachable yet. {}", one_line(&format!("{}: {saw}", hop.name())))
        }
        TunnelEvent::Ended { why, again_in_ms } => {
            let again_in = Duration::from_millis(*again_in_ms).as_secs_f64();
            format!("{program}: {why}. It is started again in {again_in:.1} s.")
        }
        TunnelEvent::Closed => "The tunnel is closed.".to_owned(),
    }
}
