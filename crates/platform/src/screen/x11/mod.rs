//! Displays by X11, in plain Rust: every server by its explicit address, several at once, no `DISPLAY` needed.
//!
//! What a server or another of its clients says is a stranger's word: sizes are checked, answers have a deadline,
//! text is cleaned. A display has no walls between its own clients; nothing here can make some.

mod actor;
mod address;
mod authority;
mod banner;
mod capture;
mod change;
mod clipboard;
mod foresight;
mod image;
mod input;
mod leftovers;
mod mark;
mod scene;
mod segment;
mod selection;
mod server;
mod servers;
mod stream;
mod text;
mod window_facts;
mod error;
mod uncover;
mod watch;
mod workspaces;

pub(super) use image::Image;
pub use input::serve_if_asked as guard_if_asked;
pub use leftovers::{remove_server_leftovers, server_lock};
pub use mark::Mark;
pub(super) use servers::Servers;
pub(super) use watch::DrawingWatch;
