//! What is derived from the registry and the contract: JSON Schemas and reference pages.
//!
//! Nothing here is written by hand twice: `UPDATE=1 cargo test -p bailiwick-engine reference` rewrites `schemas/` and
//! `docs/reference/`, and the same test holds them to the code. No I/O but that.

#[cfg(test)]
mod documents;
mod openapi;
mod outcome;

pub use openapi::openapi;
pub use outcome::outcome_schema;
