//! What makes Git do only what it was asked: the settings and the variables of every call.
//!
//! What is set here is above whatever the repository and the user have in their configuration.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::fs::{Secrecy, create_private_file, read_own_file};
use bailiwick_platform::names::OsStringExt;
use bailiwick_platform::paths::{HAS_DRIVES, for_programs};
use bailiwick_platform::programs::NOTHING;

use super::parse::Fields;

/// The file that stands for nothing where no device does.
const NOTHING_FILE: &str = "nothing";
/// What every call is given before what the repository says.
const SETTINGS: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.pager", "cat"),
    ("core.editor", "false"),
    ("core.sshCommand", "false"),
    ("core.askPass", "false"),
    ("core.quotePath", "false"),
    ("core.commentChar", "#"),
    ("credential.helper", ""),
    ("protocol.allow", "never"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("log.showSignature", "false"),
    ("log.follow", "false"),
    ("log.mailmap", "false"),
    ("i18n.logOutputEncoding", "UTF-8"),
    ("i18n.commitEncoding", "UTF-8"),
    ("blame.ignoreRevsFile", ""),
    ("submodule.recurse", "false"),
    ("diff.ignoreSubmodules", "dirty"),
    ("diff.submodule", "short"),
    ("diff.noprefix", "false"),
    ("diff.mnemonicPrefix", "false"),
    ("diff.colorMoved", "no"),
    ("status.submoduleSummary", "false"),
    ("status.relativePaths", "false"),
    ("safe.bareRepository", "explicit"),
    ("color.ui", "false"),
    ("advice.detachedHead", "false"),
];
/// Events at which Git 2.54 and newer runs hooks that the configuration names. From 2.55 on they are switched off by
/// event; in 2.54 by the name that each hook has in the configuration, as filters are.
///
/// # Source
/// githooks(5); git-hook(1), "Configuration".
const HOOK_EVENTS: &[&str] = &[
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "p4-prepare-changelist",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
];
/// Settings that name a file, and name one with nothing in it: no folder of hooks is one either.
const NAMES_OF_NOTHING: &[&str] =
    &["core.hooksPath", "core.attributesFile", "core.excludesFile", "diff.orderFile"];
/// What is set beside that where paths have drives: no links are made, which `//server` could be the target of, and names
/// of files stay what they are.
const WHERE_DRIVES_ARE: &[(&str, &str)] = &[
    ("core.symlinks", "false"),
    ("core.protectNTFS", "true"),
    ("core.protectHFS", "true"),
    ("core.longPaths", "true"),
    ("core.fscache", "true"),
];
/// As [`NAMES_OF_NOTHING`], where paths have drives.
const NAMES_OF_NOTHING_WHERE_DRIVES_ARE: &[&str] = &["mailmap.file"];
/// The environment of every call, beside the places. Nothing else is in it.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("LC_ALL", "C"),
    ("LANG", "C"),
    ("TZ", "UTC"),
    ("TERM", "dumb"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", ""),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "false"),
    ("GIT_SSH_COMMAND", "false"),
    ("GIT_ASKPASS", "false"),
];

/// A file without content that nobody else can write: what Git is told in place of files that others name.
#[derive(Debug, Clone)]
pub(super) struct EmptyFile(OsString);

impl EmptyFile {
    /// Takes the system's own, or the file in Git's private folder, which is made, and looked at each time.
    pub(super) fn ready(home: &Path) -> Result<Self, Failure> {
        if let Some(device) = NOTHING {
            return Ok(Self(device.into()));
        }
        let path = home.join(NOTHING_FILE);
        let look = || read_own_file(&path, Secrecy::Secret, 0).map(|_| ());
        let ready = look().or_else(|_| {
            create_private_file(&path)?;
            look()
        });
        ready.map(|()| Self(for_programs(&path).into_os_string())).map_err(|error| {
            Failure::new(
                ErrorCode::ProviderUnavailable,
                format!("Git's own empty file is not as it must be: {error}"),
            )
            .hint("For the user: remove the folder `homes` in Bailiwick's state folder; it is made again.")
        })
    }

    /// Returns its name.
    pub(super) fn as_os_str(&self) -> &OsStr {
        &self.0
    }
}

/// Returns the settings of every call.
pub(super) fn settings(nothing: &EmptyFile) -> Vec<(OsString, OsString)> {
    let (more, names) =
        if HAS_DRIVES { (WHERE_DRIVES_ARE, NAMES_OF_NOTHING_WHERE_DRIVES_ARE) } else { Default::default() };
    let plain = SETTINGS.iter().chain(more).map(|(name, value)| ((*name).into(), (*value).into()));
    let of_nothing = NAMES_OF_NOTHING.iter().chain(names).map(|name| ((*name).into(), nothing.0.clone()));
    let hooks = HOOK_EVENTS.iter().map(|event| (format!("hook.{event}.enabled").into(), "false".into()));
    plain.chain(of_nothing).chain(hooks).collect()
}

/// Returns the variables of every call. Settings of the whole computer are seen only where drives are and
/// `of_the_person` is set: Git's installer asks the user about line ends, and writes the answer there.
pub(super) fn environment(nothing: &EmptyFile, of_the_person: bool) -> Vec<(OsString, OsString)> {
    let mut environment: Vec<(OsString, OsString)> =
        ENVIRONMENT.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    if !(HAS_DRIVES && of_the_person) {
        environment.push(("GIT_CONFIG_NOSYSTEM".into(), "1".into()));
        environment.push(("GIT_CONFIG_SYSTEM".into(), nothing.0.clone()));
    }
    environment
}

