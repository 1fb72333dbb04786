//! What an operation is, and the table that holds them.
//!
//! An operation is a unit struct that implements [`Operation`]; [`RunBlocking`] or
//! [`RunAsync`] says on which threads it runs, and [`Entry`] is what it becomes: a row of its family's table. The rows are the single source of schemas, documents, discovery and CLI flags.

mod context;
#[cfg(test)]
mod derived;
mod describe;
mod entry;
mod packed;
pub mod prelude;
mod signature;
mod table;

pub use context::{Context, Providers, Request, ServiceFacts, Submit};
pub use describe::{describe_operation, describe_shortly, describe_target, type_name};
pub use entry::{
    Attempt, ConditionalNeeds, Entry, HandleField, HandleUsage, JudgedFields, JudgedKind, NoFields,
    Operation, OperationFuture, Preview, PreviewResult, RunAsync, RunBlocking, RunForm, RunResult, Schemas,
};
#[cfg(test)]
pub(crate) use packed::rebase;
pub use packed::{packed_request, packed_schemas};
pub use signature::{SIGNATURE_LEGEND, SignatureLength, grouped, signature};
pub use table::{Family, Registry};
