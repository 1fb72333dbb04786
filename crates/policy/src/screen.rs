//! The rules of a scope for displays and windows, judged when a picture is taken.
//!
//! What is on a screen is known only at the instant of the picture, so no stage can judge it: the stage `screen`
//! says whether the scope takes such pictures at all, and [`ScreenRules::withheld`] which windows are not in them.

use std::collections::HashSet;
use std::sync::LazyLock;

use globset::{GlobBuilder, GlobMatcher};
use sha2::{Digest, Sha256};

use bailiwick_config::{InputBanner, ScopePolicy, VisibleInput, WindowPattern};
use bailiwick_contract::{Capability, FOR_USER, Failure, OperationSpec, TargetRule, hex};

use super::sensitive_windows::SENSITIVE_WINDOWS;

/// The rules of one scope for what is on the screen.
#[derive(Debug)]
pub struct ScreenRules {
    displays: bool,
    windows: bool,
    processes: bool,
    input: VisibleInput,
    banner: InputBanner,
    denied: Vec<Pattern>,
    opened: Vec<Pattern>,
    /// The denied and the opened patterns, as they were written.
    written: [Vec<WindowPattern>; 2],
}

/// What is known of a window at the instant of a picture.
#[derive(Debug, Clone, Default)]
pub struct WindowFacts<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its title.
    pub title: &'a str,
    /// The names of its app: its class and instance, and the name of its program.
    pub apps: Vec<&'a str>,
    /// Its process, as the system knows it.
    pub pid: Option<u32>,
    /// The window that it belongs to: which it is a dialog, menu or tooltip of.
    pub owner: Option<&'a str>,
    /// Whether no window manager deals with it, as with menus and tooltips.
    pub unmanaged: bool,
}

/// Globs over the app and the title of a window; those that there are must match.
#[derive(Debug)]
struct Pattern {
    app: Option<GlobMatcher>,
    title: Option<GlobMatcher>,
}

/// The built-in list. It takes some milliseconds to compile, and most services never look at a window.
static SENSITIVE: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    let of = |app, title| Pattern::of("sensitive", app, title).expect("a test compiles every row");
    let rows = SENSITIVE_WINDOWS.iter().flat_map(|row| {
        let apps = row.apps.iter().map(|glob| (Some(*glob), None));
        apps.chain(row.titles.iter().map(|glob| (None, Some(*glob))))
    });
    rows.map(|(app, title)| of(app, title)).collect()
});

/// Why a window is not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WindowVerdict {
    Shown,
    /// By what its app is called, which holds for the whole process.
    ByApp,
    /// By its title, which holds for the window and what belongs to it.
    ByTitle,
    /// Since it belongs to one that is not shown.
    Belongs,
}

impl ScreenRules {
    /// Reads the part of a scope's policy that is about screens.
    ///
    /// # Errors
    /// `invalid_request` for a pattern that does not compile or matches every window.
    pub fn compile(policy: &ScopePolicy) -> Result<Self, Failure> {
        let list = |field: &str, patterns: &[WindowPattern]| -> Result<Vec<Pattern>, Failure> {
            patterns.iter().map(|pattern| Pattern::compile(field, pattern)).collect()
        };
        Ok(Self {
            displays: policy.allow_displays.unwrap_or(false),
            windows: policy.allow_windows.unwrap_or(false),
            processes: policy.allow_processes.unwrap_or(false),
            input: policy.visible_input,
            banner: policy.input_banner,
            denied: list("policy.deniedWindows", &policy.denied_windows)?,
            opened: list("policy.openSensitiveWindows", &policy.open_sensitive_windows)?,
            written: [policy.denied_windows.clone(), policy.open_sensitive_windows.clone()],
        })
    }

