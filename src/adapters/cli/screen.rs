//! `screen status`: what a client could see of this computer's screens, and what to change.

use schemars::JsonSchema;
use serde::Serialize;

use bailiwick_config::ScopeConfig;
use bailiwick_contract::{Capability, Failure, ScopeType};
use bailiwick_engine::operations::screen::{AccessState, access_state};
use bailiwick_platform::screen::{Displays, Listing, Sources};
use bailiwick_policy::{OwnFolders, RootPaths, Scope};
use bailiwick_providers::screen::withheld;

use super::home::Home;
use super::printer::{Report, one_line, table};
use crate::scope_setup::scope_words::screen_words;

/// A display.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DisplayOutput {
    /// Its id.
    pub display: String,
    /// Its name.
    pub name: String,
    /// Whether it is the first one.
    pub primary: bool,
}

/// What a scope shows of the screens.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScreenScopeOutput {
    /// The scope.
    pub scope: String,
    /// Whether it shows displays.
    pub displays: bool,
    /// Whether it shows windows.
    pub windows: bool,
    /// Whether it finds windows by their process.
    pub processes: bool,
    /// How many windows are withheld now.
    pub withheld: usize,
}

/// `screen status`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScreenStatusOutput {
    /// Always true.
    pub ok: bool,
    /// Whether the displays can be read.
    pub access: AccessState,
    /// The displays.
    pub displays: Vec<DisplayOutput>,
    /// The scopes that show something of them.
    pub scopes: Vec<ScreenScopeOutput>,
}

/// Asks the displays, and shows what each scope shows of them. Exits 22 where the system refuses.
///
/// # Errors
/// When a scope cannot be compiled.
pub fn status(home: &Home) -> Result<Report, Failure> {
    let listing = match Displays::new(Sources::of_this_process()).list() {
        Ok(listing) => listing,
        Err(error) => return Err(bailiwick_engine::operations::screen::unavailable(error)),
    };
    let access = access_state(&listing.access);
    let mut text = format!("Displays: {}\n", access.state);
    for (name, words) in [("why", &access.why), ("to change it", &access.setting)] {
        if let Some(words) = words {
            text.push_str(&format!("  {name}: {}\n", one_line(words)));
        }
    }
    let mut rows = Vec::new();
    for display in &listing.displays {
        let bounds = display.bounds;
        let windows =
            listing.windows.iter().filter(|window| window.display == display.id && !window.unmanaged);
        rows.push(vec![
            format!("  {}", one_line(&display.id)),
            one_line(&display.name),
            format!("{}x{}", bounds.width, bounds.height),
            format!("{} windows", windows.count()),
            if display.primary { "primary".to_owned() } else { String::new() },
        ]);
    }
    text.push_str(&table(&rows));
    for it in &listing.unreachable {
        let state = access_state(&it.access);
        text.push_str(&format!("  {} cannot be read: {}\n", one_line(&it.display), state.state));
        for words in [&state.why, &state.setting].into_iter().flatten() {
            text.push_str(&format!("    {}\n", one_line(words)));
        }
    }
    text.push_str("\nScopes\n");
    let config = home.config_if_there()?;
    let scopes = config.iter().flat_map(|config| &config.scopes).filter(|scope| shows_screens(scope));
    let mut told = Vec::new();
    for scope in scopes {
        let hidden = hidden(home, scope, &listing)?;
        text.push_str(&format!("  {}: {}; {hidden} windows withheld now\n", scope.id, screen_words(scope)));
        told.push(ScreenScopeOutput {
            scope: scope.id.clone(),
            displays: scope.policy.allow_displays == Some(true),
            windows: scope.policy.allow_windows == Some(true),
            processes: scope.policy.allow_processes == Some(true),
            withheld: hidden,
        });
    }
    if told.is_empty() {
        text.push_str("  none: `bailiwick scope add-screen screen` lets clients take pictures\n");
    }
    let display = |id: &str, name: &str, primary: bool| DisplayOutput {
        display: id.to_owned(),
        name: name.to_owned(),
        primary,
    };
    let displays = listing.displays.iter().map(|it| display(&it.id, &it.name, it.primary)).collect();
    Ok(Report::of(text, &ScreenStatusOutput { ok: true, access, displays, scopes: told }))
}

fn shows_screens(scope: &ScopeConfig) -> bool {
    scope.scope_type == ScopeType::Computer && scope.grants(Capability::ScreenCapture)
}

fn hidden(home: &Home, scope: &ScopeConfig, listing: &Listing) -> Result<usize, Failure> {
    let scope = Scope::compile(scope, &RootPaths::default(), &OwnFolders::of(&home.dirs))?;
    Ok(withheld(scope.screen(), &listing.windows).into_iter().filter(|closed| *closed).count())
}
