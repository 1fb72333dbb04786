//! What an operation is, and the table that holds them.
//!
//! An operation is a unit struct that implements [`Operation`]; [`Entry::of`] erases it into a row of
//! its family's table. The rows are the single source of schemas, documents, discovery and CLI flags.

mod context;
mod describe;
mod entry;
mod table;

pub use context::{Context, ServiceFacts};
pub use describe::{describe_family, describe_operation, describe_target, type_name};
pub use entry::{Entry, NoFields, Operation, Schemas, no_command, no_paths};
pub use table::{Family, Registry};
