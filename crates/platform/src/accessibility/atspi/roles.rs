//! AT-SPI's numbers of roles and states, and names of interfaces.
//!
//! # Source
//!
//! `atspi-constants.h` of at-spi2-core 2.46: `AtspiRole`, `AtspiStateType`.

use crate::accessibility::{Abilities, Ability, Role, State, States};

/// Returns the role of a number.
pub(super) fn role(number: u32) -> Role {
    match number {
        2 | 16 | 19 | 9 | 22 => Role::Dialog,
        7 => Role::CheckBox,
        8 | 35 | 45 | 59 => Role::MenuItem,
        10 | 47 | 57 | 58 | 56 => Role::Cell,
        11 => Role::ComboBox,
        23 | 69 | 28 => Role::Window,
        26 | 27 | 13 => Role::Image,
        29 | 81 | 116 | 73 | 64 | 122 | 123 => Role::Label,
        83 => Role::Heading,
        31 | 98 => Role::List,
        32 => Role::ListItem,
        33 | 41 => Role::Menu,
        34 => Role::MenuBar,
        37 => Role::Tab,
        40 => Role::PasswordField,
        42 | 103 => Role::ProgressBar,
        43 | 129 => Role::Button,
        44 => Role::RadioButton,
        48 => Role::ScrollBar,
        51 | 15 => Role::Slider,
        52 => Role::SpinButton,
        55 | 66 => Role::Table,
        60 => Role::Terminal,
        61 | 77 | 79 | 12 | 76 => Role::TextField,
        62 => Role::ToggleButton,
        63 => Role::ToolBar,
        65 => Role::Tree,
        88 => Role::Link,
        90 => Role::Row,
        91 => Role::TreeItem,
        82 | 92..=96 => Role::Document,
        130 => Role::Switch,
        20 | 21 | 24 | 25 | 30 | 36 | 38 | 39 | 46 | 49 | 50 | 53 | 54 | 68 | 71 | 72 | 78 | 85 | 86 | 87
        | 97 | 99 | 101 | 102 | 104 | 105 | 109 | 110 | 121 => Role::Group,
        _ => Role::Other,
    }
}

const STATES: &[(u32, State)] = &[
    (1, State::Active),
    (3, State::Busy),
    (4, State::Checked),
    (7, State::Editable),
    (9, State::Expandable),
    (10, State::Expanded),
    (11, State::Focusable),
    (12, State::Focused),
    (16, State::Modal),
    (20, State::Pressed),
    (22, State::Selectable),
    (23, State::Selected),
    (24, State::Enabled),
    (25, State::Showing),
    (30, State::Visible),
    (31, State::ManagesDescendants),
    (32, State::Indeterminate),
    (41, State::Checkable),
    (43, State::ReadOnly),
];

/// Reads the two words that states come in. What can be used is `SENSITIVE`; `ENABLED` is about being checked with some.
pub(super) fn states(words: &[u32]) -> States {
    let word = |at: usize| u64::from(words.get(at).copied().unwrap_or_default());
    let bits = word(0) | word(1) << 32;
    STATES.iter().filter(|(bit, _)| bits >> bit & 1 == 1).map(|(_, state)| *state).collect()
}

/// Reads the names of interfaces.
pub(super) fn abilities<'a>(interfaces: impl Iterator<Item = &'a str>) -> Abilities {
    interfaces
        .filter_map(|name| match name.strip_prefix("org.a11y.atspi.")? {
            "Action" => Some(Ability::Act),
            "Text" => Some(Ability::Text),
            "EditableText" => Some(Ability::EditText),
            "Value" => Some(Ability::Number),
            "Component" => Some(Ability::Place),
            "Selection" => Some(Ability::Choose),
            _ => None,
        })
        .collect()
}
