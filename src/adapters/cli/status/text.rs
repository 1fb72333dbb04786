//! How things stand, for a person: the verdict first, then what is open, then what to do.

use serde_json::Value;

use bailiwick_config::Config;

use super::super::printer::{Paint, labelled, one_line, paint};
use crate::client_settings::connection::Connection;
use crate::diagnosis::live_clients::{LiveClients, RECENT_MINUTES};
use crate::diagnosis::status::{Situation, StatusOutput};
use crate::installation::home::Home;
use crate::installation::running::RunningNote;
use crate::scope_setup::scope_words::{ScopeState, in_short};
use crate::text_layout::table::{Fit, Table, table};

/// Lays out what was found.
pub fn text(home: &Home, found: &Situation, details: bool) -> String {
    let Situation { config, output, exposures, wrong_clients, is_silent } = found;
    let is_silent = *is_silent;
    let mut text = verdict(output, is_silent);
    if !output.scopes.is_empty() {
        text.push('\n');
        text.push_str(&scopes(&output.scopes, details));
    }
    let mut lines: Vec<(&str, String)> = Vec::new();
    for scope in &output.scopes {
        if let Some(problem) = &scope.problem {
            lines.push((PROBLEM, format!("{}: {}", one_line(&scope.id), one_line(problem))));
        }
    }
    if !is_silent && !output.history.ok {
        let why = output.history.problem.as_deref().unwrap_or("it cannot be written");
        lines.push((PROBLEM, format!("the history: {}", one_line(why))));
    }
    for notice in &output.history.notices {
        lines.push(("Note", format!("the history: {}", one_line(notice))));
    }
    if let Some(exposure) = output.service.as_ref().and_then(RunningNote::exposure) {
        lines.push(("Warning", one_line(&exposure)));
    }
    lines.extend(exposures.iter().map(|tried| ("Public", tried.says())));
    if output.waiting > 0 {
        let questions = match output.waiting {
            1 => "1 question waits".to_owned(),
            count => format!("{count} questions wait"),
        };
        lines.push(("Waiting", format!("{questions} for you: `bailiwick approve`")));
    }
    lines.extend(output.warnings.iter().map(|warning| ("Warning", one_line(warning))));
    lines.extend(served(&output.live));
    if !output.clients.is_empty() {
        lines.push(("Configured", output.clients.join(", ")));
    }
    for problem in wrong_clients {
        lines.push(("Warning", one_line(problem)));
    }
    for (place, step) in output.next.iter().enumerate() {
        lines.push((if place == 0 { "Next" } else { "then" }, step.clone()));
    }
    if !lines.is_empty() {
        text.push('\n');
        for (label, said) in lines {
            let line = labelled(&[(label, said)]);
            text.push_str(&if label == PROBLEM {
                line.replacen(PROBLEM, &paint(Paint::Bad, PROBLEM), 1)
            } else {
                line
            });
        }
    }
    if details {
        text.push_str(&everything(home, config, output));
    }
    text
}

const PROBLEM: &str = "Problem";

/// Returns which clients are served now.
fn served(live: &LiveClients) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    let named = |client: Option<&str>| client.map_or_else(|| "a client".to_owned(), one_line);
    let with =
        |token: Option<&str>| token.map_or_else(String::new, |it| format!(" with token `{}`", one_line(it)));
    if !live.stdio.is_empty() {
        let each = live.stdio.iter().map(|it| {
            format!(
                "{}{} (process {})",
                named(it.client.as_deref()),
                with(it.token.as_deref()),
                it.process_id
            )
        });
        lines.push(("Connected", each.collect::<Vec<_>>().join(", ")));
    }
    if !live.http.is_empty() {
        let each = live.http.iter().map(|it| {
            let token = Some(it.caller.as_str()).filter(|caller| *caller != "local");
            format!("{}{}", named(it.client.as_deref()), with(token))
        });
        let each = each.collect::<Vec<_>>().join(", ");
        lines.push(("Over HTTP", format!("{each}, in the last {RECENT_MINUTES} minutes")));
    }
    lines
}

