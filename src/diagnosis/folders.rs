//! Bailiwick's own folders: who can enter them, whether there is room, what a crash left.

use std::env;
use std::fs;
use std::io;
use std::path::Path;

use bailiwick_platform::fs::modes::HAS_BITS;
use bailiwick_platform::fs::{OtherUsers, Protection, Volume, half_written_files};
use bailiwick_platform::paths;
use bailiwick_providers::file::places_left;

use super::finding::Findings;
use super::repair::Repair;
use crate::installation::home::Home;
use crate::installation::text::one_line;

/// Below this much room on the disk of the state folder, things begin to fail.
const LEAST_BYTES: u64 = 64 << 20;
/// Below this much it is said.
const FEW_BYTES: u64 = 512 << 20;
/// How many places are named of those with something left.
const SHOWN_PLACES: usize = 5;

/// Looks at the folders.
pub fn look(home: &Home, found: &mut Findings) {
    found.group("Folders");
    let folders =
        [("config", &home.dirs.config), ("state", &home.dirs.state), ("runtime", &home.dirs.runtime)];
    let mut in_order = true;
    for (name, folder) in folders {
        in_order &= private(name, folder, found);
        in_order &= content(folder, found);
    }
    if in_order {
        found.ok(
            "folders",
            format!("config, state and socket are yours alone ({})", home.dirs.config.display()),
        );
    }
    unfinished(&home.dirs.state, found);
    room(&home.dirs.state, found);
    temporary(found);
}

/// Returns whether a folder is this user's alone.
fn private(name: &'static str, folder: &Path, found: &mut Findings) -> bool {
    let shown = folder.display();
    let unreadable = |error: &io::Error, found: &mut Findings| {
        let why = format!("{shown}: {error}");
        found.fail("folder", why, "Check the owner and permissions of the folders above it.");
        false
    };
    let facts = match fs::metadata(folder) {
        Ok(facts) => facts,
        // It is made when it is needed.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return true,
        Err(error) => return unreadable(&error, found),
    };
    if !facts.is_dir() {
        found.fail(
            "folder",
            format!("{shown} is a file; the {name} folder must be there"),
            "Move the file away.",
        );
        return false;
    }
    let protection = match Protection::of(folder) {
        Ok(protection) => protection,
        Err(error) => return unreadable(&error, found),
    };
    if !protection.is_ours() {
        let take = if HAS_BITS {
            format!("Run `chown -R \"$USER\" {shown}` as root")
        } else {
            format!("Run `takeown /F \"{shown}\" /R` as an administrator")
        };
        found.fail(
            "folder-owner",
            format!("{shown} belongs to another user"),
            format!("{take}, or set BAILIWICK_HOME to a folder of your own."),
        );
        return false;
    }
    if protection.others() != OtherUsers::Nothing {
        let path = paths::real(folder).unwrap_or_else(|_| folder.to_owned());
        found
            .fail(
                "folder-mode",
                format!("other users can enter {shown} ({protection})"),
                format!("Run `{}`.", Protection::narrowing_command(folder, true)),
            )
            .repaired_by(Repair::Narrow { path, from: protection, is_folder: true });
        return false;
    }
    if !Volume::may_write(folder) {
        found.fail(
            "folder-write",
            format!("{shown} cannot be written"),
            "Check its permissions, and whether the disk is read-only.",
        );
        return false;
    }
    true
}

/// Looks at what is in a folder: modes, and files that were left in the works.
fn content(folder: &Path, found: &mut Findings) -> bool {
    let mut in_order = true;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let Ok(facts) = entry.metadata() else { continue };
        // The config may be read by others; its own check says who may change it.
        let may_be_read = ["config.json", "config.schema.json"].contains(&name.as_str());
        // These come and go with anyone who reads the store, and have its mode.
        if name.starts_with("history.db-") {
            continue;
        }
        let protection =
            if may_be_read || name == "tokens.json" { None } else { Protection::of_name(&path).ok() };
        if let Some(from) = protection.filter(|it| it.others() != OtherUsers::Nothing) {
            in_order = false;
            let is_folder = facts.is_dir();
            found
                .warn(
                    "file-mode",
                    format!("{} is not yours alone ({from})", path.display()),
                    format!("Run `{}`.", Protection::narrowing_command(&path, is_folder)),
                )
                .repaired_by(Repair::Narrow { path: path.clone(), from, is_folder });
        }
    }
    for path in half_written_files(folder) {
        in_order = false;
        found
            .warn(
                "file-left",
                format!("{} was left by a killed process", path.display()),
                "Remove it; the next service that starts does so, too.",
            )
            .repaired_by(Repair::Remove { path });
    }
    in_order
}

/// Names what operations were making when their process was killed.
fn unfinished(state: &Path, found: &mut Findings) {
    let left = places_left(state);
    if left.is_empty() {
        return;
    }
    let count = left.len();
    let mut shown: Vec<String> =
        left.into_iter().take(SHOWN_PLACES).map(|place| format!("`{}`", one_line(&place))).collect();
    if count > shown.len() {
        shown.push(format!("{} more", count - shown.len()));
    }
    found.warn(
        "unfinished",
        format!("a killed process left parts of a copy or removal beside: {}", shown.join(", ")),
        "Nothing has to be done: the next change in that folder removes them.",
    );
}

fn room(state: &Path, found: &mut Findings) {
    let there = state.ancestors().find(|folder| folder.exists()).unwrap_or(state);
    let Ok(volume) = Volume::of(there) else { return };
    let (shown, free_mib) = (there.display(), volume.free_bytes >> 20);
    if volume.read_only {
        found.fail(
            "disk",
            format!("the disk of {shown} is read-only"),
            "Set BAILIWICK_HOME to a folder on another disk.",
        );
    } else if volume.free_bytes < LEAST_BYTES {
        found.fail(
            "disk",
            format!("{free_mib} MiB are free on the disk of {shown}: changes are refused when the history cannot be written"),
            "Make room on that disk.",
        );
    } else if volume.free_bytes < FEW_BYTES {
        found.warn(
            "disk",
            format!("only {free_mib} MiB are free on the disk of {shown}"),
            "Make room on that disk.",
        );
    } else {
        found.ok("disk", format!("{free_mib} MiB are free for the history"));
    }
}

/// Programs that clients run write to the temporary folder, and some run what they wrote.
fn temporary(found: &mut Findings) {
    let folder = env::temp_dir();
    let shown = folder.display();
    match Volume::of(&folder) {
        Err(error) => {
            found.fail(
                "temporary",
                format!("the temporary folder {shown}: {error}"),
                "Set TMPDIR to a folder of your own.",
            );
        }
        Ok(_) if !Volume::may_write(&folder) => {
            found.fail(
                "temporary",
                format!("the temporary folder {shown} cannot be written"),
                "Set TMPDIR to a folder of your own.",
            );
        }
        Ok(volume) if volume.no_exec => {
            found.warn(
                "temporary",
                format!(
                    "nothing can be executed in the temporary folder {shown} (noexec): some builds fail there"
                ),
                "Set TMPDIR to a folder on another disk.",
            );
        }
        Ok(_) => found.ok("temporary", format!("the temporary folder {shown} can be used")),
    }
}
