//! The HTTP listener: MCP at `/mcp`, the JSON API at `/api/v1`, and `/healthz`.
//!
//! Every request passes, in this order: host, origin, token, content type, size and time of the body. Must
//! never serve a route other than `/healthz` and those of a login to somebody it does not know.

mod approval_form;
mod body;
mod client_steps;
mod connections;
mod cors;
mod guard;
mod host;
mod html;
mod listener;
mod login;
mod mcp_route;
mod origin;
mod plain;
mod reply;
mod router;
mod settings;
mod stream;
mod threads;
mod tls;

pub use approval_form::{ApprovalForm, FormEvent, FormHandle, FormQuestion};
pub use client_steps::{ClientStep, StepRecord, StepWatch};
pub use listener::{Server, serve};
pub use router::{Access, Endpoint, ROUTES, Reach, Route};
pub use settings::HttpSettings;
pub use threads::ConnectionThreads;
pub use tls::certificate_path;

pub(super) use reply::json;
