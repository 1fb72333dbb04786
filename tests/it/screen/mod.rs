//! Displays, windows and pictures of them, on real X servers (`Xvfb`) with real windows.

mod artifacts;
mod capture;
mod desk;
mod display;
pub(crate) mod ground;
mod operations;
mod policy;
mod windows;
