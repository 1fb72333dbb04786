//! `computer.info`: who and where this is, and what the caller may do here.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value, json};

use crate::operations::codex::around as around_codex;
use crate::registry::prelude::*;
use crate::registry::{
    Entry, SIGNATURE_LEGEND, SignatureLength, describe_operation, describe_shortly, grouped, signature,
};
use bailiwick_config::Exposure;
use bailiwick_contract::time::rfc3339;
use bailiwick_contract::{Containment, ErrorCode, OneOrMany, fields};
use bailiwick_platform::launch::levels_are_known;
use bailiwick_platform::launch::{hides_files, job_memory, levels};
use bailiwick_platform::system::system;
use bailiwick_policy::{CapabilityStatus, Grants, STAGES, Scope};
use bailiwick_providers::codex;
use bailiwick_providers::command::{TIME_OF_ALL, VersionContext, installed_tools, level, tool_versions};
use bailiwick_providers::screen::access_state;

/// The operation.
pub struct Op;

/// A part of the information.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The computer's id and name.
    Identity,
    /// Operating system, its name and version as it tells them, and architecture.
    Platform,
    /// Version and start of the service.
    Service,
    /// The MCP tools.
    Tools,
    /// The scopes that the caller may name, with what they grant.
    Scopes,
    /// The stages of the policy.
    Policy,
    /// How commands can be sandboxed on this computer, and why not more strongly.
    Sandbox,
    /// The versions of the programs that are `installed`, for each scope whose commands are fully sandboxed.
    Versions,
    /// Whether the displays can be read, to those who may take pictures of them.
    Screen,
    /// Whether the history and each scope's folders are valid.
    Status,
    /// The operations that the caller may use, a line each, with the scopes; with `family` more about some.
    Operations,
}

/// Which parts to give.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Input {
    /// The parts; default identity, platform, service, scopes, and with `family` the operations alone.
    pub include: Vec<Part>,
    /// With `operations`: describe this one operation (`file.read`) in full, or these families and operations
    /// (`["file", "git.diff"]`) in a line each.
    pub family: Option<OneOrMany>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "computer.info",
        summary: "Tell what this computer is and what you may do here",
        details: "Start here. `include` chooses the parts; `operations` shows a line for each operation, with `family` more about some.",
        capabilities: &[],
        effect: Effect::ReadOnly,
        target: TargetRule::None,
        scope: ScopeNeed::Optional,
        threads: Threads::Async,
        audited_fields: &["include", "family"],
        example: r#"{"op":"computer.info","input":{"include":["operations"],"family":"file"}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = NoFields;
    type Output = Map<String, Value>;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunAsync for Op {
    async fn run(
        cx: &Context,
        permit: &Permit,
        input: &Input,
        _: &NoFields,
    ) -> Result<Map<String, Value>, Failure> {
        let default = [Part::Identity, Part::Platform, Part::Service, Part::Scopes];
        let mut parts = match (input.include.as_slice(), &input.family) {
            ([], None) => default.to_vec(),
            (asked, _) => asked.to_vec(),
        };
        if input.family.is_some() && !parts.contains(&Part::Operations) {
            parts.push(Part::Operations);
        }
        if input.family.is_none() && parts.contains(&Part::Operations) && !parts.contains(&Part::Scopes) {
            parts.push(Part::Scopes);
        }
        let shared: Vec<&Arc<Scope>> = match permit.scope() {
            Some(scope) => vec![scope],
            None => cx.scopes.iter().collect(),
        };
        let scopes: Vec<&Scope> = shared.iter().map(|scope| scope.as_ref()).collect();
        if !levels_are_known() {
            // Looking takes milliseconds. Where it fails, the part that needs it looks again.
            let _ = tokio::task::spawn_blocking(levels).await;
        }
        let mut data = Map::new();
        for part in parts {
            let (name, value) = match part {
                Part::Identity => ("identity", identity(cx)),
                Part::Platform => ("platform", platform()),
                Part::Service => ("service", service(cx)),
                Part::Tools => ("tools", json!(TOOLS)),
                Part::Scopes => ("scopes", describe_scopes(cx, &shared).await),
                Part::Policy => ("policy", policy()),
                Part::Sandbox => ("sandbox", sandbox()),
                Part::Versions => ("versions", versions(cx, &shared).await?),
                Part::Screen => ("screen", screen(cx, &scopes).await?),
                Part::Status => ("status", status(cx, &scopes).await),
                Part::Operations => {
                    ("operations", operations(cx, &scopes, OneOrMany::list(input.family.as_ref()))?)
                }
            };
            data.insert(name.to_owned(), value);
        }
        Ok(data)
    }
}

