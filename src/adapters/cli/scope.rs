//! `scope …`: the person changes what is open. No operation can do this; only this command does.

use serde_json::{Value, json};

use crate::config::{Config, ScopeConfig, is_scope_id};
use crate::contract::{Capability, ErrorCode, Failure, ScopeType, fields};
use crate::policy::{OwnFolders, Scope};

use super::args::{GrantArgs, Preset, ScopeAddArgs, ScopeCommand, ScopeEditArgs, ScopeKind, ScreenShare};
use super::commands_setup;
use super::home::{Home, IfMissing};
use super::open_folder::{Change, find_folder, open_folder};
use super::printer::{Report, labelled, table};

/// Runs one of the commands.
///
/// # Errors
/// When the scope is not there or the change is refused; the config is then untouched.
pub fn run(home: &Home, command: &ScopeCommand) -> Result<Report, Failure> {
    match command {
        ScopeCommand::List => list(&home.config()?),
        ScopeCommand::Add(args) => add(home, args),
        ScopeCommand::Edit(args) => edit(home, args),
        ScopeCommand::Remove(args) => home.edit(IfMissing::Fail, |config| {
            let place = place_of(config, &args.id)?;
            config.scopes.remove(place);
            Ok(Report::new(
                format!("Closed scope `{}`. Its files stay as they are.\n", args.id),
                json!({"ok": true, "removed": args.id}),
            ))
        }),
        ScopeCommand::Allow(args) => grant(home, args, allow),
        ScopeCommand::Deny(args) => grant(home, args, deny),
    }
}

fn list(config: &Config) -> Result<Report, Failure> {
    let mut rows = vec![["ID", "TYPE", "GRANTS", "FOLDERS"].map(str::to_owned).to_vec()];
    for scope in &config.scopes {
        rows.push(vec![scope.id.clone(), type_name(scope).to_owned(), grants(scope), roots(scope)]);
    }
    let text = if config.scopes.is_empty() { "No scope is open.\n".to_owned() } else { table(&rows) };
    let report = Report::new(text, json!({"ok": true, "scopes": config.scopes}));
    Ok(if config.scopes.is_empty() {
        report.note("\nhint: `bailiwick setup FOLDER` opens a folder.")
    } else {
        report
    })
}

/// Names a scope's type.
pub fn type_name(scope: &ScopeConfig) -> &'static str {
    match scope.scope_type {
        ScopeType::Folder => "folder",
        ScopeType::Computer => "computer",
    }
}

/// Says a scope's grants in one line; `?` marks those that ask.
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

