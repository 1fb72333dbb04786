//! What a program says of an element, and what that makes of it. Mathematics only.
//!
//! # Source
//!
//! `AXRoleConstants.h` and `AXAttributeConstants.h` of HIServices, and `NSAccessibilityConstants.h` of AppKit.

use crate::accessibility::element::is_terminal_class;
use crate::accessibility::{Abilities, Ability, Role, State, States};
use crate::screen::Rect;

/// A button that shows a choice, of which it opens a menu.
const POP_UP: &str = "AXPopUpButton";
/// What a program says of an element, all by one call. No value is among it: those of secure fields are not asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct AxFacts<E> {
    pub role: String,
    pub subrole: String,
    pub title: String,
    pub description: String,
    /// What its page calls it, where it is in one.
    pub classes: Vec<String>,
    /// Whether its program says that others should not see its content.
    pub is_protected: bool,
    pub enabled: Option<bool>,
    pub focused: Option<bool>,
    pub selected: Option<bool>,
    pub expanded: Option<bool>,
    pub disclosing: Option<bool>,
    pub modal: bool,
    pub busy: bool,
    pub main: bool,
    /// Where it is, in the units of the system.
    pub place: Option<Rect>,
    pub children: Vec<E>,
}

/// What an element contains.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) enum AxContent {
    #[default]
    Nothing,
    Text(String),
    Number(f64),
}

/// What is asked of an element beside its facts, where its role needs it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct AxDetails {
    /// What a check box, a label and the like contain.
    pub content: AxContent,
    /// Whether what it contains can be set.
    pub is_settable: bool,
    /// Whether it has actions.
    pub has_actions: bool,
}

/// Which details a role needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NeededDetails {
    pub content: bool,
    pub settable: bool,
    pub actions: bool,
}

impl NeededDetails {
    /// Returns those of a role. Of a secure field nothing is needed.
    pub(super) fn of<E>(role: Role, facts: &AxFacts<E>) -> Self {
        let says_itself = matches!(
            role,
            Role::CheckBox
                | Role::Switch
                | Role::RadioButton
                | Role::Tab
                | Role::ToggleButton
                | Role::Label
                | Role::Heading
        );
        let is_set = matches!(
            role,
            Role::TextField | Role::ComboBox | Role::Slider | Role::SpinButton | Role::ScrollBar
        );
        let may_act = matches!(
            role,
            Role::Image | Role::Cell | Role::Row | Role::ListItem | Role::TreeItem | Role::Other
        ) || (role == Role::Group && facts.children.is_empty());
        let says_itself = says_itself || facts.role == POP_UP;
        Self { content: says_itself && !facts.is_protected, settable: is_set, actions: may_act }
    }
}

impl<E> AxFacts<E> {
    /// Returns whether it is a field for a secret.
    pub(super) fn is_secure(&self) -> bool {
        const SECURE: &str = "AXSecureTextField";
        let is_field = matches!(self.role.as_str(), "AXTextField" | "AXTextArea" | "AXComboBox");
        self.subrole == SECURE || self.role == SECURE || (is_field && self.is_protected)
    }

    /// Returns what it is, in an element of another role.
    pub(super) fn role(&self, outer: &str) -> Role {
        if self.is_secure() {
            return Role::PasswordField;
        }
        if self.classes.iter().any(|class| is_terminal_class(class)) {
            return Role::Terminal;
        }
        let subrole = self.subrole.as_str();
        match self.role.as_str() {
            "AXWindow" if matches!(subrole, "AXDialog" | "AXSystemDialog") => Role::Dialog,
            "AXSheet" => Role::Dialog,
            "AXWindow" => Role::Window,
            "AXCheckBox" | "AXButton" if subrole == "AXSwitch" => Role::Switch,
            "AXCheckBox" | "AXButton" if subrole == "AXToggle" => Role::ToggleButton,
            "AXButton" | "AXMenuButton" | "AXColorWell" => Role::Button,
            "AXDisclosureTriangle" => Role::ToggleButton,
            POP_UP | "AXComboBox" => Role::ComboBox,
            "AXTextField" | "AXTextArea" => Role::TextField,
            "AXCheckBox" => Role::CheckBox,
            "AXRadioButton" if subrole == "AXTabButton" || outer == "AXTabGroup" => Role::Tab,
            "AXRadioButton" => Role::RadioButton,
            "AXLink" => Role::Link,
            "AXSlider" => Role::Slider,
            "AXIncrementor" | "AXStepper" => Role::SpinButton,
            "AXScrollBar" => Role::ScrollBar,
            "AXProgressIndicator" | "AXBusyIndicator" | "AXLevelIndicator" | "AXRelevanceIndicator" => {
                Role::ProgressBar
            }
            "AXMenuBar" => Role::MenuBar,
            "AXMenu" => Role::Menu,
            "AXMenuItem" | "AXMenuBarItem" => Role::MenuItem,
            "AXRow" if subrole == "AXOutlineRow" => Role::TreeItem,
            "AXRow" => Role::Row,
            "AXCell" => Role::Cell,
            "AXList" => Role::List,
            "AXTable" | "AXGrid" => Role::Table,
            "AXOutline" => Role::Tree,
            "AXToolbar" => Role::ToolBar,
            "AXStaticText" => Role::Label,
            "AXHeading" => Role::Heading,
            "AXImage" => Role::Image,
            "AXWebArea" => Role::Document,
            "AXGroup" | "AXScrollArea" | "AXSplitGroup" | "AXTabGroup" | "AXRadioGroup" | "AXLayoutArea"
            | "AXLayoutItem" | "AXDrawer" | "AXPopover" | "AXBrowser" | "AXMatte" => Role::Group,
            _ => Role::Other,
        }
    }

