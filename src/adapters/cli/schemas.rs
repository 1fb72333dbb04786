//! The schemas of what commands print with `--json`: one table, which a test holds against real answers.
//!
//! A failure has the same form for every command.

use schemars::JsonSchema;

use super::{completions, described, man, start, url_check};
use crate::approvals::{learn, output as approve, untrusted};
use crate::autostart::output as service;
use crate::diagnosis::output as doctor;
use crate::diagnosis::prove::ProveOutput;
use crate::diagnosis::{config_files as config, report, screen_status, status, trial, uninstall};
use crate::installation::{processes as ps, tokens};
use crate::past_requests::{event, output as history, replay, undo_output as undo, why};
use crate::scope_setup::{command_verdicts, explanation, offer, output as scope, setup_output as setup};
use crate::tunnels::output as tunnel;

/// What a command prints.
#[derive(Debug, Clone, Copy)]
pub struct CommandSchema {
    /// The command's words, without the program; several where a flag changes what it prints.
    pub command: &'static str,
    /// The name of its file below `schemas/cli`, without `.json`.
    pub name: &'static str,
    #[cfg(test)]
    schema: fn() -> schemars::Schema,
}

/// The commands with their schemas, those of `client` aside.
pub const SCHEMAS: &[CommandSchema] = &[
    row::<approve::ApproveOutput>("approve", "approve"),
    row::<approve::ApproveListOutput>("approve --list", "approve.list"),
    row::<report::BundleOutput>("bundle", "bundle"),
    row::<report::BundleInspectOutput>("bundle --inspect", "bundle.inspect"),
    row::<url_check::UrlCheckOutput>("client check", "client.check"),
    row::<completions::CompletionsOutput>("completions", "completions"),
    row::<config::EditOutput>("config edit", "config.edit"),
    row::<config::PathOutput>("config path", "config.path"),
    row::<config::ShowOutput>("config show", "config.show"),
    row::<config::EditOutput>("config undo", "config.undo"),
    row::<config::ValidateOutput>("config validate", "config.validate"),
    row::<described::ConnectOutput>("client connect", "client.connect"),
    row::<offer::ToolsOutput>("client tools", "client.tools"),
    row::<described::ConnectOutput>("connect", "connect"),
    row::<described::FailureOutput>("(any, when it fails)", "failure"),
    row::<doctor::DoctorOutput>("doctor", "doctor"),
    row::<ProveOutput>("doctor --prove", "doctor.prove"),
    row::<report::BundleInspectOutput>("doctor --inspect", "doctor.inspect"),
    row::<report::BundleOutput>("doctor --report", "doctor.report"),
    row::<doctor::UndoOutput>("doctor --undo", "doctor.undo"),
    row::<setup::SetupOutput>("here", "here"),
    row::<history::TimelineOutput>("log", "log"),
    row::<history::ConnectionsOutput>("log clients", "log.clients"),
    row::<history::EntryOutput>("log --follow", "log.follow"),
    row::<history::LastOutput>("log last", "log.last"),
    row::<history::FailedReplayOutput>("log replay", "log.replay"),
    row::<history::SessionsOutput>("log sessions", "log.sessions"),
    row::<history::GetOutput>("log show", "log.show"),
    row::<bailiwick_history::VerifyReport>("log verify", "log.verify"),
    row::<man::ManOutput>("man", "man"),
    row::<explanation::ExplainOutput>("policy explain OPERATION", "policy.explain"),
    row::<command_verdicts::ExplainCommandOutput>("policy explain COMMAND", "policy.explain.command"),
    row::<learn::PolicyLearnOutput>("policy learn", "policy.learn"),
    row::<command_verdicts::PolicyTestOutput>("policy test", "policy.test"),
    row::<replay::PolicyReplayOutput>("policy test --against-history", "policy.test.against-history"),
    row::<untrusted::PolicyUntrustedOutput>("policy untrusted", "policy.untrusted"),
    row::<why::PolicyWhyOutput>("policy why", "policy.why"),
    row::<ps::ProcessListOutput>("ps", "ps"),
    row::<ps::ProcessListOutput>("ps list", "ps.list"),
    row::<ps::ProcessReadOutput>("ps logs", "ps.logs"),
    row::<ps::PieceOutput<'_>>("ps logs --follow", "ps.logs.follow"),
    row::<ps::ProcessStopOutput>("ps stop", "ps.stop"),
    row::<scope::ScopeChangeOutput>("scope add", "scope.add"),
    row::<scope::ScopeChangeOutput>("scope add-screen", "scope.add-screen"),
    row::<scope::ScopeChangeOutput>("scope add-desktop", "scope.add-desktop"),
    row::<scope::ScopeChangeOutput>("scope add-display", "scope.add-display"),
    row::<scope::ScopeChangeOutput>("scope allow", "scope.allow"),
    row::<scope::ScopeChangeOutput>("scope deny", "scope.deny"),
    row::<scope::ScopeChangeOutput>("scope edit", "scope.edit"),
    row::<scope::ScopeListOutput>("scope list", "scope.list"),
    row::<scope::ScopeRemoveOutput>("scope remove", "scope.remove"),
    row::<scope::ScopeShowOutput>("scope show", "scope.show"),
    row::<screen_status::ScreenStatusOutput>("screen status", "screen.status"),
    row::<start::StartOutput>("serve", "serve"),
    row::<event::Event>("serve --log", "serve.events"),
    row::<service::InstallOutput>("service install", "service.install"),
    row::<service::RemoveOutput>("service remove", "service.remove"),
    row::<service::DoneOutput>("service start", "service.start"),
    row::<service::StatusOutput>("service status", "service.status"),
    row::<service::DoneOutput>("service stop", "service.stop"),
    row::<setup::SetupOutput>("setup", "setup"),
    row::<status::StatusOutput>("status", "status"),
    row::<tokens::TokenCodeOutput>("token code", "token.code"),
    row::<tokens::TokenShownOutput>("token create", "token.create"),
    row::<tokens::TokenListOutput>("token list", "token.list"),
    row::<tokens::TokenRevokeOutput>("token revoke", "token.revoke"),
    row::<tokens::TokenShownOutput>("token rotate", "token.rotate"),
    row::<offer::ToolsOutput>("tools", "tools"),
    row::<tunnel::TunnelOutput>("tunnel cloudflare --dry-run", "tunnel.cloudflare"),
    row::<tunnel::TunnelEvent>("tunnel cloudflare", "tunnel.events"),
    row::<tunnel::TunnelOutput>("tunnel manual", "tunnel.manual"),
    row::<tunnel::TunnelOutput>("tunnel off", "tunnel.off"),
    row::<tunnel::TunnelOutput>("tunnel openai --dry-run", "tunnel.openai"),
    row::<tunnel::TunnelOutput>("tunnel tailscale --dry-run", "tunnel.tailscale"),
    row::<trial::TryOutput>("try", "try"),
    row::<undo::UndoOutput>("undo", "undo"),
    row::<uninstall::UninstallOutput>("uninstall", "uninstall"),
    row::<history::EntryOutput>("watch", "watch"),
];

