//! `display.release`: end a private display.

use std::time::Duration;

use crate::registry::prelude::*;

use super::status::{MANAGING, owner};

/// The operation.
pub struct Op;

/// How a program there is ended: by SIGTERM, with little time.
const STOP: (i32, Duration) = (15, Duration::from_secs(1));

/// What has ended.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The display, which is gone.
    pub display: String,
    /// How many programs that were started there were still running, and were ended.
    pub ended: usize,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "display.release",
        summary: "End a private display",
        details: "Ends the programs that app.launch has started there, then the display. Nothing of it is left.",
        effect: Effect::ControlsDesktop,
        threads: Threads::Async,
        example: r#"{"op":"display.release","target":":107"}"#,
        ..MANAGING
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunAsync for Op {
    async fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<Output, Failure> {
        let (owner, displays) = (owner(cx, permit)?, &cx.service.private_displays);
        let display = displays.get(&owner, permit.id())?;
        let scope = permit.needed_scope()?;
        let mut ended = 0;
        for id in &display.processes {
            if let Ok(process) = cx.service.processes.find(scope.id(), id)
                && let Ok((_, was_over)) = process.stop(STOP.0, STOP.1).await
            {
                ended += usize::from(!was_over);
            }
        }
        displays.release(&owner, &display.id).await?;
        cx.summarize(format!("ended the display {}", display.id));
        Ok(Output { display: display.id, ended })
    }
}
