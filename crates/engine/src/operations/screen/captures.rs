//! `screen.captures`: the pictures that are kept.

use crate::registry::prelude::*;
use bailiwick_contract::time::rfc3339;
use bailiwick_providers::artifact::{CaptureFacts, CaptureStore};

use super::read_capture::judge;
use super::taking::{KeptFile, file_of};

/// The operation.
pub struct Op;

/// What of an answer is not pictures.
const FRAME_BYTES: usize = 1_000;

/// The kept pictures.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The pictures of this scope, newest first.
    pub captures: Vec<StoredCapture>,
    /// Whether there are more than the answer can hold.
    pub truncated: bool,
}

/// A kept picture.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoredCapture {
    /// The display that it shows, or that its window was on.
    pub display: String,
    /// The window, of a picture of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// Its width in pixels.
    pub width: u32,
    /// Its height in pixels.
    pub height: u32,
    /// When it was taken, RFC 3339 in UTC.
    pub taken_at: String,
    /// Of a recording: how long it is, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u32>,
    /// Its file.
    pub file: KeptFile,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "screen.captures",
        summary: "List the pictures and recordings that are kept",
        details: "Those that were taken with `return` \"fileRef\" or recorded in this scope in the last day: at most 100, and 250 MB in all.",
        capabilities: &[&[Capability::ScreenCapture]],
        effect: Effect::ReadOnly,
        target: TargetRule::None,
        scope: ScopeNeed::DESKTOP,
        example: r#"{"op":"screen.captures"}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<Output, Failure> {
        let scope = permit.scope().map(|scope| scope.id().to_owned()).unwrap_or_default();
        let store = CaptureStore::below(&cx.service.dirs.state);
        store.expire();
        let mut room = permit.limits().max_output_bytes.saturating_sub(FRAME_BYTES);
        let mut output = Output { captures: Vec::new(), truncated: false };
        let kept = store.kept(&scope);
        for kept in kept.iter().filter(|facts| judge(permit, facts).is_ok()).filter_map(described) {
            let bytes = serde_json::to_string(&kept).map_or(usize::MAX, |text| text.len() + 1);
            match room.checked_sub(bytes) {
                Some(left) => {
                    room = left;
                    output.captures.push(kept);
                }
                None => output.truncated = true,
            }
        }
        cx.summarize(format!("{} kept pictures", output.captures.len()));
        Ok(output)
    }
}

fn described(facts: &CaptureFacts) -> Option<StoredCapture> {
    Some(StoredCapture {
        display: facts.display.clone(),
        window: facts.window.clone(),
        width: facts.width,
        height: facts.height,
        taken_at: rfc3339(facts.taken_at_ms),
        duration_ms: facts.recording.as_ref().map(|recording| recording.duration_ms),
        file: file_of(facts)?,
    })
}
