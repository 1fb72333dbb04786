//! URLs by which clients elsewhere reach this computer, and whether they lead here: the steps of a client, one by one.
//!
//! Asks the network of a URL that the user names, or of the service of this installation, and of nothing else.

pub mod check;
pub mod exposures;
pub mod hop;
pub mod pinned;
pub mod typed_url;
