//! `history`: what was done, in all scopes, for the user at this computer.
//!
//! Reads the store directly and needs no running service. Clients have `history.*`, scope by scope.

mod follow;
mod views;

pub use follow::watch;
pub use views::run;
