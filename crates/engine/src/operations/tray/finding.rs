//! Which status icons a scope shows, and where they are.

use bailiwick_contract::{ErrorCode, FOR_USER, ScopeType, StageName};
use bailiwick_platform::screen::{Access, ScreenError, Window};
use bailiwick_platform::tray::{Tray, TrayError, TrayItem};
use bailiwick_policy::Scope;
use bailiwick_providers::display::{DisplayOwner, NO_STATUS_AREA};
use bailiwick_providers::tray::{ShownItems, shown_items};

use super::super::screen::unavailable;
use super::super::ui::of_program;
use crate::registry::prelude::*;

/// What the ids of icons of the user's desktop begin with; those of private displays begin with that of the display.
const SESSION: &str = "session";

/// The icons of one bus.
pub(super) struct TrayIcons {
    /// What their ids begin with.
    pub place: String,
    /// The connection by which they were found.
    pub tray: Tray,
    /// Those that the scope shows, and how many there are besides.
    pub shown: ShownItems,
}

impl TrayIcons {
    /// Returns the id of an icon for answers and requests.
    pub fn id(&self, item: &TrayItem) -> String {
        format!("{}/{}", self.place, item.id)
    }
}

/// Reads the windows of the displays, by which icons are judged.
///
/// # Errors
/// Those of displays that cannot be read: whose icons may be shown is not known then.
pub(super) fn windows(cx: &Context) -> Result<Vec<Window>, Failure> {
    let listing = cx.service.displays.list().map_err(unavailable)?;
    match listing.access {
        Access::Granted => Ok(listing.windows),
        access => Err(unavailable(ScreenError::NoAccess(access))),
    }
}

/// Reads the icons that the scope shows: those of the user's session, or of the private displays of the caller.
///
/// # Errors
/// `permission_denied` where the scope shows no windows; `provider_unavailable` without a bus, or where nothing on it keeps a list
/// of icons.
pub(super) fn icons(cx: &Context, permit: &Permit) -> Result<Vec<TrayIcons>, Failure> {
    let (scope, rules) = (permit.needed_scope()?, permit.screen()?);
    let judged = rules.judge_kind(TargetRule::ActiveWindow, scope.id());
    judged.map_err(|refusal| refusal.at_stage(StageName::Screen))?;
    let windows = windows(cx)?;
    let read = |(place, bus): (String, Option<String>)| {
        let bus = bus.ok_or_else(|| refused(TrayError::NoBus("none is known here".to_owned())))?;
        let tray = Tray::connect(&bus).map_err(refused)?;
        let items = tray.items().map_err(refused)?;
        Ok(TrayIcons { place, shown: shown_items(rules, &windows, items), tray })
    };
    buses(cx, scope).into_iter().map(read).collect()
}

/// Returns the buses on which a scope finds icons: that of the user's session, or those of the private displays of the caller.
pub(in crate::operations) fn buses(cx: &Context, scope: &Scope) -> Vec<(String, Option<String>)> {
    match scope.scope_type() {
        ScopeType::Computer => {
            vec![(SESSION.to_owned(), cx.service.displays.session_bus().map(str::to_owned))]
        }
        ScopeType::Folder => {
            let own = cx.service.private_displays.list(&DisplayOwner::new(scope, &cx.caller));
            own.into_iter().map(|display| (display.id, display.bus)).collect()
        }
    }
}

/// Finds the icon of an id among those that the scope shows.
///
/// # Errors
/// `not_found`, also for one that the scope does not show.
pub(super) fn target(icons: Vec<TrayIcons>, id: &str) -> Result<(Tray, TrayItem), Failure> {
    for found in icons {
        let item = found.shown.items.iter().find(|item| found.id(item) == id).cloned();
        if let Some(item) = item {
            return Ok((found.tray, item));
        }
    }
    let id: String = id.chars().filter(|it| !it.is_control()).take(80).collect();
    Err(Failure::new(ErrorCode::NotFound, format!("this scope shows no icon `{id}`"))
        .detail("field", "target")
        .hint("tray.list shows the icons; their ids change when their programs are started again."))
}

/// Creates the failure of an icon that was not read or used.
pub(super) fn refused(error: TrayError) -> Failure {
    let message = error.to_string();
    match error {
        TrayError::Unsupported => Failure::new(ErrorCode::UnsupportedPlatform, message),
        TrayError::NoBus(_) => Failure::new(ErrorCode::ProviderUnavailable, message).hint(format!(
            "{FOR_USER}Bailiwick has to run in the session of your desktop, which has a bus; private displays need dbus-daemon."
        )),
        TrayError::NoWatcher => {
            Failure::new(ErrorCode::ProviderUnavailable, message).hint(format!("{FOR_USER}{NO_STATUS_AREA}"))
        }
        TrayError::Program(error) => of_program(
            error,
            "Call tray.list again.",
            "An icon without `menu` has no entries; one that is only a menu has no action of its own: choose an entry by `path`.",
        ),
    }
}
