//! The launcher with real processes: plans, limits, killing, and what is shut at each level.

mod place;
mod plans;
