//! What came of an action, by comparing the window before and after. Mathematics only.

use std::collections::HashMap;

use bailiwick_platform::accessibility::{Element, RuntimeId};

use super::lines::quoted;
use super::scene::WindowScene;

/// What is known of an action's effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionEffect {
    /// What was wanted was read back.
    Confirmed,
    /// Something changed, but not to what was wanted.
    Partial,
    /// The program accepted it; nothing that can be read says whether it had an effect.
    Unverifiable,
    /// The program accepted it, and what should have changed did not.
    SuspectedNoop,
    /// The program refused it.
    Refused,
}

impl ActionEffect {
    /// Returns the word for answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Partial => "partial",
            Self::Unverifiable => "unverifiable",
            Self::SuspectedNoop => "suspected_noop",
            Self::Refused => "refused",
        }
    }
}

/// What has changed in a window.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Change {
    /// The element itself is another than before, or gone.
    pub of_element: bool,
    /// A window of the program opened or closed.
    pub of_windows: bool,
    /// The first few of the other elements that are new or changed, ready to be shown.
    pub of_others: Vec<String>,
}

/// So many changed elements are shown.
const SHOWN: usize = 5;

impl Change {
    /// Returns whether anything changed.
    pub fn is_any(&self) -> bool {
        self.of_element || self.of_windows || !self.of_others.is_empty()
    }
}

/// Compares a window before and after an action on an element.
pub fn compare(before: &WindowScene, after: &WindowScene, element: &RuntimeId) -> Change {
    let facts = |it: &Element| (it.name.clone(), it.states.of_the_user());
    let earlier: HashMap<&RuntimeId, _> = before.tree.elements.iter().map(|it| (&it.id, facts(it))).collect();
    let now = after.tree.elements.iter().find(|it| it.id == *element);
    let changed =
        after.tree.elements.iter().filter(|it| it.id != *element && earlier.get(&it.id) != Some(&facts(it)));
    let mut of_others: Vec<String> = changed
        .filter(|it| !it.name.trim().is_empty())
        .map(|it| format!("{} {}", it.role.name(), quoted(&it.name)))
        .take(SHOWN)
        .collect();
    if of_others.is_empty() && after.tree.elements.len() < before.tree.elements.len() {
        of_others.push("elements are gone".to_owned());
    }
    Change {
        of_element: earlier.get(element) != now.map(facts).as_ref(),
        of_windows: before.siblings != after.siblings,
        of_others,
    }
}
