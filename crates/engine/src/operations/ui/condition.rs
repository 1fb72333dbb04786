//! What `ui.wait` waits for and `ui.verify` checks: an element by name, role, value and state.

use bailiwick_platform::accessibility::{Element, State};
use bailiwick_providers::elements::{is_checkable, quoted};

use super::see::ElementFilter;
use crate::registry::prelude::*;

/// A state of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WantedState {
    /// It can be used.
    Enabled,
    /// It cannot be used.
    Disabled,
    /// It is checked.
    Checked,
    /// It is not checked.
    Unchecked,
    /// It is selected.
    Selected,
    /// It has the keyboard.
    Focused,
}

impl WantedState {
    fn holds_of(self, element: &Element) -> bool {
        let has = |state| element.states.has(state);
        match self {
            Self::Enabled => has(State::Enabled),
            Self::Disabled => !has(State::Enabled),
            Self::Checked => has(State::Checked),
            Self::Unchecked => is_checkable(element) && !has(State::Checked) && !has(State::Indeterminate),
            Self::Selected => has(State::Selected),
            Self::Focused => has(State::Focused),
        }
    }
}

/// Which elements are meant.
pub(super) struct ElementCondition {
    filter: ElementFilter,
    value: Option<String>,
    state: Option<WantedState>,
}

impl ElementCondition {
    /// Reads a condition. `at` is the field of the request that has it.
    ///
    /// # Errors
    /// `invalid_request` for one that describes nothing.
    pub fn new(
        at: &str,
        text: Option<&str>,
        roles: Option<&[String]>,
        value: Option<&str>,
        state: Option<WantedState>,
    ) -> Result<Self, Failure> {
        if text.is_none() && roles.is_none() && value.is_none() && state.is_none() {
            return Err(Failure::invalid(at, "no element is described")
                .hint("Name at least one of `text`, `roles`, `value` and `state`."));
        }
        // As values are written in lines, without the quotes around them.
        let value = value.map(|text| {
            let written = quoted(text);
            let inner = written.strip_suffix('…').unwrap_or(&written);
            inner[1..inner.len() - 1].to_owned()
        });
        Ok(Self { filter: ElementFilter::new(text, roles), value, state })
    }

    /// Returns whether an element is meant, as far as can be known without its value.
    pub fn may_hold_of(&self, element: &Element, name: &str) -> bool {
        self.filter.matches(element, name) && self.state.is_none_or(|state| state.holds_of(element))
    }

    /// Returns whether the value of an element is what is wanted.
    pub fn has_value(&self, value: Option<&str>) -> bool {
        self.value.as_ref().is_none_or(|wanted| value.unwrap_or_default().contains(wanted))
    }
}
