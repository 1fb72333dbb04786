//! What runs in the launcher process and below it: never in the service.
//!
//! One thread, no locks, no runtime. Errors go to the service as reports; nothing is printed.

mod answers;
mod child;
mod descendants;
mod filter;
mod keeper;
mod kit;
mod namespaces;
mod pipeline;
mod prepare;
mod probe;
mod rules;
mod serve;
mod supervisor;
mod tree;
mod waiting;

pub(super) use probe::probe;
pub use serve::serve_if_asked;
