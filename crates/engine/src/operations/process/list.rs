//! `process.list`: the processes of the scope.

use std::sync::Arc;

use crate::registry::prelude::*;
use bailiwick_contract::{id, time};
use bailiwick_providers::process::Process;

use crate::programs::TerminalSize;
use crate::programs::{ProcessStatus, of_status};

/// What the fields around the rows take of the result's size.
const FIELD_BYTES: usize = 300;

/// The operation.
pub struct Op;

/// Which to list.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// `live` lists those that run, `over` those that do not any more; default both.
    pub status: Option<ProcessFilter>,
}

/// Which processes are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProcessFilter {
    /// Those that run.
    Live,
    /// Those that have ended, failed or been lost.
    Over,
}

/// The processes of the scope.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The processes: first those that run, then the others; newest first.
    pub processes: Vec<Row>,
    /// How many run.
    pub live: usize,
    /// `true` if there are more.
    pub truncated: bool,
    /// Where to continue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// One process.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// Its state; `damaged` where its files cannot be read.
    #[serde(flatten)]
    pub process: ProcessStatus,
    /// The beginning of its command, without secrets.
    pub command_preview: String,
    /// What its starter calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The name of the caller that started it.
    pub caller: String,
    /// When it was started.
    pub started_at: String,
    /// Its working folder.
    pub folder: String,
    /// How long it lives at most: `durable`, `service` or `client`.
    pub lifetime: String,
    /// The size of its terminal, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminal: Option<TerminalSize>,
    /// `true` if it is what a finished command.run printed, kept for reading.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub run: bool,
    /// How many bytes it printed.
    pub output_bytes: u64,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "process.list",
        summary: "List the processes of the scope",
        details: "All that were started in the scope, by whichever client, and what is kept of those that have \
                  ended (for 24 hours, and at most 512 MiB in all).",
        capabilities: &[&[Capability::ProcessManage]],
        effect: Effect::ReadOnly,
        target: TargetRule::None,
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::Cursor],
        audited_fields: &["status"],
        example: r#"{"op":"process.list"}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, options: &Options) -> Result<Output, Failure> {
        let scope = permit.needed_scope()?;
        let processes = &cx.service.processes;
        processes.prune_aside();
        let mut rows: Vec<(bool, Row)> = processes.list(scope.id()).iter().map(row).collect();
        let live = rows.iter().filter(|(is_live, _)| *is_live).count();
        rows.retain(|(is_live, _)| match options.status {
            None => true,
            Some(ProcessFilter::Live) => *is_live,
            Some(ProcessFilter::Over) => !is_live,
        });
        // Stable: those that run first, each part newest first as it was.
        rows.sort_by_key(|(is_live, _)| !is_live);
        if let Some(cursor) = &permit.common().cursor {
            let after = ListPosition::parse(cursor)?;
            rows.retain(|(is_live, row)| ListPosition::of(*is_live, row) > after);
        }
        let damaged = processes.damaged().len();
        if damaged > 0 {
            cx.warn(format!(
                "{damaged} folders of processes are damaged, so that nobody can tell which scope they belong to; \
                 for the user: `bailiwick ps` names them"
            ));
        }
        let mut room = permit.limits().max_output_bytes.saturating_sub(FIELD_BYTES);
        let total = rows.len();
        let mut given: Vec<Row> = Vec::new();
        let mut last = None;
        for (is_live, row) in rows {
            let bytes = serde_json::to_string(&row).map_or(usize::MAX, |text| text.len() + 1);
            if bytes > room && !given.is_empty() {
                break;
            }
            room = room.saturating_sub(bytes);
            last = Some(ListPosition::of(is_live, &row).to_string());
            given.push(row);
        }
        let truncated = given.len() < total;
        cx.summarize(format!("{} processes, {live} running", given.len()));
        Ok(Output { processes: given, live, truncated, next_cursor: last.filter(|_| truncated) })
    }
}

fn row(process: &Arc<Process>) -> (bool, Row) {
    let facts = &process.facts;
    let (shown, is_live, terminal, output_bytes) = match process.status() {
        Ok(status) => {
            let (is_live, terminal, bytes) = (!status.state.is_final(), status.terminal, status.end);
            (of_status(process, status), is_live, terminal.map(TerminalSize::from), bytes)
        }
        Err(failure) => {
            let is_damaged = failure.rule() == Some("damaged-process");
            let shown = ProcessStatus {
                process_id: facts.id.clone(),
                status: if is_damaged { "damaged" } else { "starting" }.to_owned(),
                exit_code: None,
                signal: None,
                timed_out: false,
                ended_at: None,
                problem: is_damaged.then_some(failure.message),
            };
            (shown, !is_damaged, None, 0)
        }
    };
    let row = Row {
        process: shown,
        command_preview: facts.preview.clone(),
        label: facts.label.clone(),
        caller: facts.caller.clone(),
        started_at: time::rfc3339(facts.started_at_ms),
        folder: facts.folder.clone(),
        lifetime: facts.lifetime.as_str().to_owned(),
        terminal,
        run: facts.is_run,
        output_bytes,
    };
    (is_live, row)
}

/// A place in the list; a greater one comes later.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ListPosition {
    is_over: bool,
    id: std::cmp::Reverse<String>,
}

impl ListPosition {
    fn of(is_live: bool, row: &Row) -> Self {
        Self { is_over: !is_live, id: std::cmp::Reverse(row.process.process_id.clone()) }
    }

    fn parse(cursor: &str) -> Result<Self, Failure> {
        let parts =
            cursor.split_once('-').filter(|(part, id)| matches!(*part, "live" | "over") && id::is_id(id));
        let Some((part, id)) = parts else {
            return Err(Failure::invalid("options.cursor", "`options.cursor` is no cursor of process.list")
                .hint("Send the `nextCursor` of an earlier process.list, or leave it out."));
        };
        Ok(Self { is_over: part == "over", id: std::cmp::Reverse(id.to_owned()) })
    }
}

impl std::fmt::Display for ListPosition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", if self.is_over { "over" } else { "live" }, self.id.0)
    }
}
