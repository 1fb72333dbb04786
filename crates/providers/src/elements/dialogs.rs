//! Dialogs among the windows of a program, and their buttons. Mathematics only.

use bailiwick_platform::accessibility::{Element, Role, State};

use super::identity::chain;
use super::matching::plain_words;
use super::menus::plain_title;
use super::scene::WindowScene;
use super::snapshot::Snapshot;

/// What the button is called that closes a dialog and leaves everything as it is.
const CANCEL: &[&str] = &[
    "cancel",
    "abbrechen",
    "annuler",
    "cancelar",
    "annulla",
    "annuleren",
    "anuluj",
    "avbryt",
    "annuller",
    "peruuta",
    "storno",
    "zrušit",
    "mégse",
    "iptal",
    "отмена",
    "скасувати",
    "取消",
    "キャンセル",
    "취소",
    "إلغاء",
    "ביטול",
];

/// What the buttons of a dialog are called that only shows something.
const CLOSE: &[&str] = &[
    "ok",
    "close",
    "dismiss",
    "schließen",
    "fermer",
    "cerrar",
    "fechar",
    "chiudi",
    "sluiten",
    "zamknij",
    "stäng",
    "lukk",
    "luk",
    "sulje",
    "zavřít",
    "bezárás",
    "kapat",
    "закрыть",
    "закрити",
    "关闭",
    "確定",
    "閉じる",
    "닫기",
    "확인",
];

impl WindowScene {
    /// Returns whether the window is a dialog: it is called one, or belongs to another window.
    pub fn is_dialog(&self) -> bool {
        let top = self.tree.elements.first();
        let is_called_one = top.is_some_and(|top| top.role == Role::Dialog || top.states.has(State::Modal));
        is_called_one || (self.window.owner.is_some() && !self.window.unmanaged)
    }

    /// Returns whether a dialog of the window itself asks for a secret: macOS shows some within their window.
    pub fn has_dialog_for_secret(&self) -> bool {
        let elements = &self.tree.elements;
        let is_in_dialog = |at: usize| {
            chain(&self.tree, at)
                .any(|it| elements[it].role == Role::Dialog && elements[it].parent == Some(0))
        };
        let is_secret = |it: &Element| it.role == Role::PasswordField && it.states.has(State::Visible);
        elements.iter().enumerate().any(|(at, it)| is_secret(it) && is_in_dialog(at))
    }

    /// Returns whether the window asks for a secret.
    pub fn asks_for_secret(&self) -> bool {
        self.tree.elements.iter().any(|it| it.role == Role::PasswordField && it.states.has(State::Visible))
    }
}

/// Returns the ids of a snapshot's buttons that have a title, sorted.
pub fn buttons_titled(snapshot: &Snapshot, title: &str) -> Vec<String> {
    sorted(named_buttons(snapshot).filter(|(_, name)| is_titled(name, title)).map(|(id, _)| id))
}

/// Returns the ids of a snapshot's buttons that have a name, sorted.
pub fn buttons(snapshot: &Snapshot) -> Vec<String> {
    sorted(named_buttons(snapshot).map(|(id, _)| id))
}

/// Sorts ids as the window lists them: `B2` is before `B10`.
fn sorted<'s>(ids: impl Iterator<Item = &'s str>) -> Vec<String> {
    let mut ids: Vec<String> = ids.map(str::to_owned).collect();
    ids.sort_by(|one, other| (one.len(), one).cmp(&(other.len(), other)));
    ids
}

/// Returns whether a name is a title, but for case and for dots at its end.
pub fn is_titled(name: &str, title: &str) -> bool {
    plain_title(name) == plain_title(title)
}

/// Returns whether a button of this name closes a dialog and leaves everything as it is.
pub(super) fn is_cancelling(name: &str) -> bool {
    CANCEL.contains(&plain_words(name).as_str())
}

/// Returns the id of the button that closes a dialog and changes nothing: the only one that cancels, or any where every one of
/// them only closes it. Nothing, where that is not plain.
pub fn dismissing_button(snapshot: &Snapshot) -> Option<String> {
    let cancelling: Vec<_> = named_buttons(snapshot).filter(|(_, name)| is_cancelling(name)).collect();
    match cancelling[..] {
        [(id, _)] => return Some(id.to_owned()),
        [] => {}
        _ => return None,
    }
    let only_closes = named_buttons(snapshot).all(|(_, name)| CLOSE.contains(&plain_words(name).as_str()));
    named_buttons(snapshot).map(|(id, _)| id.to_owned()).min().filter(|_| only_closes)
}

