//! The launcher with real processes: plans, limits, killing, and what is shut at each level.

mod bounds;
mod deaths;
mod door;
mod figures;
mod inner;
mod keeping;
mod killing;
mod lasting;
mod place;
mod plans;
mod probes;
mod terminal;
mod tools;
