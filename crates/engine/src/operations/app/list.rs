//! `app.list`: the applications that have windows.

use crate::registry::prelude::*;
use bailiwick_providers::screen::App;

use super::super::screen::shown_title;
use super::changing::all;

/// The operation.
pub struct Op;

/// What of an answer is not applications.
const FRAME_BYTES: usize = 1_000;

/// The applications.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// Those that have a window.
    pub apps: Vec<AppEntry>,
    /// How many windows there are besides that this scope does not show.
    pub withheld: usize,
    /// Whether there were more than the answer can hold.
    pub truncated: bool,
}

/// An application.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppEntry {
    /// Its id, for the other operations.
    pub id: String,
    /// What it calls itself.
    pub app: String,
    /// Its process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The name of its program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// Its windows, from the bottom of the pile to its top.
    pub windows: Vec<String>,
    /// Whether the user works in one of them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub active: bool,
    /// Whether all of them are minimized.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
}

impl AppEntry {
    pub fn of(app: &App) -> Self {
        Self {
            id: app.id.clone(),
            app: shown_title(&app.name),
            pid: app.pid,
            process: app.process.clone(),
            windows: app.windows.iter().map(|window| window.id.clone()).collect(),
            active: app.is_active(),
            hidden: app.is_hidden(),
        }
    }
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "app.list",
        summary: "List the apps that have windows",
        details: "Windows of one process that name the same program are one app. Windows that the scope does not show are counted only.",
        capabilities: &[&[Capability::WindowRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::None,
        scope: ScopeNeed::DESKTOP,
        example: r#"{"op":"app.list"}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<Output, Failure> {
        let found = all(cx, permit)?;
        let mut output = Output { apps: Vec::new(), withheld: found.withheld, truncated: false };
        let mut room = permit.limits().max_output_bytes.saturating_sub(FRAME_BYTES);
        for app in &found.apps {
            let entry = AppEntry::of(app);
            let size = serde_json::to_string(&entry).map_or(usize::MAX, |text| text.len() + 1);
            if size > room {
                output.truncated = true;
                break;
            }
            room -= size;
            output.apps.push(entry);
        }
        cx.summarize(format!("{} apps", output.apps.len()));
        Ok(output)
    }
}
