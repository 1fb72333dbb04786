//! Every operation of this build: a folder a family, a file an operation.

pub mod computer;
pub mod file;
pub mod history;

use crate::registry::Family;

/// The families, in the order of the documents.
pub static FAMILIES: &[&Family] = &[&computer::FAMILY, &file::FAMILY, &history::FAMILY];
