//! A bundle that clients install by a click: a zip file of a manifest and this program.
//!
//! # Source
//! The manifest is version 0.3 of github.com/modelcontextprotocol/mcpb, MANIFEST.md.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use bailiwick_contract::{ErrorCode, Failure, hex, id};

use crate::installation::zip::{ZipEntry, write as write_zip};

/// Where the program is in the bundle.
const PROGRAM: &str = "server/bailiwick";

/// Returns the manifest of a bundle.
pub fn manifest(version: &str, platform: &str) -> Value {
    json!({
        "manifest_version": "0.3",
        "name": "bailiwick",
        "display_name": "Bailiwick",
        "version": version,
        "description": env!("CARGO_PKG_DESCRIPTION"),
        "long_description": "Reads, searches and changes files, and runs commands, in the folders that you opened \
            with `bailiwick setup FOLDER`, and nowhere else. Everything that is asked of it is judged by your \
            policy and kept in a history on this computer.",
        "author": {"name": "The Bailiwick authors"},
        "license": env!("CARGO_PKG_LICENSE"),
        "keywords": ["files", "search", "git", "commands", "sandbox", "policy"],
        "server": {
            "type": "binary",
            "entry_point": PROGRAM,
            "mcp_config": {"command": format!("${{__dirname}}/{PROGRAM}"), "args": ["mcp"], "env": {}},
        },
        "tools": [
            {"name": "get_computer_info", "description": "Shows which scopes and operations are open"},
            {"name": "computer_query", "description": "Runs an operation that changes nothing"},
            {"name": "computer_operation", "description": "Runs any operation that your policy allows"},
            {"name": "get_operation_history", "description": "Shows what was done, newest first"},
        ],
        "tools_generated": true,
        "compatibility": {"platforms": [platform]},
    })
}

/// Writes the bundle beside its place, then moves it there. Returns its size and SHA-256.
///
/// # Errors
/// `not_found` for a program that cannot be read, `provider_unavailable` for a place that cannot be written.
pub fn pack(program: &Path, out: &Path, manifest: &Value) -> Result<(u64, String), Failure> {
    let mut program_file = File::open(program)
        .and_then(|file| match file.metadata()?.is_file() {
            true => Ok(BufReader::new(file)),
            false => Err(io::Error::other("it is no file")),
        })
        .map_err(|error| {
            Failure::new(ErrorCode::NotFound, format!("{} cannot be read: {error}", program.display()))
                .hint("Name a program with --binary.")
        })?;
    let manifest = format!("{manifest:#}\n");
    let folder = out.parent().unwrap_or(Path::new("/"));
    let temporary = folder.join(format!(".bailiwick-{}", id::new_id()));
    let written = (|| {
        let mut writer = BufWriter::new(File::create_new(&temporary)?);
        let mut manifest = manifest.as_bytes();
        write_zip(
            &mut writer,
            vec![
                ZipEntry { path: "manifest.json", mode: 0o644, content: &mut manifest },
                ZipEntry { path: PROGRAM, mode: 0o755, content: &mut program_file },
            ],
        )?;
        writer.flush()?;
        let facts = measure(&temporary)?;
        fs::rename(&temporary, out)?;
        Ok(facts)
    })();
    if written.is_err() {
        // It may not have come so far.
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(|error| unwritable(out, &error))
}

fn measure(file: &Path) -> io::Result<(u64, String)> {
    let mut file = File::open(file)?;
    let mut hash = Sha256::new();
    let mut part = vec![0; 1 << 16];
    let mut bytes = 0;
    loop {
        let read = file.read(&mut part)?;
        if read == 0 {
            return Ok((bytes, hex(&hash.finalize())));
        }
        hash.update(&part[..read]);
        bytes += read as u64;
    }
}

/// Creates the failure for a file that cannot be written.
pub fn unwritable(file: &Path, error: &io::Error) -> Failure {
    Failure::new(ErrorCode::ProviderUnavailable, format!("{} cannot be written: {error}", file.display()))
        .hint("Check the folder's owner, permissions and free space.")
}
