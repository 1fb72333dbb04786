//! The windows of a scope by application: those of one process that name the same program.

use bailiwick_platform::screen::{Window, WindowState};
use bailiwick_policy::ScreenRules;

use super::shot::withheld;

/// An application with windows that a scope shows.
#[derive(Debug, Clone, PartialEq)]
pub struct App {
    /// Its id: its name and its process.
    pub id: String,
    /// What it calls itself.
    pub name: String,
    /// Its process.
    pub pid: Option<u32>,
    /// The name of its program.
    pub process: Option<String>,
    /// Its windows, from the bottom of the pile to its top.
    pub windows: Vec<Window>,
}

impl App {
    /// Returns whether the user works in one of its windows.
    pub fn is_active(&self) -> bool {
        self.windows.iter().any(|window| window.active)
    }

    /// Returns whether all of its windows are minimized.
    pub fn is_hidden(&self) -> bool {
        self.windows.iter().all(|window| window.state == WindowState::Minimised)
    }

    /// Returns the window that comes to the front with it: the one that the user works in, else the highest that is visible, else the
    /// highest.
    pub fn main_window(&self) -> Option<&Window> {
        let last = |is_meant: fn(&Window) -> bool| self.windows.iter().rfind(|window| is_meant(window));
        last(|window| window.active)
            .or_else(|| last(|window| window.state == WindowState::Visible))
            .or_else(|| self.windows.last())
    }
}

/// Applications with windows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Apps {
    /// Those that have a window that the scope shows, in the order of their lowest window.
    pub apps: Vec<App>,
    /// How many windows there are besides that the scope does not show.
    pub withheld: usize,
    /// Whether the user works in one of those.
    pub is_active_withheld: bool,
}

/// Groups windows by application. Menus and windows that their program hides belong to none.
pub fn apps(rules: &ScreenRules, windows: &[Window]) -> Apps {
    let mut found = Apps::default();
    for (window, is_withheld) in windows.iter().zip(withheld(rules, windows)) {
        if window.unmanaged || window.state == WindowState::Hidden {
            continue;
        }
        if is_withheld {
            found.withheld += 1;
            found.is_active_withheld |= window.active;
            continue;
        }
        let id = id_of(window);
        match found.apps.iter_mut().find(|app| app.id == id) {
            Some(app) => app.windows.push(window.clone()),
            None => found.apps.push(App {
                id,
                name: window.app.clone(),
                pid: window.pid,
                process: window.process.clone(),
                windows: vec![window.clone()],
            }),
        }
    }
    found
}

fn id_of(window: &Window) -> String {
    let name = [window.app.as_str(), window.instance.as_str(), window.process.as_deref().unwrap_or_default()];
    let name = name.into_iter().find(|name| !name.is_empty()).unwrap_or("app");
    let fit = |letter: char| if letter.is_alphanumeric() || "-_.".contains(letter) { letter } else { '_' };
    let name: String = name.chars().take(60).flat_map(char::to_lowercase).map(fit).collect();
    match window.pid {
        Some(pid) => format!("{name}:{pid}"),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bailiwick_config::ScopePolicy;
    use bailiwick_platform::screen::Rect;

    fn window(number: u32, app: &str, pid: u32, title: &str) -> Window {
        Window {
            title: title.to_owned(),
            app: app.to_owned(),
            pid: Some(pid),
            ..Window::new(&format!(":0/0x{number:x}"), ":0", Rect::new(0, 0, 10, 10))
        }
    }

    #[test]
    fn windows_of_one_process_and_name_are_one_app_and_those_that_are_not_shown_are_none() {
        let rules: ScopePolicy =
            serde_json::from_value(serde_json::json!({"deniedWindows": [{"title": "Secret*"}]}))
                .expect("a policy");
        let rules = ScreenRules::compile(&rules).expect("rules");
        let mut windows = vec![
            window(1, "Editor", 7, "a"),
            window(2, "My App", 8, "b"),
            window(3, "Editor", 7, "c"),
            window(4, "Editor", 9, "d"),
            window(5, "Editor", 7, "Secret plan"),
            Window { unmanaged: true, ..window(6, "Editor", 7, "menu") },
        ];
        windows[0].state = WindowState::Minimised;
        windows[4].active = true;
        let found = apps(&rules, &windows);
        let ids: Vec<(&str, usize)> =
            found.apps.iter().map(|it| (it.id.as_str(), it.windows.len())).collect();
        assert_eq!(ids, [("editor:7", 2), ("my_app:8", 1), ("editor:9", 1)]);
        assert_eq!((found.withheld, found.is_active_withheld), (1, true));
        assert!(!found.apps[0].is_active() && !found.apps[0].is_hidden());
        assert_eq!(found.apps[0].main_window().map(|it| it.id.as_str()), Some(":0/0x3"));
    }
}
