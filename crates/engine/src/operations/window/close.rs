//! `window.close`: close a window.

use bailiwick_platform::screen::WindowChange;
use bailiwick_providers::screen::withheld;

use super::super::input::scene_to_judge;
use super::super::ui::{closed_processes, judge_prompt, prompt};
use super::changing::{CHANGE, Output, change};
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "window.close",
        summary: "Close a window",
        details: "Asks its program to close it, as its close button does. A program may ask first whether to save: then `effect` is not \
                  `confirmed`, and `dialog` is the window that came up, if there is one. Dialogs that ask for a secret, windows with such a \
                  dialog, and those in which Bailiwick runs are the user's to close.",
        effect: Effect::Destroys,
        example: r#"{"op":"window.close","target":":0/0x1a00003"}"#,
        ..CHANGE
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<Output, Failure> {
        judge_closing(cx, permit, &[permit.id().unwrap_or_default()])?;
        change(cx, permit, WindowChange::Close)
    }
}

/// Judges windows that are to be closed, with the dialogs that go with them.
///
/// # Errors
/// `permission_denied` for what Bailiwick runs in, `secure_field` for a dialog that asks for a secret, `target_unresponsive` where a
/// program hangs, as nobody knows what it asks.
pub(in crate::operations) fn judge_closing(
    cx: &Context,
    permit: &Permit,
    closing: &[&str],
) -> Result<(), Failure> {
    let Some(first) = closing.first() else { return Ok(()) };
    // Where the windows cannot be read, none is closed either.
    let Ok(windows) = cx.service.displays.windows_beside(first) else { return Ok(()) };
    let hidden = withheld(permit.screen()?, &windows);
    let closed = closed_processes(cx);
    let is_closing = |id: &str| closing.contains(&id);
    for (window, is_hidden) in windows.iter().zip(hidden) {
        let goes = is_closing(&window.id) || window.mapped && window.owner.as_deref().is_some_and(is_closing);
        if !goes || is_hidden {
            continue;
        }
        // This process itself has no windows.
        if window.pid != Some(std::process::id()) && closed.has(window.pid) {
            return Err(prompt());
        }
        if let Some(scene) = scene_to_judge(cx, permit, &window.id)? {
            judge_prompt(&closed, &scene)?;
        }
    }
    Ok(())
}