#[cfg_attr(
    not(test),
    expect(clippy::extra_unused_type_parameters, reason = "without schemas the type is named only")
)]
const fn row<T: JsonSchema>(command: &'static str, name: &'static str) -> CommandSchema {
    CommandSchema {
        command,
        name,
        #[cfg(test)]
        schema: schema_of::<T>,
    }
}

#[cfg(test)]
fn schema_of<T: JsonSchema>() -> schemars::Schema {
    schemars::schema_for!(T)
}

#[cfg(test)]
mod tests {
    use bailiwick_schema::assert_committed;

    use super::*;
    use crate::client_settings::output as client;

    #[test]
    fn committed_schemas_of_commands_equal_the_generated_ones() {
        let of_clients = [
            row::<client::ListOutput>("client list", "client.list"),
            row::<client::ChangesOutput>("client list --changes", "client.list.changes"),
            row::<client::EditOutput>("client add", "client.add"),
            row::<client::EditOutput>("client remove", "client.remove"),
            row::<client::EditOutput>("client undo", "client.undo"),
            row::<client::PrintOutput>("client print", "client.print"),
            row::<client::BundleOutput>("client mcpb", "client.mcpb"),
        ];
        let made: Vec<(String, String)> = SCHEMAS
            .iter()
            .chain(&of_clients)
            .map(|row| {
                let schema = serde_json::Value::from((row.schema)());
                (format!("schemas/cli/{}.json", row.name), format!("{schema:#}\n"))
            })
            .collect();
        assert_committed(&made, &["schemas/cli"], "cargo test -p bailiwick --lib schemas");
    }
}