/// What a list of all settings says, as `git config --list -z --show-scope` prints it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ListedSettings {
    /// The names, NUL after each.
    pub(super) names: Vec<u8>,
    /// How text is stored, as settings for further calls, which do not see what the user has set.
    pub(super) line_ends: Vec<(OsString, OsString)>,
    /// Whether `git blame` would read a file that the repository names elsewhere, and tell of its content.
    pub(super) blame_leads_out: bool,
}

impl ListedSettings {
    /// Reads a list.
    pub(super) fn of(text: &[u8]) -> Self {
        let mut listed = Self::default();
        let (mut line_ends, mut kind) = (None, None);
        let mut fields = Fields::new(text);
        while let (Some(scope), Some(entry)) = (fields.next(), fields.next()) {
            let (name, value) = match memchr::memchr(b'\n', entry) {
                Some(end) => (&entry[..end], Some(&entry[end + 1..])),
                None => (entry, None),
            };
            listed.names.extend_from_slice(name);
            listed.names.push(0);
            let is_of_repository = matches!(scope, b"local" | b"worktree");
            match name {
                // The last one counts.
                b"core.autocrlf" => line_ends = conversion(value),
                b"core.eol" => kind = value.and_then(line_end),
                // Git reads all of these, and only then leaves out what it read.
                b"blame.ignorerevsfile" if is_of_repository => {
                    listed.blame_leads_out |= value.is_some_and(leads_out);
                }
                _ => {}
            }
        }
        listed.line_ends.extend(line_ends.map(|value| ("core.autocrlf".into(), value.into())));
        listed.line_ends.extend(kind.map(|value| ("core.eol".into(), value.into())));
        listed
    }
}

/// Returns whether the name of a file may lead out of the working tree.
fn leads_out(name: &[u8]) -> bool {
    let name = name.trim_ascii();
    name.starts_with(b"~")
        || name.starts_with(b"%")
        || name.contains(&b':')
        || name.first().is_some_and(|byte| matches!(byte, b'/' | b'\\'))
        || memchr::memmem::find(name, b"..").is_some()
}

/// Reads what `core.autocrlf` says; nothing but such a word is handed on.
fn conversion(value: Option<&[u8]>) -> Option<&'static str> {
    // Without a value, it is switched on.
    let Some(value) = value else { return Some("true") };
    match value.to_ascii_lowercase().as_slice() {
        b"true" | b"yes" | b"on" | b"1" => Some("true"),
        b"false" | b"no" | b"off" | b"0" | b"" => Some("false"),
        b"input" => Some("input"),
        _ => None,
    }
}

fn line_end(value: &[u8]) -> Option<&'static str> {
    match value.to_ascii_lowercase().as_slice() {
        b"lf" => Some("lf"),
        b"crlf" => Some("crlf"),
        b"native" => Some("native"),
        _ => None,
    }
}

/// Returns the settings that switch off drivers, as words of Git.
pub(super) fn as_words(settings: Vec<(Vec<u8>, &'static str)>) -> impl Iterator<Item = (OsString, OsString)> {
    settings.into_iter().map(|(name, value)| (OsString::from_vec(name), value.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_tells_names_and_how_lines_end_and_the_last_one_counts() {
        let listed = ListedSettings::of(
            b"system\0core.autocrlf\ntrue\0global\0core.eol\nCRLF\0global\0filter.a.clean\nx\ny\0local\0core.autocrlf\nInput\0",
        );
        assert_eq!(listed.names, b"core.autocrlf\0core.eol\0filter.a.clean\0core.autocrlf\0");
        let line_ends: Vec<_> = listed.line_ends.iter().map(|(a, b)| (a.to_str(), b.to_str())).collect();
        assert_eq!(line_ends, [(Some("core.autocrlf"), Some("input")), (Some("core.eol"), Some("crlf"))]);
        // Nothing but such words is handed on, and a name alone switches on.
        assert!(
            ListedSettings::of(b"local\0core.autocrlf\n!evil\0local\0core.eol\n//server/x\0")
                .line_ends
                .is_empty()
        );
        assert_eq!(ListedSettings::of(b"local\0core.autocrlf\0").line_ends[0].1, "true");
    }

    #[test]
    fn a_file_elsewhere_that_blame_would_read_is_noticed() {
        let of = |scope: &str, file: &str| {
            ListedSettings::of(format!("{scope}\0blame.ignorerevsfile\n{file}\0").as_bytes()).blame_leads_out
        };
        for file in [
            "//server/x",
            r"\\server\x",
            "/etc/passwd",
            "C:/x",
            "C:x",
            "~/x",
            "%(prefix)/x",
            "../x",
            r"a\..\..\x",
        ] {
            assert!(of("local", file) && of("worktree", file), "{file}");
            assert!(!of("command", file), "{file}");
        }
        for file in ["", ".git-blame-ignore-revs", "tools/ignored"] {
            assert!(!of("local", file), "{file}");
        }
    }

    #[test]
    fn what_stands_for_nothing_is_empty_and_stays_so() {
        let home = std::env::temp_dir().join(format!("bailiwick-{}", bailiwick_contract::id::new_id()));
        bailiwick_platform::fs::create_private_dir(&home).expect("a folder can be made");
        let nothing = EmptyFile::ready(&home).expect("it is made");
        if NOTHING.is_none() {
            let path = home.join(NOTHING_FILE);
            assert!(read_own_file(&path, Secrecy::Secret, 0).is_ok());
            assert!(EmptyFile::ready(&home).is_ok(), "it is there already");
            bailiwick_platform::fs::replace_private_file(&path, b"[core]").expect("it is ours");
            assert!(EmptyFile::ready(&home).is_err(), "it has content");
        }
        assert!(
            settings(&nothing)
                .iter()
                .any(|(name, value)| name == "core.hooksPath" && value == nothing.as_os_str())
        );
        let _ = bailiwick_platform::fs::remove_tree(&home);
    }
}
