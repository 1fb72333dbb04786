//! `status`: whether it is set up and running, what is open, whether the history is in order.

use serde_json::{Value, json};

use crate::contract::{ErrorCode, Failure, Transport};
use crate::providers::secret_prompt::Prompts;

use super::call::backend;
use super::connect::Connection;
use super::home::Home;
use super::printer::{Paint, Report, one_line, paint, table};
use super::running::RunningNote;
use super::runtime;
use super::scope::states;
use super::service_facts::service_facts;

/// Tells how things stand. Exits 0 when everything is in order, 18 when something is not.
///
/// # Errors
/// When it is not set up, or config or tokens are broken: with the place and the fix.
pub fn run(home: &Home, details: bool) -> Result<Report, Failure> {
    let config = home.config()?;
    let tokens = home.tokens()?;
    let scopes = states(home, &config);
    let (is_running, info) = ask(home)?;
    let history = &info["status"]["history"];
    let note = if is_running { RunningNote::read(&home.dirs) } else { None };
    let has_problem = scopes.iter().any(|scope| !scope["problem"].is_null()) || history["ok"] == false;

    let mut text = format!("Bailiwick {} on {}: ", env!("CARGO_PKG_VERSION"), one_line(&config.machine_name));
    text.push_str(&match (&note, is_running) {
        (Some(note), _) => format!("running at {} (process {})\n", note.url, note.process_id),
        (None, true) => "running\n".to_owned(),
        (None, false) => {
            "set up; no service is running (`bailiwick start`; stdio clients need none)\n".to_owned()
        }
    });
    text.push_str("\nScopes\n");
    if scopes.is_empty() {
        text.push_str("  none: `bailiwick setup FOLDER` opens a folder\n");
    }
    let cell = |scope: &Value, name: &str| one_line(scope[name].as_str().unwrap_or_default());
    let rows: Vec<Vec<String>> = scopes
        .iter()
        .map(|scope| {
            let roots: Vec<&str> =
                scope["roots"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            vec![format!("  {}", cell(scope, "id")), cell(scope, "grants"), one_line(&roots.join(", "))]
        })
        .collect();
    text.push_str(&table(&rows));
    for scope in scopes.iter().filter(|scope| !scope["problem"].is_null()) {
        text.push_str(&format!(
            "  {} {}: {}\n",
            paint(Paint::Bad, "problem"),
            cell(scope, "id"),
            cell(scope, "problem")
        ));
    }
    text.push_str(&match history["ok"].as_bool() {
        Some(false) => format!(
            "\nHistory  {} {}\n",
            paint(Paint::Bad, "problem:"),
            one_line(history["problem"].as_str().unwrap_or("it cannot be written"))
        ),
        _ => "\nHistory  in order\n".to_owned(),
    });
    text.push_str(&format!("Tokens   {}\n", tokens.records().len()));
    let waiting = Prompts::new(&home.dirs.state).waiting().map_or(0, |waiting| waiting.len());
    if waiting > 0 {
        text.push_str(&format!("Waiting  {waiting} for you: run `bailiwick approve`\n"));
    }
    text.push_str(&commands(&info["sandbox"], details));
    if details {
        let rows = [
            ("config", home.config_path.display().to_string()),
            ("tokens", home.dirs.config.join("tokens.json").display().to_string()),
            ("state", home.dirs.state.display().to_string()),
            ("socket", home.dirs.runtime.join("bailiwick.sock").display().to_string()),
            ("machine id", config.machine_id.clone()),
            ("listens on", format!("{}, port {}", config.host, config.port)),
            (
                "without a token",
                if config.http.allow_loopback_without_token { "allowed on loopback" } else { "refused" }
                    .to_owned(),
            ),
            (
                "history kept",
                format!("{} days, {} MiB", config.history.max_age_days, config.history.max_megabytes),
            ),
            (
                "history head",
                history["headSeq"].as_u64().map_or_else(|| "-".to_owned(), |seq| format!("row {seq}")),
            ),
        ];
        text.push_str("\nDetails\n");
        text.push_str(&table(&rows.map(|(name, value)| vec![format!("  {name}"), value])));
        text.push_str(&format!("\n{}", Connection::new(home, &config).long()));
    }
    let json = json!({
        "ok": !has_problem,
        "version": env!("CARGO_PKG_VERSION"),
        "machineId": config.machine_id,
        "machineName": config.machine_name,
        "running": is_running,
        "service": note,
        "startedAt": if is_running { info["service"]["startedAt"].clone() } else { Value::Null },
        "config": home.config_path,
        "state": home.dirs.state,
        "scopes": scopes,
        "tokens": tokens.records().len(),
        "waiting": waiting,
        "history": history,
        "commands": info["sandbox"],
    });
    let exit = if has_problem { ErrorCode::ProviderUnavailable.facts().exit_code } else { 0 };
    let report = Report { exit, ..Report::new(text, json) };
    Ok(if has_problem { report.note("\n`bailiwick doctor` says what to do.") } else { report })
}

/// Tells how strongly commands are held here, and why not more.
fn commands(sandbox: &Value, details: bool) -> String {
    let mut text = match sandbox["strongest"].as_str() {
        Some(level) => format!("Commands held at `{level}` unless a scope says otherwise\n"),
        None => "Commands cannot be run here\n".to_owned(),
    };
    let levels = sandbox["levels"].as_array().into_iter().flatten();
    for level in levels.filter(|level| level["available"] == false && (details || level["level"] != "none")) {
        let (name, why) = (&level["level"], &level["why"]);
        let (name, why) = (name.as_str().unwrap_or_default(), why.as_str().unwrap_or_default());
        text.push_str(&format!("         not at `{name}`: {}\n", one_line(why)));
    }
    text
}

/// Asks the running service, or one in this process, how it is.
fn ask(home: &Home) -> Result<(bool, Value), Failure> {
    let runtime = runtime::small()?;
    let asked = runtime.block_on(async {
        let backend = backend(home, Transport::Cli, None).await?;
        let info = service_facts(&backend, &["service", "status", "sandbox"]).await?;
        Ok((backend.is_remote(), info))
    });
    runtime.shutdown_background();
    asked
}
