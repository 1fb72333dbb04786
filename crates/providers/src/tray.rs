//! Which status icons a scope shows, and the entries of their menus by paths of labels. Mathematics only.

use bailiwick_platform::screen::{Rect, Window, WindowState};
use bailiwick_platform::tray::{TrayItem, TrayMenuEntry};
use bailiwick_policy::ScreenRules;

use crate::elements::{MenuPathError, same_title};
use crate::screen::withheld;

/// The icons that a scope shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownItems {
    /// Those that are shown.
    pub items: Vec<TrayItem>,
    /// How many there are besides.
    pub withheld: usize,
}

/// Judges icons beside the windows of the same moment, as the menus of windows are judged: by their own names and titles, and
/// not shown where their process has a window that is not.
pub fn shown_items(rules: &ScreenRules, windows: &[Window], items: Vec<TrayItem>) -> ShownItems {
    let all: Vec<Window> = windows.iter().cloned().chain(items.iter().map(as_menu)).collect();
    let closed = withheld(rules, &all).split_off(windows.len());
    let count = items.len();
    let items: Vec<TrayItem> =
        items.into_iter().zip(closed).filter(|(_, closed)| !closed).map(|(item, _)| item).collect();
    ShownItems { withheld: count - items.len(), items }
}

/// Returns an icon as a menu of its process.
fn as_menu(item: &TrayItem) -> Window {
    let nowhere = Rect::new(0, 0, 0, 0);
    Window {
        id: item.id.clone(),
        display: String::new(),
        title: item.title.clone(),
        app: item.name.clone(),
        instance: String::new(),
        owner: None,
        pid: item.pid,
        process: item.process.clone(),
        bounds: nowhere,
        frame: nowhere,
        in_shadow: nowhere,
        state: WindowState::Visible,
        mapped: false,
        active: false,
        maximised: false,
        workspace: None,
        unmanaged: true,
        stacking: 0,
    }
}

/// Lists the entries of a menu with how many menus each is in, each before those that it holds.
pub fn listed_entries(entries: &[TrayMenuEntry]) -> Vec<(usize, &TrayMenuEntry)> {
    let mut listed = Vec::new();
    add(entries, 0, &mut listed);
    listed
}

fn add<'a>(entries: &'a [TrayMenuEntry], depth: usize, listed: &mut Vec<(usize, &'a TrayMenuEntry)>) {
    for entry in entries {
        listed.push((depth, entry));
        add(&entry.entries, depth + 1, listed);
    }
}

/// Finds the entry at a path of labels: each has to be the only one of its menu that has its label, and can be chosen. Dots at
/// the end of a label do not count.
///
/// # Errors
/// [`MenuPathError`] has them; [`MenuPathError::NoMenuBar`] for a menu without entries.
pub fn tray_entry<'a>(
    entries: &'a [TrayMenuEntry],
    path: &[String],
) -> Result<&'a TrayMenuEntry, MenuPathError> {
    let (mut level, mut found) = (entries, entries.first().ok_or(MenuPathError::NoMenuBar)?);
    for (step, label) in path.iter().enumerate() {
        let labelled: Vec<&TrayMenuEntry> =
            level.iter().filter(|it| !it.label.is_empty() && same_title(&it.label, label)).collect();
        found = match labelled[..] {
            [one] => one,
            [] => return Err(MenuPathError::Missing(step)),
            _ => return Err(MenuPathError::Ambiguous(step)),
        };
        if !found.enabled {
            return Err(MenuPathError::Disabled(step));
        }
        level = &found.entries;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bailiwick_config::ScopePolicy;

    fn item(name: &str, title: &str, pid: Option<u32>) -> TrayItem {
        TrayItem {
            id: format!(":1.{name}/StatusNotifierItem"),
            name: name.to_owned(),
            title: title.to_owned(),
            status: "active".to_owned(),
            icon: String::new(),
            pid,
            process: None,
            menu: None,
        }
    }

    fn entry(label: &str, enabled: bool, entries: Vec<TrayMenuEntry>) -> TrayMenuEntry {
        let is_submenu = !entries.is_empty();
        TrayMenuEntry { number: 0, label: label.to_owned(), enabled, checked: None, is_submenu, entries }
    }

    fn shown(policy: serde_json::Value, windows: &[Window]) -> (Vec<String>, usize) {
        let policy: ScopePolicy = serde_json::from_value(policy).expect("a policy");
        let rules = ScreenRules::compile(&policy).expect("rules");
        let items = vec![
            item("chat", "Chat", Some(7)),
            item("keepassxc", "Passwords", Some(8)),
            item("bank", "My Bank", Some(9)),
            item("nobody", "", None),
        ];
        let shown = shown_items(&rules, windows, items);
        (shown.items.into_iter().map(|it| it.name).collect(), shown.withheld)
    }

    #[test]
    fn an_icon_is_not_shown_where_its_names_or_a_window_of_its_process_are_not() {
        let window =
            |title: &str, pid| Window { unmanaged: false, ..as_menu(&item("app", title, Some(pid))) };
        let denied = serde_json::json!({"deniedWindows": [{"title": "*bank*"}]});
        // Of whom nobody knows whose it is, nobody knows that it may be shown.
        assert_eq!(shown(denied.clone(), &[]), (vec!["chat".to_owned()], 3));
        assert_eq!(shown(denied, &[window("Online banking", 7)]), (vec![], 4));
        let open = serde_json::json!({"openSensitiveWindows": [{"app": "*"}]});
        assert_eq!(shown(open, &[window("Online banking", 7)]).1, 0);
    }

    #[test]
    fn a_path_of_labels_leads_to_one_entry_that_can_be_chosen() {
        let entries = [
            entry("Open…", true, vec![]),
            entry("More", true, vec![entry("Quit", true, vec![]), entry("Off", false, vec![])]),
            entry("Twice", true, vec![]),
            entry("Twice", true, vec![]),
            entry("", true, vec![]),
        ];
        let find = |path: &[&str]| {
            let path: Vec<String> = path.iter().map(|it| (*it).to_owned()).collect();
            tray_entry(&entries, &path).map(|it| it.label.clone())
        };
        assert_eq!(find(&["Open"]), Ok("Open…".to_owned()));
        assert_eq!(find(&["More", "Quit"]), Ok("Quit".to_owned()));
        assert_eq!(find(&["More", "Off"]), Err(MenuPathError::Disabled(1)));
        assert_eq!(find(&["Twice"]), Err(MenuPathError::Ambiguous(0)));
        assert_eq!(find(&["More", "Open"]), Err(MenuPathError::Missing(1)));
        assert_eq!(find(&[""]), Err(MenuPathError::Missing(0)));
        assert_eq!(tray_entry(&[], &["Open".to_owned()]), Err(MenuPathError::NoMenuBar));
        let depths: Vec<usize> = listed_entries(&entries).into_iter().map(|(depth, _)| depth).collect();
        assert_eq!(depths, [0, 0, 1, 1, 0, 0, 0]);
    }
}
