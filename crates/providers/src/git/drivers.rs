//! The programs that a repository's configuration names, so that each can be switched off by its name.

use std::io::Read;

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::fs::{FileError, RelPath};
use bailiwick_platform::paths::HAS_DRIVES;

use super::Repository;

/// The largest configuration that is looked through here; Git itself is asked about a larger one.
const MAX_CONFIG_BYTES: u64 = 262_144;
/// A configuration without any of these words names no driver. Names of sections and keys cannot be written in
/// any other way than by their letters.
const WORDS: &[&[u8]] = &[b"filter", b"hook", b"include", b"worktreeconfig"];

/// How a section begins by which a configuration reads another file. It cannot be written in any other way.
const INCLUDE: &[u8] = b"[include";

/// Returns whether a configuration could name drivers, so that Git has to be asked which.
///
/// # Errors
/// `path_out_of_scope` where paths can lead to another computer and the configuration may include a file from there.
pub(super) fn may_name_drivers(repository: &Repository) -> Result<bool, Failure> {
    let mut found = false;
    for folder in [repository.own(), repository.common()] {
        let Ok(folder) = folder else { return unread() };
        for name in ["config", "config.worktree"] {
            let path = RelPath::parse(name.as_bytes()).unwrap_or_default();
            let mut text = Vec::new();
            match folder.open_file(&path) {
                Err(FileError::NotFound) => {}
                Ok(opened) if opened.stat.size <= MAX_CONFIG_BYTES => {
                    if opened.file.take(MAX_CONFIG_BYTES).read_to_end(&mut text).is_err() {
                        return unread();
                    }
                    if HAS_DRIVES && has(&text, INCLUDE) {
                        return Err(not_opened("its configuration includes another file"));
                    }
                    found |= WORDS.iter().any(|word| has(&text, word));
                }
                Ok(_) | Err(_) => return unread(),
            }
        }
    }
    Ok(found)
}

/// Says that a configuration was not looked through here. Git is asked what is in it, unless asking could be too much.
fn unread() -> Result<bool, Failure> {
    if HAS_DRIVES { Err(not_opened("its configuration cannot be looked through")) } else { Ok(true) }
}

fn not_opened(why: &str) -> Failure {
    Failure::new(ErrorCode::PathOutOfScope, format!("the repository is not opened: {why}"))
        .detail("rule", "repository")
        .hint("For the user: write into `.git/config` itself what it includes: a file to include can be on another computer, which Git would ask.")
}

fn has(text: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(&text.to_ascii_lowercase(), word).is_some()
}

/// Returns the settings that switch off every driver among names of settings that Git listed, NUL after each.
pub(super) fn without_drivers(names: &[u8]) -> Vec<(Vec<u8>, &'static str)> {
    let mut settings = Vec::new();
    for name in names.split(|byte| *byte == 0) {
        // `filter.NAME.KEY` and `hook.NAME.KEY`; a NAME can hold dots.
        let (section, rest, keys): (&[u8], _, &[_]) =
            match (name.strip_prefix(b"filter."), name.strip_prefix(b"hook.")) {
                (Some(rest), _) => (
                    b"filter.",
                    rest,
                    &[("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")],
                ),
                (None, Some(rest)) => (b"hook.", rest, &[("enabled", "false")]),
                (None, None) => continue,
            };
        let Some(dot) = memchr::memrchr(b'.', rest) else { continue };
        let driver = &rest[..dot];
        for (key, value) in keys {
            let setting = [section, driver, b".", key.as_bytes()].concat();
            if !settings.iter().any(|(known, _)| *known == setting) {
                settings.push((setting, *value));
            }
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_is_switched_off_whatever_its_name() {
        let off = without_drivers(
            b"core.bare\0filter.a.b=c.clean\0filter.lfs.required\0filter.lfs.smudge\0hook.A.x.command\0hook.A.x.event\0",
        );
        let names: Vec<String> =
            off.iter().map(|(name, _)| String::from_utf8_lossy(name).into_owned()).collect();
        assert_eq!(names.len(), 9, "{names:?}");
        for name in [
            "filter.a.b=c.clean",
            "filter.a.b=c.process",
            "filter.lfs.clean",
            "filter.lfs.required",
            "hook.A.x.enabled",
        ] {
            assert!(names.iter().any(|it| it == name), "{name} in {names:?}");
        }
    }

    #[test]
    fn a_word_is_found_in_any_case_and_an_ordinary_configuration_has_none() {
        let has_words = |text: &[u8]| WORDS.iter().any(|word| has(text, word));
        assert!(has_words(b"[FILTER \"x\"]\nclean = y\n"));
        assert!(has_words(b"[includeIf \"gitdir:/\"]\npath=x\n"));
        assert!(!has_words(b"[core]\n\tbare = false\n[branch \"main\"]\n\tmerge = refs/heads/main\n"));
        for included in
            ["[include]\npath=x\n", "[core] [IncludeIf \"gitdir/i:C:/\"] path=x", "\u{feff}[Include] path=x"]
        {
            assert!(has(included.as_bytes(), INCLUDE), "{included}");
        }
        assert!(!has(b"[branch \"include\"]\nmerge = refs/heads/include\n", INCLUDE));
    }
}