fn verdict(output: &StatusOutput, is_silent: bool) -> String {
    let version = &output.version;
    let serves = match &output.service {
        Some(note) => format!("serves {} (process {})", one_line(&note.url), note.process_id),
        None => "is running".to_owned(),
    };
    if is_silent {
        let process = output
            .service
            .as_ref()
            .map_or_else(String::new, |note| format!(" (process {})", note.process_id));
        return format!(
            "{} a service runs{process}, and does not answer.\n",
            paint(Paint::Bad, "Not ready:")
        );
    }
    if !output.ok {
        let also = if output.running { format!(" Bailiwick {version} {serves}.") } else { String::new() };
        return format!("{} something is wrong, see below.{also}\n", paint(Paint::Bad, "Not ready:"));
    }
    if output.scopes.is_empty() {
        let also = if output.running { format!(" Bailiwick {version} {serves}.") } else { String::new() };
        return format!("{} no folder is open yet.{also}\n", paint(Paint::Hint, "Not ready:"));
    }
    let ready = paint(Paint::Good, "Ready.");
    if output.running {
        format!("{ready} Bailiwick {version} {serves}.\n")
    } else {
        format!(
            "{ready} Clients start Bailiwick {version} themselves; no service runs\n(`bailiwick serve` serves clients over HTTP).\n"
        )
    }
}

fn scopes(scopes: &[ScopeState], details: bool) -> String {
    let mut rows = Table::new(&[("SCOPE", Fit::Whole), ("CLIENTS MAY", Fit::Cut), ("FOLDERS", Fit::Cut)]);
    for scope in scopes {
        let grants = if details { scope.grants.clone() } else { in_short(&scope.grants) };
        let roots = if scope.roots.is_empty() { "(the computer)".to_owned() } else { scope.roots.join(", ") };
        rows.row([one_line(&scope.id), one_line(&grants), one_line(&roots)]);
    }
    rows.text()
}

fn everything(home: &Home, config: &Config, output: &StatusOutput) -> String {
    let without_token =
        if config.http.allow_loopback_without_token { "allowed on loopback" } else { "refused" };
    let rows = [
        ("computer", format!("{} ({})", one_line(&config.machine_name), config.machine_id)),
        ("config", home.config_path.display().to_string()),
        ("tokens", format!("{} in {}", output.tokens, home.dirs.config.join("tokens.json").display())),
        ("state", home.dirs.state.display().to_string()),
        ("socket", home.dirs.runtime.join("bailiwick.sock").display().to_string()),
        ("listens on", format!("{}, port {}", config.host, config.port)),
        ("without a token", without_token.to_owned()),
        (
            "history kept",
            format!("{} days, {} MiB", config.history.max_age_days, config.history.max_megabytes),
        ),
        ("history head", format!("row {}", output.history.head_seq)),
        ("commands", commands(&output.commands)),
    ];
    let mut text = "\nDetails\n".to_owned();
    text.push_str(&table(&rows.map(|(name, value)| vec![format!("  {name}"), one_line(&value)])));
    let levels = output.commands["levels"].as_array().into_iter().flatten();
    for level in levels.filter(|level| level["available"] == false) {
        let (name, why) = (&level["level"], &level["why"]);
        let (name, why) = (name.as_str().unwrap_or_default(), why.as_str().unwrap_or_default());
        text.push_str(&format!("  not at `{name}`: {}\n", one_line(why)));
    }
    text.push_str(&format!("\n{}", Connection::new(home, config).long()));
    text
}

/// Returns how strongly commands are held here.
fn commands(sandbox: &Value) -> String {
    match sandbox["strongest"].as_str() {
        None | Some("none") => {
            "do not run, as this computer has no sandbox for them, but in scopes that want none".to_owned()
        }
        Some(level @ "full") => {
            format!("sandboxed at `{level}` unless a scope says otherwise; closed files are hidden")
        }
        Some(level) => {
            format!("sandboxed at `{level}` unless a scope says otherwise; they can read closed files")
        }
    }
}
