//! What a program says of an element, and what that makes of it. Mathematics only.
//!
//! # Source
//!
//! `UIAutomationClient.h` and `oleacc.h` of the Windows SDK, and "UI Automation Control Types" of its documentation.

use crate::accessibility::element::is_terminal_class;
use crate::accessibility::walk::Clip;
use crate::accessibility::{Abilities, Ability, Role, State, States};
use crate::screen::Rect;

/// `STATE_SYSTEM_PROTECTED`: how older programs say that a field is for secrets.
const PROTECTED: u32 = 0x2000_0000;
/// `STATE_SYSTEM_BUSY`
const BUSY: u32 = 0x800;
/// `ToggleState_On` and `ToggleState_Indeterminate`
const ON: i32 = 1;
const MIXED: i32 = 2;
/// `ExpandCollapseState_Collapsed` and `ExpandCollapseState_LeafNode`
const COLLAPSED: i32 = 0;
const LEAF: i32 = 3;
/// The class of dialogs of Windows itself.
const DIALOG_CLASS: &str = "#32770";
/// The classes of windows and controls in which programs of consoles show.
const TERMINAL_CLASSES: &[&str] = &[
    "consolewindowclass",
    "pseudoconsolewindow",
    "termcontrol",
    "hwndterminalclass",
    "virtualconsoleclass",
    "mintty",
    "putty",
];

/// What a program says of an element, all by one call. No value is among it: those of secure fields are not asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct UiaFacts {
    /// The number of its control type.
    pub kind: i32,
    pub pid: u32,
    /// The number of its window, where it is one of its own.
    pub window: u64,
    pub name: String,
    /// The classes of its window or its page.
    pub class: String,
    /// What its page says that it is.
    pub aria_role: String,
    pub is_password: bool,
    /// What older programs say of it.
    pub legacy_states: u32,
    pub is_disabled: bool,
    pub is_offscreen: bool,
    pub is_focusable: bool,
    pub is_focused: bool,
    pub is_modal: bool,
    pub is_dialog: bool,
    pub is_heading: bool,
    /// Where it is, in the units of the system.
    pub place: Option<Rect>,
    pub can_invoke: bool,
    /// Its toggle state, if it has one.
    pub toggle: Option<i32>,
    /// Whether it is selected, if it can be.
    pub selected: Option<bool>,
    /// Its state of being open, if it has one.
    pub expansion: Option<i32>,
    /// Whether its value is read-only, if it has one that is a text.
    pub value: Option<bool>,
    /// Whether its number is read-only, if it has one.
    pub number: Option<bool>,
    pub has_text: bool,
    /// Whether it holds items of which some are selected.
    pub selects: bool,
    /// Whether it scrolls what is in it.
    pub scrolls: bool,
    /// Whether it makes its items only when they are asked for.
    pub makes_items: bool,
    /// What older programs call what pressing it does; in the language of the user.
    pub default_action: String,
}

/// What can be done with an element beside setting it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UiaAction {
    Invoke,
    Toggle,
    Select,
    Expand,
    Collapse,
    /// What older programs do when it is pressed.
    Default,
}

impl UiaFacts {
    /// Returns whether it is a field for a secret, or its content is one.
    pub(super) const fn is_secure(&self) -> bool {
        self.is_password || self.legacy_states & PROTECTED != 0
    }

    /// Returns whether its text can be set.
    pub(super) const fn is_settable(&self) -> bool {
        matches!(self.value, Some(false)) && !self.is_secure()
    }

