//! What every operation names.

pub use bailiwick_contract::{
    Access, Capability, CommonOption, Effect, Failure, OperationSpec, ScopeNeed, ScopeType, TargetRule,
    Threads,
};
pub use bailiwick_policy::Permit;
pub use schemars::JsonSchema;
pub use serde::{Deserialize, Serialize};

pub use super::{Context, HandleUsage, JudgedFields, NoFields, Operation, RunAsync, RunBlocking, RunResult};
