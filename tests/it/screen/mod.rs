//! Displays, windows and pictures of them, on real X servers (`Xvfb`) with real windows.

mod apps;
mod artifacts;
mod banner;
mod capture;
mod clipboard;
mod control;
mod devices;
mod scope;
mod dialogs;
mod display;
mod element_actions;
mod elements;
pub mod file_dialogs;
mod ground;
mod input;
mod jobs;
mod ocr;
mod operations;
mod pasting;
mod policy;
pub mod private;
mod record;
mod stress;
mod toolkits;
mod tray;
mod windows;
mod workspaces;
