//! Logging in by OAuth 2.1, for clients that take no token by hand: ChatGPT, Claude, and others over a public URL.
//!
//! The service is its own authorization server, for one owner. It gives a client nothing before the owner has proved, on
//! its page and by a one-time code of the command line, to be at this computer. It remembers nothing of those who have not.

mod authorize;
mod codes;
mod form;
mod metadata;
mod page;
mod server;
mod token;

pub(super) use form::Form;
pub(super) use metadata::challenge;
pub use server::LoginEndpoint;
pub(super) use server::LoginServer;
