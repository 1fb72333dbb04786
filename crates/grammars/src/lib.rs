//! The grammars of tree-sitter, one for each language: lexers in C, and tables that the program carries deflated.
//!
//! A crate of its own, so that no change of Rust code compiles them again. It knows nothing of the product.

#![deny(unsafe_code)]

mod tables;

pub use tables::*;
