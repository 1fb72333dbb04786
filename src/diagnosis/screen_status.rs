//! What a client could see of this computer's screens.

use schemars::JsonSchema;
use serde::Serialize;

use bailiwick_config::ScopeConfig;
use bailiwick_contract::{Capability, Failure, ScopeType};
use bailiwick_engine::operations::screen::unavailable;
use bailiwick_platform::screen::{Displays, Listing, Sources};
use bailiwick_policy::{OwnFolders, RootPaths, Scope};
use bailiwick_providers::display::{desktop_abilities, without_private};
use bailiwick_providers::screen::{AccessState, access_state, withheld};

use super::vision_model;
use crate::installation::home::Home;
use crate::scope_setup::scope_words::{input_words, screen_words};

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
    /// Whether clients use pointer and keyboard, in words; left out where neither the capability nor the setting is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// How many windows are withheld now.
    pub withheld: usize,
}

/// Something that can be done on the primary display, or why not.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AbilityOutput {
    /// Its name.
    pub name: &'static str,
    /// Whether it can be done, where a scope grants it.
    pub available: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What you do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// The host and the port to which it sends pictures, if it sends any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
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
    /// What can be done on the primary display, and what is missing.
    pub abilities: Vec<AbilityOutput>,
    /// The scopes that show something of them.
    pub scopes: Vec<ScreenScopeOutput>,
}

/// What the displays say, and what each scope shows of them.
pub struct ScreenStatus {
    /// What the displays say.
    pub listing: Listing,
    /// What a program gets.
    pub output: ScreenStatusOutput,
    /// In words, what each of those scopes shows.
    pub words: Vec<String>,
}

impl ScreenStatus {
    /// Asks the displays.
    ///
    /// # Errors
    /// When the system refuses, or a scope cannot be compiled.
    pub fn of(home: &Home) -> Result<Self, Failure> {
        let seen = Displays::new(without_private(Sources::of_this_process(), &home.dirs));
        let listing = seen.list().map_err(unavailable)?;
        let config = home.config_if_there()?;
        let mut shown = Vec::new();
        for scope in config.iter().flat_map(|config| &config.scopes).filter(|scope| shows_screens(scope)) {
            let output = ScreenScopeOutput {
                scope: scope.id.clone(),
                displays: scope.policy.allow_displays == Some(true),
                windows: scope.policy.allow_windows == Some(true),
                processes: scope.policy.allow_processes == Some(true),
                input: input_words(scope),
                withheld: hidden(home, scope, &listing)?,
            };
            shown.push((output, screen_words(scope)));
        }
        let (scopes, words) = shown.into_iter().unzip();
        let displays = listing.displays.iter().map(|it| DisplayOutput {
            display: it.id.clone(),
            name: it.name.clone(),
            primary: it.primary,
        });
        let model = vision_model::host(config.as_ref(), &home.dirs);
        let abilities = desktop_abilities(&seen, &listing, None, seen.session_bus(), &[], model);
        let abilities = abilities.into_iter().map(|it| AbilityOutput {
            name: it.name,
            available: it.why.is_none(),
            host: it.host.filter(|_| it.why.is_none()),
            why: it.why,
            fix: it.fix,
        });
        let output = ScreenStatusOutput {
            ok: true,
            access: access_state(&listing.access),
            displays: displays.collect(),
            abilities: abilities.collect(),
            scopes,
        };
        Ok(Self { listing, output, words })
    }
}

fn shows_screens(scope: &ScopeConfig) -> bool {
    scope.scope_type == ScopeType::Computer && scope.grants(Capability::ScreenCapture)
}

fn hidden(home: &Home, scope: &ScopeConfig, listing: &Listing) -> Result<usize, Failure> {
    let scope = Scope::compile(scope, &RootPaths::default(), &OwnFolders::of(&home.dirs))?;
    Ok(withheld(scope.screen(), &listing.windows).into_iter().filter(|closed| *closed).count())
}