    /// Returns a mark that changes with the rules for windows: a picture that was kept under others may show too much.
    pub fn fingerprint(&self) -> String {
        let rows: Vec<_> = SENSITIVE_WINDOWS.iter().map(|row| (row.apps, row.titles)).collect();
        let [denied, opened] = &self.written;
        let all = serde_json::json!([denied, opened, rows]);
        hex(&Sha256::digest(all.to_string().as_bytes())[..8])
    }

    /// Returns whether displays may be captured.
    pub fn shows_displays(&self) -> bool {
        self.displays
    }

    /// Returns whether windows may be captured by their id.
    pub fn shows_windows(&self) -> bool {
        self.windows
    }

    /// Returns whether windows may be found by their process.
    pub fn shows_processes(&self) -> bool {
        self.processes
    }

    /// Returns whether no window at all is kept out of pictures, whatever it says of itself.
    pub fn shows_every_window(&self) -> bool {
        self.denied.is_empty() && self.opened.iter().any(Pattern::matches_all)
    }

    /// Returns whether the user's display shows who uses pointer and keyboard.
    pub fn shows_banner(&self) -> bool {
        self.banner == InputBanner::Show
    }

    /// Returns whether an operation uses pointer and keyboard, and each such request needs approval.
    pub(super) fn asks_about_input(&self, spec: &OperationSpec) -> bool {
        self.input == VisibleInput::Ask && makes_input(spec)
    }

    /// Judges whether pointer and keyboard may be used, where an operation does that.
    ///
    /// # Errors
    /// `permission_denied` with the rule, where the scope lets no client use them.
    pub fn judge_input(&self, spec: &OperationSpec, scope: &str) -> Result<(), Failure> {
        if !makes_input(spec) || self.input != VisibleInput::Off {
            return Ok(());
        }
        Err(Failure::denied("visible-input-off", format!("scope `{scope}` lets no client use pointer and keyboard"))
            .hint(format!(
                "{FOR_USER}`bailiwick scope edit {scope} --visible-input ask` has each use approved; `allow` allows it."
            ))
            .hint("ui.press, ui.set_value and ui.fill need neither pointer nor keyboard."))
    }

    /// Judges the kind of picture that an operation's target asks for.
    ///
    /// # Errors
    /// `permission_denied` with the rule, where the scope takes none of that kind.
    pub fn judge_kind(&self, target: TargetRule, scope: &str) -> Result<(), Failure> {
        let (allowed, what, rule, word) = match target {
            TargetRule::Display => (self.displays, "displays", "displays-off", "displays"),
            TargetRule::Window => (self.windows, "windows", "windows-off", "windows"),
            TargetRule::ActiveWindow
            | TargetRule::Element
            | TargetRule::WindowOrElement
            | TargetRule::Snapshot => (self.windows, "elements of windows", "windows-off", "windows"),
            TargetRule::ProcessWindow => {
                (self.processes, "windows of processes", "processes-off", "processes")
            }
            TargetRule::None
            | TargetRule::Path(_)
            | TargetRule::PathOrRoot(_)
            | TargetRule::Id(_)
            | TargetRule::OptionalId(_) => return Ok(()),
        };
        if allowed {
            return Ok(());
        }
        let verb = match target {
            TargetRule::ActiveWindow
            | TargetRule::Element
            | TargetRule::WindowOrElement
            | TargetRule::Snapshot => "shows no",
            _ => "takes no pictures of",
        };
        Err(Failure::denied(rule, format!("scope `{scope}` {verb} {what}"))
            .hint(format!("For the user: `bailiwick scope edit {scope} --screen={word}` allows it.")))
    }

