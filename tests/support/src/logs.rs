//! The recorded logs of `tests/digests/logs`, each with what is known of its run.

use std::fs;
use std::path::PathBuf;

use bailiwick::platform::launch::kept::Stream;
use bailiwick::providers::digest::{Digest, Digester};
use serde::Deserialize;

use crate::source::{files, repository};

/// What is known of a run.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KnownNames {
    pub tool: String,
    pub argv: Vec<String>,
    pub exit_code: i32,
    pub counts: serde_json::Map<String, serde_json::Value>,
    pub failures: Vec<KnownFailure>,
}

/// A failing test, or a place of an error.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KnownFailure {
    pub name: Option<String>,
    pub file: Option<String>,
    pub line: Option<u64>,
    /// `FILE:LINE` where the template is used that the error is in.
    pub required_from: Option<String>,
}

/// A recorded run.
#[derive(Debug)]
pub struct Log {
    /// `tool/name`.
    pub name: String,
    pub known: KnownNames,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Log {
    /// The digest of it.
    pub fn digest(&self) -> Option<Digest> {
        self.digest_of(&self.stdout, &self.stderr)
    }

    /// The digest that it would have with other output.
    pub fn digest_of(&self, stdout: &[u8], stderr: &[u8]) -> Option<Digest> {
        let mut digester = self.digester();
        digester.push(Stream::Stdout, stdout);
        digester.push(Stream::Stderr, stderr);
        digester.finish(Some(self.known.exit_code))
    }

    /// A digester for its command.
    pub fn digester(&self) -> Digester {
        Digester::for_argv(&self.known.argv.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// All text without control sequences.
    pub fn text(&self) -> String {
        let all = [&self.stdout[..], b"\n", &self.stderr[..]].concat();
        plain(&String::from_utf8_lossy(&all))
    }
}

/// Takes control sequences out.
pub fn plain(text: &str) -> String {
    let sequence =
        regex::Regex::new("\x1b(\\[[0-9;?]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\)|[@-Z\\\\^_])")
            .expect("a good pattern");
    sequence.replace_all(text, "").into_owned()
}

/// The file of a recorded log that says what is known of its run.
#[derive(Debug)]
pub struct LogFile(PathBuf);

impl LogFile {
    /// Returns the log's name: `tool/name`.
    pub fn name(&self) -> String {
        let below = self.0.strip_prefix(folder()).expect("it was found there");
        below.with_extension("").to_string_lossy().replace('\\', "/")
    }

    /// Reads the log.
    pub fn read(&self) -> Log {
        let stream = |end: &str| fs::read(self.0.with_extension(end)).unwrap_or_default();
        Log {
            name: self.name(),
            known: serde_json::from_slice(&fs::read(&self.0).expect("readable"))
                .expect("as the recorder writes it"),
            stdout: stream("out"),
            stderr: stream("err"),
        }
    }
}

fn folder() -> PathBuf {
    repository().join("tests/digests/logs")
}

/// Lists the recorded logs, in order.
pub fn log_files() -> Vec<LogFile> {
    let files = files("tests/digests/logs").into_iter();
    files.filter(|path| path.extension().is_some_and(|end| end == "json")).map(LogFile).collect()
}

/// Reads all recorded logs.
pub fn logs() -> Vec<Log> {
    log_files().iter().map(LogFile::read).collect()
}
