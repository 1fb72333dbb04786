//! Pointer and keyboard on Windows, by `SendInput`. Nothing can be held still here: what gets the input is judged, and checked again
//! right before each press and each character; where it is another then, nothing more is sent.

mod acting;
mod sending;
mod target;

pub(super) use acting::InputState;
