//! Skills: what a project teaches agents to do, each a folder with a `SKILL.md` that begins with name and description.
//!
//! Their words are the repository's, as those of other files for agents.

use bailiwick_contract::{Cancel, Failure};
use bailiwick_platform::names::OsStrExt;
use bailiwick_policy::PermittedPath;
use schemars::JsonSchema;
use serde::Serialize;

use super::excerpt::{clean, clip};
use super::source::{Source, below};

/// The folders of skills, in each folder from the scope's own down to the target.
const FOLDERS: &[&str] = &[
    ".claude/skills",
    ".agents/skills",
    ".codex/skills",
    ".cursor/skills",
    ".gemini/skills",
    ".github/skills",
    ".opencode/skills",
    "skills",
];
/// The file of a skill.
const FILE: &str = "SKILL.md";
/// How many are named.
const MAX_SKILLS: usize = 100;
/// How many entries of a folder of skills are checked.
const MAX_ENTRIES: usize = 1_000;
/// How much of one is read: its front matter.
const MAX_FILE_BYTES: u64 = 16 << 10;
/// How long name and description can be, in characters.
const MAX_NAME_CHARS: usize = 64;
const MAX_DESCRIPTION_CHARS: usize = 240;

/// A skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Skill {
    /// What it is called: by its front matter, else by its folder.
    pub name: String,
    /// What it is for, as its front matter says.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Its file.
    pub path: String,
}

/// Finds the skills that are there for a target: in each folder from it up to the scope's own, the nearest first.
///
/// # Errors
/// `cancelled`, `timeout`.
pub fn find_skills(target: &PermittedPath, cancel: &Cancel) -> Result<Vec<Skill>, Failure> {
    let mut found: Vec<Skill> = Vec::new();
    let mut at = Some(target.clone());
    while let Some(folder) = at {
        for inside in FOLDERS {
            let Some(place) = below(&folder, inside.as_bytes()) else { continue };
            let Some(entries) = place.open_dir().ok().and_then(|(dir, _)| dir.entries(MAX_ENTRIES).ok())
            else {
                continue;
            };
            let mut names: Vec<Vec<u8>> =
                entries.into_iter().map(|entry| entry.name.as_bytes().to_vec()).collect();
            names.sort_unstable();
            for name in names {
                cancel.check()?;
                if found.len() == MAX_SKILLS {
                    return Ok(found);
                }
                // One that is closed is not named.
                let Some(file) = below(&place, &[name.as_slice(), b"/", FILE.as_bytes()].concat()) else {
                    continue;
                };
                let Ok(Some(source)) = Source::read(&file, MAX_FILE_BYTES) else { continue };
                // A link to one that is there already is the same skill.
                if found.iter().all(|skill| skill.path != source.shown) {
                    found.push(skill(&source, &String::from_utf8_lossy(&name)));
                }
            }
        }
        at = folder.parent();
    }
    Ok(found)
}

fn skill(source: &Source, folder: &str) -> Skill {
    let name = field(&source.text, "name").unwrap_or_else(|| folder.to_owned());
    Skill {
        name: clip(&clean(&name), MAX_NAME_CHARS),
        description: clip(
            &clean(&field(&source.text, "description").unwrap_or_default()),
            MAX_DESCRIPTION_CHARS,
        ),
        path: source.shown.clone(),
    }
}

/// Returns a field of the front matter: a text on its line, in quotes or not, or on the indented lines that follow.
fn field(text: &str, name: &str) -> Option<String> {
    let mut lines = text.lines();
    if lines.next()?.trim_end() != "---" {
        return None;
    }
    let mut lines = lines.take_while(|line| line.trim_end() != "---").peekable();
    while let Some(line) = lines.next() {
        let Some(value) = line.strip_prefix(name).and_then(|rest| rest.strip_prefix(':')) else { continue };
        let mut value = value.trim().to_owned();
        if matches!(value.as_str(), "" | ">" | "|" | ">-" | "|-" | ">+" | "|+") {
            value.clear();
        }
        while let Some(line) = lines.next_if(|line| line.starts_with([' ', '\t'])) {
            value.push(' ');
            value.push_str(line.trim());
        }
        let value = value.trim();
        let quoted = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
        return Some(quoted.unwrap_or(value).to_owned()).filter(|value| !value.is_empty());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_front_matter_are_read_in_their_usual_forms() {
        let text = "---\nname: \"pdf tools\"\ndescription: >-\n  Reads PDFs\n  and fills forms.\nlicense: MIT\n---\nname: body\n";
        assert_eq!(field(text, "name").as_deref(), Some("pdf tools"));
        assert_eq!(field(text, "description").as_deref(), Some("Reads PDFs and fills forms."));
        assert_eq!(field(text, "license").as_deref(), Some("MIT"));
        assert_eq!(field(text, "version"), None);
        assert_eq!(field("name: no front matter\n", "name"), None);
        assert_eq!(field("---\nname: 'it''s'\n", "name").as_deref(), Some("it''s"));
        assert_eq!(field("---\ndescription:\n---\n", "description"), None);
    }
}
