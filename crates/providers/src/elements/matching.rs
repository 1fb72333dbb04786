//! Which element of a window is meant by a text, a role and what is near it. Mathematics only: the same window and the same
//! words give the same answer.

use bailiwick_platform::accessibility::{Ability, Element, ElementTree, Role};
use bailiwick_platform::screen::Rect;

use super::identity::chain;
use super::snapshot::ListedElement;

/// What is known of an element that is meant.
#[derive(Debug, Clone, Copy, Default)]
pub struct Description<'a> {
    /// What it is called.
    pub text: Option<&'a str>,
    /// What another element is called that it is near.
    pub near: Option<&'a str>,
    /// Whether its role is known, so that only elements of that role are asked about.
    pub has_role: bool,
}

/// An element that may be meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Its place in the list.
    pub place: usize,
    /// How well it fits, to 110.
    pub score: u32,
}

/// What came of looking for an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FindResult {
    /// The first candidate is plainly meant.
    Clear(Vec<Candidate>),
    /// Several candidates may be meant, or none fits well. The best come first.
    Unclear(Vec<Candidate>),
    /// So many elements, none or several, are called what is near.
    NoAnchor(usize),
}

/// A candidate with less is not worth showing.
const LEAST: u32 = 40;
/// A candidate with less is not meant.
const ACCEPTED: u32 = 60;
/// What the best is ahead of the next by, at least.
const MARGIN: u32 = 10;
/// What an element that is nearest has more.
const NEAR: u32 = 10;
/// What an element that is further away has less.
const FAR: u32 = 20;
/// Longer names are not compared letter by letter.
const COMPARED: usize = 64;

/// Looks for an element that is described among those that were listed.
pub fn find_element(
    tree: &ElementTree,
    listed: &[ListedElement],
    description: Description<'_>,
    is_asked: &dyn Fn(&Element) -> bool,
) -> FindResult {
    let wanted = description.text.map(plain_words);
    let anchor = match description.near.map(|near| anchors(listed, &plain_words(near))) {
        Some(anchors) if anchors.len() != 1 => return FindResult::NoAnchor(anchors.len()),
        anchors => anchors.and_then(|anchors| anchors.first().copied()),
    };
    let mut candidates: Vec<Candidate> = (0..listed.len())
        .filter(|place| Some(*place) != anchor && is_asked(&tree.elements[listed[*place].at]))
        .map(|place| {
            let it = &listed[place];
            let name = wanted.as_ref().map_or(100, |wanted| similarity(wanted, &plain_words(&it.name)));
            let usable = u32::from(is_usable(&tree.elements[it.at]));
            let role = if description.has_role { 20 } else { 10 * usable };
            Candidate { place, score: if name == 0 { 0 } else { name * 7 / 10 + role + 5 + 5 * usable } }
        })
        .filter(|it| it.score >= LEAST)
        .collect();
    if let Some(anchor) = anchor {
        // Only what may be meant by its name counts as near.
        let fitting: Vec<usize> =
            candidates.iter().filter(|it| it.score >= ACCEPTED).map(|it| it.place).collect();
        let nearest = nearest(tree, listed, anchor, &fitting);
        for it in &mut candidates {
            let is_near = nearest.contains(&it.place);
            it.score = if is_near { it.score + NEAR } else { it.score.saturating_sub(FAR) };
        }
        candidates.retain(|it| it.score >= LEAST);
    }
    candidates.sort_by_key(|it| (std::cmp::Reverse(it.score), it.place));
    let is_clear = match candidates[..] {
        [] => false,
        [best] => best.score >= ACCEPTED,
        [best, next, ..] => best.score >= ACCEPTED && best.score >= next.score + MARGIN,
    };
    if is_clear { FindResult::Clear(candidates) } else { FindResult::Unclear(candidates) }
}

/// Returns the items of a list, combo box or row of tabs that are called a name: their own, or that of their first label.
pub fn items_named(tree: &ElementTree, list: usize, name: &str) -> Vec<usize> {
    items_of(tree, list).filter(|at| item_name(tree, *at) == name.trim()).collect()
}

/// Returns the items of a list, combo box or row of tabs.
pub fn items_of(tree: &ElementTree, list: usize) -> impl Iterator<Item = usize> + '_ {
    (list + 1..tree.elements.len()).filter(move |at| {
        let is_item = matches!(
            tree.elements[*at].role,
            Role::ListItem | Role::Tab | Role::Row | Role::TreeItem | Role::Cell | Role::MenuItem
        );
        is_item && chain(tree, *at).skip(1).any(|outer| outer == list)
    })
}

/// Returns what an item of a list is called.
pub fn item_name(tree: &ElementTree, at: usize) -> &str {
    let own = tree.elements[at].name.trim();
    if !own.is_empty() {
        return own;
    }
    let inside = (at + 1..tree.elements.len()).filter(|inner| chain(tree, *inner).any(|outer| outer == at));
    let mut labels = inside.filter(|inner| tree.elements[*inner].role == Role::Label);
    labels.next().map_or("", |it| tree.elements[it].name.trim())
}

