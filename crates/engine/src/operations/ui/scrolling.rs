//! How an element is brought into view: by its program, or by the scroll bars around it.

use bailiwick_platform::accessibility::{
    Ability, AccessibilityError, Element, ElementSource, ElementTree, Role, RuntimeId, State,
};
use bailiwick_platform::program_error::ProgramError;

use super::acting::CurrentElement;

/// So many parts of a scroll bar's way are tried.
const PARTS: u32 = 24;

/// Has an element scrolled to. Returns whether the program says that it did.
///
/// # Errors
/// What the program answers.
pub(super) fn scroll_to(
    source: &dyn ElementSource,
    found: &CurrentElement,
) -> Result<bool, AccessibilityError> {
    let CurrentElement { scene, element } = found;
    let display = &scene.window.display;
    match source.scroll_to(display, &element.id) {
        Ok(true) => return Ok(true),
        Ok(false) | Err(AccessibilityError::Program(ProgramError::Unable)) => {}
        Err(error) => return Err(error),
    }
    let (part, bars) = bars(&scene.tree, &element.id).ok_or(ProgramError::Unable)?;
    let numbers = source.numbers(display, &bars)?;
    for ((bar, before), range) in bars.iter().zip(numbers).zip(source.ranges(display, &bars)?) {
        let (Some(before), Some([least, most])) = (before, range) else { continue };
        for part in parts(part) {
            source.set_number(display, bar, least + part * (most - least))?;
            let shows = |it: &Element| it.id == element.id && it.states.has(State::Showing);
            if source.tree(&scene.window)?.elements.iter().any(shows) {
                return Ok(true);
            }
        }
        source.set_number(display, bar, before)?;
    }
    Ok(true)
}

/// Finds the scroll bars around an element, and how far down it is among what they scroll.
fn bars(tree: &ElementTree, id: &RuntimeId) -> Option<(f64, Vec<RuntimeId>)> {
    let all = &tree.elements;
    let at = all.iter().position(|it| it.id == *id)?;
    let around = |at: usize| std::iter::successors(all[at].parent, |at| all[*at].parent);
    around(at).find_map(|pane| {
        let is_bar = |it: &&Element| {
            let shows = it.role == Role::ScrollBar && it.states.has(State::Showing);
            shows && it.parent == Some(pane) && it.abilities.has(Ability::Number)
        };
        let bars: Vec<RuntimeId> = all.iter().filter(is_bar).map(|it| it.id.clone()).collect();
        let beside: Vec<usize> = (0..all.len()).filter(|it| all[*it].parent == all[at].parent).collect();
        let before = beside.iter().filter(|it| **it < at).count();
        let count = |it: usize| f64::from(u32::try_from(it).unwrap_or(u32::MAX));
        (!bars.is_empty()).then(|| (count(before) / count(beside.len().max(2) - 1), bars))
    })
}

/// Returns where to look on the way of a scroll bar, from 0 to 1: first where the element should be, then further away.
fn parts(first: f64) -> Vec<f64> {
    let mut parts: Vec<f64> = (0..=PARTS).map(|part| f64::from(part) / f64::from(PARTS)).collect();
    parts.sort_by(|one, other| (one - first).abs().total_cmp(&(other - first).abs()));
    parts.insert(0, first.clamp(0.0, 1.0));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_way_is_tried_from_where_the_element_should_be() {
        let parts = parts(0.8);
        assert!(parts.len() == 26 && parts[0] == 0.8 && (parts[1] - 0.8).abs() < 0.03, "{parts:?}");
        assert!(parts.contains(&0.0) && parts.contains(&1.0));
    }
}
