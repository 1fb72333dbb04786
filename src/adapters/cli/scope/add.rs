//! `scope add`: one more folder, or this computer's screens.

use serde_json::json;

use bailiwick_config::{ScopeConfig, is_scope_id};
use bailiwick_contract::{Capability, ErrorCode, Failure};

use super::super::home::{Home, IfMissing};
use super::super::open_folder::{Change, find_folder, open_folder};
use super::super::printer::Report;
use super::args::{ScopeAddArgs, ScopeKind, ScreenShare};
use super::edit::share;
use super::report::{place_of, told};
use super::statements::difference;

/// Adds a scope; a folder that is open already keeps its own.
///
/// # Errors
/// When the folder cannot or must not be opened; `conflict` for an id that is taken.
pub fn run(home: &Home, args: &ScopeAddArgs) -> Result<Report, Failure> {
    match args.kind {
        ScopeKind::Computer => return add_computer(home, args),
        ScopeKind::Folder if !args.screen.is_empty() => {
            return Err(Failure::invalid("--screen", "a folder scope takes no pictures of screens")
                .hint("Make one for the computer: `bailiwick scope add-screen screen`."));
        }
        ScopeKind::Folder => {}
    }
    let folder = find_folder(home, &args.folder, args.how.whole_home.into())?;
    home.edit(IfMissing::Fail, |config| {
        let known = config.scopes.clone();
        let (id, change) = open_folder(config, &folder, &args.how)?;
        let said = match change {
            Change::Added if home.is_dry_run => format!("Would open {} as scope `{id}`:\n", folder.display()),
            Change::Changed if home.is_dry_run => format!("Would change scope `{id}`:\n"),
            Change::Added => format!("Opened {} as scope `{id}`:\n", folder.display()),
            Change::Changed => format!("{} is scope `{id}`; it was changed:\n", folder.display()),
            Change::Nothing => format!("{} is open already, as scope `{id}`.\n", folder.display()),
        };
        let before = known.iter().find(|scope| scope.id == id);
        let after = config.scopes[place_of(config, &id)?].clone();
        let changes = difference(before, Some(&after));
        told(home, config, before, &after, changes, &said, !home.is_dry_run)
    })
}

fn add_computer(home: &Home, args: &ScopeAddArgs) -> Result<Report, Failure> {
    let how = &args.how;
    if how.preset.is_some() || how.commands || how.whole_home || how.package_registries {
        return Err(Failure::invalid(
            "--type",
            "`--preset`, `--commands`, `--package-registries` and `--whole-home` are for folders, not for the computer",
        ));
    }
    let id = how.id.clone().unwrap_or_else(|| args.folder.display().to_string());
    add_screen(home, &id, how.name.as_deref(), &args.screen)
}

/// Adds a scope for this computer's screens.
///
/// # Errors
/// `invalid_request` for what cannot be an id; `conflict` for one that is taken.
pub fn add_screen(
    home: &Home,
    id: &str,
    name: Option<&str>,
    screen: &[ScreenShare],
) -> Result<Report, Failure> {
    if !is_scope_id(id) {
        return Err(Failure::invalid("ID", format!("`{id}` cannot be the id of a scope"))
            .hint("Name an id such as `screen`."));
    }
    home.edit(IfMissing::Fail, |config| {
        if config.scopes.iter().any(|scope| scope.id.eq_ignore_ascii_case(id)) {
            return Err(Failure::new(ErrorCode::Conflict, format!("there is a scope `{id}` already"))
                .hint(format!("Change it with `bailiwick scope edit {id} --screen`.")));
        }
        let mut scope: ScopeConfig = serde_json::from_value(json!({
            "id": id, "name": name, "type": "computer", "capabilities": [Capability::HistoryRead],
        }))
        .expect("everything else has a default");
        share(&mut scope, screen);
        config.scopes.push(scope.clone());
        let changes = difference(None, Some(&scope));
        let did = if home.is_dry_run { "Would add" } else { "Added" };
        let said = format!("{did} scope `{id}` for this computer:\n");
        told(home, config, None, &scope, changes, &said, !home.is_dry_run)
    })
}
