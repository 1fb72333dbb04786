//! `app.frontmost`: the application that the user works in.

use crate::registry::prelude::*;

use super::changing::all;
use super::list::AppEntry;

/// The operation.
pub struct Op;

/// The application.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The app; none if the user works in none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app: Option<AppEntry>,
    /// Whether the user works in a window that this scope does not show.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub withheld: bool,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "app.frontmost",
        summary: "Show the app that the user works in",
        capabilities: &[&[Capability::WindowRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::None,
        scope: ScopeNeed::DESKTOP,
        example: r#"{"op":"app.frontmost"}"#,
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
        let app = found.apps.iter().find(|app| app.is_active()).map(AppEntry::of);
        cx.summarize(if app.is_some() { "an app" } else { "none that is shown" });
        Ok(Output { app, withheld: found.is_active_withheld })
    }
}