    /// Returns what it is.
    pub(super) fn role(&self) -> Role {
        if self.is_secure() {
            return Role::PasswordField;
        }
        let mut classes = self.class.split_whitespace();
        if classes.any(|it| is_terminal_class(it) || TERMINAL_CLASSES.contains(&it.to_lowercase().as_str())) {
            return Role::Terminal;
        }
        match self.kind {
            50000 | 50002 if self.aria_role == "switch" || self.class == "ToggleSwitch" => Role::Switch,
            50000 if self.toggle.is_some() => Role::ToggleButton,
            50000 | 50031 => Role::Button,
            50002 => Role::CheckBox,
            50003 => Role::ComboBox,
            50004 => Role::TextField,
            50005 => Role::Link,
            50006 => Role::Image,
            50007 => Role::ListItem,
            50008 => Role::List,
            50009 => Role::Menu,
            50010 => Role::MenuBar,
            50011 => Role::MenuItem,
            50012 => Role::ProgressBar,
            50013 => Role::RadioButton,
            50014 => Role::ScrollBar,
            50015 => Role::Slider,
            50016 => Role::SpinButton,
            50019 => Role::Tab,
            50020 if self.is_heading || self.aria_role == "heading" => Role::Heading,
            50020 | 50022 => Role::Label,
            50021 | 50040 => Role::ToolBar,
            50023 => Role::Tree,
            50024 => Role::TreeItem,
            50028 | 50036 => Role::Table,
            50029 => Role::Row,
            // Fields of several lines are documents, and pages are not to be set.
            50030 if self.is_settable() => Role::TextField,
            50030 => Role::Document,
            50032 if self.is_dialog || self.is_modal || self.class == DIALOG_CLASS => Role::Dialog,
            50033 if self.is_dialog || self.class == DIALOG_CLASS => Role::Dialog,
            50032 => Role::Window,
            50035 => Role::Cell,
            50001 | 50017 | 50018 | 50026 | 50033 | 50034 | 50037 | 50039 => Role::Group,
            _ => Role::Other,
        }
    }

    /// Returns what presses it, if anything does. Items are selected, as by a click; what they open is an action of its own.
    pub(super) fn pressing(&self, role: Role) -> Option<UiaAction> {
        let toggle = self.toggle.map(|_| UiaAction::Toggle);
        let invoke = self.can_invoke.then_some(UiaAction::Invoke);
        let select = self.selected.map(|_| UiaAction::Select);
        let open = self.opening();
        let is_text = matches!(
            role,
            Role::Label | Role::Heading | Role::Document | Role::TextField | Role::Window | Role::Dialog
        );
        let default = (!is_text && !self.default_action.trim().is_empty()).then_some(UiaAction::Default);
        match role {
            Role::PasswordField | Role::Terminal => None,
            Role::CheckBox | Role::Switch | Role::ToggleButton => toggle.or(invoke).or(default),
            Role::RadioButton | Role::Tab | Role::ListItem | Role::TreeItem | Role::Row | Role::Cell => {
                select.or(toggle).or(invoke).or(open).or(default)
            }
            _ => invoke.or(toggle).or(select).or(open).or(default),
        }
    }

    /// Returns what opens or closes it, if anything does.
    pub(super) fn opening(&self) -> Option<UiaAction> {
        match self.expansion? {
            COLLAPSED => Some(UiaAction::Expand),
            LEAF => None,
            _ => Some(UiaAction::Collapse),
        }
    }

