//! The menu of a status icon, as its program says it. Mathematics only.
//!
//! # Source
//! `com.canonical.dbusmenu`: `GetLayout` and the properties of entries.

use std::collections::HashMap;

use zbus::zvariant::{OwnedValue, Value};

use super::TrayMenuEntry;
use crate::screen::plain;

/// Deeper menus than this are not read.
const DEEPEST: usize = 8;
/// More entries than these are not read.
const MOST_ENTRIES: usize = 1_000;

/// An entry with its properties and the entries below it. The first is the menu itself.
pub(super) type Layout = (i32, HashMap<String, OwnedValue>, Vec<OwnedValue>);

/// Returns the entries of a menu that its user would see, without what divides them.
pub(super) fn entries((_, _, below): &Layout) -> Vec<TrayMenuEntry> {
    let mut room = MOST_ENTRIES;
    below.iter().filter_map(|value| entry(value, 1, &mut room)).collect()
}

fn entry(value: &Value<'_>, depth: usize, room: &mut usize) -> Option<TrayMenuEntry> {
    let Value::Structure(parts) = bare(value) else { return None };
    let [Value::I32(number), Value::Dict(properties), Value::Array(below)] = parts.fields() else {
        return None;
    };
    let property = |name: &str| {
        let has_name = |key: &Value<'_>| matches!(key, Value::Str(key) if key.as_str() == name);
        properties.iter().find(|(key, _)| has_name(key)).map(|(_, value)| bare(value))
    };
    let text = |name: &str| match property(name) {
        Some(Value::Str(text)) => text.to_string(),
        _ => String::new(),
    };
    let is_on = |name: &str| property(name) != Some(&Value::Bool(false));
    if !is_on("visible") || text("type") == "separator" || depth > DEEPEST || *room == 0 {
        return None;
    }
    *room -= 1;
    let is_submenu = text("children-display") == "submenu" || !below.is_empty();
    let checked = (!text("toggle-type").is_empty()).then(|| property("toggle-state") == Some(&Value::I32(1)));
    Some(TrayMenuEntry {
        number: *number,
        label: plain::plain(&without_marks(&text("label"))),
        enabled: is_on("enabled"),
        checked,
        is_submenu,
        entries: below.iter().filter_map(|value| entry(value, depth + 1, room)).collect(),
    })
}

/// Returns what a value holds, in however many others it is.
fn bare<'a>(mut value: &'a Value<'a>) -> &'a Value<'a> {
    while let Value::Value(inner) = value {
        value = inner;
    }
    value
}

/// Takes out the mark of the letter by which an entry is chosen; two marks stand for the character.
fn without_marks(label: &str) -> String {
    let mut plain = String::with_capacity(label.len());
    let mut rest = label.chars();
    while let Some(character) = rest.next() {
        if character == '_' {
            plain.extend(rest.next());
        } else {
            plain.push(character);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use zbus::zvariant::StructureBuilder;

    fn value(
        number: i32,
        properties: &[(&str, Value<'static>)],
        below: Vec<Value<'static>>,
    ) -> Value<'static> {
        let properties: HashMap<String, Value<'static>> = properties
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.try_clone().expect("plain")))
            .collect();
        let built = StructureBuilder::new().add_field(number).add_field(properties).add_field(below).build();
        Value::Value(Box::new(Value::Structure(built.expect("fields"))))
    }

    fn read(below: Vec<Value<'static>>) -> Vec<TrayMenuEntry> {
        let below = below.into_iter().map(|it| it.try_into_owned().expect("plain")).collect();
        entries(&(0, HashMap::new(), below))
    }

    #[test]
    fn entries_have_what_their_user_would_see() {
        let label = |text: &'static str| ("label", Value::from(text));
        let read = read(vec![
            value(
                1,
                &[label("_Open __x"), ("toggle-type", "checkmark".into()), ("toggle-state", 1.into())],
                vec![],
            ),
            value(2, &[("type", "separator".into())], vec![]),
            value(3, &[label("Gone"), ("visible", false.into())], vec![]),
            value(
                4,
                &[label("More\u{202e}"), ("enabled", false.into())],
                vec![value(5, &[label("Deep")], vec![])],
            ),
            value(6, &[label("Later"), ("children-display", "submenu".into())], vec![]),
            Value::from("not an entry"),
        ]);
        let shown: Vec<_> = read
            .iter()
            .map(|it| (it.number, it.label.as_str(), it.enabled, it.checked, it.is_submenu, it.entries.len()))
            .collect();
        assert_eq!(
            shown,
            [
                (1, "Open _x", true, Some(true), false, 0),
                (4, "More", false, None, true, 1),
                (6, "Later", true, None, true, 0),
            ]
        );
        assert_eq!(read[1].entries[0].label, "Deep");
    }

    #[test]
    fn neither_many_nor_deep_entries_are_read_without_end() {
        let flat = (0..1_500).map(|number| value(number, &[], vec![])).collect();
        assert_eq!(read(flat).len(), MOST_ENTRIES);
        let mut deep = value(0, &[], vec![]);
        for number in 1..12 {
            deep = value(number, &[], vec![deep]);
        }
        let (mut level, mut depth) = (read(vec![deep]), 0);
        while let Some(entry) = level.pop() {
            (level, depth) = (entry.entries, depth + 1);
        }
        assert_eq!(depth, DEEPEST);
    }
}
