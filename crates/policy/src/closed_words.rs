//! Words of a command that name a closed file.
//!
//! A guard, so that `cat .env` is refused as `file.read` of it is: a program can read a file that no word names.

use bailiwick_contract::{Access, Failure};
use bailiwick_platform::fs::RelPath;
use bailiwick_platform::paths;

use super::command::PermittedCommand;
use super::located_path::LocatedPath;

/// Refuses a command that names a closed file: one that is there, or one in a commit.
///
/// # Errors
/// `permission_denied` by the rule that closes the file.
pub(super) fn check(command: &PermittedCommand, folder: &LocatedPath) -> Result<(), Failure> {
    for argv in command.commands() {
        let Some((program, words)) = argv.split_first() else { continue };
        for word in words {
            check_word(program, word, folder)?;
        }
    }
    Ok(())
}

fn check_word(program: &str, word: &str, folder: &LocatedPath) -> Result<(), Failure> {
    // `--file=x`, `if=x`, `@x` as curl has it, and `REVISION:x` as Git has it.
    let value = word.rsplit_once('=').map(|(_, value)| value);
    let parts = [Some(word), value].into_iter().flatten().filter(|part| !part.starts_with('-'));
    for part in parts {
        if let Some((_, file)) = part.split_once(':')
            && program.ends_with("git")
            && let Some(closed) = closed(file, folder)
        {
            return Err(failure(&closed));
        }
        if let Some(closed) = closed(part.trim_start_matches('@'), folder)
            && is_there(&closed.0)
        {
            return Err(failure(&closed));
        }
    }
    Ok(())
}

/// Returns the path that a word names, and the rule that closes it for reading.
fn closed(word: &str, folder: &LocatedPath) -> Option<(LocatedPath, &'static str)> {
    let rel = if paths::is_absolute(word) {
        RelPath::root().join(paths::beneath(&folder.root.path, word)?.as_bytes()).ok()?
    } else {
        folder.rel.join(word.as_bytes()).ok()?
    };
    let rule = folder.rules.rule_for_path(&rel, Access::Read)?;
    Some((LocatedPath { rel, ..folder.clone() }, rule))
}

fn is_there(path: &LocatedPath) -> bool {
    path.root.folder().is_ok_and(|folder| folder.stat(&path.rel).is_ok())
}

fn failure((path, rule): &(LocatedPath, &'static str)) -> Failure {
    path.closed(rule)
}
