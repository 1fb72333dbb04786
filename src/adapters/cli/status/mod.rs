//! `status`: whether clients can work, and if not, exactly what to do next.
//!
//! Asks the running service, or one in this process; believes no note and no file about it. Changes nothing.

mod run;
mod text;

pub use run::run;
