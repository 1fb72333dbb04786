//! Whether the displays of this computer can be read, as they answered when they were asked.

/// Whether this process can look at a display. Probed by doing it, never guessed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// It can.
    Granted,
    /// The system refuses it.
    Denied {
        /// What refused, and why, as far as it said.
        why: String,
        /// What a person has to change, in words.
        setting: String,
    },
    /// The system has not been asked yet, and would ask the user. macOS only.
    NotDetermined {
        /// What a person has to do.
        setting: String,
    },
    /// There is no display.
    NoDisplay {
        /// Where was looked.
        why: String,
    },
    /// The caller has made no private display, and others are none of its own.
    NoPrivateDisplay,
    /// The session is locked, as macOS and Windows tell. X11 does not: there a locker is a window that covers all others.
    Locked,
    /// This system has displays that this build cannot look at.
    Unsupported {
        /// What there is, and what is missing.
        why: String,
    },
}

/// A display that is there but cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreachableDisplay {
    /// The display's id.
    pub display: String,
    /// What it answered.
    pub access: Access,
}
