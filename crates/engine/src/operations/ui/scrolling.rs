//! How an element is brought into view: by its program, or by the scroll bars around it.

use bailiwick_platform::accessibility::{
    Ability, AccessibilityError, Element, ElementSource, ElementTree, Role, RuntimeId, State,
};
use bailiwick_platform::program_error::ProgramError;
use bailiwick_providers::elements::WindowScene;

use super::acting::CurrentElement;

/// So many parts of a scroll bar's way are tried.
const PARTS: u32 = 24;
/// So many lines show at a time, as GTK counts them.
const LINES: f64 = 10.0;

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

/// A scroll bar that shows.
pub(super) struct ScrollBar {
    /// What has its number.
    pub number: RuntimeId,
    /// What it scrolls, by its place in the tree.
    pub pane: usize,
    /// Whether it scrolls up and down.
    pub is_vertical: bool,
    /// How long it is, as its program counts.
    length: f64,
    /// Whether its range includes what shows at the end: as GTK 4 counts.
    counts_page: bool,
}

impl ScrollBar {
    /// Returns how far its number can go in its range.
    pub fn reach(&self, [least, most]: [f64; 2]) -> [f64; 2] {
        if self.counts_page { [least, (most - self.length).max(least)] } else { [least, most] }
    }

    /// Returns how long a line is, with what the program says of it.
    pub fn line(&self, step: Option<f64>) -> f64 {
        step.unwrap_or(self.length / LINES)
    }

    /// Returns how long a page is. Only what counts in pixels says so: GTK, whose lines are a tenth of what shows.
    pub fn page(&self, line: f64) -> Option<f64> {
        ((line * LINES - self.length).abs() <= 1.0).then_some(line * (LINES - 1.0))
    }

    /// Returns by how much a number that is read back may be off.
    pub fn slack(&self, [least, most]: [f64; 2]) -> f64 {
        // Its length is known in whole pixels.
        ((most - least) / 1_000.0).max(if self.counts_page { 1.0 } else { 0.0 })
    }
}

/// Finds the scroll bars of a window that show.
///
/// # Errors
/// What the program answers.
pub(super) fn scroll_bars(
    source: &dyn ElementSource,
    scene: &WindowScene,
) -> Result<Vec<ScrollBar>, AccessibilityError> {
    let tree = &scene.tree;
    let bars: Vec<usize> = (1..tree.elements.len()).filter(|bar| shows_bar(tree, *bar)).collect();
    let places = source.bounds(&scene.window.display, tree, &bars)?;
    let bars = bars.into_iter().zip(places).filter_map(|(bar, place)| {
        let (place, number) = (place?, number_of(tree, bar)?);
        let length = f64::from(place.height.max(place.width));
        Some(ScrollBar {
            number: tree.elements[number].id.clone(),
            pane: pane_of(tree, bar)?,
            is_vertical: place.height > place.width,
            length: length * 100.0 / f64::from(tree.placement.percent.max(1)),
            counts_page: number != bar,
        })
    });
    Ok(bars.collect())
}

fn shows_bar(tree: &ElementTree, at: usize) -> bool {
    let element = &tree.elements[at];
    element.role == Role::ScrollBar && element.states.has(State::Showing)
}

/// Returns what has the number of a scroll bar: itself, or with GTK 4 what is in it.
fn number_of(tree: &ElementTree, bar: usize) -> Option<usize> {
    let has_number = |at: &usize| tree.elements[*at].abilities.has(Ability::Number);
    let is_inside = |at: &usize| tree.elements[*at].parent == Some(bar);
    Some(bar).filter(has_number).or_else(|| (bar + 1..tree.elements.len()).filter(is_inside).find(has_number))
}

/// Returns what a scroll bar scrolls: what it is in, or with Qt what that is in, where it is there for the bar alone.
fn pane_of(tree: &ElementTree, bar: usize) -> Option<usize> {
    let parent = tree.elements[bar].parent?;
    let is_for_bar = tree.elements[parent].role.is_container()
        && tree.elements.iter().filter(|it| it.parent == Some(parent)).count() == 1;
    if is_for_bar { tree.elements[parent].parent } else { Some(parent) }
}

/// Finds the scroll bars around an element, and how far down it is among what they scroll.
fn bars(tree: &ElementTree, id: &RuntimeId) -> Option<(f64, Vec<RuntimeId>)> {
    let all = &tree.elements;
    let at = all.iter().position(|it| it.id == *id)?;
    let around = |at: usize| std::iter::successors(all[at].parent, |at| all[*at].parent);
    around(at).find_map(|pane| {
        let of_pane = |bar: &usize| shows_bar(tree, *bar) && pane_of(tree, *bar) == Some(pane);
        let numbers = (1..all.len()).filter(of_pane).filter_map(|bar| number_of(tree, bar));
        let bars: Vec<RuntimeId> = numbers.map(|number| all[number].id.clone()).collect();
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
