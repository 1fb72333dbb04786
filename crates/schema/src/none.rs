//! What stands for schemars where no schema is made.

pub use bailiwick_schemaless::JsonSchema;

/// A type whose schema is committed below `schemas/`; the compiler takes any.
pub trait JsonSchema {}

impl<T: ?Sized> JsonSchema for T {}