    /// Judges the windows of one instant: for each whether it must not be shown.
    ///
    /// Not shown are those that a pattern matches; all of a process one of whose windows its app's name closes; what
    /// belongs to a window that is not shown (dialogs, menus, tooltips, at any remove), by its owner or by its process;
    /// and, while there are such windows, menus of which nobody knows whose they are.
    pub fn withheld(&self, windows: &[WindowFacts<'_>]) -> Vec<bool> {
        let mut standing: Vec<WindowVerdict> = windows.iter().map(|window| self.judge(window)).collect();
        if standing.iter().all(|it| *it == WindowVerdict::Shown) {
            return vec![false; windows.len()];
        }
        // Each round may close what belongs to the last one's: it ends when a round closes nothing.
        loop {
            let closed = |wanted: &[WindowVerdict]| -> Vec<&WindowFacts<'_>> {
                let all = windows.iter().zip(&standing);
                all.filter(|(_, it)| wanted.contains(it)).map(|(window, _)| window).collect()
            };
            let all_closed = closed(&[WindowVerdict::ByApp, WindowVerdict::ByTitle, WindowVerdict::Belongs]);
            let ids: HashSet<&str> = all_closed.iter().map(|window| window.id).collect();
            let pids: HashSet<u32> = all_closed.iter().filter_map(|window| window.pid).collect();
            let apps: HashSet<u32> =
                closed(&[WindowVerdict::ByApp]).iter().filter_map(|window| window.pid).collect();
            let mut changed = false;
            for (window, standing) in windows.iter().zip(&mut standing) {
                if *standing != WindowVerdict::Shown {
                    continue;
                }
                let of = |pids: &HashSet<u32>| window.pid.is_some_and(|pid| pids.contains(&pid));
                let owned = window.owner.is_some_and(|owner| ids.contains(owner));
                let nobodys = window.pid.is_none() && window.owner.is_none();
                if of(&apps) || owned || (window.unmanaged && (of(&pids) || nobodys)) {
                    *standing = WindowVerdict::Belongs;
                    changed = true;
                }
            }
            if !changed {
                return standing.into_iter().map(|it| it != WindowVerdict::Shown).collect();
            }
        }
    }

    fn judge(&self, window: &WindowFacts<'_>) -> WindowVerdict {
        let (title, apps) =
            (folded(window.title), window.apps.iter().map(|app| folded(app)).collect::<Vec<_>>());
        let found = |patterns: &mut dyn Iterator<Item = &Pattern>| -> Option<WindowVerdict> {
            let hits: Vec<&Pattern> = patterns.filter(|pattern| pattern.matches(&apps, &title)).collect();
            match hits.iter().any(|pattern| pattern.title.is_none()) {
                true => Some(WindowVerdict::ByApp),
                false => (!hits.is_empty()).then_some(WindowVerdict::ByTitle),
            }
        };
        let sensitive = || {
            let opened = self.opened.iter().any(|pattern| pattern.matches(&apps, &title));
            let rows = &mut SENSITIVE.iter();
            if opened { None } else { found(rows) }
        };
        match (found(&mut self.denied.iter()), sensitive()) {
            (Some(WindowVerdict::ByApp), _) | (_, Some(WindowVerdict::ByApp)) => WindowVerdict::ByApp,
            (Some(standing), _) | (None, Some(standing)) => standing,
            (None, None) => WindowVerdict::Shown,
        }
    }
}

/// Returns whether an operation uses pointer and keyboard.
fn makes_input(spec: &OperationSpec) -> bool {
    let needs = |group: &&[Capability]| group.contains(&Capability::InputControl);
    !spec.effect.is_read_only() && spec.capabilities.iter().any(needs)
}

impl Pattern {
    fn compile(field: &str, pattern: &WindowPattern) -> Result<Self, Failure> {
        let text = |text: &Option<String>| text.as_deref().filter(|text| !text.is_empty()).map(str::to_owned);
        let (app, title) = (text(&pattern.app), text(&pattern.title));
        if app.is_none() && title.is_none() {
            return Err(Failure::invalid(field, format!("`{field}` has an entry without `app` and `title`"))
                .hint("Name the app, the title, or both; `{\"app\": \"*\"}` means every window."));
        }
        Self::of(field, app.as_deref(), title.as_deref())
    }

