//! What can go wrong between this process and an X server, before it is told as a [`ScreenError`].

use std::io;

use x11rb::errors::{ConnectionError, ReplyError, ReplyOrIdError};
use x11rb::protocol::ErrorKind;
use x11rb::x11_utils::X11Error;

use crate::screen::ScreenError;

/// What went wrong.
#[derive(Debug)]
pub(super) enum ServerError {
    /// The connection is of no use any more.
    Connection(ConnectionError),
    /// The server refused a request.
    Refused(X11Error),
    /// It took longer than other clients of the server are to wait; the connection was given up for them.
    TooLongAlone,
    /// It is clear already.
    Clear(ScreenError),
}

impl ServerError {
    /// Returns whether the connection must be given up.
    pub(super) fn is_fatal(&self) -> bool {
        match self {
            Self::Connection(_) | Self::TooLongAlone => true,
            Self::Refused(_) => false,
            Self::Clear(error) => matches!(error, ScreenError::Timeout(_) | ScreenError::Lost(_)),
        }
    }

    /// Returns whether the server ended the connection: it died, or was replaced.
    pub(super) fn is_loss(&self) -> bool {
        self.is_fatal() && !self.is_timeout() && !matches!(self, Self::TooLongAlone)
    }

    /// Returns whether what was asked for does not fit what is there, any more or at all.
    pub(super) fn is_mismatch(&self) -> bool {
        matches!(self, Self::Refused(error) if error.error_kind == ErrorKind::Match)
    }

    /// Returns whether the time was over.
    pub(super) fn is_timeout(&self) -> bool {
        match self {
            Self::Connection(ConnectionError::IoError(error)) => error.kind() == io::ErrorKind::TimedOut,
            Self::Clear(error) => matches!(error, ScreenError::Timeout(_)),
            Self::Connection(_) | Self::TooLongAlone | Self::Refused(_) => false,
        }
    }

    /// Tells it to the outside.
    pub(super) fn told(self, display: &str) -> ScreenError {
        let timeout = self.is_timeout();
        match self {
            Self::Clear(error) => error,
            Self::Connection(_) if timeout => ScreenError::Timeout(display.to_owned()),
            Self::Connection(_) => ScreenError::Lost(display.to_owned()),
            Self::TooLongAlone => ScreenError::Failed {
                display: display.to_owned(),
                step: "the request",
                why: "it has so many windows, or is so busy, that it would stand still for too long"
                    .to_owned(),
            },
            Self::Refused(error) => ScreenError::Failed {
                display: display.to_owned(),
                step: error.request_name.unwrap_or("a request"),
                why: format!("{:?}", error.error_kind),
            },
        }
    }
}

impl From<ConnectionError> for ServerError {
    fn from(error: ConnectionError) -> Self {
        Self::Connection(error)
    }
}

impl From<ReplyError> for ServerError {
    fn from(error: ReplyError) -> Self {
        match error {
            ReplyError::ConnectionError(error) => Self::Connection(error),
            ReplyError::X11Error(error) => Self::Refused(error),
        }
    }
}

impl From<ReplyOrIdError> for ServerError {
    fn from(error: ReplyOrIdError) -> Self {
        match error {
            // A connection without numbers left serves no more; a new one does.
            ReplyOrIdError::IdsExhausted => Self::Connection(ConnectionError::UnknownError),
            ReplyOrIdError::ConnectionError(error) => Self::Connection(error),
            ReplyOrIdError::X11Error(error) => Self::Refused(error),
        }
    }
}

impl From<ScreenError> for ServerError {
    fn from(error: ScreenError) -> Self {
        Self::Clear(error)
    }
}
