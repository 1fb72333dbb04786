//! An element of a window and the tree that it is in, the same for every system.

use std::time::Duration;

#[cfg(any(test, target_os = "macos", windows))]
use crate::screen::Window;
use crate::screen::{Point, Rect};

/// What its program knows an element by, as long as the element lives.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuntimeId {
    /// The program's connection to the accessibility bus.
    pub program: String,
    /// The element's name there.
    pub path: String,
}

/// What kind of thing an element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// A button.
    Button,
    /// A toggle button.
    ToggleButton,
    /// A combo box.
    ComboBox,
    /// A text field.
    TextField,
    /// A password field.
    PasswordField,
    /// A document, such as a web page.
    Document,
    /// A link.
    Link,
    /// A check box.
    CheckBox,
    /// A switch.
    Switch,
    /// A radio button.
    RadioButton,
    /// A slider.
    Slider,
    /// A spin button.
    SpinButton,
    /// A scroll bar.
    ScrollBar,
    /// A progress bar.
    ProgressBar,
    /// A menu bar.
    MenuBar,
    /// A menu.
    Menu,
    /// A menu item.
    MenuItem,
    /// A tab.
    Tab,
    /// A row.
    Row,
    /// A cell or the header of one.
    Cell,
    /// A list item.
    ListItem,
    /// A tree item.
    TreeItem,
    /// An image.
    Image,
    /// A window.
    Window,
    /// A dialog.
    Dialog,
    /// A tool bar.
    ToolBar,
    /// A list.
    List,
    /// A table.
    Table,
    /// A tree.
    Tree,
    /// What holds others together and is none of the above.
    Group,
    /// A heading.
    Heading,
    /// Text that is not edited.
    Label,
    /// A terminal: what is typed there runs.
    Terminal,
    /// Anything else.
    Other,
}

impl Role {
    /// Returns the name that answers use, and the letter that ids of such elements begin with.
    pub const fn facts(self) -> (&'static str, char) {
        match self {
            Self::Button => ("button", 'B'),
            Self::ToggleButton => ("toggle button", 'B'),
            Self::ComboBox => ("combo box", 'B'),
            Self::TextField => ("text field", 'T'),
            Self::PasswordField => ("password field", 'T'),
            Self::Document => ("document", 'T'),
            Self::Link => ("link", 'L'),
            Self::CheckBox => ("check box", 'C'),
            Self::Switch => ("switch", 'C'),
            Self::RadioButton => ("radio button", 'R'),
            Self::Slider => ("slider", 'S'),
            Self::SpinButton => ("spin button", 'S'),
            Self::ScrollBar => ("scroll bar", 'S'),
            Self::ProgressBar => ("progress bar", 'S'),
            Self::MenuBar => ("menu bar", 'M'),
            Self::Menu => ("menu", 'M'),
            Self::MenuItem => ("menu item", 'M'),
            Self::Tab => ("tab", 'N'),
            Self::Row => ("row", 'W'),
            Self::Cell => ("cell", 'W'),
            Self::ListItem => ("list item", 'W'),
            Self::TreeItem => ("tree item", 'W'),
            Self::Image => ("image", 'I'),
            Self::Window => ("window", 'G'),
            Self::Dialog => ("dialog", 'G'),
            Self::ToolBar => ("tool bar", 'G'),
            Self::List => ("list", 'G'),
            Self::Table => ("table", 'G'),
            Self::Tree => ("tree", 'G'),
            Self::Group => ("group", 'G'),
            Self::Heading => ("heading", 'X'),
            Self::Label => ("label", 'X'),
            Self::Terminal => ("terminal", 'X'),
            Self::Other => ("other", 'X'),
        }
    }

    /// Returns the name that answers use.
    pub const fn name(self) -> &'static str {
        self.facts().0
    }

    /// Returns the letter that ids of such elements begin with.
    pub const fn letter(self) -> char {
        self.facts().1
    }

    /// Returns whether it is the role that its letter means where none is written.
    pub const fn is_usual_of_letter(self) -> bool {
        matches!(
            self,
            Self::Button
                | Self::CheckBox
                | Self::Image
                | Self::Label
                | Self::Link
                | Self::MenuItem
                | Self::RadioButton
                | Self::Tab
                | Self::TextField
        )
    }

    /// Returns whether it only holds others together.
    pub const fn is_container(self) -> bool {
        matches!(self.letter(), 'G') || matches!(self, Self::MenuBar)
    }
}