    fn of(field: &str, app: Option<&str>, title: Option<&str>) -> Result<Self, Failure> {
        let glob = |text: &str| -> Result<GlobMatcher, Failure> {
            let glob = GlobBuilder::new(&folded(text)).literal_separator(false).build();
            glob.map(|glob| glob.compile_matcher()).map_err(|error| {
                Failure::invalid(field, format!("`{field}` has a glob that cannot be read: {}", error.kind()))
            })
        };
        Ok(Self { app: app.map(glob).transpose()?, title: title.map(glob).transpose()? })
    }

    /// Returns whether it plainly matches every window.
    fn matches_all(&self) -> bool {
        let all = |glob: &Option<GlobMatcher>| glob.as_ref().is_none_or(|it| it.glob().glob() == "*");
        all(&self.app) && all(&self.title)
    }

    fn matches(&self, apps: &[String], title: &str) -> bool {
        self.app.as_ref().is_none_or(|glob| apps.iter().any(|app| glob.is_match(app)))
            && self.title.as_ref().is_none_or(|glob| glob.is_match(title))
    }
}

/// Brings a name to the form in which names are compared: lower case, blanks of one kind, nothing that is not seen.
fn folded(text: &str) -> String {
    let seen = text.chars().filter(|it| !it.is_control() && !is_unseen(*it));
    let lower: String = seen.flat_map(char::to_lowercase).collect();
    lower.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns whether a character takes no room: those that join, separate or direct others.
fn is_unseen(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(policy: &str) -> ScreenRules {
        let policy: ScopePolicy = serde_json::from_str(policy).expect("a policy");
        ScreenRules::compile(&policy).expect("it compiles")
    }

    fn window<'a>(id: &'a str, app: &'a str, title: &'a str, pid: u32) -> WindowFacts<'a> {
        WindowFacts { id, title, apps: vec![app], pid: Some(pid), ..WindowFacts::default() }
    }

    fn closed(rules: &ScreenRules, windows: &[WindowFacts<'_>]) -> Vec<String> {
        let withheld = rules.withheld(windows);
        let all = windows.iter().zip(withheld);
        all.filter(|(_, withheld)| *withheld).map(|(window, _)| window.id.to_owned()).collect()
    }

    #[test]
    fn every_row_of_the_list_closes_its_samples_in_any_spelling() {
        let rules = rules("{}");
        for row in SENSITIVE_WINDOWS {
            assert!(!row.samples.is_empty(), "{row:?}");
            for (app, title) in row.samples {
                for (app, title) in [
                    (app.to_string(), title.to_string()),
                    (app.to_uppercase(), title.to_uppercase()),
                    (format!("\u{200b}{app}"), format!(" {title}\u{202e}")),
                ] {
                    assert_eq!(closed(&rules, &[window("a", &app, &title, 1)]), ["a"], "{app} {title}");
                }
            }
            for glob in row.apps.iter().chain(row.titles) {
                assert_eq!(*glob, folded(glob), "globs are written as they are compared");
            }
        }
        for (app, title) in [
            ("firefox", "GitHub - Mozilla Firefox"),
            ("xterm", "make test"),
            ("Code", "screen.rs - Visual Studio Code"),
            ("org.gnome.Nautilus", "Documents"),
        ] {
            assert!(closed(&rules, &[window("a", app, title, 1)]).is_empty(), "{app} {title}");
        }
    }

    #[test]
    fn a_name_closes_the_process_and_a_title_the_window_and_its_menus() {
        let rules = rules(r#"{"deniedWindows":[{"app":"signal"},{"title":"*bank*"}]}"#);
        let menu = |id, pid| WindowFacts { unmanaged: true, ..window(id, "", "", pid) };
        let windows = [
            window("chat", "Signal", "Ada", 1),
            window("call", "Electron", "Call", 1),
            window("bank", "firefox", "My Bank", 2),
            window("news", "firefox", "News", 2),
            menu("bank-menu", 2),
            window("term", "xterm", "vi", 3),
            menu("term-menu", 3),
        ];
        assert_eq!(closed(&rules, &windows), ["chat", "call", "bank", "bank-menu"]);
        assert!(closed(&rules, &windows[5..]).is_empty(), "a menu of a window that is shown is shown");
    }

    #[test]
    fn what_belongs_to_a_closed_window_at_any_remove_is_closed() {
        let rules = rules("{}");
        let of = |id, owner| WindowFacts { owner: Some(owner), ..window(id, "", "", 9) };
        let nobodys = WindowFacts { id: "nobodys", unmanaged: true, ..WindowFacts::default() };
        let windows = [
            of("third", "second"),
            of("second", "first"),
            window("first", "x", "a.kdbx", 8),
            nobodys.clone(),
            of("other", "elsewhere"),
        ];
        assert_eq!(closed(&rules, &windows), ["third", "second", "first", "nobodys"]);
        assert!(closed(&rules, &[nobodys]).is_empty(), "without a closed window it is anybody's");
    }

    #[test]
    fn the_list_can_be_opened_and_denying_beats_opening() {
        let opened = r#"{"openSensitiveWindows":[{"app":"keepassxc"}]}"#;
        let windows = [window("a", "KeePassXC", "Passwords.kdbx", 1)];
        assert!(closed(&rules(opened), &windows).is_empty());
        let both =
            r#"{"openSensitiveWindows":[{"app":"keepassxc"}],"deniedWindows":[{"title":"*passwords*"}]}"#;
        assert_eq!(closed(&rules(both), &windows), ["a"]);
        let exact = r#"{"deniedWindows":[{"app":"firefox","title":"*bank*"}]}"#;
        let windows = [window("a", "firefox", "Bank", 1), window("b", "xterm", "Bank", 2)];
        assert_eq!(closed(&rules(exact), &windows), ["a"]);
    }

    #[test]
    fn only_a_pattern_for_all_and_none_denied_shows_every_window() {
        for (policy, every) in [
            ("{}", false),
            (r#"{"openSensitiveWindows":[{"app":"*"}]}"#, true),
            (r#"{"openSensitiveWindows":[{"app":"*","title":"*"}]}"#, true),
            (r#"{"openSensitiveWindows":[{"app":"*","title":"a*"}]}"#, false),
            (r#"{"openSensitiveWindows":[{"app":"keepassxc"}]}"#, false),
            (r#"{"openSensitiveWindows":[{"app":"*"}],"deniedWindows":[{"app":"signal"}]}"#, false),
        ] {
            assert_eq!(rules(policy).shows_every_window(), every, "{policy}");
        }
        let all = rules(r#"{"openSensitiveWindows":[{"app":"*"}]}"#);
        assert!(closed(&all, &[window("a", "KeePassXC", "a.kdbx", 1)]).is_empty());
    }

    #[test]
    fn other_rules_have_another_mark() {
        let marks: HashSet<String> = [
            "{}",
            r#"{"deniedWindows":[{"app":"a"}]}"#,
            r#"{"deniedWindows":[{"title":"a"}]}"#,
            r#"{"openSensitiveWindows":[{"app":"a"}]}"#,
        ]
        .iter()
        .map(|policy| rules(policy).fingerprint())
        .collect();
        assert_eq!(marks.len(), 4);
        assert_eq!(rules(r#"{"allowDisplays":true}"#).fingerprint(), rules("{}").fingerprint());
    }

    #[test]
    fn a_pattern_that_names_nothing_or_cannot_be_read_is_refused() {
        for text in [
            r#"{"deniedWindows":[{}]}"#,
            r#"{"deniedWindows":[{"app":""}]}"#,
            r#"{"deniedWindows":[{"title":"[a"}]}"#,
        ] {
            let policy: ScopePolicy = serde_json::from_str(text).expect("a policy");
            let failure = ScreenRules::compile(&policy).expect_err("refused");
            assert_eq!(failure.details["field"], "policy.deniedWindows", "{text}");
        }
    }
}
