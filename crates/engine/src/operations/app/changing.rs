//! What the operations on applications have in common.

use crate::registry::prelude::*;
use bailiwick_contract::ErrorCode;
use bailiwick_platform::screen::{ScreenError, Window, WindowChange};
use bailiwick_providers::elements::ActionEffect;
use bailiwick_providers::screen::{App, Apps, apps, change_window};

use super::super::screen::unavailable;
use super::super::window::refused;

/// What the operations that act on an application have in common.
pub(super) const ON_APP: OperationSpec = OperationSpec {
    name: "",
    summary: "",
    details: "",
    capabilities: &[&[Capability::WindowControl]],
    effect: Effect::Writes,
    target: TargetRule::Id("an app, from app.list, or one of its windows"),
    scope: ScopeNeed::DESKTOP,
    platforms: &[],
    options: &[CommonOption::DryRun],
    timeout_seconds: 60,
    threads: Threads::Blocking,
    audited_fields: &[],
    example: "",
};

/// What came of it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// `confirmed`: read back of every window. `partial`: of some. `suspected_noop`: of none. Left out with `dryRun`, and where nothing
    /// was to be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<&'static str>,
    /// Its windows that were to be changed.
    pub windows: Vec<WindowOutput>,
    /// `true` if nothing was done, since `options.dryRun` was set.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// A window that was to be changed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WindowOutput {
    /// Its id.
    pub window: String,
    /// What came of it, as for window.close; left out if it was not tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<&'static str>,
    /// A dialog of the window that came up instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialog: Option<String>,
}

/// Lists the applications that the scope shows.
///
/// # Errors
/// Those of displays that cannot be read.
pub(super) fn all(cx: &Context, permit: &Permit) -> Result<Apps, Failure> {
    let listing = cx.service.displays.list().map_err(unavailable)?;
    Ok(apps(permit.screen()?, &listing.windows))
}

/// Finds the application that is the target.
///
/// # Errors
/// `not_found`, also for one whose windows the scope does not show.
pub(super) fn target(cx: &Context, permit: &Permit) -> Result<App, Failure> {
    let id = permit.id().unwrap_or_default();
    let found = all(cx, permit)?
        .apps
        .into_iter()
        .find(|app| app.id == id || app.windows.iter().any(|it| it.id == id));
    found.ok_or_else(|| {
        let id: String = id.chars().filter(|it| !it.is_control()).take(80).collect();
        Failure::new(ErrorCode::NotFound, format!("no app `{id}` has a window that this scope shows"))
            .detail("field", "target")
            .hint("app.list shows the apps; their ids change when they are started again.")
    })
}

/// Changes windows one after the other, until one is not changed as requested.
///
/// # Errors
/// Those of the first window; what was changed before is in the answer otherwise.
pub(super) fn change(
    cx: &Context,
    permit: &Permit,
    windows: &[&Window],
    change: WindowChange,
) -> Result<Output, Failure> {
    let dry_run = permit.common().dry_run;
    let mut done: Vec<WindowOutput> = Vec::new();
    let mut is_over = false;
    for window in windows {
        let mut output = WindowOutput { window: window.id.clone(), effect: None, dialog: None };
        if !is_over {
            let changed = change_window(
                &cx.service.displays,
                permit.needed_scope()?,
                &window.id,
                change,
                dry_run,
                &cx.cancel,
            );
            let (effect, dialog) = match changed {
                Ok(changed) => (changed.effect, changed.dialog),
                // With the window before it, the program has closed this one, too.
                Err(ScreenError::UnknownWindow(_)) if change == WindowChange::Close && !done.is_empty() => {
                    (Some(ActionEffect::Confirmed), None)
                }
                Err(error) if done.is_empty() => return Err(refused(error)),
                Err(error) => {
                    cx.warn(format!("`{}` was not changed: {error}", window.id));
                    (Some(ActionEffect::SuspectedNoop), None)
                }
            };
            is_over = effect.is_some_and(|effect| effect != ActionEffect::Confirmed);
            (output.effect, output.dialog) = (effect.map(ActionEffect::as_str), dialog);
        }
        done.push(output);
    }
    let confirmed = done.iter().filter(|it| it.effect == Some(ActionEffect::Confirmed.as_str())).count();
    let effect = match confirmed {
        _ if dry_run || done.is_empty() => None,
        all if all == done.len() => Some(ActionEffect::Confirmed),
        0 if done[0].effect == Some(ActionEffect::SuspectedNoop.as_str()) => {
            Some(ActionEffect::SuspectedNoop)
        }
        _ => Some(ActionEffect::Partial),
    };
    cx.summarize(match effect {
        Some(effect) => format!("{}: {confirmed} of {} windows", effect.as_str(), done.len()),
        None => "no window was changed".to_owned(),
    });
    Ok(Output { effect: effect.map(ActionEffect::as_str), windows: done, dry_run })
}
