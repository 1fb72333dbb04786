//! The values that fit, a line each: the value, a tab, and what it is about.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use bailiwick_engine::operations::FAMILIES;
use bailiwick_engine::registry::Registry;
use bailiwick_history::Filter;
use bailiwick_platform::launch::Launcher;
use bailiwick_providers::process::Processes;

use super::super::client::open_changes;
use super::super::definition::definition;
use super::super::history;
use super::super::home::Home;
use super::super::printer::one_line;
use super::wanted::{CompletionRequest, Kind, wanted};

/// No more operations of the history than this are offered, the newest.
const OFFERED: usize = 50;
/// No more of a text about a value than this is shown, in characters.
const ABOUT: usize = 60;

/// A value, and what it is about.
type Value = (String, String);

/// Reads the question that the scripts ask: `--values -- WORDS` of `completions`, which is hidden,. By hand, since the words are
/// those of a command line that is not yet whole.
pub fn asked(words: &[OsString]) -> Option<Vec<String>> {
    let ["completions", "--values", "--"] =
        [words.get(1)?.to_str()?, words.get(2)?.to_str()?, words.get(3)?.to_str()?]
    else {
        return None;
    };
    Some(words[4..].iter().map(|word| word.to_string_lossy().into_owned()).collect())
}

/// Returns the values that fit behind words. Where nothing is known, or anything is wrong, there are none.
pub fn values(words: &[String]) -> String {
    let CompletionRequest { kind: Some(kind), config } = wanted(&definition(), words) else {
        return String::new();
    };
    let found = Home::find(config.as_deref().map(Path::new)).ok().and_then(|home| of(&home, kind));
    let mut lines = String::new();
    for (value, about) in found.unwrap_or_default() {
        // One with a line end or a tab could be read as two.
        if value.is_empty() || value != one_line(&value) {
            continue;
        }
        let about: String = one_line(&about).chars().take(ABOUT).collect();
        lines.push_str(&value);
        if !about.is_empty() {
            lines.extend(["\t", &about]);
        }
        lines.push('\n');
    }
    lines
}

fn of(home: &Home, kind: Kind) -> Option<Vec<Value>> {
    Some(match kind {
        Kind::Scope => {
            let scopes = home.config().ok()?.scopes;
            scopes.into_iter().map(|scope| (scope.id, scope.name.unwrap_or_default())).collect()
        }
        Kind::Token => {
            let tokens = home.tokens().ok()?;
            let about = |scopes: &[String]| format!("opens {}", scopes.join(", "));
            tokens.records().iter().map(|token| (token.name.clone(), about(&token.scopes))).collect()
        }
        Kind::Process => processes(home, false),
        Kind::LiveProcess => processes(home, true),
        Kind::Done => {
            let filter = Filter { limit: OFFERED, ..Filter::default() };
            let entries = history::read(home, &filter).ok()?.entries;
            let about = |op: &str, target: Option<&str>| format!("{op} {}", target.unwrap_or_default());
            entries
                .into_iter()
                .map(|entry| {
                    let about = about(&entry.op, entry.target.as_deref());
                    (entry.operation_id, about.trim_end().to_owned())
                })
                .collect()
        }
        Kind::Change => open_changes(home).ok()?,
        Kind::Operation => {
            let registry = Registry::new(FAMILIES);
            let all = registry
                .operations()
                .map(|entry| (entry.spec.name.to_owned(), entry.spec.summary.to_owned()));
            all.collect()
        }
    })
}

fn processes(home: &Home, is_live: bool) -> Vec<Value> {
    // The launcher starts nothing until something is started by it, which nothing is.
    let all = Processes::new(&home.dirs, Arc::new(Launcher::new())).all();
    let fitting = all
        .iter()
        .filter(|process| !is_live || process.status().is_ok_and(|status| !status.state.is_final()));
    fitting
        .map(|process| {
            let facts = &process.facts;
            let called = facts.label.as_deref().unwrap_or(&facts.preview);
            (facts.id.clone(), format!("{}: {called}", facts.scope))
        })
        .collect()
}