fn roots(scope: &ScopeConfig) -> String {
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

fn add(home: &Home, args: &ScopeAddArgs) -> Result<Report, Failure> {
    match args.kind {
        ScopeKind::Computer => return add_computer(home, args),
        ScopeKind::Folder if !args.screen.is_empty() => {
            return Err(Failure::invalid("--screen", "a folder scope takes no pictures of screens")
                .hint("Make one for the computer: `bailiwick scope add screen --type computer --screen`."));
        }
        ScopeKind::Folder => {}
    }
    let folder = find_folder(home, &args.folder, args.how.whole_home.into())?;
    home.edit(IfMissing::Fail, |config| {
        let (id, change) = open_folder(config, &folder, &args.how)?;
        let said = match change {
            Change::Added => format!("Opened {} as scope `{id}`", folder.display()),
            Change::Changed => format!("{} is scope `{id}`; it was changed", folder.display()),
            Change::Nothing => format!("{} is open already, as scope `{id}`", folder.display()),
        };
        changed(home, config, &id, &said)
    })
}

fn add_computer(home: &Home, args: &ScopeAddArgs) -> Result<Report, Failure> {
    let how = &args.how;
    if how.preset.is_some() || how.commands || how.whole_home {
        return Err(Failure::invalid(
            "--type",
            "`--preset`, `--commands` and `--whole-home` are for folders, not for the computer",
        ));
    }
    let id = how.id.clone().unwrap_or_else(|| args.folder.display().to_string());
    if !is_scope_id(&id) {
        return Err(Failure::invalid("FOLDER", format!("`{id}` cannot be the id of a scope"))
            .hint("With `--type computer` name an id, such as `screen`."));
    }
    home.edit(IfMissing::Fail, |config| {
        if config.scopes.iter().any(|scope| scope.id.eq_ignore_ascii_case(&id)) {
            return Err(Failure::new(ErrorCode::Conflict, format!("there is a scope `{id}` already"))
                .hint(format!("Change it with `bailiwick scope edit {id} --screen`.")));
        }
        let mut scope: ScopeConfig = serde_json::from_value(json!({
            "id": id, "name": how.name, "type": "computer", "capabilities": [Capability::HistoryRead],
        }))
        .expect("everything else has a default");
        share(&mut scope, &args.screen);
        config.scopes.push(scope);
        changed(home, config, &id, &format!("Added scope `{id}` for this computer"))
    })
}

/// Lets clients take pictures of what is named, or of nothing any more.
fn share(scope: &mut ScopeConfig, what: &[ScreenShare]) {
    for what in what {
        let policy = &mut scope.policy;
        match what {
            ScreenShare::Displays => policy.allow_displays = Some(true),
            ScreenShare::Windows => policy.allow_windows = Some(true),
            ScreenShare::Processes => policy.allow_processes = Some(true),
            ScreenShare::Nothing => {
                (policy.allow_displays, policy.allow_windows, policy.allow_processes) = (None, None, None);
                scope.capabilities.retain(|it| *it != Capability::ScreenCapture);
                scope.ask.retain(|it| *it != Capability::ScreenCapture);
                return;
            }
        }
    }
    let has_it =
        [&scope.capabilities, &scope.ask].iter().any(|list| list.contains(&Capability::ScreenCapture));
    if !what.is_empty() && !has_it {
        scope.capabilities.push(Capability::ScreenCapture);
    }
}

fn edit(home: &Home, args: &ScopeEditArgs) -> Result<Report, Failure> {
    home.edit(IfMissing::Fail, |config| {
        let place = place_of(config, &args.id)?;
        let scope = &mut config.scopes[place];
        if args.name.is_some() {
            scope.name.clone_from(&args.name);
        }
        for folder in &args.add_root {
            let folder = find_folder(home, folder, args.whole_home.into())?;
            if !scope.roots.contains(&folder) {
                scope.roots.push(folder);
            }
        }
        for folder in &args.remove_root {
            // A folder that is gone can still be closed, by the path that the config has.
            let found = folder.canonicalize().unwrap_or_else(|_| folder.clone());
            let before = scope.roots.len();
            scope.roots.retain(|root| *root != found && root != folder);
            if scope.roots.len() == before {
                return Err(Failure::new(
                    ErrorCode::NotFound,
                    format!("scope `{}` has no folder `{}`", args.id, folder.display()),
                )
                .hint(format!("It has: {}.", roots(scope))));
            }
        }
        if scope.roots.is_empty() && scope.scope_type == ScopeType::Folder {
            return Err(Failure::invalid("--remove-root", "a scope needs at least one folder")
                .hint(format!("Remove the scope with `bailiwick scope remove {}`.", args.id)));
        }
        if !args.screen.is_empty() {
            if scope.scope_type != ScopeType::Computer {
                return Err(Failure::invalid("--screen", "a folder scope takes no pictures of screens")
                    .hint(
                        "Make one for the computer: `bailiwick scope add screen --type computer --screen`.",
                    ));
            }
            share(scope, &args.screen);
        }
        if let Some(preset) = args.preset {
            scope.capabilities = preset.capabilities();
            if preset == Preset::Full {
                commands_setup::turn_on(scope);
            }
        }
        if args.max_runtime_seconds.is_some() {
            scope.policy.max_runtime_seconds = args.max_runtime_seconds;
        }
        if args.max_output_bytes.is_some() {
            scope.policy.max_output_bytes = args.max_output_bytes;
        }
        if let Some(refuse) = args.refuse_hard_links {
            scope.policy.refuse_hard_links = refuse;
        }
        changed(home, config, &args.id, &format!("Changed scope `{}`", args.id))
    })
}

fn grant(home: &Home, args: &GrantArgs, change: fn(&mut ScopeConfig, &GrantArgs)) -> Result<Report, Failure> {
    home.edit(IfMissing::Fail, |config| {
        let place = place_of(config, &args.id)?;
        change(&mut config.scopes[place], args);
        changed(home, config, &args.id, &format!("Changed scope `{}`", args.id))
    })
}

fn allow(scope: &mut ScopeConfig, args: &GrantArgs) {
    for capability in &args.capabilities {
        scope.deny.retain(|it| it != capability);
        scope.ask.retain(|it| it != capability);
        scope.capabilities.retain(|it| it != capability);
        if args.ask { &mut scope.ask } else { &mut scope.capabilities }.push(*capability);
    }
    for glob in &args.files {
        scope.policy.closed_files.retain(|it| it != glob);
        if !scope.policy.open_sensitive.contains(glob) {
            scope.policy.open_sensitive.push(glob.clone());
        }
    }
}

fn deny(scope: &mut ScopeConfig, args: &GrantArgs) {
    for capability in &args.capabilities {
        scope.capabilities.retain(|it| it != capability);
        scope.ask.retain(|it| it != capability);
        if !scope.deny.contains(capability) {
            scope.deny.push(*capability);
        }
    }
    for glob in &args.files {
        scope.policy.open_sensitive.retain(|it| it != glob);
        if !scope.policy.closed_files.contains(glob) {
            scope.policy.closed_files.push(glob.clone());
        }
    }
}

/// Compiles the changed scope as the service would, so that nothing broken is saved, and reports it.
fn changed(home: &Home, config: &Config, id: &str, said: &str) -> Result<Report, Failure> {
    let scope = &config.scopes[place_of(config, id)?];
    Scope::compile(scope, &OwnFolders::of(&home.dirs))?;
    let mut text = match scope.scope_type {
        ScopeType::Folder => format!("{said}.\n  folders  {}\n  grants   {}\n", roots(scope), grants(scope)),
        ScopeType::Computer => {
            format!("{said}.\n  screen   {}\n  grants   {}\n", screen_words(scope), grants(scope))
        }
    };
    for (what, globs) in [("opened", &scope.policy.open_sensitive), ("closed", &scope.policy.closed_files)] {
        if !globs.is_empty() {
            text.push_str(&format!("  {what}   {}\n", globs.join(", ")));
        }
    }
    let commands = [Capability::CommandRun, Capability::PackageRun];
    let mut note = None;
    if commands.iter().any(|it| scope.capabilities.contains(it) || scope.ask.contains(it)) {
        text.push_str("commands\n");
        text.push_str(&labelled(&commands_setup::describe(&scope.policy)?));
        if scope.policy.allowed_commands.is_empty() {
            note =
                Some("\nNo rule allows a command yet: `bailiwick setup FOLDER --commands` adds a first set.");
        }
    }
    let report = Report::new(text, json!({"ok": true, "scope": scope}));
    Ok(match note {
        Some(note) => report.note(note),
        None => report,
    })
}

fn place_of(config: &Config, id: &str) -> Result<usize, Failure> {
    config.scopes.iter().position(|scope| scope.id == id).ok_or_else(|| {
        let ids: Vec<&str> = config.scopes.iter().map(|scope| scope.id.as_str()).collect();
        let failure = Failure::new(ErrorCode::UnknownScope, format!("there is no scope `{id}`"));
        match fields::nearest(id, ids.iter().copied(), 1).first() {
            Some(near) => failure.hint(format!("Did you mean `{near}`?")),
            None if ids.is_empty() => failure.hint("`bailiwick setup FOLDER` opens a folder."),
            None => failure.hint(format!("There are: {}.", ids.join(", "))),
        }
    })
}

/// Describes the scopes of a config for `status`, with whether each folder can be opened.
pub fn states(home: &Home, config: &Config) -> Vec<Value> {
    let own = OwnFolders::of(&home.dirs);
    let problem_of = |scope: &ScopeConfig| match Scope::compile(scope, &own) {
        Ok(compiled) => {
            compiled.roots().iter().find_map(|root| root.door.as_ref().err().map(|it| it.message.clone()))
        }
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
