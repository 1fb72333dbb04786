//! `schemars`, which the other crates know by that name: whole with the feature `derive`, else an empty derive.
//!
//! The schemas of all types are committed below `schemas/`, and the program carries those files instead of the code of some
//! 390 derives. Tests have the feature, and hold the files to the types.

#![forbid(unsafe_code)]

#[cfg(feature = "derive")]
pub use schemars::*;

#[cfg(not(feature = "derive"))]
mod none;
#[cfg(not(feature = "derive"))]
pub use none::JsonSchema;
