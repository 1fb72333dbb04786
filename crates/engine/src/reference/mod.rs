//! What is derived from the registry and the contract: JSON Schemas and reference pages.
//!
//! Nothing here is written by hand twice: `UPDATE=1 cargo test --test it reference` rewrites
//! `schemas/` and `docs/reference/`, and the same test holds them to the code. No I/O. All of it has the feature `schemas`,
//! but for what the program serves.

#[cfg(feature = "schemas")]
mod config_page;
#[cfg(feature = "schemas")]
mod documents;
#[cfg(feature = "schemas")]
mod error_page;
#[cfg(feature = "schemas")]
mod family_page;
#[cfg(feature = "schemas")]
mod fields;
#[cfg(feature = "schemas")]
mod index_page;
#[cfg(feature = "schemas")]
mod markdown;
mod openapi;
mod outcome;
#[cfg(feature = "schemas")]
mod policy_page;
#[cfg(feature = "schemas")]
mod program_page;
#[cfg(feature = "schemas")]
mod schema;

#[cfg(feature = "schemas")]
pub use documents::{Document, documents};
pub use openapi::openapi;
pub use outcome::outcome_schema;
#[cfg(feature = "schemas")]
pub use schema::{config_schema, envelope_schema, operation_schema};
