//! How a change of a scope is checked and told: compiled as the service would, and shown as what it grants and takes.

use bailiwick_config::{Config, ScopeConfig, ShellMode};
use bailiwick_contract::{Failure, ScopeType};

use super::super::args::ConfirmArgs;
use super::super::ask;
use super::super::printer::{Printer, Report, labelled, one_line};
use crate::installation::home::{Home, IfMissing, changed_meanwhile};
use crate::scope_setup::commands_setup;
use crate::scope_setup::difference::Difference;
use crate::scope_setup::output::ScopeChangeOutput;
use crate::scope_setup::scope_words::{
    check_scope, grants, place_of, roots, runs_commands, screen_words, without_values,
};

/// Makes a change of the config as was consented to: tried with `--dry-run`, asked about on a terminal, else at once.
///
/// # Errors
/// Those of `change`, and of the question; `conflict` if the config has changed since it was asked about.
pub fn confirmed(
    home: &Home,
    printer: Printer,
    confirm: ConfirmArgs,
    question: &str,
    change: impl Fn(&Home, &mut Config) -> Result<Report, Failure>,
) -> Result<Report, Failure> {
    let tried = home.dry_run(true);
    if confirm.dry_run {
        return tried.edit(IfMissing::Fail, |config| change(&tried, config));
    }
    if !confirm.asks(printer) {
        return home.edit(IfMissing::Fail, |config| change(home, config));
    }
    let (before, is_same, shown) = tried.edit(IfMissing::Fail, |config| {
        let before = config.clone();
        let shown = change(&tried, config)?;
        Ok((before.clone(), *config == before, shown))
    })?;
    if is_same {
        return Ok(shown);
    }
    printer.talk(shown.text.trim_end());
    if !ask::yes(printer, question)? {
        return Ok(Report { text: "Left as it was.\n".to_owned(), notes: Vec::new(), ..shown });
    }
    home.edit(IfMissing::Fail, |config| {
        if *config != before {
            return Err(changed_meanwhile());
        }
        change(home, config)
    })
}

/// Changes a scope at once.
///
/// # Errors
/// As [`change_in`].
pub fn change(
    home: &Home,
    id: &str,
    change: impl FnOnce(&mut ScopeConfig) -> Result<(), Failure>,
) -> Result<Report, Failure> {
    home.edit(IfMissing::Fail, |config| change_in(home, config, id, change))
}

/// Changes a scope of a config, and shows what that grants and takes.
///
/// # Errors
/// When there is no such scope, or the changed one would be refused; the config is then untouched.
pub fn change_in(
    home: &Home,
    config: &mut Config,
    id: &str,
    change: impl FnOnce(&mut ScopeConfig) -> Result<(), Failure>,
) -> Result<Report, Failure> {
    let place = place_of(config, id)?;
    let before = config.scopes[place].clone();
    change(&mut config.scopes[place])?;
    let after = config.scopes[place].clone();
    let said = match (before == after, home.is_dry_run) {
        (true, _) => format!("No changes needed for scope `{}`.\n", after.id),
        (false, true) => format!("Would change scope `{}`:\n", after.id),
        (false, false) => format!("Changed scope `{}`:\n", after.id),
    };
    told(home, config, Some(&before), &after, &said)
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
    said: &str,
) -> Result<Report, Failure> {
    check_scope(home, config, after)?;
    let difference = Difference::new(before, Some(after));
    let mut text = format!("{said}{}", difference.text());
    match after.scope_type {
        ScopeType::Folder => text.push_str(&format!("  folders  {}\n", one_line(&roots(after)))),
        ScopeType::Computer => text.push_str(&format!("  screen   {}\n", screen_words(after))),
    }
    text.push_str(&format!("  grants   {}\n", grants(after)));
    let mut note = None;
    if runs_commands(after) {
        let was = before.filter(|it| runs_commands(it)).map(commands_setup::describe).transpose()?;
        let was = was.unwrap_or_default();
        let new: Vec<_> =
            commands_setup::describe(after)?.into_iter().filter(|line| !was.contains(line)).collect();
        if !new.is_empty() {
            text.push_str("commands\n");
            text.push_str(&labelled(&new));
        }
        if after.policy.allowed_commands.is_empty() && after.policy.shell == ShellMode::Off {
            note = Some(format!(
                "\nNo rule allows a command yet: `bailiwick scope edit {} --commands` adds a first set.",
                after.id
            ));
        }
    }
    let written = !home.is_dry_run && !difference.is_empty();
    let changes = difference.changes();
    let output = ScopeChangeOutput { ok: true, scope: without_values(after), changes, written };
    let report = Report::of(text, &output);
    Ok(match note {
        Some(note) => report.note(note),
        None => report,
    })
}
