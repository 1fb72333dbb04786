//! Capabilities: the rights that a scope grants and a caller may use.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One right. A scope grants it, denies it, or grants it with `ask`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Capability {
    /// Read and list files.
    #[serde(rename = "fs:read")]
    FsRead,
    /// See search matches, not whole files.
    #[serde(rename = "search:read")]
    SearchRead,
    /// Create, change, move and delete files.
    #[serde(rename = "fs:write")]
    FsWrite,
    /// Read the state and history of a Git repository.
    #[serde(rename = "git:read")]
    GitRead,
    /// Stage and commit.
    #[serde(rename = "git:write")]
    GitWrite,
    /// Run commands that the scope's rules allow.
    #[serde(rename = "command:run")]
    CommandRun,
    /// Start, read, write to and stop lasting processes.
    #[serde(rename = "process:manage")]
    ProcessManage,
    /// Run scripts that the project already defines.
    #[serde(rename = "package:run")]
    PackageRun,
    /// Run the Codex CLI.
    #[serde(rename = "codex:run")]
    CodexRun,
    /// Take images of screens and windows.
    #[serde(rename = "screen:capture")]
    ScreenCapture,
    /// Send images of screens and windows to the vision model that the user configured.
    #[serde(rename = "screen:ground")]
    ScreenGround,
    /// Read the elements of windows: their roles, names and values.
    #[serde(rename = "ui:read")]
    UiRead,
    /// Press elements of windows and set their values, without the pointer.
    #[serde(rename = "ui:control")]
    UiControl,
    /// Move the pointer, click, and type, as the user does.
    #[serde(rename = "input:control")]
    InputControl,
    /// List windows with their titles and places.
    #[serde(rename = "window:read")]
    WindowRead,
    /// Focus, move, resize, minimize and close windows.
    #[serde(rename = "window:control")]
    WindowControl,
    /// Read the clipboard.
    #[serde(rename = "clipboard:read")]
    ClipboardRead,
    /// Replace or clear what the clipboard has.
    #[serde(rename = "clipboard:write")]
    ClipboardWrite,
    /// Make and end private displays.
    #[serde(rename = "display:manage")]
    DisplayManage,
    /// Start programs with windows on a private display.
    #[serde(rename = "app:control")]
    AppControl,
    /// Show messages on the user's desktop.
    #[serde(rename = "notify:send")]
    NotifySend,
    /// Read the state of the computer: battery, time, brightness, volume, and how long its user has been away.
    #[serde(rename = "system:read")]
    SystemRead,
    /// Set the brightness and the volume of the computer.
    #[serde(rename = "system:control")]
    SystemControl,
    /// Read the history of the scope.
    #[serde(rename = "history:read")]
    HistoryRead,
}

impl Capability {
    /// Every capability, in the order in which documents list them.
    pub const ALL: &'static [Self] = &[
        Self::FsRead,
        Self::SearchRead,
        Self::FsWrite,
        Self::GitRead,
        Self::GitWrite,
        Self::CommandRun,
        Self::ProcessManage,
        Self::PackageRun,
        Self::CodexRun,
        Self::ScreenCapture,
        Self::ScreenGround,
        Self::UiRead,
        Self::UiControl,
        Self::InputControl,
        Self::WindowRead,
        Self::WindowControl,
        Self::ClipboardRead,
        Self::ClipboardWrite,
        Self::DisplayManage,
        Self::AppControl,
        Self::NotifySend,
        Self::SystemRead,
        Self::SystemControl,
        Self::HistoryRead,
    ];

    /// Returns the name that configs, tokens and messages use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FsRead => "fs:read",
            Self::SearchRead => "search:read",
            Self::FsWrite => "fs:write",
            Self::GitRead => "git:read",
            Self::GitWrite => "git:write",
            Self::CommandRun => "command:run",
            Self::ProcessManage => "process:manage",
            Self::PackageRun => "package:run",
            Self::CodexRun => "codex:run",
            Self::ScreenCapture => "screen:capture",
            Self::ScreenGround => "screen:ground",
            Self::UiRead => "ui:read",
            Self::UiControl => "ui:control",
            Self::InputControl => "input:control",
            Self::WindowRead => "window:read",
            Self::WindowControl => "window:control",
            Self::ClipboardRead => "clipboard:read",
            Self::ClipboardWrite => "clipboard:write",
            Self::DisplayManage => "display:manage",
            Self::AppControl => "app:control",
            Self::NotifySend => "notify:send",
            Self::SystemRead => "system:read",
            Self::SystemControl => "system:control",
            Self::HistoryRead => "history:read",
        }
    }

    /// Returns whether it is about windows, a clipboard, messages or pictures for a model, those of the computer or of a private
    /// display, or about the state of the computer.
    pub const fn is_of_the_desktop(self) -> bool {
        match self {
            Self::ScreenGround
            | Self::UiRead
            | Self::UiControl
            | Self::InputControl
            | Self::WindowRead
            | Self::WindowControl
            | Self::ClipboardRead
            | Self::ClipboardWrite
            | Self::DisplayManage
            | Self::AppControl
            | Self::NotifySend
            | Self::SystemRead
            | Self::SystemControl => true,
            Self::FsRead
            | Self::SearchRead
            | Self::FsWrite
            | Self::GitRead
            | Self::GitWrite
            | Self::CommandRun
            | Self::ProcessManage
            | Self::PackageRun
            | Self::CodexRun
            | Self::ScreenCapture
            | Self::HistoryRead => false,
        }
    }

    /// Finds a capability by its name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|capability| capability.as_str() == name)
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