/// One thing that can be said of an element at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It can be used.
    Enabled,
    /// It shows, as far as its program knows.
    Showing,
    /// It would show if what it is in did.
    Visible,
    /// It is the window that the user works in.
    Active,
    /// It can have the keyboard.
    Focusable,
    /// It has the keyboard.
    Focused,
    /// It can be checked.
    Checkable,
    /// It is checked.
    Checked,
    /// It is down.
    Pressed,
    /// It can be selected.
    Selectable,
    /// It is selected.
    Selected,
    /// It can be opened.
    Expandable,
    /// It is open.
    Expanded,
    /// Its text can be changed.
    Editable,
    /// Its text cannot be changed.
    ReadOnly,
    /// Nothing else of its program can be used meanwhile.
    Modal,
    /// It is being changed.
    Busy,
    /// It is checked in part.
    Indeterminate,
    /// It makes its children only when they are asked for, and there may be very many.
    ManagesDescendants,
    /// It shows, and its program does not say where: in a popover of GTK 4.
    Unplaced,
    /// Its place is counted in pixels of the display, while that of its window is not: in a page of Chromium.
    InPixels,
}

impl State {
    /// Every state that answers tell, with its name.
    const ALL: &'static [(Self, &'static str)] = &[
        (Self::Enabled, "enabled"),
        (Self::Showing, "showing"),
        (Self::Visible, "visible"),
        (Self::Active, "active"),
        (Self::Focusable, "focusable"),
        (Self::Focused, "focused"),
        (Self::Checkable, "checkable"),
        (Self::Checked, "checked"),
        (Self::Pressed, "pressed"),
        (Self::Selectable, "selectable"),
        (Self::Selected, "selected"),
        (Self::Expandable, "expandable"),
        (Self::Expanded, "expanded"),
        (Self::Editable, "editable"),
        (Self::ReadOnly, "read-only"),
        (Self::Modal, "modal"),
        (Self::Busy, "busy"),
        (Self::Indeterminate, "half-checked"),
        (Self::ManagesDescendants, "makes rows when asked"),
        (Self::Unplaced, "place unknown"),
    ];
}

/// What is said of an element at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct States(u32);

impl States {
    /// Returns whether a state is among them.
    pub const fn has(self, state: State) -> bool {
        self.0 & (1 << state as u32) != 0
    }

    /// Adds a state.
    #[must_use]
    pub const fn with(self, state: State) -> Self {
        Self(self.0 | 1 << state as u32)
    }

    /// Takes a state away.
    #[must_use]
    pub const fn without(self, state: State) -> Self {
        Self(self.0 & !(1 << state as u32))
    }

    /// Returns the names of those that are among them, as answers use them.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        State::ALL.iter().filter(move |(state, _)| self.has(*state)).map(|(_, name)| *name)
    }

    /// Returns those that pressing and typing change, and no others.
    #[must_use]
    pub const fn of_the_user(self) -> Self {
        let kept = 1 << State::Checked as u32
            | 1 << State::Pressed as u32
            | 1 << State::Selected as u32
            | 1 << State::Expanded as u32
            | 1 << State::Indeterminate as u32
            | 1 << State::Enabled as u32
            | 1 << State::Showing as u32;
        Self(self.0 & kept)
    }
}

impl FromIterator<State> for States {
    fn from_iter<T: IntoIterator<Item = State>>(states: T) -> Self {
        states.into_iter().fold(Self::default(), Self::with)
    }
}

/// One thing that can be asked of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ability {
    /// It has actions, such as being pressed.
    Act,
    /// It has a text.
    Text,
    /// Its text can be set.
    EditText,
    /// It has a number, which can be set.
    Number,
    /// It has a place on the display.
    Place,
    /// It holds items of which some are selected.
    Choose,
}

/// What can be asked of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Abilities(u8);

impl Abilities {
    /// Returns whether an ability is among them.
    pub const fn has(self, ability: Ability) -> bool {
        self.0 & (1 << ability as u8) != 0
    }
}

