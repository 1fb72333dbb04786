//! Systems whose status icons are not read yet.

use super::{TrayError, TrayItem, TrayMenuEntry};

/// The status icons of this system, which cannot be read.
#[derive(Debug)]
pub struct Tray(std::convert::Infallible);

impl Tray {
    /// Connects to nothing.
    ///
    /// # Errors
    /// [`TrayError::Unsupported`].
    pub fn connect(_: &str) -> Result<Self, TrayError> {
        Err(TrayError::Unsupported)
    }

    /// Reads the icons that there are.
    ///
    /// # Errors
    /// None: there is no value of this type.
    pub fn items(&self) -> Result<Vec<TrayItem>, TrayError> {
        match self.0 {}
    }

    /// Reads an icon again.
    ///
    /// # Errors
    /// None: there is no value of this type.
    pub fn item(&self, _: &TrayItem) -> Result<TrayItem, TrayError> {
        match self.0 {}
    }

    /// Reads the menu of an icon.
    ///
    /// # Errors
    /// None: there is no value of this type.
    pub fn menu(&self, _: &TrayItem) -> Result<Vec<TrayMenuEntry>, TrayError> {
        match self.0 {}
    }

    /// Reads the menu of an icon as its program has filled it.
    ///
    /// # Errors
    /// None: there is no value of this type.
    pub fn filled_menu(&self, _: &TrayItem) -> Result<Vec<TrayMenuEntry>, TrayError> {
        match self.0 {}
    }

    /// Does what a click on an icon does.
    ///
    /// # Errors
    /// None: there is no value of this type.
    pub fn activate(&self, _: &TrayItem) -> Result<(), TrayError> {
        match self.0 {}
    }

    /// Does what a click on an entry of the menu of an icon does.
    ///
    /// # Errors
    /// None: there is no value of this type.
    pub fn choose(&self, _: &TrayItem, _: i32) -> Result<(), TrayError> {
        match self.0 {}
    }
}

/// What keeps a list of status icons, which this system does not have.
#[derive(Debug)]
pub struct Watcher(std::convert::Infallible);

impl Watcher {
    /// Starts nothing.
    ///
    /// # Errors
    /// [`TrayError::Unsupported`].
    #[expect(clippy::unused_async, reason = "as where there is one")]
    pub async fn start(_: &str) -> Result<Self, TrayError> {
        Err(TrayError::Unsupported)
    }

    /// Ends it.
    pub const fn stop(self) {
        match self.0 {}
    }
}
