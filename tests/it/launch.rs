//! The launcher with real processes: plans, limits, killing, and what is shut at each level.

#[cfg(not(feature = "portable-launch"))]
mod bounds;
mod deaths;
mod door;
#[cfg(not(feature = "portable-launch"))]
mod figures;
#[cfg(not(feature = "portable-launch"))]
mod inner;
mod keeping;
mod killing;
mod lasting;
#[cfg(not(feature = "portable-launch"))]
mod memory;
#[cfg(not(feature = "portable-launch"))]
mod own_socket;
mod place;
mod plans;
// The abstract sockets and namespaces of Linux.
#[cfg(all(target_os = "linux", not(feature = "portable-launch")))]
mod probes;
mod stress;
mod terminal;
#[cfg(not(feature = "portable-launch"))]
mod tools;
