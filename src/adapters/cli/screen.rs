//! `screen status`: what a client could see of this computer's screens, and what to change.

use bailiwick_contract::{Capability, Failure};

use bailiwick_providers::display::missing_programs;
use bailiwick_providers::screen::access_state;

use super::printer::{Report, one_line, table};
use crate::diagnosis::screen_status::ScreenStatus;
use crate::installation::home::Home;

/// Asks the displays, and shows what each scope shows of them. Exits 22 where the system refuses.
///
/// # Errors
/// When a scope cannot be compiled.
pub fn status(home: &Home) -> Result<Report, Failure> {
    let ScreenStatus { listing, output, words } = ScreenStatus::of(home)?;
    let access = &output.access;
    let mut text = format!("Displays: {}\n", access.state);
    for (name, words) in [("why", &access.why), ("to change it", &access.setting)] {
        if let Some(words) = words {
            text.push_str(&format!("  {name}: {}\n", one_line(words)));
        }
    }
    let mut rows = Vec::new();
    for display in &listing.displays {
        let bounds = display.bounds;
        let windows =
            listing.windows.iter().filter(|window| window.display == display.id && !window.unmanaged);
        rows.push(vec![
            format!("  {}", one_line(&display.id)),
            one_line(&display.name),
            format!("{}x{}", bounds.width, bounds.height),
            format!("{} windows", windows.count()),
            if display.primary { "primary".to_owned() } else { String::new() },
        ]);
    }
    text.push_str(&table(&rows));
    for it in &listing.unreachable {
        let state = access_state(&it.access);
        text.push_str(&format!("  {} cannot be read: {}\n", one_line(&it.display), state.state));
        for words in [&state.why, &state.setting].into_iter().flatten() {
            text.push_str(&format!("    {}\n", one_line(words)));
        }
    }
    if !output.displays.is_empty() {
        text.push_str("\nOn the primary display\n");
        let (can, cannot): (Vec<_>, Vec<_>) = output.abilities.iter().partition(|it| it.available);
        let names: Vec<String> = can
            .iter()
            .map(|it| match &it.host {
                Some(host) => format!("{} (sends pictures to {})", it.name, one_line(host)),
                None => it.name.to_owned(),
            })
            .collect();
        text.push_str(&format!("  available: {}\n", names.join(", ")));
        for it in cannot {
            let words = [it.why.as_deref(), it.fix.as_deref()].into_iter().flatten().map(one_line);
            text.push_str(&format!("  missing: {}: {}\n", it.name, words.collect::<Vec<_>>().join(". ")));
        }
    }
    text.push_str("\nScopes\n");
    for (scope, words) in output.scopes.iter().zip(&words) {
        text.push_str(&format!("  {}: {words}; {} windows withheld now\n", scope.scope, scope.withheld));
        scope.input.iter().for_each(|words| text.push_str(&format!("    {words}\n")));
    }
    if output.scopes.is_empty() {
        text.push_str("  none: `bailiwick scope add-screen screen` lets clients take pictures\n");
    }
    if let Some(scope) = home.config()?.scopes.iter().find(|scope| scope.grants(Capability::DisplayManage)) {
        text.push_str("\nPrivate displays\n");
        let missing = missing_programs(&scope.policy.search_path);
        if missing.is_empty() {
            text.push_str("  what they need is installed\n");
        }
        for it in missing {
            let (program, package, without) = (it.program, it.package, it.without);
            text.push_str(&format!("  {program} is not installed (package {package}): {without}\n"));
        }
    }
    Ok(Report::of(text, &output))
}
