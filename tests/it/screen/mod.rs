//! Displays, windows and pictures of them, on real X servers (`Xvfb`) with real windows.

mod capture;
mod display;
mod ground;
mod windows;
