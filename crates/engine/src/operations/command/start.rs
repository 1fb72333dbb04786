//! `command.start`: another name of `process.start`.

use crate::operations::process::StartOp;
use crate::registry::{Entry, Operation};
use bailiwick_contract::OperationSpec;

const SPEC: OperationSpec = OperationSpec {
    name: "command.start",
    summary: "Start a program that keeps running after the call (another name of process.start)",
    example: r#"{"op":"command.start","input":{"command":["npm","run","dev"],"label":"dev server"}}"#,
    ..StartOp::SPEC
};

/// Returns the row.
pub const fn row() -> Entry {
    Entry::alias::<StartOp>(const { &SPEC })
}
