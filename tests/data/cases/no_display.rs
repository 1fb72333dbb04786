//! The block `display` where no display can be started.

use bailiwick::platform::screen::Sources;

/// A display. There is none on this system.
pub enum CaseDisplay {}

impl CaseDisplay {
    /// Starts nothing.
    ///
    /// # Errors
    /// Always.
    pub fn start(_: &str, _: &str) -> Result<Self, String> {
        Err("no display can be started on this system".to_owned())
    }

    /// Starts nothing.
    ///
    /// # Errors
    /// Always.
    pub fn desktop(kind: &str, title: &str) -> Result<Self, String> {
        Self::start(kind, title)
    }

    /// Cannot be called.
    pub fn window(&self) -> Option<String> {
        match *self {}
    }

    /// Cannot be called.
    pub fn icon(&self) -> Option<String> {
        match *self {}
    }

    /// Cannot be called.
    pub fn id(&self) -> String {
        match *self {}
    }

    /// Cannot be called.
    pub fn windows(&self) -> Option<String> {
        match *self {}
    }

    /// Cannot be called.
    pub fn sources(&self) -> Sources {
        match *self {}
    }
}
