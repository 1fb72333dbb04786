//! The user's decisions: `config.json` and what it says about this computer and its scopes.
//!
//! Reading is strict: a config that is broken in any part is refused as a whole.

#![forbid(unsafe_code)]
#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "tests make and look at files of their own"))]

mod after_untrusted;
mod commands;
mod edit_lock;
mod error;
mod exposure;
mod input_banner;
mod key_ring;
mod load;
mod login_code;
mod logins;
mod model;
mod problems;
mod public_url;
mod screens;
mod secret_hash;
mod secrets;
mod tls;
mod token_names;
mod tokens;
mod vision_model;
mod visible_input;

pub use after_untrusted::AfterUntrusted;
pub use commands::{
    CommandRule, HostList, NegatedWords, NetworkRule, OtherHosts, PreviewMode, ProcessLifetime, SandboxLevel,
    ShellMode, TokenPattern, TokenRule, UndoMode, Words,
};
pub use edit_lock::edit_lock;
pub use error::ConfigError;
pub use exposure::{Authentication, Exposure, Reachability, TunnelLock};
pub use input_banner::InputBanner;
pub use key_ring::{KeyRing, TokenLease, TokensLook};
pub use load::is_scope_id;
pub use login_code::LoginCode;
pub use logins::{ACCESS_MS, Login, LoginTokens, NewLogin, Refresh};
pub use model::{Config, HistoryConfig, HttpConfig, ScopeConfig, ScopePolicy};
pub use problems::ConfigReport;
pub use public_url::PublicUrl;
pub use screens::WindowPattern;
pub use secret_hash::SecretHash;
pub use secrets::{SecretCommands, SecretMode};
pub use tls::TlsConfig;
pub use tokens::{NewToken, TokenRecord, Tokens};
pub use visible_input::VisibleInput;
pub use vision_model::{ModelApi, ModelCoordinates, VisionModel};
