//! `window.list`: the windows of the displays.

use std::collections::BTreeSet;

use crate::registry::prelude::*;
use bailiwick_platform::screen::Window;
use bailiwick_providers::artifact::Area;
use bailiwick_providers::screen::{AccessState, access_state};

use super::super::screen::{WindowRows, area, shown_title, unavailable, window_rows};
use super::changing::state_word;

/// The operation.
pub struct Op;

/// The windows.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// Whether the displays can be read.
    pub access: AccessState,
    /// The displays, and how large they are.
    pub displays: Vec<DisplaySize>,
    /// The windows, from the bottom of the pile to its top.
    pub windows: Vec<WindowEntry>,
    /// How many windows there are besides that this scope does not show.
    pub withheld: usize,
    /// Whether there were more windows than the answer can hold.
    pub truncated: bool,
}

/// A display.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DisplaySize {
    /// Its id.
    pub display: String,
    /// Where it is, in pixels.
    pub bounds: Area,
}

/// A window.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WindowEntry {
    /// Its id, for the other operations.
    pub window: String,
    /// Its title, as its program says.
    pub title: String,
    /// The app, as it calls itself.
    pub app: String,
    /// Its process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The name of its program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// Where its content is on the display, in pixels.
    pub bounds: Area,
    /// `visible`, `minimized` or `hidden`.
    pub state: &'static str,
    /// Whether it fills its display.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub maximized: bool,
    /// The number of its workspace, if it is on one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<u32>,
    /// Whether no other window is above it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub topmost: bool,
    /// Whether it is the one that the user works in.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub active: bool,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "window.list",
        summary: "List windows",
        details: "Menus and hidden windows are listed with `detail` \"full\". Windows that the scope does not show are counted only.",
        capabilities: &[&[Capability::WindowRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::None,
        scope: ScopeNeed::DESKTOP,
        options: &[CommonOption::Detail],
        example: r#"{"op":"window.list"}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<Output, Failure> {
        let listing = cx.service.displays.list().map_err(unavailable)?;
        let top = topmost(&listing.windows);
        let WindowRows { windows, withheld, truncated } =
            window_rows(permit, &listing.windows, |window| entry(window, top.contains(window.id.as_str())))?;
        let displays = listing.displays.iter();
        let output = Output {
            access: access_state(&listing.access),
            displays: displays
                .map(|it| DisplaySize { display: it.id.clone(), bounds: area(it.bounds) })
                .collect(),
            windows,
            withheld,
            truncated,
        };
        cx.summarize(format!("{} windows", output.windows.len()));
        Ok(output)
    }
}

/// Returns the highest window of each display that is shown and no menu.
fn topmost(windows: &[Window]) -> BTreeSet<&str> {
    let mut displays = BTreeSet::new();
    let shown = windows.iter().rev().filter(|window| window.mapped && !window.unmanaged);
    shown.filter(|window| displays.insert(window.display.as_str())).map(|window| window.id.as_str()).collect()
}

fn entry(window: &Window, topmost: bool) -> WindowEntry {
    WindowEntry {
        window: window.id.clone(),
        title: shown_title(&window.title),
        app: shown_title(&window.app),
        pid: window.pid,
        process: window.process.clone(),
        bounds: area(window.bounds),
        state: state_word(window.state),
        maximized: window.maximised,
        workspace: window.workspace,
        topmost,
        active: window.active,
    }
}
