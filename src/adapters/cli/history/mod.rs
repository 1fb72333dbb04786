//! `history`: what was done, in all scopes, for the user at this computer.
//!
//! Reads the store directly and needs no running service. Clients have `history.*`, scope by scope.

mod follow;
mod views;

use crate::past_requests::{kept, output};
pub use follow::watch;

pub use crate::past_requests::find::{find_entry, short_id};
pub use output::{
    ConnectionsOutput, EntryOutput, FailedReplayOutput, GetOutput, LastOutput, SessionsOutput, TimelineOutput,
};
pub use views::run;
