//! What scopes for the desktop and for private displays are given.

use bailiwick_contract::Capability;

/// What a desktop is seen by, beside its pictures.
pub const DESKTOP_READ: [Capability; 4] =
    [Capability::UiRead, Capability::WindowRead, Capability::ClipboardRead, Capability::SystemRead];
/// What that opens, in words.
pub const DESKTOP_READ_WORDS: &str = "\
Clients see all windows but password managers, prompts for secrets and those that you deny: pictures, texts, titles, and what you copy.
A client sends what it sees to the service that its model runs at.
";

/// What one acts on a desktop by.
pub const DESKTOP_CONTROL: [Capability; 6] = [
    Capability::UiControl,
    Capability::InputControl,
    Capability::WindowControl,
    Capability::ClipboardWrite,
    Capability::NotifySend,
    Capability::SystemControl,
];
/// What that opens, in words.
pub const DESKTOP_CONTROL_WORDS: &str = "\
They press and fill in what these windows have, as you could: send, buy and delete are buttons, too. They move and close windows.
Nothing is typed into terminals and into what Bailiwick runs in. Each use of pointer and keyboard needs your approval, and a banner
at the top of your screen names the client meanwhile (on X11).
";

/// What private displays are used by.
pub const PRIVATE_DISPLAYS: &[Capability] = &[
    Capability::DisplayManage,
    Capability::AppControl,
    Capability::UiRead,
    Capability::UiControl,
    Capability::InputControl,
    Capability::WindowRead,
    Capability::WindowControl,
    Capability::ClipboardRead,
    Capability::ClipboardWrite,
];