/// Returns the ids of a snapshot's text fields, sorted.
pub fn text_fields(snapshot: &Snapshot) -> Vec<String> {
    let all = snapshot.elements.iter();
    sorted(all.filter(|(_, it)| it.role == Role::TextField).map(|(id, _)| id.as_str()))
}

fn named_buttons(snapshot: &Snapshot) -> impl Iterator<Item = (&str, &str)> {
    let all =
        snapshot.elements.iter().filter(|(_, it)| it.role == Role::Button && !it.name.trim().is_empty());
    all.map(|(id, it)| (id.as_str(), it.name.as_str()))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::time::Duration;

    use bailiwick_platform::accessibility::{ElementTree, Placement, RuntimeId};
    use bailiwick_platform::screen::{Rect, Window};

    use super::*;
    use crate::elements::Identity;

    fn snapshot(names: &[&str]) -> Snapshot {
        let button = |(at, name): (usize, &&str)| {
            let id = RuntimeId { program: ":1.5".to_owned(), path: format!("/{at}") };
            let context = [0; 32];
            let name = (*name).to_owned();
            (format!("B{at}"), Identity { id, role: Role::Button, name, context, needs_context: false })
        };
        let elements: HashMap<_, _> = names.iter().enumerate().map(button).collect();
        Snapshot { id: "s_1".to_owned(), window: ":9/0x1".to_owned(), pid: None, elements }
    }

    #[test]
    fn a_dialog_is_dismissed_only_by_a_button_that_plainly_changes_nothing() {
        let dismissed_by = |names: &[&str]| dismissing_button(&snapshot(names));
        assert_eq!(dismissed_by(&["Delete", "Cancel"]).as_deref(), Some("B1"));
        assert_eq!(dismissed_by(&["Abbrechen", "Löschen"]).as_deref(), Some("B0"));
        assert_eq!(dismissed_by(&["OK"]).as_deref(), Some("B0"));
        assert_eq!(dismissed_by(&["OK", "Close"]).as_deref(), Some("B0"));
        for unclear in [
            &["Delete"][..],
            &["Close", "Keep"],
            &["OK", "Apply"],
            &["Yes", "No"],
            &[],
            &["Cancel", "Cancel"],
        ] {
            assert_eq!(dismissed_by(unclear), None, "{unclear:?}");
        }
    }

    #[test]
    fn a_sheet_that_asks_for_a_secret_is_one_and_a_page_with_such_a_field_is_not() {
        let scene = |inner: Role, field: Role| {
            let element = |at: usize, parent, role| Element {
                id: RuntimeId { program: "7.1".to_owned(), path: at.to_string() },
                parent,
                role,
                name: String::new(),
                states: [State::Visible].into_iter().collect(),
                abilities: Default::default(),
            };
            let elements = vec![
                element(0, None, Role::Window),
                element(1, Some(0), inner),
                element(2, Some(1), Role::Group),
                element(3, Some(2), field),
            ];
            let (placement, delay) = (Placement::DISPLAY, Duration::ZERO);
            let tree = ElementTree { pid: 7, elements, complete: true, placement, delay };
            let window = Window::new("window/0x1", "display-1", Rect::new(0, 0, 9, 9));
            WindowScene { window, tree, siblings: Vec::new() }
        };
        assert!(scene(Role::Dialog, Role::PasswordField).has_dialog_for_secret());
        assert!(!scene(Role::Dialog, Role::TextField).has_dialog_for_secret());
        let page = scene(Role::Group, Role::PasswordField);
        assert!(page.asks_for_secret() && !page.has_dialog_for_secret() && !page.is_dialog());
    }

    #[test]
    fn a_button_is_meant_by_its_whole_title() {
        let dialog = snapshot(&["Save", "Save as…", "Save"]);
        assert_eq!(buttons_titled(&dialog, "Save as"), ["B1"]);
        assert_eq!(buttons_titled(&dialog, "Save").len(), 2);
        assert_eq!(buttons_titled(&dialog, "Sav"), Vec::<String>::new());
    }
}
