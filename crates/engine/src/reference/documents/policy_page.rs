//! `docs/reference/policy.md`: stages, capabilities, sensitive files.

use schemars::schema_for;

use crate::registry::Registry;
use bailiwick_contract::Capability;
use bailiwick_policy::{
    COPY_PATTERNS, PROGRAM_SETTINGS, SENSITIVE, SENSITIVE_WINDOWS, STAGES, shared_patterns,
};

use super::markdown::{code, codes, table};

pub fn page(registry: &Registry) -> String {
    let stages: Vec<Vec<String>> = STAGES
        .iter()
        .enumerate()
        .map(|(at, stage)| vec![(at + 1).to_string(), code(stage.name.as_str()), stage.asks.to_owned()])
        .collect();
    let closed: Vec<Vec<String>> = rules()
        .into_iter()
        .map(|rule| {
            let patterns: Vec<String> =
                SENSITIVE.iter().filter(|row| row.rule == rule).map(|row| row.pattern()).collect();
            vec![code(rule), codes(patterns.iter().map(String::as_str))]
        })
        .collect();
    let shared = shared_patterns();
    let settings: Vec<String> = PROGRAM_SETTINGS.iter().map(|row| row.pattern()).collect();
    format!(
        "# The policy\n\n\
         ## Stages\n\n\
         Asked in this order; the first refusal ends the request. `bailiwick policy explain` asks the same stages\n\
         and shows every verdict.\n\n{}\n\
         ## Capabilities\n\n\
         A scope grants a capability (`capabilities`), has each request need approval (`ask`), or never grants it\n\
         (`deny`, which beats both). A token can be given fewer than its scopes grant.\n\n{}\n\
         ## Sensitive files\n\n\
         Closed to reading, searching, listing of content and writing, in every scope, unless\n\
         `policy.openSensitive` opens a path. Upper and lower case are one, and characters that some file systems\n\
         ignore are left out before names are compared. Everything in a folder of such a name is closed too.\n\n{}\n\
         Open all the same, since they are made to be shared: {}.\n\n\
         Copies that editors and tools leave of a closed file are closed as the file is: {}.\n\n\
         Closed for writing alone, rule `program-settings`, since editors and AI clients start the programs\n\
         that these files name, outside every sandbox: {}.\n\n\
         A name `.git` is never writable by `file.*`, in any scope: rule `git-internals`.\n\n\
         ## Windows that are not shown\n\n\
         In no picture and no list, in every scope, unless `policy.openSensitiveWindows` opens them. Globs over the app\n\
         (the class of the window, the name of its program) and over the title, in any case of letters. See\n\
         [Screens](../concepts/screens.md).\n\n{}",
        table(&["", "stage", "asks"], &stages),
        table(&["capability", "allows to", "operations"], &capabilities(registry)),
        table(&["rule", "names"], &closed),
        codes(shared.iter().map(String::as_str)),
        codes(COPY_PATTERNS.iter().copied()),
        codes(settings.iter().map(String::as_str)),
        table(&["what", "apps", "titles"], &windows()),
    )
}

fn capabilities(registry: &Registry) -> Vec<Vec<String>> {
    let schema = schema_for!(Capability).to_value();
    Capability::ALL
        .iter()
        .map(|capability| {
            let name = capability.as_str();
            let meaning = schema["oneOf"]
                .as_array()
                .and_then(|all| all.iter().find(|one| one["const"] == name))
                .and_then(|one| one["description"].as_str())
                .unwrap_or_default();
            let users: Vec<&str> = registry
                .operations()
                .filter(|entry| entry.spec.capabilities.iter().any(|group| group.contains(capability)))
                .map(|entry| entry.spec.name)
                .collect();
            let users = if users.is_empty() { "none yet".to_owned() } else { codes(users) };
            vec![code(name), meaning.trim_end_matches('.').to_owned(), users]
        })
        .collect()
}

fn windows() -> Vec<Vec<String>> {
    SENSITIVE_WINDOWS
        .iter()
        .map(|row| {
            let apps = codes(row.apps.iter().copied());
            vec![row.rule.replace('-', " "), apps, codes(row.titles.iter().copied())]
        })
        .collect()
}

/// Returns the rules of the list in its order, each once.
fn rules() -> Vec<&'static str> {
    let mut rules: Vec<&'static str> = Vec::new();
    for row in SENSITIVE {
        if !rules.contains(&row.rule) {
            rules.push(row.rule);
        }
    }
    rules
}
