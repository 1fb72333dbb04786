//! The recorded logs of `tests/digests/logs`, each with what is known of its run.

use std::fs;
use std::path::PathBuf;

use bailiwick::platform::launch::kept::Stream;
use bailiwick::providers::digest::{Digest, Digester};
use serde::Deserialize;

use crate::source::repository;

/// What is known of a run.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Known {
    pub tool: String,
    pub argv: Vec<String>,
    pub exit_code: i32,
    pub counts: serde_json::Map<String, serde_json::Value>,
    pub failures: Vec<KnownFailure>,
}

/// A failing test, or a place of an error.
#[derive(Debug, Deserialize)]
pub struct KnownFailure {
    pub name: Option<String>,
    pub file: Option<String>,
    pub line: Option<u64>,
}

/// A recorded run.
#[derive(Debug)]
pub struct Log {
    /// `tool/name`.
    pub name: String,
    pub known: Known,
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

/// All recorded logs; `DIGEST=pytest/` takes those whose name has this.
pub fn logs() -> Vec<Log> {
    let only = std::env::var("DIGEST").unwrap_or_default();
    let folder = repository().join("tests/digests/logs");
    let mut places: Vec<PathBuf> = Vec::new();
    for tool in fs::read_dir(&folder).expect("there are logs") {
        let tool = tool.expect("readable").path();
        places.extend(fs::read_dir(tool).expect("a folder").map(|entry| entry.expect("readable").path()));
    }
    places.retain(|place| place.extension().is_some_and(|end| end == "json"));
    places.sort();
    let stream = |place: &PathBuf, end: &str| fs::read(place.with_extension(end)).unwrap_or_default();
    let logs = places.iter().map(|place| Log {
        name: place
            .strip_prefix(&folder)
            .expect("below it")
            .with_extension("")
            .to_string_lossy()
            .into_owned(),
        known: serde_json::from_slice(&fs::read(place).expect("readable"))
            .expect("as the recorder writes it"),
        stdout: stream(place, "out"),
        stderr: stream(place, "err"),
    });
    logs.filter(|log| log.name.contains(&only)).collect()
}
