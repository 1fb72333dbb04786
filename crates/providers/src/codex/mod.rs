//! Codex: finding the user's Codex CLI, making a run of it ready, and reading what it tells while it works.
//!
//! Codex gets a home of its own for each scope, with settings that Bailiwick writes: of the user's it keeps which
//! model is asked and how, and nothing that would run programs. Whether it may run is the policy's to say.

mod events;
mod find;
mod home;
mod login;
mod ready;
mod record;
mod sessions;
mod settings;
mod version;

pub use events::{CommandRow, Events, FileRow, Step, ToolCall, Usage};
pub use find::Installation;
pub use login::Login;
pub use ready::{CodexContext, CodexOptions, CodexSetup, Mode, PreparedCodex, is_session_id, look};
pub use record::Record;
pub use sessions::{Session, sessions};
pub use version::Version;
