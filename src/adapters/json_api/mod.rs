//! The JSON API: the envelope as it is, over HTTP.
//!
//! The listener's guard has found the caller and read the body before anything here runs.

mod query;
mod routes;

pub(super) use routes::Api;
pub use routes::ApiEndpoint;
