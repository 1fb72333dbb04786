//! The words of Bailiwick: envelope, outcome, error codes, capabilities, operation specs.
//!
//! Everything here is a value. This module performs no I/O and knows no other module of the crate.

#![forbid(unsafe_code)]

pub mod caller;
pub mod cancel;
pub mod capability;
pub mod command;
pub mod effect;
pub mod envelope;
pub mod environment;
pub mod error;
mod expected;
pub mod fields;
pub mod hex;
pub mod id;
pub mod json;
pub mod limits;
pub mod one_or_many;
pub mod origin;
pub mod outcome;
pub mod path;
pub mod signal;
pub mod progress;
pub mod secret;
pub mod spec;
mod stage;
pub mod time;

pub use caller::{Caller, CapabilityGrant, ScopeGrant, Transport};
pub use cancel::Cancel;
pub use capability::Capability;
pub use command::{
    CommandInput, CommandPlan, Containment, Joiner, Network, Pipeline, Redirect, SimpleCommand,
};
pub use effect::Effect;
pub use envelope::Envelope;
pub use error::{ErrorCode, FOR_USER, Failure, SCOPE, in_scope};
pub use hex::hex;
pub use json::Json;
pub use limits::{CommonOption, CommonOptions, Detail, Limits};
pub use one_or_many::OneOrMany;
pub use origin::ContentOrigin;
pub use outcome::{Image, Outcome, Reply, is_success};
pub use path::RawPath;
pub use progress::Progress;
pub use secret::Secret;
pub use spec::{Access, OperationSpec, ScopeNeed, ScopeType, TargetRule, Threads};
pub use stage::StageName;
