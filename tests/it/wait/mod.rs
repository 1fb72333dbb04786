//! `process.wait` against real processes, services and clients.

mod bounds;
mod conditions;
mod progress;
mod resume;
mod revoking;
mod stdio;
mod tasks;
