//! Pointer and keyboard: what is done with them, and what is known at the instant in which it is done.

use super::{Point, Rect, Window};

/// A key by its X11 key symbol, which every system can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeySymbol(pub u32);

impl KeySymbol {
    /// Returns the symbol of a character.
    pub const fn of(character: char) -> Self {
        match character {
            '\n' => Self(0xff0d),
            '\t' => Self(0xff09),
            ' '..='~' | '\u{a0}'..='\u{ff}' => Self(character as u32),
            _ => Self(0x0100_0000 | character as u32),
        }
    }
}

/// One step of pointer or keyboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputStep {
    /// The pointer goes to a point of the display.
    Move(Point),
    /// A button of the pointer goes down: 1 left, 2 middle, 3 right, 4 to 7 the wheel up, down, left, right.
    Press(u8),
    /// A button comes up.
    Release(u8),
    /// A key goes down. It does not repeat while it is down.
    PressKey(KeySymbol),
    /// A key comes up.
    ReleaseKey(KeySymbol),
    /// Characters are typed, each with what it needs. It may end before the last; then the rest comes with a later request.
    Type(Vec<char>),
    /// Keys are made ready for characters that are typed later, as far as there is room.
    Prepare(Vec<char>),
}

impl InputStep {
    /// Returns whether it goes to what has the keyboard, and not to what is at the pointer.
    pub const fn is_of_keyboard(&self) -> bool {
        matches!(self, Self::PressKey(_) | Self::ReleaseKey(_) | Self::Type(_) | Self::Prepare(_))
    }
}

/// What gets input.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Receiver {
    /// The window, by its place in the list.
    pub window: Option<usize>,
    /// Whether it is the desktop itself, where no window is.
    pub is_desktop: bool,
    /// The processes of the windows within it that would get the input, where they are others than its own: a window can be
    /// put into one of another program.
    pub inner: Vec<InnerProcess>,
}

/// The process of a window within a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InnerProcess {
    /// Its number; `None` where the display does not know it.
    pub pid: Option<u32>,
    /// The name of its program file.
    pub name: Option<String>,
    /// What the window says of its program.
    pub app: Option<String>,
}

/// What is known of a display at the instant in which something is done there.
#[derive(Debug, Clone)]
pub struct InputScene {
    /// All windows, from the bottom of the pile to its top.
    pub windows: Vec<Window>,
    /// The display.
    pub bounds: Rect,
    /// Where the pointer is.
    pub pointer: Point,
    /// What is at the pointer.
    pub at_pointer: Receiver,
    /// What has the keyboard.
    pub focus: Receiver,
    /// What is at each point that the pointer is to go to, in their order.
    pub at_points: Vec<(Point, Receiver)>,
    /// For how long nobody but this has used pointer and keyboard, in milliseconds; `None` if nobody has since this did.
    pub idle_ms: Option<u64>,
    /// Whether somebody else holds a button or a modifier.
    pub is_held: bool,
    /// Whether Caps Lock is on.
    pub is_caps_lock: bool,
    /// Whether another program has the pointer to itself, as with an open menu.
    pub is_pointer_grabbed: bool,
    /// Whether another program has the keyboard to itself, as with an open menu or a lock screen.
    pub is_keyboard_grabbed: bool,
    /// The shape of the pointer, by its name, where it has one and it was asked for.
    pub shape: Option<String>,
}

/// What came of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InputDone {
    /// How many characters were typed.
    pub typed: usize,
    /// How many keys and buttons are still down.
    pub held: usize,
}

/// Returns what is to be done, from the windows and the size of the display at the instant; `None` to do nothing.
pub type InputPlan = Box<dyn Fn(&[Window], Rect) -> Option<Vec<InputStep>> + Send>;

/// Asked at that instant whether it may be done.
pub type InputJudge = Box<dyn Fn(&InputScene) -> bool + Send>;

/// Whether input is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputMode {
    /// It is judged and made, with a line of text at the top of the display, if there is one, from before the input to some seconds
    /// after it. Systems other than X11 show none.
    Act(Option<String>),
    /// It is judged only.
    Judge,
}
