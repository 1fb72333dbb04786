//! Replaces schemars where no schema is made, and compares the files that it makes with those that are committed.
//!
//! The schemas of operations and of what commands print are committed below `schemas/`, and the program carries those files
//! instead of the code of some 300 derives. `engine` and the root package know this crate as `schemars`; only their own
//! unit tests know schemars by that name, and compare the files with the types.

#![forbid(unsafe_code)]

mod committed;

pub use bailiwick_schemaless::JsonSchema;
pub use committed::assert_committed;

/// A type whose schema is committed below `schemas/`; the compiler takes any.
pub trait JsonSchema {}

impl<T: ?Sized> JsonSchema for T {}
