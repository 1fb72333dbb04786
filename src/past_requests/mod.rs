//! The history as commands of the user read it: one request, a page of them, what is followed, and which changes can be taken
//! back.
//!
//! Below the adapters: nothing is asked or printed here. Clients have `history.*`, scope by scope.

pub mod event;
pub mod find;
pub mod undo_state;
pub mod live;
pub mod output;
pub mod replay;
pub mod routes;
pub mod undo;
pub mod undo_output;
pub mod why;
