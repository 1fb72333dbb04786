//! Which versions the usual programs are: each is asked once, in a full sandbox without files of a scope and without a
//! network, and again when its file is another.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bailiwick_contract::{Cancel, Containment, ErrorCode, Failure, Network};
use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::{FileStamp, create_private_dir};
use bailiwick_platform::launch::{FolderChanges, InnerSandboxes, Launcher, SandboxRequest, SetGroupId};
use bailiwick_policy::{AllRoots, Scope};

use super::installed::TOOLS;
use super::prepare::{
    ReadyCommand, SANDBOX_TEMPORARY, Tool, closed_folders, granted, process_limits, readable, unique,
};
use super::program::{Program, SearchPath};
use super::version_query::{self, VersionCache};

/// How long one program may take to print its version.
const TIME: Duration = Duration::from_secs(4);
/// How long all may take that are asked for one request. Those that were not asked by then are asked the next time.
pub const TIME_OF_ALL: Duration = Duration::from_secs(12);
/// What programs print; `None` where it is no version.
static VERSIONS: VersionCache<Option<String>> = VersionCache::new();

/// The service around the question.
#[derive(Debug, Clone)]
pub struct VersionContext {
    /// What starts programs.
    pub launcher: Arc<Launcher>,
    /// Bailiwick's own folders.
    pub dirs: Dirs,
    /// The scope.
    pub scope: Arc<Scope>,
    /// Where the roots of all scopes are: no program is taken out of any of them.
    pub roots: AllRoots,
    /// When to stop.
    pub cancel: Cancel,
}

/// Returns the versions of the usual programs on the search path of a scope, of those that a caller could run there. After
/// `end` no further one is asked. Empty where nothing holds a program fully: none is run for this then.
///
/// # Errors
/// `provider_unavailable` where Bailiwick's state folder cannot be used, `cancelled`, `timeout`.
pub async fn tool_versions(
    around: &VersionContext,
    end: Instant,
    may_run: impl Fn(&str) -> bool,
) -> Result<BTreeMap<&'static str, String>, Failure> {
    let mut versions = BTreeMap::new();
    if super::level(around.scope.commands().hold().sandbox).ok() != Some(Containment::Full) {
        return Ok(versions);
    }
    around.cancel.check()?;
    let names: Vec<&'static str> = TOOLS.iter().copied().filter(|name| may_run(name)).collect();
    let looking = around.clone();
    let found = tokio::task::spawn_blocking(move || Tools::find(&looking, names)).await;
    let Ok(Tools { files, trusted }) = found else { return Ok(versions) };
    for ToolFile { name, program, stamp } in files {
        around.cancel.check()?;
        let version = match VERSIONS.get(&program.path, &stamp) {
            Some(version) => version,
            None if Instant::now() >= end => continue,
            None => match ask(around, name, &program, &trusted).await? {
                Some(text) => {
                    let version = read_version(&text);
                    VERSIONS.insert(program.path, stamp, version.clone());
                    version
                }
                // It is asked again the next time.
                None => continue,
            },
        };
        versions.extend(version.map(|version| (name, version)));
    }
    Ok(versions)
}

/// The usual programs on a search path.
struct Tools {
    files: Vec<ToolFile>,
    /// The folders of the search path that others cannot write.
    trusted: Vec<PathBuf>,
}

/// A program on the search path, and the state of its file.
struct ToolFile {
    name: &'static str,
    program: Program,
    stamp: FileStamp,
}

impl Tools {
    fn find(around: &VersionContext, names: Vec<&'static str>) -> Self {
        let closed = closed_folders(&around.roots, &around.dirs);
        let search = SearchPath::new(&around.scope.commands().hold().search_path, &closed);
        let files = names.into_iter().filter_map(|name| {
            let program = search.get(name)?;
            let stamp = FileStamp::of(&program.path)?;
            Some(ToolFile { name, program, stamp })
        });
        Self { files: files.collect(), trusted: search.trusted() }
    }
}

/// Asks a program for its version. Returns what it prints; `None` if it could not be started, or took too long.
async fn ask(
    around: &VersionContext,
    name: &str,
    program: &Program,
    trusted: &[PathBuf],
) -> Result<Option<String>, Failure> {
    let word = if name == "go" { "version" } else { "--version" };
    let (preparing, program, trusted) = (around.clone(), program.clone(), trusted.to_vec());
    let words = [name, word].map(OsString::from).to_vec();
    let prepared = tokio::task::spawn_blocking(move || prepare(&preparing, program, words, &trusted))
        .await
        .map_err(|error| Failure::new(ErrorCode::ExecutionFailed, format!("nothing was asked: {error}")))??;
    Ok(version_query::ask(&around.launcher, prepared, TIME).await.ok().flatten())
}

