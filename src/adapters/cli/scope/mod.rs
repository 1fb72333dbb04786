//! `scope …`: the user changes what is open, and looks at it. No operation can change it; only these commands do.
//!
//! Every change is compiled as the service would before it is saved, and told as a diff of what is granted.

mod add;
mod args;
mod edit;
mod grant;
mod list;
mod output;
mod remove;
mod report;
mod run;
mod show;

pub use args::ScopeCommand;
pub use grant::allow_hosts;
pub use list::{screen_words, states};
pub use output::{ScopeChangeOutput, ScopeListOutput, ScopeRemoveOutput, ScopeShowOutput};
pub use report::{change, change_in, confirmed, place_of, without_values};
pub use run::run;
pub use show::{Effective, effective};
