//! Trees that change between seeing and acting: never another element than the one that was seen.

use super::super::shuffled::{Meaning, Random, Row, World, element};
use super::*;
use bailiwick_platform::accessibility::Placement;

#[test]
fn ten_thousand_shuffled_trees_give_no_wrong_element() {
    let mut random = Random(27);
    let (mut found, mut refused) = (0, 0);
    for case in 0..10_000 {
        let mut world = World::new(&mut random);
        let (tree, meanings) = world.tree();
        let at = loop {
            let at = random.below(tree.elements.len());
            if meanings[at] != Meaning::Nothing && shows(&tree, at) {
                break at;
            }
        };
        let identity = identify(&tree, at);
        for _ in 0..1 + random.below(4) {
            world.change(&mut random);
        }
        let (now, now_meaning) = world.tree();
        match resolve(&now, &identity) {
            Some(place) => {
                assert_eq!(now_meaning[place], meanings[at], "case {case}: {identity:?} in {world:?}");
                assert!(shows(&now, place), "case {case}");
                found += 1;
            }
            None => refused += 1,
        }
    }
    // It would be no proof if everything were refused.
    assert!(found > 1_000 && refused > 500, "{found} found, {refused} refused");
}

#[test]
fn nothing_that_did_not_change_is_lost() {
    let mut random = Random(1);
    for _ in 0..200 {
        let (tree, meanings) = World::new(&mut random).tree();
        for at in (0..tree.elements.len()).filter(|at| meanings[*at] != Meaning::Nothing) {
            assert_eq!(resolve(&tree, &identify(&tree, at)), Some(at));
        }
    }
}

#[test]
fn what_is_made_again_or_says_something_else_is_not_it() {
    let save = identify(&tree_of(&[(10, "Save"), (11, "Close")]), 1);
    assert_eq!(resolve(&tree_of(&[(11, "Close"), (10, "Save")]), &save), Some(2));
    for now in [[(20, "Close"), (21, "Save")], [(10, "Save as"), (11, "Close")], [(20, "Save"), (21, "Save")]]
    {
        assert_eq!(resolve(&tree_of(&now), &save), None, "{now:?}");
    }
}

#[test]
fn in_a_flat_table_what_is_nearest_distinguishes_the_rows() {
    let table = |keys: &[u32]| {
        let mut world = World { rows: Vec::new(), is_flat: true, buttons: Vec::new(), next: 100 };
        for (path, key) in (1..).zip(keys) {
            world.rows.push((path * 10, Row { key: *key, title: format!("Item {key}") }));
        }
        world.tree()
    };
    let keys: Vec<u32> = (1..=40).collect();
    let (tree, meanings) = table(&keys);
    let at = meanings.iter().position(|it| *it == Meaning::OfRow(30, "Delete")).expect("it is there");
    let delete = identify(&tree, at);
    assert_eq!(resolve(&tree, &delete), Some(at));
    // The first rows are the same; the elements of two later ones show each other's.
    let mut sorted = keys.clone();
    sorted.swap(29, 30);
    let (now, _) = table(&sorted);
    assert_eq!(now.elements[at].id, delete.id);
    assert_eq!(resolve(&now, &delete), None);
    // A row at the end changes nothing.
    let (now, _) = table(&[&keys[..], &[41]].concat());
    assert_eq!(resolve(&now, &delete), Some(at));
}

fn tree_of(buttons: &[(u32, &str)]) -> ElementTree {
    let mut window = element(1, 0, Role::Window, "");
    window.parent = None;
    let buttons = buttons.iter().map(|(path, name)| element(*path, 0, Role::Button, name));
    ElementTree {
        pid: 1,
        elements: std::iter::once(window).chain(buttons).collect(),
        complete: true,
        placement: Placement::DISPLAY,
        delay: std::time::Duration::ZERO,
    }
}
