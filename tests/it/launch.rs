//! The launcher with real processes: plans, limits, killing, and what is shut at each level.

mod bounds;
mod killing;
mod place;
mod plans;
mod probes;
mod tools;
