//! `tools`: which MCP tools and which operations a client has, in which scopes, and what they need.

use crate::adapters::mcp;
use crate::scope_setup::offer::{Offer, ToolOutput, ToolsOutput, operations};
use bailiwick_contract::{Failure, Transport};
use bailiwick_engine::operations::FAMILIES;
use bailiwick_engine::registry::Registry;

use super::args::ToolsArgs;
use super::printer::{Fit, Report, Table, one_line};
use crate::client_settings::look::caller_of;
use crate::installation::home::Home;
use crate::scope_setup::scope_words::place_of;

/// Lists what a client has.
///
/// # Errors
/// When there is no such token or scope.
pub fn run(home: &Home, args: &ToolsArgs) -> Result<Report, Failure> {
    let config = home.config()?;
    if let Some(id) = &args.scope {
        place_of(&config, id)?;
    }
    let scopes = home.scopes()?;
    let token = match args.client {
        Some(client) => caller_of(home, client)?,
        None => args.token.clone(),
    };
    let caller = home.caller(token.as_deref(), Transport::Stdio)?;
    let registry = Registry::new(FAMILIES);
    let offer = Offer::of(&caller, &scopes, &registry);
    let tools: Vec<ToolOutput> = mcp::listed(&offer)
        .into_iter()
        .map(|tool| ToolOutput {
            name: tool.name.to_string(),
            title: tool.title.unwrap_or_default(),
            read_only: tool.annotations.and_then(|it| it.read_only_hint).unwrap_or_default(),
        })
        .collect();
    let operations = operations(args.scope.as_deref(), args.all, &caller, &scopes, &registry);

    let mut text = format!(
        "{} sees the tools {}.\n\n",
        if caller.name == "local" {
            "A program that you start".to_owned()
        } else {
            format!("`{}`", one_line(&caller.name))
        },
        tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", ")
    );
    let mut table = Table::new(&[
        ("OPERATION", Fit::Whole),
        ("OPEN IN", Fit::Cut),
        ("NEEDS", Fit::Cut),
        ("WHAT IT DOES", Fit::Spare),
    ]);
    for operation in &operations {
        let asks = operation.ask.iter().map(|id| format!("{id}?"));
        let open: Vec<String> = operation.open.iter().cloned().chain(asks).collect();
        let needs: Vec<String> = operation.needs.iter().map(|group| group.join(" or ")).collect();
        table.row([
            operation.name.to_owned(),
            if open.is_empty() { "-".to_owned() } else { open.join(" ") },
            needs.join(" and "),
            operation.summary.to_owned(),
        ]);
    }
    text.push_str(&table.text());
    let output = ToolsOutput { ok: true, caller: caller.name, scopes: offer.scopes, tools, operations };
    let report = Report::of(text, &output);
    Ok(if args.all {
        report
    } else {
        report.note(
            "\n--all lists also what is open nowhere. `?`: set to `ask`: each request needs your approval.",
        )
    })
}
