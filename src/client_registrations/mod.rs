//! Clients that registered themselves for a login, and those whose published id is known.
//!
//! A registration is a signed text: only the installation that gave it out has the key, so nothing of it is kept, and a
//! registration shows whether a URL leads to this installation.

pub mod client;
pub mod redirect;
pub mod signer;
