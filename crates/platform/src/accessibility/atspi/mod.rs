//! AT-SPI, the accessibility of Linux desktops: a bus of its own beside the session's, by the explicit address that the
//! display names. No other session's bus is ever guessed.

mod bus;
mod buses;
mod frame;
mod gtk4;
mod provider;
mod read;
mod roles;
mod worker;

pub use provider::element_source;
