//! `doctor --report` and `doctor --inspect`: what is printed of a report.

use std::path::Path;

use serde_json::Value;

use bailiwick_contract::Failure;

use super::args::BundleArgs;
use super::doctor::asked;
use super::printer::{Report, printable};
use crate::diagnosis::report::{self, BundleInspectOutput};
use crate::installation::home::Home;

/// Creates a bundle, or shows what one holds.
///
/// # Errors
/// When the file cannot be written or read; `conflict` if there is one of that name already.
pub fn run(home: &Home, args: &BundleArgs) -> Result<Report, Failure> {
    if let Some(file) = &args.inspect {
        return inspect(file);
    }
    let output = report::create(home, args.out.as_deref(), asked)?;
    let mut text = format!("Wrote {} ({} KiB):\n", output.file.display(), output.bytes.div_ceil(1024));
    text.push_str(&table(&output.manifest));
    Ok(Report::of(text, &output).note(
        "\nIt is on this computer only. Look at it before you send it: `bailiwick doctor --inspect FILE`.",
    ))
}

fn inspect(file: &Path) -> Result<Report, Failure> {
    let output = report::inspect(file)?;
    let BundleInspectOutput { files, .. } = &output;
    let manifest = &files["manifest.json"];
    let mut text = format!("{}, made {}\n", file.display(), manifest["madeAt"].as_str().unwrap_or("?"));
    text.push_str(&table(manifest));
    for (name, content) in files.iter().filter(|(name, _)| *name != "manifest.json") {
        text.push_str(&format!("\n== {}\n{content:#}\n", printable(name)));
    }
    Ok(Report::of(printable(&text), &output).verbatim())
}

/// Lists the files of a bundle.
fn table(manifest: &Value) -> String {
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
