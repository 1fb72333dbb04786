//! `tray.select`: activate an icon of a status area, or choose an entry of its menu.

use bailiwick_contract::ErrorCode;
use bailiwick_platform::program_error::ProgramError;
use bailiwick_platform::screen::WindowState;
use bailiwick_platform::tray::{Tray, TrayError, TrayItem, TrayMenuEntry};
use bailiwick_policy::is_terminal;
use bailiwick_providers::elements::{ActionEffect, MenuPathError};
use bailiwick_providers::tray::{shown_items, tray_entry};

use super::super::menu::refused as no_entry;
use super::super::ui::{ACTION, LOOK, closed_processes, look_for, prompt, terminal};
use super::finding::{icons, refused, target, windows};
use super::list::line;
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

/// What to choose.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The labels from the menu to the entry, such as `["Network", "Off"]`; left out, what a click on the icon does. Dots at their
    /// end do not count.
    pub path: Option<Vec<String>>,
}

/// What was done.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// `confirmed`: the icon, its menu or the windows of its program changed within 300 ms; an entry with a check mark has another.
    /// `unverifiable`: the program accepted it, and nothing that can be read says whether it had an effect. `suspected_noop`: the
    /// check mark is as it was. Left out with `dryRun`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<&'static str>,
    /// What changed: `icon`, `menu`, `windows`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<&'static str>,
    /// Whether nothing was done, as asked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "tray.select",
        summary: "Activate a status icon, or choose an entry of its menu",
        details: "Does what a click does, without pointer and focus, and without opening the menu. Each label has to be the only one of \
                  its menu, and every entry on the way enabled. Icons of terminals, and of what Bailiwick runs in, are not used.",
        target: TargetRule::Id("an icon, from tray.list"),
        example: r#"{"op":"tray.select","target":"session/:1.42/StatusNotifierItem","input":{"path":["Off"]}}"#,
        platforms: &["linux"],
        ..ACTION
    };
    type Input = Input;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, _: &NoFields) -> Result<Output, Failure> {
        if input.path.as_ref().is_some_and(Vec::is_empty) {
            return Err(Failure::invalid("input.path", "`path` has at least one label")
                .hint("Leave it out to do what a click on the icon does."));
        }
        let path = input.path.as_deref();
        let (tray, item) = target(icons(cx, permit)?, permit.id().unwrap_or_default())?;
        if closed_processes(cx).has(item.pid) {
            return Err(prompt());
        }
        if is_terminal([Some(item.name.as_str()), item.process.as_deref()].into_iter().flatten()) {
            return Err(terminal());
        }
        let entry = path.map(|path| entry(&tray, &item, path)).transpose()?;
        let dry_run = permit.common().dry_run;
        let what = if entry.is_some() { "an entry of the menu of an icon" } else { "an icon" };
        if dry_run {
            cx.summarize(format!("would use {what}"));
            return Ok(Output { effect: None, changed: Vec::new(), dry_run });
        }
        let before = TrayState::read(cx, &tray, &item);
        // Its title may have become one that the scope does not show.
        judge_again(cx, permit, before.item.as_ref())?;
        let answer = match &entry {
            Some(entry) => tray.choose(&item, entry.number),
            None => tray.activate(&item),
        };
        let is_undecided = match &answer {
            Ok(()) => false,
            // A program that ends at once has no answer.
            Err(TrayError::Program(ProgramError::Gone)) => true,
            Err(TrayError::Program(error)) if error.may_be_done() => true,
            Err(error) => return Err(refused(error.clone())),
        };
        let is_done = |after: &TrayState| match entry.as_ref().zip(path) {
            Some((entry, path)) if entry.checked.is_some() => {
                after.check_of(path) != entry.checked || after.item.is_none()
            }
            _ => !before.changes(after).is_empty(),
        };
        let after = look_for(cx, LOOK, || Ok(TrayState::read(cx, &tray, &item)), is_done)?;
        let changed = before.changes(&after);
        if changed.is_empty()
            && is_undecided
            && let Err(error) = answer
        {
            return Err(refused(error)
                .detail("retry", "after_list")
                .hint("It may still be done: call tray.list before you try again."));
        }
        let effect = match &entry {
            _ if is_done(&after) => ActionEffect::Confirmed,
            Some(entry) if entry.checked == Some(false) => ActionEffect::SuspectedNoop,
            _ => ActionEffect::Unverifiable,
        };
        cx.summarize(format!("used {what} of {}: {}", item.name, effect.as_str()));
        Ok(Output { effect: Some(effect.as_str()), changed, dry_run })
    }
}

