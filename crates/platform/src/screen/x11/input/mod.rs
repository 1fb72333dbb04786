//! Pointer and keyboard by XTEST: judged and made in one instant, while no other client can do anything.
//!
//! Nothing else has XTEST. What is down is known to a guard (`guard`), which releases it whatever becomes of this process.

mod guard;
mod inject;
mod keymap;
mod seat;
mod state;
mod target;

pub(super) use inject::{Order, act, release, tidy};
pub(super) use state::InputState;
pub(super) use target::pid_of;

pub use guard::serve_if_asked;
