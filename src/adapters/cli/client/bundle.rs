//! `client mcpb`.

use std::env;
use std::fs;
use std::path::PathBuf;

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::dirs::BUNDLE_PLATFORM;

use super::super::printer::Report;
use super::args::{BundlePlatform, McpbArgs};
use crate::client_settings::extension_bundle::{manifest, pack, unwritable};
use crate::client_settings::output::BundleOutput;
use crate::client_settings::registry_file;

/// Creates the bundle, and the entry for the registry if it is asked for.
///
/// # Errors
/// When a file cannot be read or written, or the registry's rules are not met.
pub fn run(args: &McpbArgs) -> Result<Report, Failure> {
    let version = env!("CARGO_PKG_VERSION");
    let platform = args.platform.map_or(BUNDLE_PLATFORM, |it| match it {
        BundlePlatform::Linux => "linux",
        BundlePlatform::Darwin => "darwin",
    });
    let registry = match (&args.server_json, &args.registry_name, &args.url) {
        (Some(file), Some(name), Some(url)) => {
            registry_file::check(name, url)?;
            Some((file, name, url))
        }
        _ => None,
    };
    let program = match &args.binary {
        Some(file) => file.clone(),
        None => env::current_exe().map_err(|error| {
            Failure::new(ErrorCode::ProviderUnavailable, format!("this program cannot be found: {error}"))
        })?,
    };
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from(format!("bailiwick-{version}.mcpb")));
    let out = std::path::absolute(&out)
        .map_err(|error| Failure::invalid("--out", format!("`{}`: {error}", out.display())))?;
    let (bytes, sha256) = pack(&program, &out, &manifest(version, platform))?;
    if let Some((file, name, url)) = registry {
        let text = registry_file::text(name, version, url, &sha256);
        fs::write(file, text).map_err(|error| unwritable(file, &error))?;
    }
    let output = BundleOutput {
        ok: true,
        file: out.clone(),
        bytes,
        sha256: sha256.clone(),
        platform: platform.to_owned(),
        server_json: args.server_json.clone(),
    };
    let mut text = format!(
        "Wrote {} ({:.1} MB, for {platform}).\nSHA-256: {sha256}\n",
        out.display(),
        // For a person's eye.
        f64::from(u32::try_from(bytes / 1000).unwrap_or(u32::MAX)) / 1000.0
    );
    if let Some(file) = &args.server_json {
        text.push_str(&format!("Wrote {}, the entry for the MCP registry.\n", file.display()));
    }
    Ok(Report::new(text, serde_json::to_value(output).expect("an output has a JSON form")).note(
        "\nOpen it with Claude Desktop to install it. It uses the folders that `bailiwick setup` opened.",
    ))
}
