//! Systems on which no process is kept yet: there is none to speak to.

use std::convert::Infallible;
use std::path::Path;
use std::time::Duration;

use tokio::net::TcpStream;

use super::{ControlError, Event, TerminalSize};

/// A connection to the keeper of a process. There is none on this system.
#[derive(Debug)]
pub struct Control(Infallible);

#[expect(clippy::unused_async, reason = "they are the same calls on every system")]
impl Control {
    /// Finds no keeper.
    ///
    /// # Errors
    /// Always [`ControlError::Gone`].
    pub async fn connect(_: &Path) -> Result<Self, ControlError> {
        Err(ControlError::Gone)
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub async fn input(&mut self, _: &[u8]) -> Result<(), ControlError> {
        match self.0 {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub async fn secret(&mut self, _: &[u8]) -> Result<(), ControlError> {
        match self.0 {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub async fn close_input(&mut self) -> Result<(), ControlError> {
        match self.0 {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub async fn resize(&mut self, _: TerminalSize) -> Result<(), ControlError> {
        match self.0 {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub async fn signal(&mut self, _: i32) -> Result<(), ControlError> {
        match self.0 {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub async fn stop(&mut self, _: i32, _: Duration) -> Result<(), ControlError> {
        match self.0 {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub async fn is_listening(&mut self, _: u16) -> Result<bool, ControlError> {
        match self.0 {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub async fn dial(&mut self, _: u16) -> Result<TcpStream, ControlError> {
        match self.0 {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub async fn watch(&mut self) -> Result<(), ControlError> {
        match self.0 {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub async fn next_event(&mut self) -> Result<Event, ControlError> {
        match self.0 {}
    }
}
