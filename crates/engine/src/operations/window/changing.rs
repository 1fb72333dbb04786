//! What the changes of windows have in common.

use crate::registry::prelude::*;
use bailiwick_contract::ErrorCode;
use bailiwick_platform::screen::{Access, ScreenError, WindowChange, WindowState};
use bailiwick_providers::artifact::Area;
use bailiwick_providers::elements::ActionEffect;
use bailiwick_providers::screen::{WindowChanged, change_window};

use super::super::screen::{area, unavailable};

/// What the operations that change a window have in common.
pub(in crate::operations) const CHANGE: OperationSpec = OperationSpec {
    name: "",
    summary: "",
    details: "",
    capabilities: &[&[Capability::WindowControl]],
    effect: Effect::Writes,
    target: TargetRule::Id("the id of a window, from window.list"),
    scope: ScopeNeed::DESKTOP,
    platforms: &[],
    options: &[CommonOption::DryRun],
    timeout_seconds: 30,
    threads: Threads::Blocking,
    audited_fields: &[],
    example: "",
};

/// What came of a change.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// `confirmed`: read back as requested. `partial`: the window changed, but not as requested. `suspected_noop`: the window is as
    /// it was. `unverifiable`: the change was asked for, and the window could not be read afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<&'static str>,
    /// Where the content of the window is now; left out if it is closed or could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Area>,
    /// `visible`, `minimized`, `hidden`, `closed` or `unknown`, now.
    pub state: &'static str,
    /// Whether it fills its display now.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub maximized: bool,
    /// Whether it is the one that the user works in now.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub active: bool,
    /// A dialog of the window that came up instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialog: Option<String>,
    /// `true` if nothing was done, since `options.dryRun` was set.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// Changes the window that is the target.
///
/// # Errors
/// `not_found`, `permission_denied` for a window that the scope does not show, `invalid_request` for bounds that are not on the
/// display, `provider_unavailable` without a window manager.
pub(super) fn change(cx: &Context, permit: &Permit, change: WindowChange) -> Result<Output, Failure> {
    let changed = changed(cx, permit, change)?;
    let effect = changed.effect.map(ActionEffect::as_str);
    let is_closed = change == WindowChange::Close && changed.effect == Some(ActionEffect::Confirmed);
    let now = changed.after.as_ref();
    Ok(Output {
        bounds: now.map(|window| area(window.bounds)),
        state: match now {
            Some(window) => state_word(window.state),
            None if is_closed => "closed",
            None => "unknown",
        },
        maximized: now.is_some_and(|window| window.maximised),
        active: now.is_some_and(|window| window.active),
        dialog: changed.dialog,
        effect,
        dry_run: permit.common().dry_run,
    })
}

/// Changes the window that is the target, and notes it for the history.
///
/// # Errors
/// As [`change`].
pub(in crate::operations) fn changed(
    cx: &Context,
    permit: &Permit,
    change: WindowChange,
) -> Result<WindowChanged, Failure> {
    let (id, dry_run) = (permit.id().unwrap_or_default(), permit.common().dry_run);
    let changed =
        change_window(&cx.service.displays, permit.needed_scope()?, id, change, dry_run, &cx.cancel)
            .map_err(refused)?;
    cx.summarize(changed.effect.map_or("judged only", ActionEffect::as_str));
    Ok(changed)
}

/// Returns the word for how a window is, as these operations say it.
pub(super) const fn state_word(state: WindowState) -> &'static str {
    match state {
        WindowState::Visible => "visible",
        WindowState::Minimised => "minimized",
        WindowState::Hidden => "hidden",
    }
}

/// Creates the failure of a change that was not made.
pub(in crate::operations) fn refused(error: ScreenError) -> Failure {
    match error {
        ScreenError::Outside { region, bounds } => Failure::invalid(
            "input",
            format!("the bounds {region} are not within the display, which is {bounds}"),
        )
        .hint("Choose bounds that are on the display as a whole; window.list has its size."),
        ScreenError::UnknownWindow(_) => Failure::new(ErrorCode::NotFound, error.to_string())
            .detail("field", "target")
            .hint("Use the id of a window from window.list; windows come and go."),
        ScreenError::NoAccess(Access::Unsupported { why }) => {
            Failure::new(ErrorCode::UnsupportedPlatform, why)
        }
        error => unavailable(error),
    }
}
