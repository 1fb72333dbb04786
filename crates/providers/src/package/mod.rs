//! Scripts that a project defines: which there are, and which command runs each.
//!
//! Reads manifests through permitted paths, within bounds. Starts nothing, and judges nothing.

mod cargo;
mod just;
mod make;
mod manifest;
mod node;
mod python;
mod script;

pub use script::{Arguments, Script, Scripts, find_scripts};
