//! Looking into a bundle: its manifest, and every file as it is.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::DeflateDecoder;
use rawzip::{CompressionMethod, ZipArchive};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use bailiwick_contract::{ErrorCode, Failure};

use super::super::printer::{Report, printable};
use super::run::table;

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

/// Shows what a bundle holds.
///
/// # Errors
/// `not_found` where there is no such file; `invalid_request` for a file that is no bundle.
pub fn inspect(file: &Path) -> Result<Report, Failure> {
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
    let manifest =
        files.get("manifest.json").filter(|manifest| manifest["files"].is_array()).ok_or_else(none)?;
    let mut text = format!("{shown}, made {}\n", manifest["madeAt"].as_str().unwrap_or("?"));
    text.push_str(&table(manifest));
    for (name, content) in files.iter().filter(|(name, _)| *name != "manifest.json") {
        text.push_str(&format!("\n== {}\n{content:#}\n", printable(name)));
    }
    Ok(Report::of(printable(&text), &BundleInspectOutput { ok: true, file: file.to_owned(), files })
        .verbatim())
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
