//! The programs that a repository's configuration names, so that each can be switched off by its name.

use std::io::Read;

use crate::platform::fs::{DoorError, RelPath};

use super::Repository;

/// The largest configuration that is looked through here; Git itself is asked about a larger one.
const MAX_CONFIG_BYTES: u64 = 262_144;
/// A configuration without any of these words names no driver. Names of sections and keys cannot be written in
/// any other way than by their letters.
const WORDS: &[&[u8]] = &[b"filter", b"include", b"worktreeconfig"];

/// Tells whether a configuration could name drivers, so that Git has to be asked which.
pub(super) fn may_name_drivers(repository: &Repository) -> bool {
    let folders = [repository.own(), repository.common()];
    folders.into_iter().any(|folder| {
        let Ok(folder) = folder else { return true };
        ["config", "config.worktree"].iter().any(|name| {
            let path = RelPath::parse(name.as_bytes()).unwrap_or_default();
            let mut text = Vec::new();
            match folder.open_file(&path) {
                Err(DoorError::NotFound) => false,
                Err(_) => true,
                Ok(opened) if opened.stat.size > MAX_CONFIG_BYTES => true,
                Ok(opened) => {
                    opened.file.take(MAX_CONFIG_BYTES).read_to_end(&mut text).is_err() || has_words(&text)
                }
            }
        })
    })
}

fn has_words(text: &[u8]) -> bool {
    let text = text.to_ascii_lowercase();
    WORDS.iter().any(|word| memchr::memmem::find(&text, word).is_some())
}

/// Gives the settings that switch off every driver among names of settings that Git listed, NUL after each.
pub(super) fn without_drivers(names: &[u8]) -> Vec<(Vec<u8>, &'static str)> {
    let mut settings = Vec::new();
    for name in names.split(|byte| *byte == 0) {
        // `filter.NAME.KEY`; a NAME can hold dots.
        let Some(rest) = name.strip_prefix(b"filter.") else { continue };
        let Some(dot) = memchr::memrchr(b'.', rest) else { continue };
        let driver = &rest[..dot];
        for (key, value) in [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")] {
            let setting = [b"filter.", driver, b".", key.as_bytes()].concat();
            if !settings.iter().any(|(known, _)| *known == setting) {
                settings.push((setting, value));
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
        let off = without_drivers(b"core.bare\0filter.a.b=c.clean\0filter.lfs.required\0filter.lfs.smudge\0");
        let names: Vec<String> =
            off.iter().map(|(name, _)| String::from_utf8_lossy(name).into_owned()).collect();
        assert_eq!(names.len(), 8, "{names:?}");
        for name in ["filter.a.b=c.clean", "filter.a.b=c.process", "filter.lfs.clean", "filter.lfs.required"]
        {
            assert!(names.iter().any(|it| it == name), "{name} in {names:?}");
        }
    }

    #[test]
    fn a_word_is_found_in_any_case_and_an_ordinary_configuration_has_none() {
        assert!(has_words(b"[FILTER \"x\"]\nclean = y\n"));
        assert!(has_words(b"[includeIf \"gitdir:/\"]\npath=x\n"));
        assert!(!has_words(b"[core]\n\tbare = false\n[branch \"main\"]\n\tmerge = refs/heads/main\n"));
    }
}