/// How many programs of a scope are named.
const MAX_PROGRAMS: usize = 64;

/// The MCP tools, in the order of `tools/list`.
const TOOLS: &[&str] =
    &["get_computer_info", "computer_query", "computer_operation", "get_operation_history"];

fn identity(cx: &Context) -> Value {
    let config = &cx.service.config;
    json!({"machineId": config.machine_id, "machineName": config.machine_name, "caller": cx.caller.name})
}

fn platform() -> Value {
    json!({"os": std::env::consts::OS, "system": system(), "architecture": std::env::consts::ARCH})
}

fn service(cx: &Context) -> Value {
    let mut service = json!({
        "name": "bailiwick",
        "version": env!("CARGO_PKG_VERSION"),
        "startedAt": rfc3339(cx.service.started_at_ms),
        "transport": cx.caller.transport.as_str(),
    });
    let exposures = Exposure::all(&cx.service.config, &cx.service.dirs);
    if !exposures.is_empty() {
        service["exposures"] = json!(exposures);
    }
    service
}

fn policy() -> Value {
    STAGES.iter().map(|stage| json!({"stage": stage.name.as_str(), "asks": stage.asks})).collect()
}

/// Tells the levels at which commands can be sandboxed here.
fn sandbox() -> Value {
    let levels = levels();
    let each = [Containment::Full, Containment::Partial, Containment::None];
    let each = each.map(|level| match levels.missing(level) {
        None => json!({"level": level, "available": true, "closedFiles": closed_files(level)}),
        Some(why) => json!({"level": level, "available": false, "why": why}),
    });
    json!({
        "strongest": levels.strongest,
        "levels": each,
        "landlockAbi": levels.landlock_abi,
        "jobMemory": job_memory(),
    })
}

/// Returns whether commands at a level can read the files that their scope closes.
const fn closed_files(level: Containment) -> &'static str {
    if hides_files(level) { "hidden" } else { "readable" }
}

/// Returns whether the displays can be read, and what each scope takes pictures of.
async fn screen(cx: &Context, scopes: &[&Scope]) -> Result<Value, Failure> {
    let may = |scope: &&&Scope| {
        scope.scope_type() == ScopeType::Computer
            && standing(cx, scope, Capability::ScreenCapture) != CapabilityStatus::Denied
    };
    let shown = |scope: &Scope| {
        let rules = scope.screen();
        json!({
            "scope": scope.id(),
            "displays": rules.shows_displays(),
            "windows": rules.shows_windows(),
            "processes": rules.shows_processes(),
        })
    };
    let scopes: Vec<Value> = scopes.iter().filter(may).map(|scope| shown(scope)).collect();
    if scopes.is_empty() {
        return Ok(json!({"scopes": []}));
    }
    let displays = Arc::clone(&cx.service.displays);
    let listing = tokio::task::spawn_blocking(move || displays.list()).await;
    let listing = listing.map_err(|_| {
        Failure::new(ErrorCode::ExecutionFailed, "the displays could not be asked (a bug in Bailiwick)")
    })?;
    let access = listing.map(|listing| access_state(&listing.access)).map_err(|error| error.to_string());
    Ok(match access {
        Ok(access) => json!({"access": access, "scopes": scopes}),
        Err(problem) => json!({"problem": problem, "scopes": scopes}),
    })
}

