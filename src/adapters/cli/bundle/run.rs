//! The command: gathers, redacts, writes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use bailiwick_contract::{ErrorCode, Failure, time};
use bailiwick_history::Redactor;
use bailiwick_platform::fs::new_private_file;
use bailiwick_platform::machine;

use super::super::args::BundleArgs;
use super::super::home::Home;
use super::super::printer::Report;
use super::super::zip::{ZipEntry, write as write_zip};
use super::inspect::inspect;
use super::parts::{gather, without_home};

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

/// Creates a bundle, or shows what one holds.
///
/// # Errors
/// When the file cannot be written or read; `conflict` if there is one of that name already.
pub fn run(home: &Home, args: &BundleArgs) -> Result<Report, Failure> {
    if let Some(file) = &args.inspect {
        return inspect(file);
    }
    let now = time::now_ms();
    let stamp: String = time::rfc3339(now).chars().filter(char::is_ascii_alphanumeric).take(15).collect();
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from(format!("bailiwick-{stamp}.zip")));
    let out = std::path::absolute(&out)
        .map_err(|error| Failure::invalid("--out", format!("`{}`: {error}", out.display())))?;
    let user_home = machine::home_folder();
    // Without a state folder there is no key: then marks cannot be compared with those in a history, of which there
    // is none either.
    let redactor = Redactor::open(&home.dirs.state);
    let mut files: Vec<(&str, String)> = Vec::new();
    let mut listed = Vec::new();
    for part in gather(home) {
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
    let mut text = format!("Wrote {} ({} KiB):\n", out.display(), bytes.div_ceil(1024));
    text.push_str(&table(&manifest));
    Ok(Report::of(text, &BundleOutput { ok: true, file: out, bytes, manifest }).note(
        "\nIt is on this computer only. Look at it before you send it: `bailiwick doctor --inspect FILE`.",
    ))
}

/// Lists the files of a bundle.
pub fn table(manifest: &Value) -> String {
    let mut text = String::new();
    for file in manifest["files"].as_array().into_iter().flatten() {
        let words = |name: &str| file[name].as_str().unwrap_or_default().to_owned();
        text.push_str(&format!("  {:<15} {}\n", words("name"), words("holds")));
        for left_out in file["leftOut"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            text.push_str(&format!("  {:<15} without {left_out}\n", ""));
        }
    }
    text
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