    /// Returns what it is called: a label by what it says, a button for choices without a name by the one that it shows.
    pub(super) fn name(&self, role: Role, details: &AxDetails) -> String {
        let said = match &details.content {
            AxContent::Text(text) => text,
            AxContent::Number(_) | AxContent::Nothing => "",
        };
        let own = if matches!(role, Role::Label | Role::Heading) { said } else { "" };
        let choice = if self.role == POP_UP { said } else { "" };
        let named =
            [own, &self.title, &self.description, choice].into_iter().find(|it| !it.trim().is_empty());
        named.unwrap_or_default().to_owned()
    }

    /// Returns what is said of it, but for whether it shows.
    pub(super) fn states(&self, role: Role, details: &AxDetails) -> States {
        let is = |value: Option<bool>| value == Some(true);
        let number = match details.content {
            AxContent::Number(number) => Some(number),
            _ => None,
        };
        let (is_on, is_mixed) = (number == Some(1.0), number == Some(2.0));
        let is_disclosure = self.role == "AXDisclosureTriangle";
        let is_checkable = matches!(role, Role::CheckBox | Role::Switch | Role::RadioButton);
        let opens = self.expanded.or(self.disclosing).or(is_disclosure.then_some(is_on));
        let is_text = matches!(role, Role::TextField | Role::ComboBox);
        [
            (self.enabled != Some(false), State::Enabled),
            (true, State::Visible),
            (self.main, State::Active),
            (self.focused.is_some(), State::Focusable),
            (is(self.focused), State::Focused),
            (is_checkable, State::Checkable),
            (is_checkable && is_on, State::Checked),
            (is_checkable && is_mixed, State::Indeterminate),
            (role == Role::ToggleButton && !is_disclosure && is_on, State::Pressed),
            (self.selected.is_some() || role == Role::Tab, State::Selectable),
            (is(self.selected) || (role == Role::Tab && is_on), State::Selected),
            (opens.is_some(), State::Expandable),
            (is(opens), State::Expanded),
            (is_text && details.is_settable, State::Editable),
            (is_text && !details.is_settable, State::ReadOnly),
            (self.modal, State::Modal),
            (self.busy, State::Busy),
        ]
        .into_iter()
        .filter(|(applies, _)| *applies)
        .map(|(_, state)| state)
        .collect()
    }