/// Returns the programs of which the rules allow something.
fn programs(scope: &Scope) -> Vec<String> {
    let names = scope.commands().rules().implications().into_iter().map(|(name, _)| name);
    names.take(MAX_PROGRAMS).collect()
}

/// Returns whether the caller may run commands in a scope.
fn may_run_commands(cx: &Context, scope: &Scope) -> bool {
    let may = |capability| standing(cx, scope, capability) != CapabilityStatus::Denied;
    may(Capability::CommandRun) || may(Capability::PackageRun)
}

/// Returns the versions of the usual programs that are installed, for each scope where the caller may run them.
async fn versions(cx: &Context, scopes: &[&Arc<Scope>]) -> Result<Value, Failure> {
    let mut versions = Map::new();
    let end = Instant::now() + TIME_OF_ALL;
    for scope in scopes.iter().copied().filter(|scope| may_run_commands(cx, scope)) {
        let around = VersionContext {
            launcher: Arc::clone(&cx.service.launcher),
            dirs: cx.service.dirs.clone(),
            scope: Arc::clone(scope),
            roots: cx.service.roots.clone(),
            cancel: cx.cancel.clone(),
        };
        let runs_any = runs_any(scope);
        let allowed = scope.commands().rules().implications();
        let may_run = |name: &str| runs_any || allowed.iter().any(|(program, _)| program == name);
        let found = tool_versions(&around, end, may_run).await?;
        if !found.is_empty() {
            versions.insert(scope.id().to_owned(), json!(found));
        }
    }
    Ok(Value::Object(versions))
}

/// Returns whether any program runs in a scope.
fn runs_any(scope: &Scope) -> bool {
    let commands = scope.commands();
    commands.runs_any_program() && level(commands.hold().sandbox).is_ok_and(|it| it == Containment::Full)
}

/// Returns what will hold the commands of a scope, to those who may run them.
async fn describe_commands(cx: &Context, scope: &Arc<Scope>) -> Option<Value> {
    if !may_run_commands(cx, scope) {
        return None;
    }
    let hold = scope.commands().hold();
    let (level, problem) = match level(hold.sandbox) {
        Ok(level) => (Some(level), None),
        Err(failure) => (None, Some(failure.message)),
    };
    let runs_any = runs_any(scope);
    let accepts = match runs_any {
        true => "any program; a string may be any text for bash",
        false => "the programs that the rules allow; a string of literal words",
    };
    let mut described = json!({
        "sandbox": hold.sandbox.as_str(),
        "level": level,
        "closedFiles": level.map(closed_files),
        "accepts": accepts,
        "folders": level.map(|level| match Context::folder_access(&Grants::of(&cx.caller, Some(scope))).can_write(level) {
            true => "writable",
            false => "read-only",
        }),
        "problem": problem,
        "network": hold.network,
        "hosts": hold.hosts.as_ref().map(|rules| rules.texts()),
        "programs": programs(scope),
        "allowedEnvironment": hold.allowed_environment,
    });
    if !runs_any {
        let programs = scope.commands().rules().implications().into_iter();
        described["programs"] = programs.map(|(name, _)| Value::String(name)).collect();
    }
    let installed = installed(cx, scope, runs_any).await;
    if !installed.is_empty() {
        described["installed"] = json!(installed);
    }
    Some(described)
}

/// Returns which of the usual tools are installed and may run in a scope.
async fn installed(cx: &Context, scope: &Arc<Scope>, runs_any: bool) -> Vec<&'static str> {
    let (scope, roots, dirs) = (Arc::clone(scope), cx.service.roots.clone(), cx.service.dirs.clone());
    let look = move || {
        let allowed = scope.commands().rules().implications();
        let may_run = |name: &str| runs_any || allowed.iter().any(|(program, _)| program == name);
        installed_tools(&scope, &roots, &dirs, may_run)
    };
    // It reads the disk.
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}

