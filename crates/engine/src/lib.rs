//! Operations, the registry that holds them, the service that runs them, and what is derived from them.
//!
//! The order of these lines is the layering: a module may use only the modules above it.
//! `tests/it/architecture.rs` holds every `crate::` path to it.

#![forbid(unsafe_code)]

// Unit tests make schemas out of types; the program carries the files.
#[cfg(not(test))]
extern crate bailiwick_schema as schemars;

pub mod registry;
pub mod changes;
pub mod programs;
pub mod operations;
pub mod requests;
pub mod service;
pub mod reference;
