//! What GTK 4 says of its elements in another way than other toolkits: which of them show, where they are, and what those
//! without a name are called. As GTK 4.8 does it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::bus::{Bus, ProgramError, of_each};
use super::frame::extents;
use super::read::in_time;
use crate::accessibility::{Ability, AccessibilityError, Element, ElementTree, Role, RuntimeId, State};
use crate::screen::Rect;

/// How long a button shows that it was pressed before it does what it is there for.
const PRESS: Duration = Duration::from_millis(250);

/// `ATSPI_TEXT_GRANULARITY_CHAR`
const CHARACTER: u32 = 0;

/// What is drawn in the place of what is hidden.
const DOTS: [char; 2] = ['\u{25cf}', '\u{2022}'];

/// The class of what is in each popover.
const IN_POPOVER: &str = "GtkPopoverContent";

/// Corrects the elements of a window, whose own place is given as the program counts it.
///
/// GTK 4 says of windows alone that they show. An element does that has a size, is not hidden, and is within what its window
/// and what scrolls it show.
pub(super) async fn correct(
    bus: &Arc<Bus>,
    tree: &mut ElementTree,
    window: Option<Rect>,
    deadline: Instant,
) -> Result<(), AccessibilityError> {
    tree.delay = PRESS;
    let count = tree.elements.len();
    let ids: Vec<RuntimeId> = tree.elements.iter().map(|it| it.id.clone()).collect();
    let places = in_time(deadline, extents(bus, ids)).await.ok_or(ProgramError::Unresponsive)?;
    // With places missing, what shows would be said to be gone.
    if window.is_none()
        || places.iter().any(|it| matches!(it, Err(ProgramError::Unresponsive | ProgramError::Lost)))
    {
        return Err(AccessibilityError::Program(ProgramError::Unresponsive));
    }
    let (mut scrolls, mut in_popover) = (vec![false; count], vec![false; count]);
    for element in &tree.elements {
        let Some(parent) = element.parent else { continue };
        scrolls[parent] |= element.role == Role::ScrollBar;
        in_popover[parent] |= element.name == IN_POPOVER;
    }
    // What of the window each element could show its own in.
    let mut room = vec![window; count];
    for at in 1..count {
        let element = &tree.elements[at];
        let Some(parent) = element.parent else { continue };
        in_popover[at] |= in_popover[parent];
        room[at] = room[parent];
        let place = places.get(at).and_then(|it| it.as_ref().ok().copied().flatten());
        let place = place.filter(|place| place.width > 1 && place.height > 1);
        let is_there = element.states.has(State::Visible)
            && place.is_some()
            && tree.elements[parent].states.has(State::Visible);
        let shown = place.zip(room[parent]).and_then(|(place, room)| place.intersection(&room));
        let states = element.states;
        tree.elements[at].states = match (is_there, in_popover[at]) {
            (false, _) => states.without(State::Visible),
            // It is a window of its own, of which nobody knows where it is.
            (true, true) => states.with(State::Showing).with(State::Unplaced),
            (true, false) if shown.is_some() => states.with(State::Showing),
            (true, false) => states,
        };
        if scrolls[at] {
            room[at] = shown;
        }
    }
    for element in &mut tree.elements[1..] {
        unname(element);
    }
    find_secrets(bus, tree, deadline).await
}

/// Finds the entries whose text is hidden: GTK 4 calls them text fields, and gives their text to anyone who asks for it.
///
/// One character is not given as it is, but as it is drawn. An entry without text cannot be told from others.
async fn find_secrets(
    bus: &Arc<Bus>,
    tree: &mut ElementTree,
    deadline: Instant,
) -> Result<(), AccessibilityError> {
    let is_field = |it: &Element| it.role == Role::TextField && it.abilities.has(Ability::Text);
    let fields: Vec<usize> = (1..tree.elements.len()).filter(|at| is_field(&tree.elements[*at])).collect();
    let ids: Vec<RuntimeId> = fields.iter().map(|at| tree.elements[*at].id.clone()).collect();
    let asked = of_each(ids, |id| {
        let bus = Arc::clone(bus);
        async move {
            let (drawn, ..): (String, i32, i32) =
                bus.ask(&id, "Text", "GetStringAtOffset", &(0_i32, CHARACTER)).await?;
            let text: String = bus.ask(&id, "Text", "GetText", &(0_i32, 1_i32)).await?;
            Ok::<bool, ProgramError>(drawn != text || drawn.starts_with(DOTS))
        }
    });
    let hidden = in_time(deadline, asked).await.ok_or(ProgramError::Unresponsive)?;
    for (at, is_hidden) in fields.into_iter().zip(hidden) {
        let is_hidden = match is_hidden {
            Ok(is_hidden) => is_hidden,
            Err(ProgramError::Gone | ProgramError::Unable) => false,
            Err(ProgramError::Unresponsive | ProgramError::Lost) => {
                return Err(AccessibilityError::Program(ProgramError::Unresponsive));
            }
            // What nobody knows of is closed.
            Err(ProgramError::NoReply | ProgramError::Refused(_)) => true,
        };
        if is_hidden {
            tree.elements[at].role = Role::PasswordField;
        }
    }
    Ok(())
}

/// Takes away the name of an element that is but that of its class: such elements have none.
fn unname(element: &mut Element) {
    if is_class(&element.name) {
        element.name.clear();
    }
}

fn is_class(name: &str) -> bool {
    let rest = ["Gtk", "Adw"].iter().find_map(|prefix| name.strip_prefix(prefix));
    rest.is_some_and(|rest| {
        rest.starts_with(|it: char| it.is_ascii_uppercase())
            && rest.chars().all(|it| it.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::is_class;

    #[test]
    fn a_name_of_a_class_is_no_name() {
        for (name, expected) in
            [("GtkToggleButton", true), ("AdwGizmo", true), ("Gtk", false), ("Gtk 4", false), ("Save", false)]
        {
            assert_eq!(is_class(name), expected, "{name}");
        }
    }
}
