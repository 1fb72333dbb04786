//! `display.create`: make a private display.

use std::time::Duration;

use crate::registry::prelude::*;
use bailiwick_providers::display::DisplayOrder;

use super::status::{DisplayStatus, MANAGING, owner};

/// The operation.
pub struct Op;

/// The usual width and height.
const USUAL: (u32, u32) = (1_280, 720);
/// The smallest and the largest width and height.
const SIZES: std::ops::RangeInclusive<u32> = 64..=4_096;
/// How long a display lasts, where nothing else is said.
const USUAL_SECONDS: u64 = 3_600;

/// Which display to make.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Its width in pixels, 64 to 4096; default 1280.
    pub width: Option<u32>,
    /// Its height in pixels, 64 to 4096; default 720.
    pub height: Option<u32>,
}

/// How long it lasts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Options {
    /// End it after this many seconds; default 3600, at most the scope's `maxProcessSeconds` (a day).
    pub max_run_seconds: Option<u64>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "display.create",
        summary: "Make a private display",
        details: "A display that only you see and use, with its own clipboard, bus and window manager; app.launch starts programs \
                  there. In this scope the operations on screens, windows, elements, input and the clipboard act on your private \
                  displays, never on the user's own. It ends with display.release, its time limit, its scope, or the service. At \
                  most 2 of a caller and 4 of a scope. It needs Xvfb.",
        effect: Effect::ControlsDesktop,
        target: TargetRule::None,
        threads: Threads::Async,
        audited_fields: &["width", "height", "maxRunSeconds"],
        example: r#"{"op":"display.create"}"#,
        ..MANAGING
    };
    type Input = Input;
    type Options = Options;
    type Output = DisplayStatus;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunAsync for Op {
    async fn run(
        cx: &Context,
        permit: &Permit,
        input: &Input,
        options: &Options,
    ) -> Result<DisplayStatus, Failure> {
        let size = (input.width.unwrap_or(USUAL.0), input.height.unwrap_or(USUAL.1));
        for (field, pixels) in [("input.width", size.0), ("input.height", size.1)] {
            if !SIZES.contains(&pixels) {
                let why = format!("a display has {} to {} pixels each way", SIZES.start(), SIZES.end());
                return Err(Failure::invalid(field, why));
            }
        }
        let scope = permit.needed_scope()?;
        let seconds = options.max_run_seconds.unwrap_or(USUAL_SECONDS);
        if seconds == 0 {
            return Err(Failure::invalid("options.maxRunSeconds", "a display needs some time: 1 or more"));
        }
        let order = DisplayOrder {
            scope: scope.clone(),
            roots: cx.service.roots.clone(),
            size,
            max_time: Duration::from_secs(seconds).min(scope.processes().max_time),
        };
        let made = cx.service.private_displays.create(&owner(cx, permit)?, order).await?;
        let status = DisplayStatus::of(&made);
        status.missing.iter().for_each(|missing| cx.warn(missing.clone()));
        cx.summarize(format!("made the display {}", made.id));
        Ok(status)
    }
}