    /// Returns its actions, by their names in answers.
    pub(super) fn actions(&self, role: Role) -> Vec<(String, UiaAction)> {
        let press = self.pressing(role);
        let named = |name: &str, action: Option<UiaAction>| action.map(|it| (name.to_owned(), it));
        let is_pressed_by = |it: UiaAction| press == Some(it);
        let further = |has: bool, it: UiaAction| (has && press.is_some() && !is_pressed_by(it)).then_some(it);
        let invoke = further(self.can_invoke, UiaAction::Invoke);
        let default = further(!self.default_action.trim().is_empty(), UiaAction::Default);
        let default = default.filter(|_| !is_pressed_by(UiaAction::Invoke));
        let own = crate::screen::plain::plain(&self.default_action).to_lowercase();
        [
            named("press", press),
            named("invoke", invoke),
            named("toggle", further(self.toggle.is_some(), UiaAction::Toggle)),
            named("select", further(self.selected.is_some(), UiaAction::Select)),
            named("expand or collapse", self.opening().filter(|_| press.is_some())),
            named(&own, default),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Returns what is said of it, but for whether it shows.
    pub(super) fn states(&self, role: Role) -> States {
        let is_checkable = matches!(role, Role::CheckBox | Role::Switch)
            || (role == Role::MenuItem && self.toggle.is_some());
        let is_radio = role == Role::RadioButton;
        let is_on = self.toggle == Some(ON);
        let is_selected = self.selected == Some(true);
        let is_text = matches!(role, Role::TextField | Role::ComboBox);
        let opens = self.expansion.filter(|it| *it != LEAF);
        [
            (!self.is_disabled, State::Enabled),
            (true, State::Visible),
            (self.is_focusable, State::Focusable),
            (self.is_focused, State::Focused),
            (is_checkable || is_radio, State::Checkable),
            ((is_checkable && is_on) || (is_radio && (is_selected || is_on)), State::Checked),
            (is_checkable && self.toggle == Some(MIXED), State::Indeterminate),
            (role == Role::ToggleButton && is_on, State::Pressed),
            (self.selected.is_some() && !is_radio, State::Selectable),
            (is_selected && !is_radio, State::Selected),
            (opens.is_some(), State::Expandable),
            (opens.is_some_and(|it| it != COLLAPSED), State::Expanded),
            (is_text && self.is_settable(), State::Editable),
            (is_text && !self.is_settable(), State::ReadOnly),
            (self.is_modal, State::Modal),
            (self.legacy_states & BUSY != 0, State::Busy),
        ]
        .into_iter()
        .filter(|(applies, _)| *applies)
        .map(|(_, state)| state)
        .collect()
    }

    /// Returns what can be asked of it.
    pub(super) fn abilities(&self, role: Role) -> Abilities {
        let is_text = matches!(role, Role::TextField | Role::ComboBox);
        let is_open = !matches!(role, Role::PasswordField | Role::Terminal);
        let says_text = is_open && (self.value.is_some() || self.has_text);
        let is_list = matches!(role, Role::List | Role::Table | Role::Tree);
        [
            (self.pressing(role).is_some(), Ability::Act),
            (says_text, Ability::Text),
            (is_text && self.is_settable(), Ability::EditText),
            (is_open && self.number.is_some(), Ability::Number),
            (self.place.is_some(), Ability::Place),
            (self.selects || is_list, Ability::Choose),
        ]
        .into_iter()
        .filter(|(applies, _)| *applies)
        .map(|(_, ability)| ability)
        .collect()
    }

    /// Returns in what of the screen what is in it can be seen.
    pub(super) const fn clip(&self, role: Role) -> Clip {
        match role {
            _ if self.scrolls => Clip::Within,
            // What is drawn over the window may be larger than it.
            Role::Window | Role::Dialog | Role::Menu => Clip::Over,
            _ => Clip::AsItself,
        }
    }

    /// Returns whether it may have very many children.
    pub(super) const fn is_long(role: Role) -> bool {
        matches!(role, Role::List | Role::Table | Role::Tree | Role::TreeItem | Role::ComboBox)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(kind: i32) -> UiaFacts {
        UiaFacts { kind, ..UiaFacts::default() }
    }

    #[test]
    fn roles_are_those_of_every_system() {
        for (kind, role) in [
            (50000, Role::Button),
            (50003, Role::ComboBox),
            (50004, Role::TextField),
            (50011, Role::MenuItem),
            (50019, Role::Tab),
            (50030, Role::Document),
            (50032, Role::Window),
            (50033, Role::Group),
            (50025, Role::Other),
            (60000, Role::Other),
        ] {
            assert_eq!(facts(kind).role(), role, "{kind}");
        }
        let toggled = UiaFacts { toggle: Some(ON), ..facts(50000) };
        assert_eq!(toggled.role(), Role::ToggleButton);
        assert_eq!(UiaFacts { class: "ToggleSwitch".to_owned(), ..toggled }.role(), Role::Switch);
        assert_eq!(UiaFacts { value: Some(false), ..facts(50030) }.role(), Role::TextField);
        assert_eq!(UiaFacts { value: Some(true), ..facts(50030) }.role(), Role::Document);
        for dialog in [
            UiaFacts { is_modal: true, ..facts(50032) },
            UiaFacts { class: DIALOG_CLASS.to_owned(), ..facts(50032) },
            UiaFacts { is_dialog: true, ..facts(50033) },
        ] {
            assert_eq!(dialog.role(), Role::Dialog, "{dialog:?}");
        }
        assert_eq!(UiaFacts { is_heading: true, ..facts(50020) }.role(), Role::Heading);
    }

    #[test]
    fn a_field_for_a_secret_is_one_however_its_program_says_so_and_nothing_of_it_is_asked() {
        let able = |facts| UiaFacts {
            can_invoke: true,
            value: Some(false),
            number: Some(false),
            has_text: true,
            selected: Some(false),
            default_action: "Press".to_owned(),
            ..facts
        };
        for field in [
            able(UiaFacts { is_password: true, ..facts(50004) }),
            able(UiaFacts { legacy_states: PROTECTED, ..facts(50004) }),
            // Neither its class nor its kind makes it something else.
            able(UiaFacts { is_password: true, class: "xterm".to_owned(), ..facts(50030) }),
        ] {
            let role = field.role();
            assert_eq!(role, Role::PasswordField, "{field:?}");
            let abilities = field.abilities(role);
            for ability in [Ability::Act, Ability::Text, Ability::EditText, Ability::Number] {
                assert!(!abilities.has(ability), "{ability:?}");
            }
            assert!(!field.is_settable() && !field.states(role).has(State::Editable));
            assert_eq!(field.actions(role), []);
        }
    }

    #[test]
    fn a_terminal_is_known_by_its_class() {
        for class in ["TermControl", "ConsoleWindowClass", "xterm-helper-textarea", "editor xterm", "mintty"]
        {
            let field = UiaFacts { class: class.to_owned(), value: Some(false), ..facts(50004) };
            assert_eq!(field.role(), Role::Terminal, "{class}");
            assert!(!field.abilities(Role::Terminal).has(Ability::Text));
        }
        let other = UiaFacts { class: "exterminal".to_owned(), ..facts(50004) };
        assert_eq!(other.role(), Role::TextField);
    }

    #[test]
    fn an_item_is_selected_and_a_button_invoked_where_both_could_be() {
        let able = |kind| UiaFacts { can_invoke: true, selected: Some(false), ..facts(kind) };
        for (kind, action) in
            [(50000, UiaAction::Invoke), (50007, UiaAction::Select), (50019, UiaAction::Select)]
        {
            let facts = able(kind);
            assert_eq!(facts.pressing(facts.role()), Some(action), "{kind}");
        }
        let item = able(50007);
        let names: Vec<String> = item.actions(item.role()).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["press", "invoke"]);
        let check = UiaFacts { can_invoke: true, toggle: Some(0), ..facts(50002) };
        assert_eq!(check.pressing(check.role()), Some(UiaAction::Toggle));
        let menu = UiaFacts { expansion: Some(COLLAPSED), ..facts(50011) };
        assert_eq!(menu.pressing(menu.role()), Some(UiaAction::Expand));
        assert_eq!(UiaFacts { expansion: Some(1), ..menu }.opening(), Some(UiaAction::Collapse));
        assert_eq!(UiaFacts { expansion: Some(LEAF), ..facts(50024) }.opening(), None);
    }

    #[test]
    fn what_older_programs_do_counts_only_where_nothing_else_is_there_and_never_for_a_text() {
        let old = |kind| UiaFacts { default_action: "Drücken".to_owned(), ..facts(kind) };
        let button = old(50000);
        assert_eq!(button.pressing(Role::Button), Some(UiaAction::Default));
        assert_eq!(button.actions(Role::Button), [("press".to_owned(), UiaAction::Default)]);
        let new = UiaFacts { can_invoke: true, ..old(50000) };
        assert_eq!(new.actions(Role::Button), [("press".to_owned(), UiaAction::Invoke)]);
        assert_eq!(old(50020).pressing(Role::Label), None);
        assert_eq!(old(50004).pressing(Role::TextField), None);
    }

    #[test]
    fn states_are_those_of_every_system() {
        let half = UiaFacts { toggle: Some(MIXED), ..facts(50002) }.states(Role::CheckBox);
        assert!(half.has(State::Indeterminate) && !half.has(State::Checked) && half.has(State::Enabled));
        let radio = UiaFacts { selected: Some(true), ..facts(50013) }.states(Role::RadioButton);
        assert!(radio.has(State::Checked) && !radio.has(State::Selected));
        let tab = UiaFacts { selected: Some(true), is_disabled: true, ..facts(50019) }.states(Role::Tab);
        assert!(tab.has(State::Selected) && !tab.has(State::Enabled));
        let open = UiaFacts { expansion: Some(1), ..facts(50024) }.states(Role::TreeItem);
        assert!(open.has(State::Expandable) && open.has(State::Expanded));
        let leaf = UiaFacts { expansion: Some(LEAF), ..facts(50024) }.states(Role::TreeItem);
        assert!(!leaf.has(State::Expandable) && !leaf.has(State::Expanded));
        let fixed = UiaFacts { value: Some(true), ..facts(50004) };
        assert!(fixed.states(Role::TextField).has(State::ReadOnly));
        assert!(!fixed.abilities(Role::TextField).has(Ability::EditText));
        let field = UiaFacts { value: Some(false), ..facts(50004) };
        assert!(field.states(Role::TextField).has(State::Editable));
        assert!(field.abilities(Role::TextField).has(Ability::EditText));
    }
}
