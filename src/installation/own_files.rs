//! Files and folders that Bailiwick has made for itself, and removing them.
//!
//! Only files of names that Bailiwick gives are removed from the config's and the socket's folder; the state folder is removed
//! as a whole, if it has Bailiwick's history. Links are not followed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bailiwick_config::Config;
use bailiwick_contract::{ErrorCode, Failure};

use super::home::Home;
use super::text::one_line;

/// The names that Bailiwick gives to files beside the config.
const CONFIG_FILES: &[&str] =
    &["config.json", Config::SCHEMA_FILE, "tokens.json", "login-code.json", "login-key", ".lock"];
/// How names of files beside the socket begin.
const RUNTIME_FILES: &[&str] =
    &["bailiwick.sock", "bailiwick.lock", "service.json", "stdio-", "connect.jsonl", "tunnel.json"];
/// By which a state folder is known to be Bailiwick's.
const OF_STATE: &[&str] = &["history.db", "history.key", "history.lock", "history.anchor"];

/// Returns the files and folders of Bailiwick's own.
pub fn own_files(home: &Home) -> Vec<PathBuf> {
    let dirs = &home.dirs;
    let is_file = |path: &PathBuf| path.symlink_metadata().is_ok_and(|facts| !facts.is_dir());
    let mut all = Vec::new();
    // What is beside a config that `--config` names can be another one's.
    if home.config_is_named {
        all.push(home.config_path.clone());
    } else {
        all.extend(CONFIG_FILES.iter().map(|name| dirs.config.join(name)));
    }
    let entries = fs::read_dir(&dirs.runtime).into_iter().flatten().flatten();
    all.extend(entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        RUNTIME_FILES.iter().any(|front| name.starts_with(front))
    }));
    all.retain(is_file);
    let is_folder = dirs.state.symlink_metadata().is_ok_and(|facts| facts.is_dir());
    if is_folder && OF_STATE.iter().any(|name| dirs.state.join(name).is_file()) {
        all.retain(|path| !path.starts_with(&dirs.state));
        all.push(dirs.state.clone());
    }
    all
}

/// Removes a file or folder of Bailiwick's own.
///
/// # Errors
/// `execution_failed` when it cannot be removed.
pub fn remove(path: &Path) -> Result<(), Failure> {
    remove_all(path).map_err(|error| not_removed(path, &error))
}

fn remove_all(path: &Path) -> io::Result<()> {
    let removed =
        if path.symlink_metadata()?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn not_removed(path: &Path, error: &io::Error) -> Failure {
    Failure::new(
        ErrorCode::ExecutionFailed,
        format!("{} cannot be removed: {error}", one_line(&path.display().to_string())),
    )
    .hint("Close AI clients that use Bailiwick, and run it again.")
}

/// Removes the folders of config and socket; one that has anything else in it stays.
pub fn remove_empty_folders(home: &Home) {
    for folder in [&home.dirs.runtime, &home.dirs.config] {
        let _ = fs::remove_dir(folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_bailiwicks_names_are_its_own() {
        let folder =
            std::env::temp_dir().join(format!("bailiwick-uninstall-{}", bailiwick_contract::id::new_id()));
        let dirs = bailiwick_platform::dirs::Dirs::below(folder.clone());
        let home = Home::in_dirs(dirs.clone(), None).expect("a home");
        for of in [&dirs.config, &dirs.state, &dirs.runtime] {
            fs::create_dir_all(of).expect("made");
            fs::write(of.join("notes.txt"), "mine").expect("written");
        }
        assert_eq!(
            own_files(&home),
            Vec::<PathBuf>::new(),
            "a state folder without a history is not known to be Bailiwick's"
        );
        fs::write(dirs.config.join("tokens.json"), "[]").expect("written");
        fs::write(dirs.runtime.join("service.json"), "{}").expect("written");
        fs::write(dirs.state.join("history.db"), "").expect("written");
        let expected =
            [dirs.config.join("tokens.json"), dirs.runtime.join("service.json"), dirs.state.clone()];
        assert_eq!(own_files(&home), expected);
        let named = Home::in_dirs(dirs.clone(), Some(&dirs.config.join("other.json"))).expect("a home");
        assert_eq!(
            own_files(&named),
            Vec::<PathBuf>::new(),
            "what is beside a named config is another one's"
        );
        fs::remove_dir_all(folder).expect("removed");
    }
}
