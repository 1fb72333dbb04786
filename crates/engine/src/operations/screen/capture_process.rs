//! `screen.capture_process`: take a picture of a process's window.

use std::cmp::Reverse;

use crate::registry::prelude::*;
use bailiwick_contract::ErrorCode;
use bailiwick_platform::screen::{ScreenError, Window, WindowState, ancestors};
use bailiwick_providers::artifact::CaptureKind;
use bailiwick_providers::screen::{of_window, withheld as judge};

use super::list::shown_title;
use super::refusal::{refused, unavailable, withheld};
use super::taking::{AUDITED, Options, OtherWindow, Output, answer};

/// The operation.
pub struct Op;

/// How many other windows are told.
const MAX_OTHERS: usize = 20;

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "screen.capture_process",
        summary: "Take a picture of a process's window",
        details: "Of several windows the one that the user works in is taken, else the largest that is shown; `otherWindows` \
                  shows the rest. A name is that of the program or of the app, in any case of letters. A process without \
                  windows represents those that it has started (Linux). The scope's policy must say `allowProcesses`.",
        capabilities: &[&[Capability::ScreenCapture]],
        effect: Effect::Captures,
        target: TargetRule::ProcessWindow,
        scope: ScopeNeed::DESKTOP,
        audited_fields: AUDITED,
        example: r#"{"op":"screen.capture_process","target":"firefox"}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, options: &Options) -> Result<Output, Failure> {
        options.check()?;
        let asked = permit.id().unwrap_or_default();
        let displays = &cx.service.displays;
        let listing = displays.list().map_err(unavailable)?;
        if listing.displays.is_empty() {
            return Err(unavailable(ScreenError::NoAccess(listing.access)));
        }
        let closed = judge(permit.screen()?, &listing.windows);
        let has_own = listing.windows.iter().any(|window| is_own(window, asked));
        let steps = |window: &Window| match has_own {
            true => is_own(window, asked).then_some(0),
            false => distance(window, asked),
        };
        let all = listing.windows.iter().zip(closed);
        let near: Vec<(usize, &Window, bool)> =
            all.filter_map(|(window, closed)| Some((steps(window)?, window, closed))).collect();
        let nearest = near.iter().map(|(distance, ..)| *distance).min().ok_or_else(|| no_window(asked))?;
        let meant = near.into_iter().filter(|(distance, ..)| *distance == nearest);
        let mut meant: Vec<(&Window, bool)> = meant.map(|(_, window, closed)| (window, closed)).collect();
        meant.retain(|(_, closed)| !closed);
        meant.sort_by_key(|(window, _)| Reverse(rank(window)));
        let Some((first, _)) = meant.first() else {
            return Err(withheld(&format!("what `{asked}` shows")));
        };
        let shot = of_window(displays, permit.screen()?, &first.id, options.region()).map_err(refused)?;
        // Between the listing and the picture the number may have gone to a window of another.
        if shot.window.as_ref().and_then(|window| distance(window, asked)) != Some(nearest) {
            return Err(no_window(asked));
        }
        let mut output = answer(cx, permit, CaptureKind::Process, shot, options)?;
        let others = meant.iter().skip(1).filter(|(window, _)| !window.unmanaged).take(MAX_OTHERS);
        output.other_windows = others
            .map(|(window, _)| OtherWindow {
                window: window.id.clone(),
                title: shown_title(&window.title),
                pid: window.pid,
            })
            .collect();
        Ok(output)
    }
}

/// Returns whether a window is of the process itself.
fn is_own(window: &Window, asked: &str) -> bool {
    if let Ok(pid) = asked.parse::<u32>() {
        return window.pid == Some(pid);
    }
    same_name(&window.app, asked) || window.process.as_deref().is_some_and(|name| same_name(name, asked))
}

/// Returns how far a window is from the process: not at all if it is its own, one step if it is of a process that it
/// started, and so on; nothing if it has nothing to do with it.
fn distance(window: &Window, asked: &str) -> Option<usize> {
    if is_own(window, asked) {
        return Some(0);
    }
    let pid = asked.parse::<u32>().ok();
    let ancestors = ancestors(window.pid?);
    let at = ancestors.iter().position(|it| match pid {
        Some(pid) => it.pid == pid,
        None => it.name.as_deref().is_some_and(|name| same_name(name, asked)),
    })?;
    Some(at + 1)
}

fn same_name(name: &str, asked: &str) -> bool {
    !name.is_empty() && name.to_lowercase() == asked.to_lowercase()
}

/// Ranks the windows of a process: what is shown, no menu, worked in, large.
fn rank(window: &Window) -> (bool, bool, bool, u64) {
    (window.state == WindowState::Visible, !window.unmanaged, window.active, window.bounds.pixels())
}

fn no_window(asked: &str) -> Failure {
    let asked: String = asked.chars().take(100).collect();
    Failure::new(ErrorCode::NotFound, format!("no process `{asked}` has a window"))
        .detail("field", "target")
        .hint("screen.list shows the processes that have windows.")
}
