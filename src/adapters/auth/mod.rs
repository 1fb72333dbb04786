//! Who a caller is: bearer tokens, named profiles, and a bound on guessing.
//!
//! Must never hold, log or show a token; only hashes are known here.

mod bearer;
mod keys;
mod throttle;

pub use bearer::{Bearer, bearer};
pub use keys::KeyRing;
pub use throttle::Throttle;
