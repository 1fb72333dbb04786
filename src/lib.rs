//! Bailiwick lets an AI client work on your computer, within the limits that you set.
//!
//! The layers below the adapters are crates of their own (`crates/`), each of which can use only those it names in its
//! Cargo.toml. They are here under one name for the tests, benches and examples. ARCHITECTURE.md is the map.

#![forbid(unsafe_code)]

pub use bailiwick_config as config;
pub use bailiwick_contract as contract;
pub use bailiwick_engine::{operations, reference, registry, requests, service};
pub use bailiwick_history as history;
pub use bailiwick_platform as platform;
pub use bailiwick_policy as policy;
pub use bailiwick_providers as providers;

pub mod adapters;
mod autostart;
mod client_settings;
mod diagnosis;
mod installation;
mod scope_setup;
mod tunnels;
