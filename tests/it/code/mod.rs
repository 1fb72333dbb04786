//! `code.*` against real projects: overviews, what source files define, and the index of it.

mod context;
mod definitions;
mod index;
mod python;
