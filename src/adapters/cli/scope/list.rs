//! `scope list`, and the words by which scopes are described elsewhere.

use serde_json::{Value, json};

use bailiwick_config::{Config, ScopeConfig};
use bailiwick_contract::{Capability, ScopeType};
use bailiwick_policy::{OwnFolders, RootPaths, Scope};

use super::super::home::Home;
use super::super::printer::{Fit, Report, Table, one_line};
use super::output::ScopeListOutput;
use super::report::without_values;

/// Lists the scopes.
pub fn run(config: &Config) -> Report {
    let mut table =
        Table::new(&[("ID", Fit::Whole), ("TYPE", Fit::Whole), ("GRANTS", Fit::Cut), ("FOLDERS", Fit::Cut)]);
    for scope in &config.scopes {
        table.row([scope.id.clone(), type_name(scope).to_owned(), grants(scope), one_line(&roots(scope))]);
    }
    let text = if table.is_empty() { "No scope is open.\n".to_owned() } else { table.text() };
    let scopes = config.scopes.iter().map(without_values).collect();
    let report = Report::of(text, &ScopeListOutput { ok: true, scopes });
    if table.is_empty() { report.note("\nhint: `bailiwick setup FOLDER` opens a folder.") } else { report }
}

/// Names a scope's type.
pub fn type_name(scope: &ScopeConfig) -> &'static str {
    match scope.scope_type {
        ScopeType::Folder => "folder",
        ScopeType::Computer => "computer",
    }
}

/// Says a scope's grants in one line; `?` marks those that are set to `ask`, and so are refused.
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

/// Says in a word or two what a scope takes pictures of.
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

/// Describes the scopes of a config for `status`, with whether each folder can be opened.
pub fn states(home: &Home, config: &Config) -> Vec<Value> {
    let (own, paths) = (OwnFolders::of(&home.dirs), RootPaths::new(&config.scopes));
    let problem_of = |scope: &ScopeConfig| match Scope::compile(scope, &paths, &own) {
        Ok(compiled) => compiled.roots().iter().find_map(|root| root.problem().map(|it| it.message.clone())),
        Err(failure) => Some(failure.message),
    };
    config
        .scopes
        .iter()
        .map(|scope| {
            json!({
                "id": scope.id,
                "name": scope.name.as_ref().unwrap_or(&scope.id),
                "type": type_name(scope),
                "roots": scope.roots.iter().map(|root| root.display().to_string()).collect::<Vec<_>>(),
                "grants": grants(scope),
                "problem": problem_of(scope),
            })
        })
        .collect()
}
