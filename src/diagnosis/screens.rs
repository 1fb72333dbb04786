//! The screens: whether what scopes may take pictures of can be read from here.

use std::env;
use std::fs::File;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use bailiwick_config::{Config, ScopeConfig};
use bailiwick_contract::{Capability, ScopeType};
use bailiwick_platform::accessibility::{AccessibilityError, allowance};
use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::screen::{Access, Displays, Listing, ScreenError, Sources};
use bailiwick_providers::screen::access_state;

use bailiwick_providers::display::{missing_programs, without_private};
use bailiwick_providers::screen::{OCR_PACKAGE, has_ocr};

use super::finding::Findings;
use super::vision_model;

/// How long the displays may take to answer.
const TIME: Duration = Duration::from_millis(900);

/// Checks that what private displays are made of is installed, where a scope has them.
fn private_displays(config: &Config, found: &mut Findings) {
    let Some(scope) = config.scopes.iter().find(|scope| scope.grants(Capability::DisplayManage)) else {
        return;
    };
    let missing = missing_programs(&scope.policy.search_path);
    if missing.is_empty() {
        found.ok("private-displays", "Xvfb and what private displays need are installed");
    }
    for it in missing {
        found.warn(
            "private-displays",
            format!("{} is not installed: {}", it.program, it.without),
            format!("Install the package {}.", it.package),
        );
    }
}

/// Checks the right to read and use windows, where a system asks the user for it and a scope grants what needs it.
fn desktop_right(config: &Config, found: &mut Findings) {
    let needs =
        [Capability::UiRead, Capability::UiControl, Capability::WindowControl, Capability::InputControl];
    let uses_it = |scope: &&ScopeConfig| {
        scope.scope_type == ScopeType::Computer && needs.iter().any(|it| scope.grants(*it))
    };
    let Some(scope) = config.scopes.iter().find(uses_it) else { return };
    match allowance() {
        None => {}
        Some(Ok(())) => found.ok("desktop-right", "the system lets Bailiwick read and use windows"),
        Some(Err(error)) => {
            let setting = match &error {
                AccessibilityError::NotAllowed { setting } => (*setting).to_owned(),
                _ => "See what can be done: `bailiwick call permissions.status`.".to_owned(),
            };
            found.warn("desktop-right", format!("scope `{}` uses windows, but {error}", scope.id), setting);
        }
    }
}

/// Looks at the screens, if a scope takes pictures of them.
pub fn look(config: Option<&Config>, dirs: &Dirs, found: &mut Findings) {
    let Some(config) = config else { return };
    found.group("Screens");
    private_displays(config, found);
    desktop_right(config, found);
    vision_model::look(config, dirs, found);
    let takes_pictures = |scope: &&ScopeConfig| {
        scope.scope_type == ScopeType::Computer && scope.grants(Capability::ScreenCapture)
    };
    let scopes: Vec<&ScopeConfig> = config.scopes.iter().filter(takes_pictures).collect();
    if scopes.is_empty() {
        found.ok("screen", "no scope takes pictures of the screens");
        return;
    }
    let shows_something = |scope: &ScopeConfig| {
        scope.policy.allow_displays == Some(true) || scope.policy.allow_windows == Some(true)
    };
    for scope in scopes.iter().filter(|scope| !shows_something(scope)) {
        found.warn(
            "screen-rules",
            format!(
                "scope `{}` grants screen:capture, but its policy allows neither displays nor windows",
                scope.id
            ),
            format!(
                "Show them with `bailiwick scope edit {0} --screen`, or take the right away with `bailiwick scope deny {0} screen:capture`.",
                scope.id
            ),
        );
    }
    let Some(first) = scopes.iter().find(|scope| shows_something(scope)) else { return };
    let sources = without_private(Sources::of_this_process(), dirs);
    authority(found);
    text_recognition(first, found);
    match listed(sources.clone()) {
        None => {
            found.warn(
                "screen",
                format!("the displays do not answer within {} ms", TIME.as_millis()),
                "Look whether a display hangs, or DISPLAY names one that is far away.",
            );
        }
        Some(Err(error)) => {
            found.warn(
                "screen",
                error.to_string(),
                "See what the displays answer: `bailiwick call screen.list`.",
            );
        }
        Some(Ok(listing)) => displays(&sources, &listing, &first.id, found),
    }
}

/// What screen.ocr needs.
fn text_recognition(scope: &ScopeConfig, found: &mut Findings) {
    if !has_ocr(&scope.policy.search_path) {
        found.warn(
            "screen-text",
            "tesseract is not installed: screen.ocr reads no text",
            format!("Install the package {OCR_PACKAGE}."),
        );
    }
}

/// The file of cookies that the environment names. Without one it is looked for where it usually lies.
fn authority(found: &mut Findings) {
    let Some(path) = env::var_os("XAUTHORITY").filter(|path| !path.is_empty()) else { return };
    if let Err(error) = File::open(&path) {
        found.warn(
            "screen-authority",
            format!("XAUTHORITY names {}, which cannot be read: {error}", path.to_string_lossy()),
            "Start Bailiwick inside the desktop session, or with XAUTHORITY set to that session's file.",
        );
    }
}

/// Asks the displays. One that hangs is not waited for: its thread ends with this process.
fn listed(sources: Sources) -> Option<Result<Listing, ScreenError>> {
    let (says, hears) = mpsc::channel();
    let asked = thread::Builder::new().name("screens".to_owned()).spawn(move || {
        // Nobody hears it once the time is over.
        let _ = says.send(Displays::new(sources).list());
    });
    asked.ok().and_then(|_| hears.recv_timeout(TIME).ok())
}

fn displays(sources: &Sources, listing: &Listing, scope: &str, found: &mut Findings) {
    // Displays of other users are there as well, and closed as they should be.
    let named = sources.display.as_deref().and_then(id_of);
    let unreachable = listing.unreachable.iter().find(|it| Some(&it.display) == named.as_ref());
    if let Some(it) = unreachable {
        let access = access_state(&it.access);
        found.warn(
            "screen-display",
            format!(
                "DISPLAY names {}, which cannot be read: {}",
                it.display,
                access.why.unwrap_or(access.state)
            ),
            access
                .setting
                .unwrap_or_else(|| "Set DISPLAY to a display that is there, or unset it.".to_owned()),
        );
    } else if listing.access == Access::Granted {
        let ids: Vec<&str> = listing.displays.iter().map(|display| display.id.as_str()).collect();
        found.ok("screen", format!("displays that can be read: {}", ids.join(", ")));
    } else {
        let access = access_state(&listing.access);
        found.warn(
            "screen",
            format!("scope `{scope}` takes pictures, but {}", access.why.unwrap_or(access.state)),
            access
                .setting
                .unwrap_or_else(|| "See what the displays answer: `bailiwick call screen.list`.".to_owned()),
        );
    }
}

/// Returns the id of what DISPLAY names: `HOST:NUMBER`, without the screen.
fn id_of(display: &str) -> Option<String> {
    let (host, rest) = display.rsplit_once(':')?;
    let number: u16 = rest.split('.').next()?.parse().ok()?;
    let host = if host == "unix" { "" } else { host };
    Some(format!("{host}:{number}"))
}