/// Prepares the question, in a home of its own, in which no command of a scope has written.
fn prepare(
    around: &VersionContext,
    program: Program,
    argv: Vec<OsString>,
    trusted: &[PathBuf],
) -> Result<ReadyCommand, Failure> {
    let policy = around.scope.commands().hold();
    let home = around.dirs.state.join("homes").join("versions");
    let failed = |error: std::io::Error| {
        Failure::new(
            ErrorCode::ProviderUnavailable,
            format!("Bailiwick's state folder cannot be used: {}", error.kind()),
        )
        .hint("For the user: `bailiwick doctor` checks its owner and the space left there.")
    };
    create_private_dir(&home).map_err(failed)?;
    #[expect(clippy::disallowed_methods, reason = "the folder is Bailiwick's own, in its state folder")]
    let cwd = std::fs::File::open(&home).map_err(failed)?;
    let mut read_only = unique(trusted.iter().cloned().chain([program.real_folder.clone()]));
    read_only.extend(readable(&around.roots, &policy.read_paths)?);
    Ok(ReadyCommand::of_tool(Tool {
        step: program.step(argv),
        environment: environment(trusted, &home),
        cwd: cwd.into(),
        cwd_path: home.clone(),
        hold: SandboxRequest {
            level: Containment::Full,
            network: Network::None,
            network_group: None,
            read_only,
            read_write: Vec::new(),
            protected: Vec::new(),
            lacks_protected: false,
            closed: Vec::new(),
            lacks_closed: false,
            home: granted(&home)?,
            inner: InnerSandboxes::Refused,
            set_group_id: SetGroupId::Refused,
            changes: FolderChanges::Lasting,
        },
        limits: process_limits(policy.limits),
        review: None,
    }))
}

fn environment(trusted: &[PathBuf], home: &Path) -> Vec<(OsString, OsString)> {
    let mut path = OsString::new();
    for folder in trusted {
        if !path.is_empty() {
            path.push(":");
        }
        path.push(folder);
    }
    let own = [
        ("PATH", path.as_os_str()),
        ("HOME", home.as_os_str()),
        ("TMPDIR", OsStr::new(SANDBOX_TEMPORARY)),
        ("LANG", OsStr::new("C.UTF-8")),
        ("TERM", OsStr::new("dumb")),
        ("NO_COLOR", OsStr::new("1")),
        ("CI", OsStr::new("1")),
    ];
    own.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
}

/// Reads the first number with a dot: `git version 2.39.5`, `v20.11.0`, `go version go1.22.1 linux/amd64`,
/// `Poetry (version 1.8.2)`.
fn read_version(text: &str) -> Option<String> {
    text.split_whitespace().find_map(|word| {
        let word = word.trim_start_matches(['(', 'v']);
        let word = word.strip_prefix("go").unwrap_or(word);
        let end = word.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(word.len());
        let version = word[..end].trim_end_matches('.');
        (version.starts_with(|letter: char| letter.is_ascii_digit()) && version.contains('.'))
            .then(|| version.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_from_what_programs_print() {
        for (text, version) in [
            ("git version 2.39.5\n", "2.39.5"),
            ("ripgrep 13.0.0 (rev abc)\n-SIMD -AVX", "13.0.0"),
            ("v20.11.0\n", "20.11.0"),
            ("go version go1.22.1 linux/amd64", "1.22.1"),
            ("Poetry (version 1.8.2)", "1.8.2"),
            ("openjdk 17.0.9 2023-10-17", "17.0.9"),
            ("gcc (Debian 12.2.0-14) 12.2.0", "12.2.0"),
            ("ruby 3.1.2p20 (2022-04-12)", "3.1.2"),
            ("GNU Make 4.3\nBuilt for x86_64", "4.3"),
        ] {
            assert_eq!(read_version(text).as_deref(), Some(version), "{text}");
        }
        for text in ["", "usage: tool [options]", "version 7", "..."] {
            assert_eq!(read_version(text), None, "{text}");
        }
    }
}
