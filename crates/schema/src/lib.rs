//! What stands for schemars where no schema is made, and what holds the files that it makes.
//!
//! The schemas of operations and of what commands print are committed below `schemas/`, and the program carries those files
//! instead of the code of some 300 derives. `engine` and the root package know this crate as `schemars`; only their own
//! unit tests know schemars by that name, and hold the files to the types.

#![forbid(unsafe_code)]

mod committed;

pub use bailiwick_schemaless::JsonSchema;
pub use committed::assert_committed;

/// A type whose schema is committed below `schemas/`; the compiler takes any.
pub trait JsonSchema {}

impl<T: ?Sized> JsonSchema for T {}
