//! Bailiwick lets an AI client work on your computer, within the limits that you set.
//!
//! The layers below the adapters are crates of their own (`crates/`), each of which can use only those it names in its
//! Cargo.toml. They are here under one name for the tests, benches and examples. ARCHITECTURE.md is the map.

#![forbid(unsafe_code)]

// Unit tests make schemas out of types; the program carries the files.
#[cfg(not(test))]
extern crate bailiwick_schema as schemars;

pub use bailiwick_config as config;
pub use bailiwick_contract as contract;
pub use bailiwick_engine::{operations, reference, registry, requests, service};
pub use bailiwick_history as history;
pub use bailiwick_platform as platform;
pub use bailiwick_policy as policy;
pub use bailiwick_providers as providers;

// The order of these lines is the layering: a module may use only the modules above it (`tests/it/architecture.rs`).
mod text_layout;
mod installation;
mod scope_setup;
mod past_requests;
mod approvals;
mod client_registrations;
mod public_urls;
mod tunnels;
mod client_settings;
mod autostart;
mod diagnosis;
pub mod adapters;
