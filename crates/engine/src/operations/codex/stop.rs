//! `codex.stop`: end a started Codex.

use std::time::Duration;

use crate::programs::{ProcessStatus, of_status, warn_of_what_is_left};
use crate::registry::prelude::*;

use super::report::CodexProcess;

/// How long Codex has to end on its own, unless the request says otherwise.
const GRACE: Duration = Duration::from_secs(5);
/// The longest grace.
const MAX_GRACE: Duration = Duration::from_secs(40);
/// SIGTERM and SIGKILL.
const SIGNALS: (i32, i32) = (15, 9);

/// The operation.
pub struct Op;

/// How long it may take.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// Kill what is left after this many seconds; default 5, at most 40.
    pub grace_seconds: Option<u64>,
}

/// How it ended.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// How its process stands now.
    #[serde(flatten)]
    pub process: ProcessStatus,
    /// `asked`: it ended when it was asked to. `killed`: it did not, and was killed. `before`: it had ended before.
    pub how: &'static str,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "codex.stop",
        summary: "End a started Codex and everything that it started",
        details: "Asks Codex to end, kills what is left after the grace period, and answers when nothing is left. One \
                  that has ended already is no error. codex.read still shows what it did.",
        capabilities: &[&[Capability::CodexRun]],
        effect: Effect::Destroys,
        target: TargetRule::Id("the processId"),
        scope: ScopeNeed::FOLDER,
        platforms: &["linux"],
        timeout_seconds: 45,
        threads: Threads::Async,
        audited_fields: &["graceSeconds", "timeoutSeconds"],
        example: r#"{"op":"codex.stop","target":"01JD0000000000000000000000"}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunAsync for Op {
    async fn run(cx: &Context, permit: &Permit, _: &NoFields, options: &Options) -> Result<Output, Failure> {
        let scope = permit.needed_scope()?;
        let asked = permit.id().ok_or_else(|| Failure::invalid("target", "no run is named"))?;
        let grace = options.grace_seconds.map_or(GRACE, Duration::from_secs);
        if grace > MAX_GRACE {
            return Err(Failure::invalid(
                "options.graceSeconds",
                format!("a grace is at most {} s", MAX_GRACE.as_secs()),
            ));
        }
        let started = CodexProcess::of_process(cx, scope.id(), asked)?;
        let (status, was_over) = started.process.stop(SIGNALS.0, grace).await?;
        let how = match (was_over, status.signal == Some(SIGNALS.1)) {
            (true, _) => "before",
            (false, true) => "killed",
            (false, false) => "asked",
        };
        warn_of_what_is_left(cx, &started.process);
        cx.summarize(format!("{}: {how}", started.process.facts.id));
        Ok(Output { process: of_status(&started.process, status), how })
    }
}
