//! What helps somebody who sees a project for the first time: what it is written in, where it begins, how it is
//! built, what it shows its readers, what is worked on.
//!
//! Reads within bounds, by permitted paths, and runs nothing of the project's. What files say is given as their
//! words: nothing here acts on it. What cannot be read is a note, not the end of it.
//!
//! ```text
//! survey        what a walk finds: languages, folders, and where manifests and beginnings are
//! surveys       what walks have found, kept and brought up to date
//! manifests     what each manifest says of its package
//! commands      how to build, test, lint and run: scripts, conventions, what CI runs
//! build_tools   commands of tools whose files name no scripts
//! readme        what the project says it is
//! instructions  what it tells agents, from the scope's folder down to the target
//! skills        what it teaches them to do
//! hot_files     what the last commits changed most
//! share         dividing a budget among parts
//! ```

mod build_tools;
mod ci;
mod commands;
mod entry_points;
mod excerpt;
mod hot_files;
mod instructions;
mod languages;
mod manifest_formats;
mod manifests;
mod readme;
mod share;
mod skills;
mod source;
mod survey;
mod surveys;

pub use commands::{Command, Purpose, find_commands};
pub use entry_points::{EntryPoint, entry_points};
pub use hot_files::{HotFile, HotFiles, hot_files};
pub use instructions::{InstructionFile, Instructions, find_instructions};
pub use manifests::{Manifest, Manifests, read_manifests};
pub use readme::{Readme, find_readme};
pub use share::{Portion, share};
pub use skills::{Skill, find_skills};
pub use survey::{Folder, LanguageShare, Survey};
pub use surveys::Surveys;
