//! The generated files of the repository: the schemas of what clients send and get, and the pages of the reference.

mod config_page;
mod error_page;
mod family_page;
mod fields;
mod files;
mod index_page;
mod markdown;
mod policy_page;
mod program_page;
mod schema;