    /// Returns what can be asked of it.
    pub(super) fn abilities(&self, role: Role, details: &AxDetails) -> Abilities {
        let is_pressed = matches!(
            role,
            Role::Button
                | Role::ToggleButton
                | Role::ComboBox
                | Role::Link
                | Role::CheckBox
                | Role::Switch
                | Role::RadioButton
                | Role::Tab
                | Role::MenuItem
        );
        let is_text = matches!(role, Role::TextField | Role::ComboBox);
        let says_text = matches!(details.content, AxContent::Text(_));
        let is_number = matches!(role, Role::Slider | Role::SpinButton | Role::ScrollBar | Role::ProgressBar);
        [
            (is_pressed || details.has_actions || self.disclosing.is_some(), Ability::Act),
            (is_text || says_text, Ability::Text),
            (is_text && details.is_settable, Ability::EditText),
            (is_number, Ability::Number),
            (self.place.is_some(), Ability::Place),
            (matches!(role, Role::List | Role::Table | Role::Tree), Ability::Choose),
        ]
        .into_iter()
        .filter(|(applies, _)| *applies)
        .map(|(_, ability)| ability)
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(role: &str, subrole: &str) -> AxFacts<u32> {
        AxFacts { role: role.to_owned(), subrole: subrole.to_owned(), ..AxFacts::default() }
    }

    #[test]
    fn roles_are_those_of_every_system() {
        for (role, subrole, outer, expected) in [
            ("AXButton", "AXCloseButton", "AXWindow", Role::Button),
            ("AXWindow", "AXStandardWindow", "", Role::Window),
            ("AXWindow", "AXDialog", "", Role::Dialog),
            ("AXSheet", "", "AXWindow", Role::Dialog),
            ("AXRadioButton", "", "AXTabGroup", Role::Tab),
            ("AXRadioButton", "", "AXRadioGroup", Role::RadioButton),
            ("AXCheckBox", "AXSwitch", "", Role::Switch),
            ("AXRow", "AXOutlineRow", "AXOutline", Role::TreeItem),
            ("AXRow", "AXTableRow", "AXTable", Role::Row),
            ("AXTextField", "AXSearchField", "", Role::TextField),
            ("AXNew", "", "", Role::Other),
        ] {
            assert_eq!(facts(role, subrole).role(outer), expected, "{role} {subrole}");
        }
    }

    #[test]
    fn a_field_for_a_secret_is_one_however_its_program_says_so_and_nothing_of_it_is_needed() {
        let mut fields = vec![facts("AXTextField", "AXSecureTextField"), facts("AXSecureTextField", "")];
        fields.push(AxFacts { is_protected: true, ..facts("AXTextArea", "") });
        // A class of a page makes it nothing else.
        let classes = vec!["xterm".to_owned()];
        fields.push(AxFacts { classes, ..facts("AXTextField", "AXSecureTextField") });
        for field in fields {
            assert_eq!(field.role(""), Role::PasswordField, "{field:?}");
            let needed = NeededDetails::of(Role::PasswordField, &field);
            assert_eq!(needed, NeededDetails { content: false, settable: false, actions: false });
            let abilities = field.abilities(Role::PasswordField, &AxDetails::default());
            assert!(!abilities.has(Ability::Text) && !abilities.has(Ability::EditText));
        }
        let label = AxFacts { is_protected: true, ..facts("AXStaticText", "") };
        assert!(!NeededDetails::of(Role::Label, &label).content);
    }

    #[test]
    fn a_terminal_in_a_page_is_known_by_its_class() {
        for class in ["xterm", "xterm-helper-textarea", "terminal-wrapper"] {
            let facts = AxFacts { classes: vec![class.to_owned()], ..facts("AXTextArea", "") };
            assert_eq!(facts.role("AXGroup"), Role::Terminal, "{class}");
        }
        let other = AxFacts { classes: vec!["exterminal".to_owned()], ..facts("AXTextArea", "") };
        assert_eq!(other.role("AXGroup"), Role::TextField);
    }

    #[test]
    fn what_an_element_contains_is_its_state_or_its_name() {
        let of = |content| AxDetails { content, ..AxDetails::default() };
        let half = facts("AXCheckBox", "").states(Role::CheckBox, &of(AxContent::Number(2.0)));
        assert!(half.has(State::Indeterminate) && !half.has(State::Checked) && half.has(State::Enabled));
        let on = facts("AXCheckBox", "").states(Role::CheckBox, &of(AxContent::Number(1.0)));
        assert!(on.has(State::Checked));
        let open = facts("AXDisclosureTriangle", "").states(Role::ToggleButton, &of(AxContent::Number(1.0)));
        assert!(open.has(State::Expanded) && !open.has(State::Pressed));
        let row = AxFacts { disclosing: Some(false), ..facts("AXRow", "AXOutlineRow") };
        assert!(row.states(Role::TreeItem, &AxDetails::default()).has(State::Expandable));
        let label = AxFacts { description: "d".to_owned(), ..facts("AXStaticText", "") };
        assert_eq!(label.name(Role::Label, &of(AxContent::Text("Total".to_owned()))), "Total");
        assert_eq!(label.name(Role::Label, &of(AxContent::Text(" ".to_owned()))), "d");
        let mut choice = facts(POP_UP, "");
        assert!(NeededDetails::of(Role::ComboBox, &choice).content);
        let content = of(AxContent::Text("Landscape".to_owned()));
        assert_eq!(choice.name(Role::ComboBox, &content), "Landscape");
        choice.title = "Orientation".to_owned();
        assert_eq!(choice.name(Role::ComboBox, &content), "Orientation");
        let field = facts("AXTextField", "");
        let settable = AxDetails { is_settable: true, ..AxDetails::default() };
        assert!(field.states(Role::TextField, &settable).has(State::Editable));
        assert!(field.states(Role::TextField, &AxDetails::default()).has(State::ReadOnly));
        assert!(field.abilities(Role::TextField, &settable).has(Ability::EditText));
    }
}
