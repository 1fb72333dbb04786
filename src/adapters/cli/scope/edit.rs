//! `scope edit`: folders, how commands are held, limits, screens.

use bailiwick_config::ScopeConfig;
use bailiwick_contract::{Capability, Failure, ScopeType};

use super::super::printer::{Printer, Report};
use super::args::{ScopeEditArgs, ScreenShare};
use super::report::{change_in, confirmed};
use crate::installation::home::Home;
use crate::scope_setup::commands_setup;
use crate::scope_setup::presets::Preset;
use crate::scope_setup::scope_edit::{
    environment, folders, forget, limits, network, read_paths, search_path,
};

/// Changes a scope.
///
/// # Errors
/// When there is no such scope, a folder cannot be opened or is not there, or the scope would be refused.
pub fn run(home: &Home, printer: Printer, args: &ScopeEditArgs) -> Result<Report, Failure> {
    confirmed(home, printer, args.confirm, "Change it?", |home, config| {
        change_in(home, config, &args.id, |scope| edit(home, scope, args))
    })
}

fn edit(home: &Home, scope: &mut ScopeConfig, args: &ScopeEditArgs) -> Result<(), Failure> {
    if args.name.is_some() {
        scope.name.clone_from(&args.name);
    }
    folders(home, scope, &args.remove_root, &args.add_root, args.whole_home.into())?;
    if !args.screen.is_empty() {
        if !has_displays(scope) {
            return Err(Failure::invalid("--screen", "a folder scope takes no pictures of screens")
                .hint("Make one for the computer: `bailiwick scope add-screen screen`."));
        }
        share(scope, &args.screen);
    }
    if let Some(visible_input) = args.visible_input {
        if !has_displays(scope) {
            return Err(Failure::invalid("--visible-input", "a folder scope has no pointer and no keyboard"));
        }
        scope.policy.visible_input = visible_input;
    }
    if let Some(input_banner) = args.input_banner {
        if scope.scope_type != ScopeType::Computer {
            return Err(Failure::invalid("--input-banner", "only your own display has a banner"));
        }
        scope.policy.input_banner = input_banner;
    }
    if let Some(preset) = args.preset {
        scope.capabilities = preset.capabilities();
    }
    if args.commands || args.preset == Some(Preset::Full) {
        if scope.scope_type == ScopeType::Computer {
            return Err(Failure::invalid("--commands", "commands run in folders, not in a computer scope"));
        }
        commands_setup::turn_on(scope);
    }
    args.forget.iter().try_for_each(|rule| forget(scope, rule))?;
    let policy = &mut scope.policy;
    network(policy, args.network.as_ref(), args.other_hosts)?;
    policy.sandbox = args.sandbox.unwrap_or(policy.sandbox);
    policy.shell = args.shell.unwrap_or(policy.shell);
    policy.undo = args.undo.unwrap_or(policy.undo);
    policy.preview = args.preview.unwrap_or(policy.preview);
    policy.secrets = args.secrets.unwrap_or(policy.secrets);
    policy.secret_commands = args.secret_commands.unwrap_or(policy.secret_commands);
    policy.process_lifetime = args.process_lifetime.unwrap_or(policy.process_lifetime);
    read_paths(policy, &args.read_path)?;
    search_path(policy, &args.search_path)?;
    environment(policy, &args.env, &args.allow_env, &args.unset_env)?;
    policy.after_untrusted = args.after_untrusted.unwrap_or(policy.after_untrusted);
    for glob in &args.untrusted_files {
        if !policy.untrusted_files.contains(glob) {
            policy.untrusted_files.push(glob.clone());
        }
    }
    policy.max_runtime_seconds = args.max_runtime_seconds.or(policy.max_runtime_seconds);
    policy.max_output_bytes = args.max_output_bytes.or(policy.max_output_bytes);
    policy.refuse_hard_links = args.refuse_hard_links.unwrap_or(policy.refuse_hard_links);
    limits(policy, &args.limit)
}

fn has_displays(scope: &ScopeConfig) -> bool {
    scope.scope_type == ScopeType::Computer || scope.grants(Capability::DisplayManage)
}

/// Lets clients take pictures of what is named, or of nothing any more.
pub fn share(scope: &mut ScopeConfig, what: &[ScreenShare]) {
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
