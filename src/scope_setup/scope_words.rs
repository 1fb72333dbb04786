//! Scopes of a config: finding and checking one, and the words by which it is described.

use bailiwick_config::{Config, InputBanner, ScopeConfig, VisibleInput};
use bailiwick_contract::{Capability, ErrorCode, Failure, ScopeType};
use bailiwick_engine::operations::FAMILIES;
use bailiwick_engine::registry::Registry;
use bailiwick_policy::{OwnFolders, RootPaths, Scope};
use schemars::JsonSchema;
use serde::Serialize;

use crate::installation::home::Home;
use crate::installation::text::{one_line, with_nearest};

/// A scope.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScopeState {
    /// Its id.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Its type: `folder` or `computer`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Its folders.
    pub roots: Vec<String>,
    /// The capabilities that it grants, one blank apart; a `?` marks those that ask.
    pub grants: String,
    /// Why it cannot be used; null if it can.
    pub problem: Option<String>,
}

/// Describes the scopes of a config, with whether each folder can be opened.
pub fn states(home: &Home, config: &Config) -> Vec<ScopeState> {
    let (own, paths) = (OwnFolders::of(&home.dirs), RootPaths::new(&config.scopes));
    let problem_of = |scope: &ScopeConfig| match Scope::compile(scope, &paths, &own) {
        Ok(compiled) => compiled.roots().iter().find_map(|root| root.problem().map(|it| it.message.clone())),
        Err(failure) => Some(failure.message),
    };
    let state = |scope: &ScopeConfig| ScopeState {
        id: scope.id.clone(),
        name: scope.name.as_ref().unwrap_or(&scope.id).clone(),
        kind: type_name(scope),
        roots: scope.roots.iter().map(|root| root.display().to_string()).collect(),
        grants: grants(scope),
        problem: problem_of(scope),
    };
    config.scopes.iter().map(state).collect()
}

/// Checks a scope of a changed config, as the service would.
///
/// # Errors
/// `invalid_request` when the config or the scope would be refused.
pub fn check_scope(home: &Home, config: &Config, scope: &ScopeConfig) -> Result<(), Failure> {
    let compiled = Scope::compile(scope, &RootPaths::new(&config.scopes), &OwnFolders::of(&home.dirs))?;
    Registry::new(FAMILIES).check_asked_operations(&compiled)?;
    Config::parse(&home.config_path, config.text().as_bytes())
        .map(|_| ())
        .map_err(|error| Failure::invalid(error.place.trim_matches('`'), error.problem).hint(error.fix))
}

/// Finds a scope in a config.
///
/// # Errors
/// `unknown_scope`, with the nearest id.
pub fn place_of(config: &Config, id: &str) -> Result<usize, Failure> {
    config.scopes.iter().position(|scope| scope.id == id).ok_or_else(|| {
        let ids: Vec<&str> = config.scopes.iter().map(|scope| scope.id.as_str()).collect();
        let failure = Failure::new(ErrorCode::UnknownScope, format!("there is no scope `{}`", one_line(id)));
        let otherwise = if ids.is_empty() {
            "`bailiwick setup FOLDER` opens a folder.".to_owned()
        } else {
            format!("There are: {}.", ids.join(", "))
        };
        with_nearest(failure, id, ids.into_iter(), &otherwise)
    })
}

/// Names a scope's type.
pub fn type_name(scope: &ScopeConfig) -> &'static str {
    match scope.scope_type {
        ScopeType::Folder => "folder",
        ScopeType::Computer => "computer",
    }
}

/// Returns a scope's grants in one line; `?` marks those that are set to `ask`, and so are refused.
pub fn grants(scope: &ScopeConfig) -> String {
    let words: Vec<String> = Capability::ALL
        .iter()
        .filter(|it| !scope.deny.contains(it))
        .filter_map(|it| {
            if scope.ask.contains(it) {
                Some(format!("{it}?"))
            } else {
                scope.capabilities.contains(it).then(|| it.to_string())
            }
        })
        .collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(" ") }
}

/// Names the folders of a scope.
pub fn roots(scope: &ScopeConfig) -> String {
    scope.roots.iter().map(|root| root.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Returns in a word or two what a scope takes pictures of.
pub fn screen_words(scope: &ScopeConfig) -> String {
    let policy = &scope.policy;
    let kinds = [
        ("displays", policy.allow_displays),
        ("windows", policy.allow_windows),
        ("processes", policy.allow_processes),
    ];
    let on: Vec<&str> = kinds.iter().filter(|(_, on)| *on == Some(true)).map(|(name, _)| *name).collect();
    if on.is_empty() { "nothing".to_owned() } else { on.join(", ") }
}

/// Returns whether clients use pointer and keyboard; nothing where neither the capability nor the setting is there.
pub fn input_words(scope: &ScopeConfig) -> Option<String> {
    let capability = Capability::InputControl;
    let is_in = |list: &Vec<Capability>| list.contains(&capability);
    let is_granted = (is_in(&scope.capabilities) || is_in(&scope.ask)) && !is_in(&scope.deny);
    let asks = is_in(&scope.ask);
    let banner = match scope.policy.input_banner {
        InputBanner::Show => "a banner on your display (X11) names the client",
        InputBanner::Off => "without a banner on your display",
    };
    Some(match (is_granted, scope.policy.visible_input) {
        (false, VisibleInput::Off) => return None,
        (false, _) => format!("pointer and keyboard are off: {capability} is not granted"),
        (true, VisibleInput::Off) => {
            format!("pointer and keyboard are off: `bailiwick scope edit {} --visible-input ask`", scope.id)
        }
        (true, VisibleInput::Allow) if !asks => format!(
            "pointer and keyboard in every window that is shown, but for terminals, while you use neither; {banner}"
        ),
        (true, _) => format!("pointer and keyboard, each use with your approval; {banner}"),
    })
}

/// Returns whether clients may run commands in a scope.
pub fn runs_commands(scope: &ScopeConfig) -> bool {
    [Capability::CommandRun, Capability::PackageRun]
        .iter()
        .any(|it| (scope.capabilities.contains(it) || scope.ask.contains(it)) && !scope.deny.contains(it))
}

/// Returns a scope for showing: values of environment variables may be secrets.
pub fn without_values(scope: &ScopeConfig) -> ScopeConfig {
    let mut scope = scope.clone();
    scope.policy.environment.values_mut().for_each(|value| "[not shown]".clone_into(value));
    scope
}

/// Returns grants in a word each. What is set to `ask` is refused, and left out.
pub fn in_short(grants: &str) -> String {
    let words: Vec<&str> = grants.split(' ').filter(|grant| !grant.ends_with('?')).map(short_name).collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

fn short_name(capability: &str) -> &str {
    match capability {
        "fs:read" => "read",
        "search:read" => "search",
        "fs:write" => "write",
        "git:read" => "Git",
        "git:write" => "commit",
        "command:run" => "commands",
        "process:manage" => "processes",
        "package:run" => "scripts",
        "codex:run" => "Codex",
        "screen:capture" => "screens",
        "screen:ground" => "vision model",
        "ui:read" => "elements",
        "ui:control" => "element actions",
        "input:control" => "pointer and keyboard",
        "window:read" => "windows",
        "window:control" => "window actions",
        "clipboard:read" => "clipboard",
        "clipboard:write" => "clipboard changes",
        "history:read" => "history",
        other => other,
    }
}
