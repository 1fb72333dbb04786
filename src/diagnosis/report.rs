//! One file for anyone who helps when something is wrong, without secrets and without the content of files.
//!
//! Everything in it passes the redaction of the history once more, and the manifest says what it holds and what was
//! left out. It goes nowhere on its own: the user looks at it and sends it.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::DeflateDecoder;
use rawzip::{CompressionMethod, ZipArchive};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use bailiwick_contract::{ErrorCode, Failure, time};
use bailiwick_history::Redactor;
use bailiwick_platform::fs::new_private_file;
use bailiwick_platform::machine;

use super::report_parts::{gather, without_home};
use super::service::AskService;
use crate::installation::home::Home;
use crate::installation::zip::{ZipEntry, write as write_zip};

/// The largest file that is taken for a bundle, and the largest file in one.
const LIMIT_BYTES: u64 = 64 << 20;

/// `bundle --inspect`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BundleInspectOutput {
    /// Always true.
    pub ok: bool,
    /// The bundle.
    pub file: PathBuf,
    /// What each file in it says.
    pub files: Map<String, Value>,
}

/// `bundle`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BundleOutput {
    /// Always true.
    pub ok: bool,
    /// The bundle.
    pub file: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// What it holds and what was left out, file by file.
    pub manifest: Value,
}

/// Creates a bundle, in a file of this name or one of its own.
///
/// # Errors
/// When the file cannot be written; `conflict` if there is one of that name already.
pub fn create(home: &Home, out: Option<&Path>, ask: AskService) -> Result<BundleOutput, Failure> {
    let now = time::now_ms();
    let stamp: String = time::rfc3339(now).chars().filter(char::is_ascii_alphanumeric).take(15).collect();
    let out = out.map_or_else(|| PathBuf::from(format!("bailiwick-{stamp}.zip")), Path::to_owned);
    let out = std::path::absolute(&out)
        .map_err(|error| Failure::invalid("--out", format!("`{}`: {error}", out.display())))?;
    let user_home = machine::home_folder();
    // Without a state folder there is no key: then marks cannot be compared with those in a history, of which there
    // is none either.
    let redactor = Redactor::open(&home.dirs.state);
    let mut files: Vec<(&str, String)> = Vec::new();
    let mut listed = Vec::new();
    for part in gather(home, ask) {
        let content = redactor.json(without_home(part.content, user_home.as_deref()));
        let text = format!("{content:#}\n");
        listed.push(
            json!({"name": part.name, "holds": part.holds, "leftOut": part.left_out, "bytes": text.len()}),
        );
        files.push((part.name, text));
    }
    let manifest = json!({
        "format": 1,
        "madeAt": time::rfc3339(now),
        "version": env!("CARGO_PKG_VERSION"),
        "files": listed,
        "never": ["tokens and secrets", "content of files", "what processes printed", "pixels"],
        "redaction": "what looks like a secret is replaced by [redacted:kind:mark]; your home folder is written ~",
    });
    files.insert(0, ("manifest.json", format!("{manifest:#}\n")));
    write(&out, &files).map_err(|error| unwritable(&out, &error))?;
    let bytes = fs::metadata(&out).map_or(0, |facts| facts.len());
    Ok(BundleOutput { ok: true, file: out, bytes, manifest })
}

fn write(out: &Path, files: &[(&str, String)]) -> io::Result<()> {
    // Its owner's alone, and never over another file.
    let file = new_private_file(out)?;
    let mut contents: Vec<(&str, &[u8])> =
        files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    let entries =
        contents.iter_mut().map(|(path, content)| ZipEntry { path, mode: 0o600, content }).collect();
    let written = write_zip(&file, entries).and_then(|()| file.sync_all());
    if written.is_err() {
        // Half a bundle helps nobody.
        let _ = fs::remove_file(out);
    }
    written
}

fn unwritable(out: &Path, error: &io::Error) -> Failure {
    let shown = out.display();
    if error.kind() == io::ErrorKind::AlreadyExists {
        return Failure::new(ErrorCode::Conflict, format!("`{shown}` exists already"))
            .hint("Name another file with --out.");
    }
    Failure::new(ErrorCode::ProviderUnavailable, format!("`{shown}`: {error}"))
        .hint("Name a file in a folder that you can write with --out.")
}

/// Reads a bundle.
///
/// # Errors
/// `not_found` where there is no such file; `invalid_request` for a file that is no bundle.
pub fn inspect(file: &Path) -> Result<BundleInspectOutput, Failure> {
    let shown = file.display();
    let none = || {
        Failure::invalid("--inspect", format!("`{shown}` is no bundle"))
            .hint("Name a file that `bailiwick doctor --report` wrote.")
    };
    let facts = fs::metadata(file).map_err(|error| {
        Failure::new(ErrorCode::NotFound, format!("`{shown}`: {error}"))
            .hint("Name a file that `bailiwick doctor --report` wrote.")
    })?;
    if !facts.is_file() || facts.len() > LIMIT_BYTES {
        return Err(none());
    }
    let bytes = fs::read(file)
        .map_err(|error| Failure::new(ErrorCode::OsPermissionRequired, format!("`{shown}`: {error}")))?;
    let files = read(&bytes).ok_or_else(none)?;
    files.get("manifest.json").filter(|manifest| manifest["files"].is_array()).ok_or_else(none)?;
    Ok(BundleInspectOutput { ok: true, file: file.to_owned(), files })
}

fn read(bytes: &[u8]) -> Option<Map<String, Value>> {
    let archive = ZipArchive::from_slice(bytes).ok()?;
    let mut files = Map::new();
    let mut entries = archive.entries();
    while let Some(entry) = entries.next_entry().ok()? {
        let name = String::from_utf8(entry.file_path().as_ref().to_vec()).ok()?;
        if entry.compression_method() != CompressionMethod::DEFLATE {
            return None;
        }
        let content = archive.get_entry(entry.wayfinder()).ok()?;
        let mut text = String::new();
        DeflateDecoder::new(content.data()).take(LIMIT_BYTES).read_to_string(&mut text).ok()?;
        files.insert(name, serde_json::from_str(&text).ok()?);
    }
    Some(files)
}
