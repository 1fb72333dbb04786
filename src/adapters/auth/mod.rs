//! Who a caller is: bearer tokens, named profiles, and a bound on guessing.
//!
//! Must never hold, log or show a token; only hashes are known here.

mod bearer;
mod refusals;
mod throttle;

pub use bailiwick_config::KeyRing;
pub use bearer::{Bearer, bearer};
pub use refusals::Refusals;
pub use throttle::Throttle;
