//! Mechanism without opinion: how things are done, once the policy has said that they may be.

#![forbid(unsafe_code)]
#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "tests make and look at files of their own"))]

pub mod approval;
pub mod artifact;
pub mod code;
pub mod codex;
pub mod command;
pub mod coverage;
pub mod digest;
pub mod display;
pub mod document;
pub mod edit;
pub mod egress;
pub mod elements;
pub mod file;
pub mod git;
pub mod grounding;
pub mod handlers;
pub mod http_client;
pub mod orientation;
pub mod overlay;
pub mod package;
pub mod parser;
pub mod process;
pub mod repositories;
pub mod screen;
pub mod search;
pub mod secret_prompt;
pub mod snapshot;
pub mod syntax;
pub mod terminal;
mod threads;
pub mod tray;
pub mod untrusted_reads;
pub mod versions;
pub mod wait;
