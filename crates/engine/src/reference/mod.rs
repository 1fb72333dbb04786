//! What is derived from the registry and the contract: JSON Schemas and reference pages.
//!
//! Nothing here is written by hand twice: `UPDATE=1 cargo test --test it reference` rewrites
//! `schemas/` and `docs/reference/`, and the same test holds them to the code. No I/O.

mod config_page;
mod error_page;
mod family_page;
mod fields;
mod index_page;
mod markdown;
mod openapi;
mod policy_page;
mod program_page;
mod schema;

mod documents;

pub use documents::{Document, documents};
pub use openapi::openapi;
pub use schema::{config_schema, envelope_schema, operation_schema, outcome_schema};
