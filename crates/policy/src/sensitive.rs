//! How names are compared with the one list of sensitive files ([`super::SENSITIVE`]): for read, search, find, list and
//! copy alike.
//!
//! Names are folded before they are compared: case, and characters that some file systems ignore,
//! make no difference, on any platform.

use std::borrow::Cow;
use std::sync::LazyLock;

use bailiwick_contract::Access;
use bailiwick_platform::fs::RelPath;
use bailiwick_platform::names::OsStrExt;

use super::program_settings::PROGRAM_SETTINGS;
use super::sensitive_copies::originals;
use super::sensitive_rows::{GIT_SETTINGS, INSTALLED, SENSITIVE, SHARED};

/// How a row's text is compared with one folded name of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The whole name.
    Name(&'static str),
    /// The beginning of the name.
    Start(&'static str),
    /// The end of the name.
    End(&'static str),
    /// Beginning and end.
    Both(&'static str, &'static str),
    /// The name, inside a folder of the given name.
    In(&'static str, &'static str),
    /// Beginning and end, anywhere inside a folder whose name begins with a dot.
    InDot(&'static str, &'static str),
    /// The beginning of the name, anywhere inside `.git` or a folder that ends so.
    InGit(&'static str),
}

/// One row: which names are closed, and why.
#[derive(Debug, Clone, Copy)]
pub struct SensitiveRow {
    form: Form,
    /// What such files hold; the rule that a denial names.
    pub rule: &'static str,
    /// Names that match and must be closed, for the test of the row.
    pub samples: &'static [&'static str],
}

pub(super) const fn row(form: Form, rule: &'static str, samples: &'static [&'static str]) -> SensitiveRow {
    SensitiveRow { form, rule, samples }
}

impl SensitiveRow {
    /// Shows which names the row closes, as a glob.
    pub fn pattern(&self) -> String {
        self.form.pattern()
    }
}

/// Shows the names that are open although a row matches them, as globs.
pub fn shared_patterns() -> Vec<String> {
    SHARED.iter().map(|form| form.pattern()).collect()
}

impl Form {
    fn pattern(self) -> String {
        match self {
            Self::Name(text) => text.to_owned(),
            Self::Start(text) => format!("{text}*"),
            Self::End(text) => format!("*{text}"),
            Self::Both(start, end) => format!("{start}*{end}"),
            Self::In(folder, text) => format!("{folder}/{text}"),
            Self::InDot(start, end) => format!(".*/**/{start}*{end}"),
            Self::InGit(text) => format!("*.git/**/{text}*"),
        }
    }

    /// Returns a byte that every name which it matches begins or ends with.
    fn edge(self) -> Edge {
        match self {
            Self::Name(text)
            | Self::Start(text)
            | Self::Both(text, _)
            | Self::In(_, text)
            | Self::InDot(text, _)
            | Self::InGit(text) => Edge::First(text.as_bytes()[0]),
            Self::End(text) => Edge::Last(text.as_bytes()[text.len() - 1]),
        }
    }

    fn matches(self, place: &NameFolder<'_>, name: &[u8]) -> bool {
        let both = |start: &str, end: &str| {
            name.len() >= start.len() + end.len()
                && name.starts_with(start.as_bytes())
                && name.ends_with(end.as_bytes())
        };
        match self {
            Self::Name(text) => name == text.as_bytes(),
            Self::Start(text) => name.starts_with(text.as_bytes()),
            Self::End(text) => name.ends_with(text.as_bytes()),
            Self::Both(start, end) => both(start, end),
            Self::In(folder, text) => {
                name == text.as_bytes() && place.parent.as_deref() == Some(folder.as_bytes())
            }
            Self::InDot(start, end) => {
                both(start, end) && place.is_in(|folder| folder.first() == Some(&b'.'))
            }
            Self::InGit(text) => {
                name.starts_with(text.as_bytes()) && place.is_in(|folder| folder.ends_with(b".git"))
            }
        }
    }
}

/// The folder that a name is in, as rows ask about it.
#[derive(Debug)]
pub(super) struct NameFolder<'p> {
    folder: &'p RelPath,
    /// The folded name of the folder.
    parent: Option<Cow<'p, [u8]>>,
}

impl<'p> NameFolder<'p> {
    /// Returns the place below a folder.
    pub(super) fn below(folder: &'p RelPath) -> Self {
        Self { folder, parent: folder.file_name().map(|name| fold(name.as_bytes())) }
    }

    /// Returns whether the folder, or one that it is in, has a name for which something holds.
    fn is_in(&self, holds: impl Fn(&[u8]) -> bool) -> bool {
        self.folder.components().any(|name| holds(&fold(name)))
    }
}

/// Finds the rule that closes a folded name in a folder.
pub(super) fn rule_for(place: &NameFolder<'_>, name: &[u8], access: Access) -> Option<&'static str> {
    if let Some(rule) = rule_for_name(place, name, access) {
        return Some(rule);
    }
    let originals = originals(name);
    // What is shared under its own name is no copy.
    if originals.is_empty() || is_shared(place, name) {
        return None;
    }
    originals.into_iter().find_map(|name| rule_for_name(place, name, access))
}

fn rule_for_name(place: &NameFolder<'_>, name: &[u8], access: Access) -> Option<&'static str> {
    let closed = likely_rows(name).find(|row| row.form.matches(place, name));
    if closed.is_some() && is_shared(place, name) {
        return None;
    }
    let written = || PROGRAM_SETTINGS.iter().find(|row| row.form.matches(place, name));
    let row = closed.or_else(|| (access == Access::Write).then(written).flatten())?;
    Some(row.rule)
}

fn is_shared(place: &NameFolder<'_>, name: &[u8]) -> bool {
    SHARED.iter().any(|form| form.matches(place, name))
}

/// Returns whether commands cannot do without a closed name: Git reads its own settings, and what a package manager has
/// installed comes from a registry, where such names are those of code and of public certificates.
pub(super) fn is_needed_by_commands(place: &NameFolder<'_>, name: &[u8]) -> bool {
    GIT_SETTINGS.matches(place, name) || place.is_in(|folder| INSTALLED.contains(&folder))
}

/// A byte by which rows are found.
#[derive(Debug, Clone, Copy)]
enum Edge {
    First(u8),
    Last(u8),
}

/// A bit for each row.
type Mask = [u64; 4];

/// Returns the rows that can match a name, by its first and its last byte, in the order of the table.
fn likely_rows(name: &[u8]) -> impl Iterator<Item = &'static SensitiveRow> {
    /// Those of each first byte, and of each last one.
    static BY_EDGE: LazyLock<Box<[[Mask; 256]; 2]>> = LazyLock::new(|| {
        let mut masks = Box::new([[Mask::default(); 256]; 2]);
        for (at, row) in SENSITIVE.iter().enumerate() {
            let mask = match row.form.edge() {
                Edge::First(byte) => &mut masks[0][usize::from(byte)],
                Edge::Last(byte) => &mut masks[1][usize::from(byte)],
            };
            mask[at / 64] |= 1 << (at % 64);
        }
        masks
    });
    const { assert!(SENSITIVE.len() <= size_of::<Mask>() * 8, "a row has a bit of the mask") };
    let mut left = match name {
        [] => Mask::default(),
        [first, ..] => {
            let (begin, end) =
                (&BY_EDGE[0][usize::from(*first)], &BY_EDGE[1][usize::from(name[name.len() - 1])]);
            std::array::from_fn(|at| begin[at] | end[at])
        }
    };
    std::iter::from_fn(move || {
        let (at, word) = left.iter_mut().enumerate().find(|(_, word)| **word != 0)?;
        let bit = word.trailing_zeros() as usize;
        *word &= *word - 1;
        SENSITIVE.get(at * 64 + bit)
    })
}

/// Folds a name for comparison: upper and lower case are one, ignored characters vanish.
///
/// # Source
/// The code points that HFS+ ignores: U+200C–200F, U+202A–202E, U+206A–206F, U+FEFF (Apple TN1150).
/// Upper-casing first brings ſ to s and the Kelvin sign to k.
pub(super) fn fold(name: &[u8]) -> Cow<'_, [u8]> {
    if name.iter().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        return Cow::Borrowed(name);
    }
    let mut folded = Vec::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        let kept = chunk.valid().chars().filter(|c| {
            !matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
        });
        let mut buffer = [0; 4];
        for lower in kept.flat_map(char::to_uppercase).flat_map(char::to_lowercase) {
            folded.extend_from_slice(lower.encode_utf8(&mut buffer).as_bytes());
        }
        folded.extend_from_slice(chunk.invalid());
    }
    Cow::Owned(folded)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    fn closed_for(path: &str, access: Access) -> Option<&'static str> {
        let path = RelPath::parse(path.as_bytes()).expect("a good path");
        let mut folder = RelPath::root();
        for name in path.components() {
            if let Some(rule) = rule_for(&NameFolder::below(&folder), &fold(name), access) {
                return Some(rule);
            }
            folder = folder.child(OsStr::from_bytes(name));
        }
        None
    }

    fn closed(path: &str) -> Option<&'static str> {
        closed_for(path, Access::Read)
    }

    fn matches_somewhere(row: &SensitiveRow, path: &str) -> bool {
        let path = RelPath::parse(path.as_bytes()).expect("a good path");
        let mut folder = RelPath::root();
        path.components().any(|name| {
            let is_matched = row.form.matches(&NameFolder::below(&folder), &fold(name));
            folder = folder.child(OsStr::from_bytes(name));
            is_matched
        })
    }

    #[test]
    fn every_row_closes_its_samples() {
        for row in SENSITIVE {
            for sample in row.samples {
                assert!(closed(sample).is_some(), "{sample} must be closed");
                // A copy is matched by what it is a copy of.
                let matched = matches_somewhere(row, sample)
                    || originals(sample.as_bytes()).iter().any(|name| {
                        matches_somewhere(row, std::str::from_utf8(name).expect("a sample is text"))
                    });
                assert!(matched, "{sample} is no sample of {}", row.pattern());
            }
        }
    }

    #[test]
    fn a_row_is_found_by_the_edges_of_every_name_that_it_matches() {
        for row in SENSITIVE {
            for name in row.samples.iter().flat_map(|sample| sample.split('/')) {
                let name = fold(name.as_bytes());
                let is_found = likely_rows(&name).any(|likely| likely.pattern() == row.pattern());
                let is_matched = match row.form {
                    Form::In(_, text) => name.as_ref() == text.as_bytes(),
                    Form::InGit(text) => name.starts_with(text.as_bytes()),
                    Form::InDot(start, end) => {
                        name.starts_with(start.as_bytes()) && name.ends_with(end.as_bytes())
                    }
                    form => form.matches(&NameFolder::below(&RelPath::root()), &name),
                };
                assert!(is_found || !is_matched, "{} of {}", row.pattern(), row.samples[0]);
            }
        }
    }

    #[test]
    fn other_spellings_are_closed_too() {
        for path in
            [".ENV", ".\u{200c}env", ".env\u{feff}", "ſecrets.json", "server.\u{212a}ey", ".Git/CONFIG"]
        {
            assert!(closed(path).is_some(), "{path:?} must be closed");
        }
    }

    #[test]
    fn copies_of_closed_files_are_closed() {
        for path in [
            ".env~",
            "..env.swp",
            "#.env#",
            ".#.env",
            "server.key~",
            ".netrc~",
            ".npmrc.bak",
            "credentials.json~",
            ".git-credentials.lock",
            "id_ed25519.old",
            ".ENV.Orig",
            ".server.pem.swo",
            "service_account.json.~3~",
            ".ssh.bak/config",
            ".git/modules/a/config~",
            ".vscode/mcp.json.bak",
        ] {
            assert!(closed(path).is_some(), "{path} must be closed");
        }
    }

    #[test]
    fn what_starts_programs_can_be_read_but_not_written() {
        for sample in PROGRAM_SETTINGS.iter().flat_map(|row| row.samples) {
            assert!(closed_for(sample, Access::Write).is_some(), "{sample} must be closed for writing");
            assert_eq!(closed_for(sample, Access::Read), None, "{sample} may be read");
        }
        for path in
            [".\u{200c}vscode/TASKS.json", ".idea~/a", ".vscode/tasks.json.bak", "a/.Cursor/x/Hooks.JSON"]
        {
            assert!(closed_for(path, Access::Write).is_some(), "{path} must be closed for writing");
        }
        for path in [
            "src/hooks.json",
            "src/mcp.json",
            "tasks.json",
            "settings.json",
            "src/hooks/a.ts",
            ".github/hooks.md",
        ] {
            assert_eq!(closed_for(path, Access::Write), None, "{path} may be written");
        }
    }

    #[test]
    fn what_git_reads_and_what_was_installed_is_open_to_commands() {
        let needed = |path: &str| {
            let path = RelPath::parse(path.as_bytes()).expect("a good path");
            let (folder, name) = (path.parent().expect("not the root"), path.file_name().expect("a name"));
            assert!(closed(&String::from_utf8_lossy(path.as_bytes())).is_some(), "closed to file operations");
            is_needed_by_commands(&NameFolder::below(&folder), &fold(name.as_bytes()))
        };
        for path in [
            "a.git/config",
            ".git/config.worktree",
            "node_modules/aws-sdk/lib/credentials",
            "web/Node_Modules/a/b/key.pem",
            ".venv/lib/python3/site-packages/certifi/cacert.pem",
        ] {
            assert!(needed(path), "{path}");
        }
        for path in ["a.git/credentials", ".env", "modules/.env", "node_modules.bak/.env", "tests/a.pem"] {
            assert!(!needed(path), "{path}");
        }
    }

    #[test]
    fn ordinary_files_are_open() {
        for path in [
            "src/main.rs",
            ".env.example",
            ".env.local.sample",
            "id_rsa.pub",
            "environment.rs",
            "keys.rs",
            ".github/workflows/ci.yml",
            ".gitignore",
            "src/config",
            "secretsauce.md",
            "docs/monkey.md",
            "src/mozilla/firefox/README.md",
            "Microsoft/README.md",
            "src/library/Mailer.php",
            "chrome/manifest.json",
            "share/keyring.rs",
            ".history/a.rs",
            "chat_history",
            "config/system.toml",
            "src/cookies/jar.rs",
            "Cargo.lock",
            "yarn.lock",
            "main.rs~",
            ".main.rs.swp",
            "#main.rs#",
            ".env-example",
            ".dev.vars.example",
            "config.rs",
            ".github/config.yml",
            "src/git/config.rs",
            ".gitmodules",
            ".git/HEAD",
            ".git/modules/a/HEAD",
            "src/mcp.json",
            "main.tf",
        ] {
            assert_eq!(closed(path), None, "{path} must be open");
        }
    }
}