impl FromIterator<Ability> for Abilities {
    fn from_iter<T: IntoIterator<Item = Ability>>(abilities: T) -> Self {
        Self(abilities.into_iter().fold(0, |all, one| all | 1 << one as u8))
    }
}

/// An element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// What its program knows it by.
    pub id: RuntimeId,
    /// The element that it is in, by its place in the tree's list; `None` for the window.
    pub parent: Option<usize>,
    /// What it is.
    pub role: Role,
    /// What its program calls it; may be empty. Cut.
    pub name: String,
    /// What is said of it.
    pub states: States,
    /// What can be asked of it.
    pub abilities: Abilities,
}

/// What a program says of one element where it is asked for it. Each is `None` where it says nothing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ElementDetails {
    /// Before which character of its text the caret is.
    pub caret: Option<usize>,
    /// By how much its number changes with one step; above 0.
    pub step: Option<f64>,
    /// The address of a document.
    pub url: Option<String>,
}

/// How a program counts the places of a window's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// A point, as the program counts it.
    pub from: Point,
    /// The same point on the display.
    pub to: Point,
    /// How many pixels of the display 100 of the program's are.
    pub percent: u32,
}

impl Placement {
    /// That of a program that counts the pixels of the display.
    pub const DISPLAY: Self = Self { from: Point { x: 0, y: 0 }, to: Point { x: 0, y: 0 }, percent: 100 };

    /// That by which a place in the units of the system is that of a window.
    #[cfg(any(test, target_os = "macos", windows))]
    pub(super) fn of_window(place: Rect, window: &Window) -> Self {
        // Rounded to quarters, as displays are scaled: the window's pixels are whole ones.
        let quarters =
            (u64::from(window.bounds.width) * 8 / u64::from(place.width.max(1))).div_ceil(2).max(1);
        let percent = u32::try_from(quarters * 25).unwrap_or(u32::MAX);
        Self { from: place.origin(), to: window.bounds.origin(), percent }
    }

    /// Returns where a place of the program's is on the display.
    pub fn on_display(&self, place: Rect) -> Rect {
        let scaled = |length: i64| (length * i64::from(self.percent) + 50).div_euclid(100);
        // The numbers of a program may be any: what does not fit is far outside.
        let at = |from: i32, at: i32, to: i32| {
            i32::try_from(i64::from(to) + scaled(i64::from(at) - i64::from(from))).unwrap_or(i32::MAX)
        };
        let length = |length: u32| u32::try_from(scaled(length.into())).unwrap_or(u32::MAX);
        Rect {
            x: at(self.from.x, place.x, self.to.x),
            y: at(self.from.y, place.y, self.to.y),
            width: length(place.width),
            height: length(place.height),
        }
    }
}

/// The elements of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElementTree {
    /// The process that they are of, as the bus knows it.
    pub pid: u32,
    /// The elements, each after the one that it is in: the first is the window.
    pub elements: Vec<Element>,
    /// Whether that is all of them.
    pub complete: bool,
    /// How their program counts places.
    pub placement: Placement,
    /// How long their program waits before it does what pressing asks for.
    pub delay: Duration,
}

/// Returns whether a class of a page is that of a terminal: the terminals of editors are pages, which name no such role.
#[cfg(any(test, target_os = "macos", windows))]
pub(super) fn is_terminal_class(class: &str) -> bool {
    let class = class.to_lowercase();
    class == "xterm" || class.starts_with("xterm-") || class.starts_with("terminal-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_pixels_of_the_display_of_the_window() {
        let fine = Window::new("window/0x1", "display-2", Rect::new(20, 40, 600, 400));
        let placed = Placement::of_window(Rect::new(1010, 20, 300, 200), &fine);
        assert_eq!(placed.percent, 200);
        assert_eq!(placed.on_display(Rect::new(1020, 30, 50, 10)), Rect::new(40, 60, 100, 20));
        // A window whose edges are between pixels is a pixel larger.
        let odd = Window::new("window/0x1", "display-1", Rect::new(0, 0, 301, 201));
        assert_eq!(Placement::of_window(Rect::new(10, 20, 300, 200), &odd).percent, 100);
    }
}
