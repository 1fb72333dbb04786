//! The grammars of tree-sitter, one for each language: tables and lexers in C, compiled once.
//!
//! A crate of its own, so that no change of Rust code compiles them again. It knows nothing of the product.

#![forbid(unsafe_code)]

pub use tree_sitter_bash::LANGUAGE as BASH;
pub use tree_sitter_c::LANGUAGE as C;
pub use tree_sitter_c_sharp::LANGUAGE as C_SHARP;
pub use tree_sitter_cpp::LANGUAGE as CPP;
pub use tree_sitter_css::LANGUAGE as CSS;
pub use tree_sitter_go::LANGUAGE as GO;
pub use tree_sitter_html::LANGUAGE as HTML;
pub use tree_sitter_java::LANGUAGE as JAVA;
pub use tree_sitter_javascript::LANGUAGE as JAVASCRIPT;
pub use tree_sitter_json::LANGUAGE as JSON;
pub use tree_sitter_kotlin_ng::LANGUAGE as KOTLIN;
pub use tree_sitter_php::LANGUAGE_PHP as PHP;
pub use tree_sitter_python::LANGUAGE as PYTHON;
pub use tree_sitter_ruby::LANGUAGE as RUBY;
pub use tree_sitter_rust::LANGUAGE as RUST;
pub use tree_sitter_swift::LANGUAGE as SWIFT;
pub use tree_sitter_toml_ng::LANGUAGE as TOML;
pub use tree_sitter_typescript::{LANGUAGE_TSX as TSX, LANGUAGE_TYPESCRIPT as TYPESCRIPT};
pub use tree_sitter_yaml::LANGUAGE as YAML;
