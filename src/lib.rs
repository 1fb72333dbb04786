//! Bailiwick lets an AI client work on a person's computer, inside the bounds that the person set.
//!
//! The order of these lines is the layering: a module may use only the modules above it.
//! `tests/it/architecture.rs` holds every `crate::` path to it. ARCHITECTURE.md is the map.

#![deny(unsafe_code)]
#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "tests make and look at files of their own"))]

pub mod contract;
pub mod platform;
pub mod config;
pub mod policy;
pub mod history;
pub mod providers;
pub mod registry;
pub mod operations;
pub mod service;
pub mod reference;
pub mod adapters;
