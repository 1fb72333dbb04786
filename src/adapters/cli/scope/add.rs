//! `scope add`: one more folder, or this computer's screens.

use serde_json::json;

use bailiwick_config::{Config, ScopeConfig, VisibleInput, is_scope_id};
use bailiwick_contract::{Capability, ErrorCode, Failure, ScopeType};

use super::super::args::ConfirmArgs;
use super::super::printer::{Printer, Report};
use super::args::{
    ScopeAddArgs, ScopeAddDesktopArgs, ScopeAddDisplayArgs, ScopeAddScreenArgs, ScopeKind, ScreenShare,
};
use super::edit::share;
use super::report::{confirmed, told};
use crate::installation::home::Home;
use crate::scope_setup::desktops::{
    DESKTOP_CONTROL, DESKTOP_CONTROL_WORDS, DESKTOP_READ, DESKTOP_READ_WORDS, PRIVATE_DISPLAYS,
};
use crate::scope_setup::open_folder::{Change, find_folder, open_folder};
use crate::scope_setup::scope_words::place_of;

/// Adds a scope; a folder that is open already keeps its own.
///
/// # Errors
/// When the folder cannot or must not be opened; `conflict` for an id that is taken.
pub fn run(home: &Home, printer: Printer, args: &ScopeAddArgs) -> Result<Report, Failure> {
    match args.kind {
        ScopeKind::Computer => return add_computer(home, printer, args),
        ScopeKind::Folder if !args.screen.is_empty() => {
            return Err(Failure::invalid("--screen", "a folder scope takes no pictures of screens")
                .hint("Make one for the computer: `bailiwick scope add-screen screen`."));
        }
        ScopeKind::Folder => {}
    }
    let folder = find_folder(home, &args.folder, args.how.whole_home.into())?;
    let confirm = ConfirmArgs { yes: args.how.yes, dry_run: args.dry_run };
    confirmed(home, printer, confirm, "Open it?", |home, config| {
        let known = config.scopes.clone();
        let (id, change) = open_folder(config, &folder, &args.how.choice())?;
        let said = match change {
            Change::Added if home.is_dry_run => format!("Would open {} as scope `{id}`:\n", folder.display()),
            Change::Changed if home.is_dry_run => format!("Would change scope `{id}`:\n"),
            Change::Added => format!("Opened {} as scope `{id}`:\n", folder.display()),
            Change::Changed => format!("{} is scope `{id}`; it was changed:\n", folder.display()),
            Change::Nothing => format!("{} is open already, as scope `{id}`.\n", folder.display()),
        };
        let before = known.iter().find(|scope| scope.id == id);
        let after = config.scopes[place_of(config, &id)?].clone();
        told(home, config, before, &after, &said)
    })
}

fn add_computer(home: &Home, printer: Printer, args: &ScopeAddArgs) -> Result<Report, Failure> {
    let how = &args.how;
    if how.preset.is_some() || how.commands || how.whole_home || how.package_registries {
        return Err(Failure::invalid(
            "--type",
            "`--preset`, `--commands`, `--package-registries` and `--whole-home` are for folders, not for the computer",
        ));
    }
    let id = how.id.clone().unwrap_or_else(|| args.folder.display().to_string());
    let confirm = ConfirmArgs { yes: how.yes, dry_run: args.dry_run };
    let name = how.name.clone();
    add_screen(home, printer, &ScopeAddScreenArgs { id, name, screen: args.screen.clone(), confirm })
}

/// Adds a scope for this computer's screens.
///
/// # Errors
/// `invalid_request` for what cannot be an id; `conflict` for one that is taken.
pub fn add_screen(home: &Home, printer: Printer, args: &ScopeAddScreenArgs) -> Result<Report, Failure> {
    let ScopeAddScreenArgs { id, name, screen, confirm } = args;
    check_id(id, "screen")?;
    add_of_computer(home, printer, *confirm, (id, name.as_deref()), "", |scope| share(scope, screen))
}

