//! `scope …`: the user changes what is open, and looks at it. No operation can change it; only these commands do.
//!
//! Every change is compiled as the service would before it is saved, and told as a diff of what is granted.

mod add;
mod args;
mod edit;
mod list;
mod remove;
mod report;
mod run;
mod show;

pub use args::ScopeCommand;
pub use report::{change, change_in, confirmed};
pub use run::run;
