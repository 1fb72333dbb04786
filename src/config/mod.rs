//! The person's decisions: `config.json` and what it says about this computer and its scopes.
//!
//! Reading is strict: a config that is broken in any part is refused as a whole.

mod model;

pub use model::{Config, HistoryConfig, HttpConfig, ScopeConfig, ScopePolicy};
