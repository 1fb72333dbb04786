//! What the manifests of a project say.

use schemars::JsonSchema;
use serde::Serialize;

use bailiwick_contract::path::encode_name;
use bailiwick_contract::{Cancel, Failure};
use bailiwick_platform::fs::RelPath;
use bailiwick_policy::PermittedPath;

use super::excerpt::clip;
use super::manifest_formats::{Facts, Format};
use super::source::{Source, below};
use super::{Purpose, Survey};

/// How many manifests are read: the nearest ones.
const MAX_READ: usize = 40;
/// The largest manifest that is read.
const MAX_MANIFEST_BYTES: u64 = 1 << 20;
/// How many members of a workspace are named.
const MAX_MEMBERS: usize = 12;
/// How much of a name or version is told, in characters.
const MAX_WORD_CHARS: usize = 100;

/// A manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Manifest {
    /// Its path, relative to the scope's folder.
    pub path: String,
    /// What it is: `cargo`, `node`, `python`, `go`, …
    pub kind: &'static str,
    /// The name of the package.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The members of the workspace, as it states them: paths or globs; at most twelve.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<String>,
}

/// The manifests of a project.
#[derive(Debug, Default)]
pub struct Manifests {
    /// Those that were read, the nearest first.
    pub list: Vec<Manifest>,
    /// How many there are in all.
    pub total: usize,
    /// What could not be read, in words.
    pub notes: Vec<String>,
    /// Where they say that programs begin: the manifest's folder, and what it says.
    pub(super) begins: Vec<(RelPath, ManifestHead)>,
    /// Commands that are usual with the manifests of the target itself, and what names them.
    pub(super) usual: Vec<(Purpose, &'static str, String)>,
    /// Whether the target's own folder has a package and members of a workspace of Cargo.
    pub(super) is_cargo_workspace: bool,
}

/// What, by which name, in which file.
pub(super) type ManifestHead = (&'static str, Option<String>, Option<String>);

/// Reads the nearest manifests that a survey found.
///
/// # Errors
/// `cancelled`, `timeout`.
pub fn read_manifests(
    target: &PermittedPath,
    survey: &Survey,
    cancel: &Cancel,
) -> Result<Manifests, Failure> {
    let mut found = Manifests { total: survey.manifests.len(), ..Manifests::default() };
    for path in survey.manifests.iter().take(MAX_READ) {
        cancel.check()?;
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let Some(format) = Format::of_name(name) else { continue };
        let Some(place) = below(target, path) else { continue };
        let read = match Source::read(&place, MAX_MANIFEST_BYTES) {
            Ok(Some(source)) if source.is_whole => format.read(&source.text),
            Ok(Some(_)) => Err("it is too large".to_owned()),
            Ok(None) => Err("it is no text".to_owned()),
            // The message names the file itself.
            Err(failure) => {
                found.notes.push(clip(&failure.message, 200));
                continue;
            }
        };
        let shown = place.shown();
        let facts = read.unwrap_or_else(|why| {
            let why = why.lines().next().unwrap_or_default();
            found.notes.push(format!("`{shown}` cannot be read: {}", clip(why, 120)));
            Facts::default()
        });
        let folder = place.rel().parent().unwrap_or_default();
        found.begins.extend(facts.begins.into_iter().map(|begin| (folder.clone(), begin)));
        // Those of the target's own folder say how it is built.
        if !path.contains(&b'/') {
            let commands = facts.commands.iter().chain(format.usual);
            found.is_cargo_workspace |= format.kind == "cargo" && !facts.members.is_empty();
            found.usual.extend(commands.map(|(purpose, command)| (*purpose, *command, shown.clone())));
        }
        let word = |text: Option<String>| text.map(|text| clip(&text, MAX_WORD_CHARS));
        let stem = || name.strip_suffix(b".csproj").or(name.strip_suffix(b".gemspec")).map(encode_name);
        let members = facts.members.iter().take(MAX_MEMBERS).map(|text| clip(text, MAX_WORD_CHARS)).collect();
        found.list.push(Manifest {
            path: shown,
            kind: format.kind,
            name: word(facts.name.or_else(stem)),
            version: word(facts.version),
            members,
        });
    }
    Ok(found)
}
