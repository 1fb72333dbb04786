//! How a change of a scope is checked and told: compiled as the service would, and shown as what it grants and takes.

use bailiwick_config::{Config, ScopeConfig, ShellMode};
use bailiwick_contract::{Capability, ErrorCode, Failure, ScopeType};
use bailiwick_policy::{OwnFolders, RootPaths, Scope};

use super::super::commands_setup;
use super::super::home::{Home, IfMissing};
use super::super::printer::{Report, labelled, one_line, with_nearest};
use super::list::{grants, roots, screen_words};
use super::output::{Changes, ScopeChangeOutput};
use super::statements::{diff_text, difference};

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

/// Changes a scope, and shows what that grants and takes. With `dry_run` nothing is written.
///
/// # Errors
/// When there is no such scope, or the changed one would be refused; the config is then untouched.
pub fn change(
    home: &Home,
    id: &str,
    dry_run: bool,
    change: impl FnOnce(&mut ScopeConfig) -> Result<(), Failure>,
) -> Result<Report, Failure> {
    home.edit(IfMissing::Fail, |config| {
        let place = place_of(config, id)?;
        let before = config.scopes[place].clone();
        change(&mut config.scopes[place])?;
        let after = config.scopes[place].clone();
        let changes = difference(Some(&before), Some(&after));
        let said = match (changes.is_empty(), dry_run) {
            (true, _) => format!("No changes needed for scope `{}`.\n", after.id),
            (false, true) => format!("Would change scope `{}`:\n", after.id),
            (false, false) => format!("Changed scope `{}`:\n", after.id),
        };
        let report = told(home, config, Some(&before), &after, changes, &said, !dry_run);
        if dry_run {
            config.scopes[place] = before;
        }
        report
    })
}

/// Checks a scope of a changed config, and shows what is new.
///
/// # Errors
/// `invalid_request` when the config or the scope would be refused.
pub fn told(
    home: &Home,
    config: &Config,
    before: Option<&ScopeConfig>,
    after: &ScopeConfig,
    changes: Changes,
    said: &str,
    writes: bool,
) -> Result<Report, Failure> {
    Scope::compile(after, &RootPaths::new(&config.scopes), &OwnFolders::of(&home.dirs))?;
    Config::parse(&home.config_path, config.text().as_bytes())
        .map_err(|error| Failure::invalid(error.place.trim_matches('`'), error.problem).hint(error.fix))?;
    let mut text = format!("{said}{}", diff_text(&changes));
    match after.scope_type {
        ScopeType::Folder => text.push_str(&format!("  folders  {}\n", one_line(&roots(after)))),
        ScopeType::Computer => text.push_str(&format!("  screen   {}\n", screen_words(after))),
    }
    text.push_str(&format!("  grants   {}\n", grants(after)));
    let mut note = None;
    if runs_commands(after) {
        if !before.is_some_and(runs_commands) {
            text.push_str("commands\n");
            text.push_str(&labelled(&commands_setup::describe(after)?));
        }
        if after.policy.allowed_commands.is_empty() && after.policy.shell == ShellMode::Off {
            note = Some(format!(
                "\nNo rule allows a command yet: `bailiwick scope edit {} --commands` adds a first set.",
                after.id
            ));
        }
    }
    let written = writes && !changes.is_empty();
    let output = ScopeChangeOutput { ok: true, scope: without_values(after), changes, written };
    let report = Report::of(text, &output);
    Ok(match note {
        Some(note) => report.note(note),
        None => report,
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
