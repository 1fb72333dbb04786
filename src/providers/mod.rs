//! Mechanism without opinion: how things are done, once the policy has said that they may be.

pub mod artifact;
pub mod code;
pub mod codex;
pub mod command;
pub mod digest;
pub mod edit;
pub mod file;
pub mod git;
pub mod orientation;
pub mod package;
pub mod process;
pub mod screen;
pub mod search;
pub mod secret_prompt;
pub mod snapshot;
pub mod syntax;
pub mod terminal;
pub mod versions;
pub mod wait;