async fn describe_scope(cx: &Context, scope: &Arc<Scope>) -> Value {
    let with = |wanted: CapabilityStatus| -> Vec<&str> {
        let usable = Capability::ALL.iter().filter(|it| standing(cx, scope, **it) == wanted);
        usable.map(|capability| capability.as_str()).collect()
    };
    let mut described = json!({
        "id": scope.id(),
        "name": scope.name(),
        "type": scope.scope_type(),
        "roots": scope.roots().iter().map(|root| json!({"name": root.name})).collect::<Vec<_>>(),
        "capabilities": with(CapabilityStatus::Granted),
        "ask": with(CapabilityStatus::Ask),
        "limits": {
            "maxRuntimeSeconds": scope.max_runtime().as_secs(),
            "maxOutputBytes": scope.max_output_bytes(),
        },
    });
    if let Some(commands) = describe_commands(cx, scope).await {
        described["commands"] = commands;
    }
    described
}

async fn describe_scopes(cx: &Context, scopes: &[&Arc<Scope>]) -> Value {
    let mut described = Vec::with_capacity(scopes.len());
    for scope in scopes {
        let mut one = describe_scope(cx, scope).await;
        if standing(cx, scope, Capability::CodexRun) != CapabilityStatus::Denied {
            one["codex"] = describe_codex(cx, scope).await;
        }
        described.push(one);
    }
    described.into()
}

/// Returns what there is of Codex, to those who may run it.
async fn describe_codex(cx: &Context, scope: &Arc<Scope>) -> Value {
    match codex::look(&around_codex(cx, scope)).await {
        Ok(found) => json!({
            "available": true,
            "version": found.version.to_string(),
            "login": found.login.as_str(),
            "level": found.level,
        }),
        Err(failure) => json!({
            "available": false,
            "problem": failure.message,
            "rule": failure.rule(),
            "hints": failure.hints,
        }),
    }
}

async fn status(cx: &Context, scopes: &[&Scope]) -> Value {
    let roots = scopes.iter().flat_map(|scope| {
        scope.roots().iter().map(|root| {
            let problem = root.problem().map(|failure| failure.message.clone());
            json!({"scope": scope.id(), "root": root.name, "ok": problem.is_none(), "problem": problem})
        })
    });
    let roots: Vec<Value> = roots.collect();
    let history = cx.history.clone();
    // It waits for a store that is just being opened.
    let history = tokio::task::spawn_blocking(move || history.status()).await.unwrap_or_default();
    json!({"roots": roots, "history": history})
}

/// How a scope and the caller's own grant stand to a capability, together.
fn standing(cx: &Context, scope: &Scope, capability: Capability) -> CapabilityStatus {
    Grants::of(&cx.caller, Some(scope)).level(capability)
}

/// Returns whether the caller could use an operation in one of the scopes.
fn usable(cx: &Context, scopes: &[&Scope], entry: &Entry) -> bool {
    let granted = |scope: &Scope, group: &[Capability]| {
        group.iter().any(|capability| standing(cx, scope, *capability) != CapabilityStatus::Denied)
    };
    entry.spec.supports_platform(std::env::consts::OS)
        && match entry.spec.scope {
            ScopeNeed::Optional => true,
            ScopeNeed::In(types) => scopes.iter().any(|scope| {
                types.contains(&scope.scope_type())
                    && entry.spec.capabilities.iter().all(|group| granted(scope, group))
            }),
        }
}

fn operations(cx: &Context, scopes: &[&Scope], wanted: &[String]) -> Result<Value, Failure> {
    let registry = &cx.service.registry;
    let shown = |entry: &Entry| usable(cx, scopes, entry);
    let wanted: Vec<&str> =
        wanted.iter().flat_map(|names| names.split(',')).map(str::trim).filter(|it| !it.is_empty()).collect();
    if wanted.is_empty() {
        let entries = registry.operations().filter(|entry| entry.alias_of.is_none() && shown(entry));
        let lines = grouped(entries.map(|entry| signature(entry, SignatureLength::Short)));
        return Ok(json!({"legend": SIGNATURE_LEGEND, "signatures": lines}));
    }
    if let [only] = wanted.as_slice()
        && let Some(entry) = registry.entry(only).filter(|entry| shown(entry))
    {
        return Ok(describe_operation(entry));
    }
    let mut described: Vec<Value> = Vec::new();
    for name in wanted {
        if let Some(family) = registry.families().iter().find(|family| family.name == name) {
            described.extend(family.operations.iter().filter(|entry| shown(entry)).map(describe_shortly));
        } else if let Some(entry) = registry.entry(name).filter(|entry| shown(entry)) {
            described.push(describe_shortly(entry));
        } else {
            return Err(unknown(cx, name, shown));
        }
    }
    Ok(json!({"operations": described}))
}