fn entry(tray: &Tray, item: &TrayItem, path: &[String]) -> Result<TrayMenuEntry, Failure> {
    let menu = tray.menu(item).map_err(refused)?;
    let entry = tray_entry(&menu, path).map_err(|error| match error {
        MenuPathError::NoMenuBar => {
            Failure::new(ErrorCode::ElementNotFound, "the menu of the icon has no entries")
                .hint("Leave out `path` to do what a click on the icon does.")
        }
        error => no_entry(error, path, |before| candidates(&menu, before)),
    })?;
    if entry.is_submenu {
        return Err(Failure::invalid("input.path", "the path leads to a menu, not to an entry")
            .hint("tray.list lists the entries of the menu of an icon."));
    }
    Ok(entry.clone())
}

/// Returns the labels and the lines of the entries among which the label after a path chooses.
fn candidates<'a>(menu: &'a [TrayMenuEntry], path: &[String]) -> Vec<(&'a str, String)> {
    let level = match path {
        [] => menu,
        path => tray_entry(menu, path).map_or(&[][..], |entry| &entry.entries),
    };
    let labelled = level.iter().filter(|it| !it.label.is_empty());
    labelled.map(|it| (it.label.as_str(), line(0, it))).collect()
}

fn judge_again(cx: &Context, permit: &Permit, item: Option<&TrayItem>) -> Result<(), Failure> {
    let items: Vec<TrayItem> = item.into_iter().cloned().collect();
    let shown = shown_items(permit.screen()?, &windows(cx)?, items);
    if shown.items.is_empty() {
        return Err(Failure::new(ErrorCode::ElementNotFound, "the icon is gone, or not shown any more")
            .hint("Call tray.list again."));
    }
    Ok(())
}

/// What can be read of an icon and of its program.
struct TrayState {
    item: Option<TrayItem>,
    menu: Vec<TrayMenuEntry>,
    windows: Vec<(String, String, WindowState, bool)>,
}

impl TrayState {
    /// Reads it; what does not answer is as if it were gone.
    fn read(cx: &Context, tray: &Tray, item: &TrayItem) -> Self {
        let listed = windows(cx).unwrap_or_default();
        let own = listed.into_iter().filter(|window| item.pid.is_some() && window.pid == item.pid);
        Self {
            item: tray.item(item).ok(),
            menu: tray.filled_menu(item).unwrap_or_default(),
            windows: own.map(|it| (it.id, it.title, it.state, it.active)).collect(),
        }
    }

    /// Returns whether the entry at a path is checked.
    fn check_of(&self, path: &[String]) -> Option<bool> {
        tray_entry(&self.menu, path).ok().and_then(|entry| entry.checked)
    }

    fn changes(&self, after: &Self) -> Vec<&'static str> {
        let changes = [
            (self.item != after.item, "icon"),
            (!are_same(&self.menu, &after.menu), "menu"),
            (self.windows != after.windows, "windows"),
        ];
        changes.into_iter().filter(|(applies, _)| *applies).map(|(_, word)| word).collect()
    }
}

/// Compares menus by what their user sees: programs may give the same entries other numbers.
fn are_same(one: &[TrayMenuEntry], other: &[TrayMenuEntry]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).all(|(one, other)| {
            one.label == other.label
                && one.enabled == other.enabled
                && one.checked == other.checked
                && are_same(&one.entries, &other.entries)
        })
}
