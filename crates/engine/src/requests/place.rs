//! Putting the fields of a request where they belong.

use serde_json::{Map, Value};

use bailiwick_contract::{CommonOption, Failure, TargetRule};

use super::names::fold;
use super::places::{FieldPlace, is_given, is_idle, places};
use super::refusal;
use crate::registry::Entry;

/// Where a field was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EnvelopePart {
    /// Beside `op`.
    Top,
    /// In `input`.
    Input,
    /// In `options`.
    Options,
}

/// The fields of a request, in their places.
pub(super) struct Fields {
    pub entry: &'static Entry,
    pub scope: Option<Value>,
    pub target: Option<Value>,
    pub input: Map<String, Value>,
    pub options: Map<String, Value>,
    /// Those that have no place: where they were sent, and their names as sent.
    pub loose: Vec<(EnvelopePart, String, Value)>,
    shared: Vec<&'static str>,
    sent: Vec<(FieldPlace, String)>,
}

impl Fields {
    pub fn of(entry: &'static Entry) -> Self {
        // Whatever the operation says, MCP has two forms of its answer.
        let universal = [CommonOption::TimeoutSeconds, CommonOption::MaxOutputBytes, CommonOption::Detail];
        let shared = universal.iter().chain(entry.spec.options).map(|option| option.as_str()).collect();
        Self {
            entry,
            scope: None,
            target: None,
            input: Map::new(),
            options: Map::new(),
            loose: Vec::new(),
            shared,
            sent: Vec::new(),
        }
    }

    fn input_names(&self) -> impl Iterator<Item = &'static str> {
        self.entry.field_names().0.accepted.iter().map(String::as_str)
    }

    fn option_names(&self) -> impl Iterator<Item = &'static str> {
        self.entry.field_names().1.accepted.iter().map(String::as_str).chain(self.shared.clone())
    }

    fn has(&self, place: &FieldPlace) -> bool {
        match place {
            FieldPlace::Scope => true,
            FieldPlace::Target => self.entry.spec.target != TargetRule::None,
            FieldPlace::Input(name) => self.input_names().any(|it| it == name),
            FieldPlace::Options(name) => self.option_names().any(|it| it == name),
        }
    }

    /// Returns whether a field was sent by its own name to its own place.
    pub fn is_own(&self, bag: EnvelopePart, name: &str) -> bool {
        match bag {
            EnvelopePart::Top => matches!(name, "scope" | "target"),
            EnvelopePart::Input => self.has(&FieldPlace::Input(name.to_owned())),
            EnvelopePart::Options => self.has(&FieldPlace::Options(name.to_owned())),
        }
    }

    /// Finds where a field belongs: its own name, another spelling of one, another tool's name for one.
    fn place(&self, bag: EnvelopePart, name: &str) -> Option<FieldPlace> {
        let named = [FieldPlace::Input(name.to_owned()), FieldPlace::Options(name.to_owned())];
        if self.is_own(bag, name) {
            return match bag {
                EnvelopePart::Top if name == "scope" => Some(FieldPlace::Scope),
                EnvelopePart::Top => Some(FieldPlace::Target),
                EnvelopePart::Input => Some(named[0].clone()),
                EnvelopePart::Options => Some(named[1].clone()),
            };
        }
        if let Some(place) = named.into_iter().find(|place| self.has(place)) {
            return Some(place);
        }
        match name {
            "scope" => return Some(FieldPlace::Scope),
            "target" if self.has(&FieldPlace::Target) => return Some(FieldPlace::Target),
            _ => {}
        }
        let folded = fold(name);
        let inputs = self.input_names().map(|it| FieldPlace::Input(it.to_owned()));
        let options = self.option_names().map(|it| FieldPlace::Options(it.to_owned()));
        let spelled = inputs.chain(options).find(|place| match place {
            FieldPlace::Input(it) | FieldPlace::Options(it) => fold(it) == folded,
            FieldPlace::Scope | FieldPlace::Target => false,
        });
        spelled.or_else(|| places(self.entry.spec.name, name).find(|place| self.has(place)))
    }

    /// Adds a field as it was sent.
    ///
    /// # Errors
    /// `invalid_request` if its place is taken by another value.
    pub fn add(&mut self, bag: EnvelopePart, name: &str, value: Value) -> Result<(), Failure> {
        if value.is_null() && !self.is_own(bag, name) {
            return Ok(());
        }
        let is_ours = [FieldPlace::Input(name.to_owned()), FieldPlace::Options(name.to_owned())];
        // `regex` is a text in one tool, and `true` beside the text in another.
        if !value.is_string()
            && is_given(self.entry.spec.name, name, &value)
            && !is_ours.iter().any(|place| self.has(place))
        {
            return Ok(());
        }
        match self.place(bag, name) {
            Some(place) => self.put(place, name, value),
            None if is_idle(self.entry.spec.name, name, &value) => Ok(()),
            None => {
                self.loose.push((bag, name.to_owned(), value));
                Ok(())
            }
        }
    }

    /// Puts a value in a place.
    ///
    /// # Errors
    /// `invalid_request` if the place is taken by another value.
    pub fn put(&mut self, place: FieldPlace, name: &str, value: Value) -> Result<(), Failure> {
        let slot = match &place {
            FieldPlace::Scope => &mut self.scope,
            FieldPlace::Target => &mut self.target,
            FieldPlace::Input(field) | FieldPlace::Options(field) => {
                let map =
                    if matches!(place, FieldPlace::Input(_)) { &mut self.input } else { &mut self.options };
                match map.get(field) {
                    Some(before) if !is_absent(before) => {
                        if is_absent(&value) || same(before, &value) {
                            return Ok(());
                        }
                        return Err(refusal::doubled(self, &place, name));
                    }
                    _ => {
                        map.insert(field.clone(), value);
                        self.sent.push((place, name.to_owned()));
                        return Ok(());
                    }
                }
            }
        };
        match slot {
            Some(before) if !is_absent(before) && !is_absent(&value) && !same(before, &value) => {
                Err(refusal::doubled(self, &place, name))
            }
            Some(before) if !is_absent(before) => Ok(()),
            _ => {
                *slot = Some(value);
                self.sent.push((place, name.to_owned()));
                Ok(())
            }
        }
    }

    /// Puts a value in a place that is still empty.
    pub fn imply(&mut self, place: &str, value: Value) {
        let place = FieldPlace::parse(place);
        if self.has(&place) {
            let (FieldPlace::Input(name) | FieldPlace::Options(name)) = &place else { return };
            let map = if matches!(place, FieldPlace::Input(_)) { &mut self.input } else { &mut self.options };
            map.entry(name.clone()).or_insert(value);
        }
    }

    /// Returns the name under which the value of a place was sent.
    pub fn sent_as(&self, place: &FieldPlace) -> &str {
        self.sent.iter().find(|(it, _)| it == place).map_or("", |(_, name)| name)
    }

    /// Takes a field without a place, by any of its names.
    pub fn take(&mut self, names: &[&str]) -> Option<(String, Value)> {
        let at = self.loose.iter().position(|(_, name, _)| names.contains(&fold(name).as_str()))?;
        let (_, name, value) = self.loose.remove(at);
        Some((name, value))
    }
}

fn is_absent(value: &Value) -> bool {
    value.is_null() || value.as_str() == Some("")
}

/// Returns whether two values say the same, one perhaps as text.
fn same(left: &Value, right: &Value) -> bool {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    left == right || ((left.is_string() != right.is_string()) && text(left) == text(right))
}
