//! Every operation of this build: a folder a family, a file an operation.

pub mod app;
pub mod batch;
pub mod clipboard;
pub mod code;
pub mod codex;
pub mod command;
pub mod computer;
pub mod dialog;
pub mod display;
pub mod file;
pub mod git;
pub mod history;
pub mod input;
pub mod menu;
pub mod notify;
pub mod package;
pub mod permissions;
pub mod process;
pub mod screen;
pub mod system;
pub mod tray;
pub mod ui;
pub mod window;
pub mod workspace;

use crate::registry::Family;

/// The families, in the order of the documents.
pub static FAMILIES: &[&Family] = &[
    &computer::FAMILY,
    &file::FAMILY,
    &code::FAMILY,
    &git::FAMILY,
    &package::FAMILY,
    &command::FAMILY,
    &process::FAMILY,
    &screen::FAMILY,
    &ui::FAMILY,
    &input::FAMILY,
    &menu::FAMILY,
    &dialog::FAMILY,
    &tray::FAMILY,
    &window::FAMILY,
    &workspace::FAMILY,
    &clipboard::FAMILY,
    &display::FAMILY,
    &app::FAMILY,
    &notify::FAMILY,
    &system::FAMILY,
    &permissions::FAMILY,
    &codex::FAMILY,
    &batch::FAMILY,
    &history::FAMILY,
];
