//! `clipboard.save`: keep what the clipboard has, to give it back later.

use crate::registry::prelude::*;
use bailiwick_platform::screen::ClipboardContent;
use bailiwick_providers::screen::{ClipboardStore, save_clipboard};

use super::super::display::owner;
use super::refusal::{TARGET, refused};

/// The operation.
pub struct Op;

/// What was saved.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The types in which it was saved; none if the clipboard is empty.
    pub types: Vec<String>,
    /// Its size in bytes.
    pub size: usize,
    /// For how long it can be restored, in seconds.
    pub seconds: u64,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "clipboard.save",
        summary: "Save what the clipboard has",
        details: "Text, files, pictures and every other form, 32 MiB at most, for clipboard.restore of this caller: one content for \
                  each display, in memory alone, for an hour or until this service ends. The content is not shown. What \
                  clipboard.get does not read is not saved.",
        capabilities: &[&[Capability::ClipboardRead]],
        effect: Effect::ReadOnly,
        target: TARGET,
        scope: ScopeNeed::DESKTOP,
        example: r#"{"op":"clipboard.save"}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<Output, Failure> {
        let displays = &cx.service.displays;
        let display = displays.screen_of(permit.id()).map_err(refused)?;
        let content = save_clipboard(displays, permit.needed_scope()?, Some(&display)).map_err(refused)?;
        let (types, size) = (names(&content), content.size());
        cx.service.clipboards.save(owner(cx, permit)?, display, content)?;
        cx.summarize(format!("{} types, {size} bytes", types.len()));
        Ok(Output { types, size, seconds: ClipboardStore::LIFE_SECONDS })
    }
}

/// Returns the names of the types, fit to be shown.
fn names(content: &ClipboardContent) -> Vec<String> {
    content.forms.iter().map(|(name, _)| super::super::screen::shown_title(name)).collect()
}
