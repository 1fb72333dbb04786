//! Elements by their words: the one that is meant, or none.

use bailiwick_platform::accessibility::{Abilities, Placement, State};

use super::super::identity::{identify, resolve, shows};
use super::super::shuffled::{Meaning, Random, VERBS, World, element};
use super::*;

/// Lists what shows of a tree, each row of a list on a line.
fn listed(tree: &ElementTree) -> Vec<ListedElement> {
    let (mut x, mut y) = (0, 0);
    let mut list = Vec::new();
    for at in (1..tree.elements.len()).filter(|at| shows(tree, *at)) {
        let element = &tree.elements[at];
        if element.role.is_container() || element.role == Role::ListItem {
            continue;
        }
        if element.role == Role::Label {
            (x, y) = (0, y + 20);
        }
        let place = Some(Rect::new(x, y, 80, 20));
        x += 90;
        list.push(ListedElement { id: at.to_string(), at, name: element.name.clone(), value: None, place });
    }
    list
}

#[test]
fn ten_thousand_shuffled_trees_have_no_wrong_element_found() {
    let mut random = Random(28);
    let [mut found, mut refused, mut resolved] = [0, 0, 0];
    for case in 0..10_000 {
        let mut world = World::new(&mut random);
        for _ in 0..random.below(4) {
            world.change(&mut random);
        }
        let Some(at) = (!world.rows.is_empty()).then(|| random.below(world.rows.len())) else { continue };
        let row = world.rows[at].1.clone();
        let verb = VERBS[random.below(2)];
        let (tree, meanings) = world.tree();
        let list = listed(&tree);
        let description = Description { text: Some(verb), near: Some(&row.title), has_role: true };
        match find_element(&tree, &list, description, &|it| it.role == Role::Button) {
            FindResult::Clear(candidates) => {
                let found_at = list[candidates[0].place].at;
                assert_eq!(meanings[found_at], Meaning::OfRow(row.key, verb), "case {case}: {world:?}");
                found += 1;
                // What was found is acted on later, in a window that has changed again.
                let identity = identify(&tree, found_at);
                for _ in 0..1 + random.below(4) {
                    world.change(&mut random);
                }
                let (now, now_meanings) = world.tree();
                if let Some(place) = resolve(&now, &identity) {
                    assert_eq!(now_meanings[place], meanings[found_at], "case {case}: {world:?}");
                    resolved += 1;
                }
            }
            FindResult::Unclear(_) | FindResult::NoAnchor(_) => refused += 1,
        }
        // Without what is near, every row has one.
        if world.rows.len() > 1 {
            let (tree, _) = world.tree();
            let description = Description { text: Some(verb), near: None, has_role: true };
            let all = find_element(&tree, &listed(&tree), description, &|it| it.role == Role::Button);
            assert!(matches!(all, FindResult::Unclear(_)), "case {case}: {all:?}");
        }
    }
    assert!(found > 5_000 && resolved > 500, "{found} found, {refused} refused, {resolved} acted on");
}

#[test]
fn ten_thousand_shuffled_lists_have_no_wrong_item_selected() {
    let mut random = Random(29);
    let (mut found, mut refused) = (0, 0);
    for case in 0..10_000 {
        let mut world = World::new(&mut random);
        world.is_flat = false;
        let row = world.rows[random.below(world.rows.len())].1.clone();
        for _ in 0..random.below(4) {
            world.change(&mut random);
        }
        let (tree, meanings) = world.tree();
        match items_named(&tree, 1, &row.title)[..] {
            [at] => {
                let inside = (at + 1..tree.elements.len()).find(|it| tree.elements[*it].parent == Some(at));
                let button = inside.map(|label| meanings[label + 1].clone());
                assert_eq!(button, Some(Meaning::OfRow(row.key, "Open")), "case {case}: {world:?}");
                found += 1;
            }
            _ => refused += 1,
        }
    }
    assert!(found > 5_000 && refused > 500, "{found} found, {refused} refused");
}

/// Returns what is found among buttons of these names, in a row.
fn among(names: &[&str], text: &str) -> Option<usize> {
    let mut window = element(1, 0, Role::Window, "");
    window.parent = None;
    let buttons = (2..).zip(names).map(|(path, name)| Element {
        abilities: Abilities::from_iter([Ability::Act]),
        ..element(path, 0, Role::Button, name)
    });
    let tree = ElementTree {
        pid: 1,
        elements: std::iter::once(window).chain(buttons).collect(),
        complete: true,
        placement: Placement::DISPLAY,
        delay: std::time::Duration::ZERO,
    };
    let description = Description { text: Some(text), ..Description::default() };
    match find_element(&tree, &listed(&tree), description, &|_| true) {
        FindResult::Clear(candidates) => Some(candidates[0].place),
        FindResult::Unclear(_) | FindResult::NoAnchor(_) => None,
    }
}

#[test]
fn a_text_finds_the_element_that_is_plainly_meant() {
    assert_eq!(among(&["Export", "Export all"], "export"), Some(0));
    assert_eq!(among(&["Export", "Export all"], "Export all…"), Some(1));
    assert_eq!(among(&["Export", "Import"], "Exprt"), Some(0));
    assert_eq!(among(&["Save", "Save"], "Save"), None);
    assert_eq!(among(&["Save as", "Save all"], "Save"), None);
    assert_eq!(among(&["Open", "Close"], "Publish"), None);
    assert_eq!(among(&["+", "−", "="], "+"), Some(0));
    assert_eq!(among(&["", "Close"], ""), None);
}

#[test]
fn what_is_near_has_to_be_one_and_nearest_by_far() {
    let mut window = element(1, 0, Role::Window, "");
    window.parent = None;
    let labels = ["First name", "Mail", "Twice", "Twice"];
    let mut tree = ElementTree {
        pid: 1,
        elements: vec![window],
        complete: true,
        placement: Placement::DISPLAY,
        delay: std::time::Duration::ZERO,
    };
    let mut list = Vec::new();
    for (row, label) in (0..).zip(labels) {
        for (column, role, name) in [(0, Role::Label, label), (100, Role::TextField, "")] {
            let at = tree.elements.len();
            tree.elements.push(element(u32::try_from(at).expect("small") + 5, 0, role, name));
            let place = Some(Rect::new(column, row * 30, 80, 20));
            list.push(ListedElement { id: at.to_string(), at, name: name.to_owned(), value: None, place });
        }
    }
    let near = |near: &str| {
        let description = Description { text: None, near: Some(near), has_role: true };
        find_element(&tree, &list, description, &|it| it.role == Role::TextField)
    };
    let clear = |found: FindResult| match found {
        FindResult::Clear(candidates) => Some(candidates[0].place),
        _ => None,
    };
    assert_eq!(clear(near("first NAME:")), Some(1));
    assert_eq!(clear(near("Mail")), Some(3));
    assert_eq!(near("Twice"), FindResult::NoAnchor(2));
    assert_eq!(near("Phone"), FindResult::NoAnchor(0));
    // A field below, and one beside that is far away: neither is plainly meant.
    list.truncate(4);
    list[1].place = Some(Rect::new(900, 0, 80, 20));
    let description = Description { text: None, near: Some("First name"), has_role: true };
    list[3].place = Some(Rect::new(0, 25, 80, 20));
    let found = find_element(&tree, &list, description, &|it| it.role == Role::TextField);
    assert!(matches!(found, FindResult::Unclear(_)), "{found:?}");
    assert!(tree.elements[1].states.has(State::Showing));
}