/// Returns whether somebody can do something with an element.
fn is_usable(element: &Element) -> bool {
    let only_shows = matches!(element.role, Role::Label | Role::Heading | Role::Image | Role::Document);
    !only_shows && (element.abilities.has(Ability::Act) || element.abilities.has(Ability::EditText))
}

/// Returns the places of the elements that are called exactly so.
fn anchors(listed: &[ListedElement], name: &str) -> Vec<usize> {
    (0..listed.len()).filter(|place| plain_words(&listed[*place].name) == name).collect()
}

/// Writes a name as it is compared: small letters, words apart, without marks. One of marks alone stays as it is.
pub(super) fn plain_words(text: &str) -> String {
    let text = text.to_lowercase();
    let words: Vec<&str> =
        text.split(|it: char| !it.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    if words.is_empty() { text.trim().to_owned() } else { words.join(" ") }
}

/// Compares two names, from 0 to 100.
fn similarity(wanted: &str, name: &str) -> u32 {
    if wanted.is_empty() || name.is_empty() {
        return 0;
    }
    if wanted == name {
        return 100;
    }
    let [wanted_words, words] = [wanted, name].map(|text| text.split(' ').collect::<Vec<_>>());
    let common = wanted_words.iter().filter(|word| words.contains(word)).count();
    let all = wanted_words.len() + words.len() - common.min(words.len());
    let by_words = part(common, all, 90);
    let [wanted_length, length] = [wanted, name].map(|text| text.chars().count());
    let [short, long] = [wanted_length.min(length), wanted_length.max(length)];
    let is_contained = name.contains(wanted) || wanted.contains(name);
    let by_part = if is_contained { part(short, long, 85) + 10 } else { 0 };
    let by_letters = if long <= COMPARED && 4 * short > 3 * long {
        let same = long - distance(wanted, name).min(long);
        if 4 * same > 3 * long { part(same, long, 90) } else { 0 }
    } else {
        0
    };
    by_words.max(by_part).max(by_letters)
}

fn part(one: usize, all: usize, of: u32) -> u32 {
    let per = one * usize::try_from(of).unwrap_or_default() / all.max(1);
    u32::try_from(per).unwrap_or_default().min(of)
}

/// Counts the letters to change, add or leave out to make one word of another.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().enumerate() {
        let mut before = std::mem::replace(&mut row[0], at + 1);
        for (column, of_other) in other.iter().enumerate() {
            let changed = before + usize::from(letter != *of_other);
            before = row[column + 1];
            row[column + 1] = changed.min(before + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

/// How near an element is to another.
#[derive(Debug, Clone, Copy)]
struct Nearness {
    place: usize,
    /// How deep the innermost element is that holds both.
    depth: usize,
    /// Whether they are on one line.
    is_beside: bool,
    /// How far apart they are.
    distance: i64,
}

impl Nearness {
    /// Returns whether this is plainly nearer than another.
    fn beats(self, other: Self) -> bool {
        if self.depth != other.depth {
            return self.depth > other.depth;
        }
        match (self.is_beside, other.is_beside) {
            (true, false) => self.distance < 2 * other.distance.max(1),
            (false, true) => false,
            _ => other.distance >= 2 * self.distance + 8,
        }
    }
}

/// Returns the candidates that are nearest to an anchor: more than one, where none is plainly.
fn nearest(tree: &ElementTree, listed: &[ListedElement], anchor: usize, candidates: &[usize]) -> Vec<usize> {
    let above: Vec<usize> = chain(tree, listed[anchor].at).collect();
    let measured: Vec<Nearness> = candidates
        .iter()
        .map(|place| {
            let common = chain(tree, listed[*place].at).find(|it| above.contains(it));
            let depth = common.map_or(0, |it| chain(tree, it).count());
            let (is_beside, distance) = match (listed[anchor].place, listed[*place].place) {
                (Some(anchor), Some(its)) => apart(anchor, its),
                _ => (false, i64::MAX / 4),
            };
            Nearness { place: *place, depth, is_beside, distance }
        })
        .collect();
    let is_beaten =
        |one: &Nearness| measured.iter().any(|other| other.place != one.place && other.beats(*one));
    measured.iter().filter(|one| !is_beaten(one)).map(|it| it.place).collect()
}

/// Returns whether two places are on one line, and how far apart they are; up and down counts twice.
fn apart(one: Rect, other: Rect) -> (bool, i64) {
    let span = |from: i32, size: u32| (i64::from(from), i64::from(from) + i64::from(size));
    let gap = |(a, b): (i64, i64), (c, d): (i64, i64)| (c - b).max(a - d).max(0);
    let [rows, other_rows] = [one, other].map(|it| span(it.y, it.height));
    let [columns, other_columns] = [one, other].map(|it| span(it.x, it.width));
    let common = rows.1.min(other_rows.1) - rows.0.max(other_rows.0);
    let smaller = i64::from(one.height.min(other.height));
    (2 * common > smaller, gap(columns, other_columns) + 2 * gap(rows, other_rows))
}

#[cfg(test)]
mod tests;