/// Refuses the name of a family or operation that the caller does not have.
fn unknown(cx: &Context, wanted: &str, shown: impl Fn(&Entry) -> bool) -> Failure {
    let registry = &cx.service.registry;
    let names = registry.families().iter().map(|family| family.name);
    let all =
        names.clone().chain(registry.operations().filter(|entry| shown(entry)).map(|entry| entry.spec.name));
    let nearest = fields::nearest(wanted, all, 3);
    let failure = Failure::invalid(
        "input.family",
        format!("there is no family or operation `{wanted}` for this caller"),
    )
    .detail("families", names.collect::<Vec<_>>());
    if nearest.is_empty() { failure } else { failure.hint(format!("Did you mean {}?", nearest.join(" or "))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::FAMILIES;

    fn all(length: SignatureLength) -> Vec<&'static str> {
        let rows = FAMILIES.iter().flat_map(|family| family.operations);
        rows.filter(|entry| entry.alias_of.is_none()).map(|entry| signature(entry, length)).collect()
    }

    #[test]
    fn all_signatures_together_are_short() {
        // 3.4 characters are a token of o200k in such lines: 700 of the desktop, which only scopes of the computer have that grant
        // it, and 900 of all else. The scopes take 130 more.
        let desktop = [
            "screen.",
            "ui.",
            "menu.",
            "dialog.",
            "input.",
            "window.",
            "workspace.",
            "clipboard.",
            "display.",
            "app.",
            "notify.",
            "tray.",
            "permissions.",
            "system.",
        ];
        let is_of_desktop = |line: &&str| desktop.iter().any(|family| line.starts_with(family));
        let (of_desktop, others): (Vec<_>, Vec<_>) =
            all(SignatureLength::Short).into_iter().partition(is_of_desktop);
        for (lines, most) in [(of_desktop, 2_700), (others, 3_060)] {
            let text = grouped(lines.into_iter()).join("\n");
            let size = text.chars().count() + SIGNATURE_LEGEND.chars().count();
            assert!(size <= most, "{size} characters\n{text}");
        }
        for line in all(SignatureLength::Long) {
            assert!(line.chars().count() <= 190, "{line}");
        }
    }

    #[test]
    fn operations_that_look_alike_share_a_line() {
        let lines = grouped(["a.b x", "a.c y", "a.d x", "b.e x", "a.f", "a.g"].into_iter());
        assert_eq!(lines, ["a.b/d x", "a.c y", "b.e x", "a.f", "a.g"]);
        let all = grouped(all(SignatureLength::Short).into_iter());
        assert!(all.iter().any(|it| it == "file.move/copy path {to} ifExists? dryRun? → undoId"), "{all:?}");
    }

    #[test]
    fn signatures_say_what_a_call_needs() {
        let lines = all(SignatureLength::Short);
        for expected in [
            "file.read path startLine? endLine? cursor?",
            "file.search [path] {query} glob? ignoreCase? maxResults?",
            "file.move path {to} ifExists? dryRun? → undoId",
            "process.resize id {columns,rows}",
            "screen.captures",
        ] {
            assert!(lines.contains(&expected), "{expected} is none of\n{}", lines.join("\n"));
        }
        let patch = lines.iter().find(|line| line.starts_with("file.patch ")).expect("it is there");
        assert!(patch.contains("edits?:[{new,old,expect?,path?,…}]") && patch.ends_with("undoId"), "{patch}");
    }
}