/// Adds a scope for the windows and all else of this computer's desktop.
///
/// # Errors
/// As [`add_screen`].
pub fn add_desktop(home: &Home, printer: Printer, args: &ScopeAddDesktopArgs) -> Result<Report, Failure> {
    let ScopeAddDesktopArgs { id, name, control, confirm, .. } = args;
    check_id(id, "desk")?;
    let words = format!("{DESKTOP_READ_WORDS}{}", if *control { DESKTOP_CONTROL_WORDS } else { "" });
    add_of_computer(home, printer, *confirm, (id, name.as_deref()), &words, |scope| {
        share(scope, ALL_SCREENS);
        scope.capabilities.extend(DESKTOP_READ);
        if *control {
            scope.capabilities.extend(DESKTOP_CONTROL);
            scope.policy.visible_input = VisibleInput::Ask;
        }
    })
}

fn add_of_computer(
    home: &Home,
    printer: Printer,
    confirm: ConfirmArgs,
    (id, name): (&str, Option<&str>),
    words: &str,
    open: impl Fn(&mut ScopeConfig),
) -> Result<Report, Failure> {
    confirmed(home, printer, confirm, "Add it?", |home, config| {
        check_new(config, id)?;
        let mut scope: ScopeConfig = serde_json::from_value(json!({
            "id": id, "name": name, "type": "computer", "capabilities": [Capability::HistoryRead],
        }))
        .expect("everything else has a default");
        open(&mut scope);
        config.scopes.push(scope.clone());
        let did = if home.is_dry_run { "Would add" } else { "Added" };
        let said = format!("{did} scope `{id}` for this computer:\n{words}");
        told(home, config, None, &scope, &said)
    })
}

/// Adds a scope with private displays, over the folders and by the rules of another one.
///
/// # Errors
/// `invalid_request` for what cannot be an id or is no folder scope; `conflict` for an id that is taken.
pub fn add_display(home: &Home, printer: Printer, args: &ScopeAddDisplayArgs) -> Result<Report, Failure> {
    let id = &args.id;
    check_id(id, "play")?;
    confirmed(home, printer, args.confirm, "Add it?", |home, config| {
        check_new(config, id)?;
        let mut scope = config.scopes[place_of(config, &args.of)?].clone();
        if scope.scope_type != ScopeType::Folder {
            return Err(Failure::invalid("--for", format!("scope `{}` has no folders", args.of))
                .hint("Programs run in folder scopes: `bailiwick scope add FOLDER` makes one."));
        }
        (scope.id, scope.name) = (id.clone(), None);
        for capability in PRIVATE_DISPLAYS {
            if !scope.ask.contains(capability) && !scope.capabilities.contains(capability) {
                scope.capabilities.push(*capability);
            }
        }
        share(&mut scope, ALL_SCREENS);
        scope.policy.visible_input = VisibleInput::Allow;
        config.scopes.push(scope.clone());
        let runs = if scope.grants(Capability::CommandRun) {
            format!(
                "Clients start programs that the rules of `{}` allow, and see and use their windows there",
                args.of
            )
        } else {
            format!("`{}` grants no command:run, so that clients cannot start programs there yet", args.of)
        };
        let did = if home.is_dry_run { "Would add" } else { "Added" };
        let said = format!(
            "{did} scope `{id}` with private displays, over the folders of `{of}`:\n{runs}.\nYour own screen, clipboard and \
             session bus cannot be reached from there. Later changes of `{of}` do not change `{id}`.\n",
            of = args.of
        );
        told(home, config, None, &scope, &said)
    })
}

const ALL_SCREENS: &[ScreenShare] = &[ScreenShare::Displays, ScreenShare::Windows, ScreenShare::Processes];

/// # Errors
/// `invalid_request` for what cannot be the id of a scope.
fn check_id(id: &str, example: &str) -> Result<(), Failure> {
    if is_scope_id(id) {
        return Ok(());
    }
    Err(Failure::invalid("ID", format!("`{id}` cannot be the id of a scope"))
        .hint(format!("Name an id such as `{example}`.")))
}

/// # Errors
/// `conflict` for the id of a scope.
fn check_new(config: &Config, id: &str) -> Result<(), Failure> {
    if !config.scopes.iter().any(|scope| scope.id.eq_ignore_ascii_case(id)) {
        return Ok(());
    }
    Err(Failure::new(ErrorCode::Conflict, format!("there is a scope `{id}` already"))
        .hint(format!("Choose another id, or change it with `bailiwick scope edit {id}`.")))
}
