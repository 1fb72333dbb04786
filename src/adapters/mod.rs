//! Adapters: authenticate, parse, render. They have no opinion; every way in ends in
//! `Service::handle`.

pub mod auth;
pub mod backend;
mod chain;
pub mod cli;
mod digest_text;
pub mod http;
pub mod json_api;
mod lines;
pub mod mcp;
mod not_served;
mod own_backend;
mod public_service;
pub mod socket;

pub use crate::scope_setup::offer::Offer;
