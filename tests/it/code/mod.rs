//! `code.*` against real projects: overviews, what source files define, and the index of it.

// Its projects are repositories that the real Git makes.
#[cfg(target_os = "linux")]
mod context;
mod corpus;
mod index;
// Its projects are repositories that the real Git makes.
#[cfg(target_os = "linux")]
mod layouts;
// Its projects are made as those are.
#[cfg(target_os = "linux")]
mod public;
// Python is asked for the same.
#[cfg(target_os = "linux")]
mod python;
