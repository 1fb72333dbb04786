//! Edits that land, or say exactly why not: a corpus of real changes, random patches, many callers, kills.

mod callers;
mod corpus;
mod fuzz;
mod merges;
mod sources;
mod syntax;
mod variants;
