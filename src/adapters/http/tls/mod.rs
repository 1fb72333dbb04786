//! TLS of the listener: its certificate, given or made here, and how a connection begins with it.
//!
//! The cryptography is ring, which needs a C compiler to build and nothing to run. Sessions are not resumed, and nothing of
//! a connection is kept when it ends.

mod certificate;
mod handshake;

pub use certificate::certificate_path;
pub(super) use handshake::Tls;
