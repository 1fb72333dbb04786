//! `screen.list`: displays and windows.

use crate::registry::prelude::*;
use bailiwick_contract::Detail;
use bailiwick_platform::screen::{Rect, Window, WindowState};
use bailiwick_policy::ScreenRules;
use bailiwick_providers::artifact::Area;
use bailiwick_providers::screen::{AccessState, access_state, withheld};

use super::refusal::unavailable;

/// The operation.
pub struct Op;

/// The longest title that is told, in characters.
const MAX_TITLE_CHARS: usize = 200;
/// What of an answer is not windows.
const FRAME_BYTES: usize = 2_000;

/// What there is to take pictures of.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// Whether the displays can be read.
    pub access: AccessState,
    /// The displays, where the scope takes pictures of them.
    pub displays: Vec<DisplayEntry>,
    /// The windows, from the bottom of the pile to its top, where the scope takes pictures of them.
    pub windows: Vec<WindowEntry>,
    /// How many windows there are besides that this scope does not show.
    pub withheld: usize,
    /// What this scope takes no pictures of: `displays`, `windows`, `processes`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub off: Vec<&'static str>,
    /// Displays that are there and cannot be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreachable: Vec<UnreachableEntry>,
    /// Whether there were more windows than the answer can hold.
    pub truncated: bool,
}

/// A display.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DisplayEntry {
    /// Its id, for screen.capture.
    pub display: String,
    /// Its name.
    pub name: String,
    /// Whether it is the one that `primary` means.
    pub primary: bool,
    /// Where it lies, in pixels.
    pub bounds: Area,
    /// How much larger than usual programs draw on it.
    pub scale: f64,
}

/// A window.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WindowEntry {
    /// Its id, for screen.capture_window.
    pub window: String,
    /// Its title.
    pub title: String,
    /// The app, as it calls itself.
    pub app: String,
    /// Its process, where the scope shows processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The name of its program, where the scope shows processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// Where its content is on the display, in pixels.
    pub bounds: Area,
    /// `visible`, `minimised` or `hidden`.
    pub state: &'static str,
    /// Whether it is the one that the user works in.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub active: bool,
}

/// A display that cannot be read.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnreachableEntry {
    /// Its id.
    pub display: String,
    /// What it answered.
    pub access: AccessState,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "screen.list",
        summary: "List displays and windows",
        details: "Tells whether the displays can be read, and what there is to take pictures of. Menus and hidden windows \
                  are listed with `detail` \"full\". Windows that the scope does not show are counted only.",
        capabilities: &[&[Capability::ScreenCapture]],
        effect: Effect::ReadOnly,
        target: TargetRule::None,
        scope: ScopeNeed::DESKTOP,
        options: &[CommonOption::Detail],
        example: r#"{"op":"screen.list"}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<Output, Failure> {
        let rules = permit.screen()?;
        let listing = cx.service.displays.list().map_err(unavailable)?;
        let displays: Vec<DisplayEntry> = listing
            .displays
            .iter()
            .filter(|_| rules.shows_displays())
            .map(|display| DisplayEntry {
                display: display.id.clone(),
                name: display.name.clone(),
                primary: display.primary,
                bounds: area(display.bounds),
                scale: display.scale,
            })
            .collect();
        let shows_windows = rules.shows_windows() || rules.shows_processes();
        let windows = if shows_windows { listing.windows.as_slice() } else { &[] };
        let WindowRows { windows, withheld, truncated } =
            window_rows(permit, windows, |window| entry(window, rules))?;
        let output = Output {
            access: access_state(&listing.access),
            displays,
            windows,
            withheld,
            off: off(rules),
            unreachable: listing
                .unreachable
                .iter()
                .map(|it| UnreachableEntry { display: it.display.clone(), access: access_state(&it.access) })
                .collect(),
            truncated,
        };
        cx.summarize(format!("{} displays, {} windows", output.displays.len(), output.windows.len()));
        Ok(output)
    }
}

fn off(rules: &ScreenRules) -> Vec<&'static str> {
    let kinds = [
        ("displays", rules.shows_displays()),
        ("windows", rules.shows_windows()),
        ("processes", rules.shows_processes()),
    ];
    kinds.into_iter().filter(|(_, on)| !on).map(|(name, _)| name).collect()
}

fn entry(window: &Window, rules: &ScreenRules) -> WindowEntry {
    WindowEntry {
        window: window.id.clone(),
        title: shown_title(&window.title),
        app: shown_title(&window.app),
        pid: window.pid.filter(|_| rules.shows_processes()),
        process: window.process.clone().filter(|_| rules.shows_processes()),
        bounds: area(window.bounds),
        state: state_word(window.state),
        active: window.active,
    }
}

/// The windows of an answer.
pub(in crate::operations) struct WindowRows<E> {
    /// Those that the scope shows, as many as the answer can hold.
    pub windows: Vec<E>,
    /// How many the scope does not show.
    pub withheld: usize,
    /// Whether there were more than the answer can hold.
    pub truncated: bool,
}

/// Lists windows for an answer: menus and hidden ones only with `detail` "full".
///
/// # Errors
/// Those of [`Permit::screen`].
pub(in crate::operations) fn window_rows<E: Serialize>(
    permit: &Permit,
    windows: &[Window],
    entry: impl Fn(&Window) -> E,
) -> Result<WindowRows<E>, Failure> {
    let full = permit.common().detail == Detail::Full;
    let mut room = permit.limits().max_output_bytes.saturating_sub(FRAME_BYTES);
    let mut rows = WindowRows { windows: Vec::new(), withheld: 0, truncated: false };
    for (window, is_withheld) in windows.iter().zip(withheld(permit.screen()?, windows)) {
        if !full && (window.unmanaged || window.state == WindowState::Hidden) {
            continue;
        }
        if is_withheld {
            rows.withheld += 1;
            continue;
        }
        let entry = entry(window);
        let bytes = serde_json::to_string(&entry).map_or(usize::MAX, |text| text.len() + 1);
        match room.checked_sub(bytes) {
            Some(left) => {
                room = left;
                rows.windows.push(entry);
            }
            None => rows.truncated = true,
        }
    }
    Ok(rows)
}

/// Returns the word for a state.
fn state_word(state: WindowState) -> &'static str {
    match state {
        WindowState::Visible => "visible",
        WindowState::Minimised => "minimised",
        WindowState::Hidden => "hidden",
    }
}

/// Describes a rectangle.
pub(in crate::operations) fn area(rect: Rect) -> Area {
    Area { x: rect.x, y: rect.y, width: rect.width, height: rect.height }
}

/// Cuts a title to a length that is told.
pub(in crate::operations) fn shown_title(title: &str) -> String {
    match title.char_indices().nth(MAX_TITLE_CHARS) {
        Some((at, _)) => format!("{}…", &title[..at]),
        None => title.to_owned(),
    }
}
