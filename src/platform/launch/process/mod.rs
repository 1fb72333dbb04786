//! What runs in the launcher process and below it: never in the service.
//!
//! One thread, no locks, no runtime. Errors go to the service as reports; nothing is printed.

mod child;
mod descendants;
mod kit;
mod pipeline;
mod prepare;
mod serve;
mod supervisor;

pub use serve::serve_if_asked;
