//! The recipes of a justfile.

use super::manifest::Folder;
use super::{Arguments, Script, Scripts};

/// Finds the public recipes, with the comment above each. Nothing is imported or evaluated.
///
/// # Source
/// The just programmer's manual, 1.x: recipes, parameters, attributes, private recipes.
pub fn find(folder: &Folder, scripts: &mut Scripts) {
    let Some(manifest) = folder.read(&["justfile", "Justfile", ".justfile"], scripts) else { return };
    let mut comment = "";
    let mut private = false;
    for line in manifest.text.lines() {
        if let Some(text) = line.strip_prefix('#') {
            comment = text;
        } else if line.starts_with('[') {
            private |= line.contains("private");
        } else {
            if let Some((name, takes)) = recipe(line).filter(|_| !private) {
                scripts.add(Script {
                    name: name.to_owned(),
                    runner: Some("just"),
                    source: manifest.source.clone(),
                    runs: comment.trim().to_owned(),
                    argv: vec!["just".to_owned(), name.to_owned()],
                    arguments: if takes { Arguments::PlainWords } else { Arguments::None },
                });
            }
            (comment, private) = ("", false);
        }
    }
}

/// Reads a line as the head of a public recipe: its name, and whether it has parameters.
fn recipe(line: &str) -> Option<(&str, bool)> {
    let line = line.strip_prefix('@').unwrap_or(line);
    let end = line.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'))?;
    let (name, rest) = line.split_at(end);
    let begins_well = name.starts_with(|c: char| c.is_ascii_alphabetic());
    // Parameters can have defaults in quotes; a colon outside them ends the head, unless it is `:=`.
    let mut quote = None;
    let colon = rest.char_indices().find(|(_, c)| match (quote, c) {
        (None, '\'' | '"' | '`') => {
            quote = Some(*c);
            false
        }
        (Some(open), c) if open == *c => {
            quote = None;
            false
        }
        (None, ':') => true,
        _ => false,
    })?;
    let (parameters, after) = (rest[..colon.0].trim(), &rest[colon.0 + 1..]);
    let keyword =
        matches!(name, "set" | "alias" | "export" | "import" | "mod" | "unexport") && after.starts_with('=');
    (begins_well && !keyword && !after.starts_with('=')).then_some((name, !parameters.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_are_told_from_settings_and_variables() {
        for (line, expected) in [
            ("build:", Some(("build", false))),
            ("@test filter='a:b' *rest: build", Some(("test", true))),
            ("release version:", Some(("release", true))),
            ("version := '1'", None),
            ("alias b := build", None),
            ("set shell := ['bash', '-c']", None),
            ("_private:", None),
            ("    echo: not a recipe", None),
            ("import 'other.just'", None),
        ] {
            assert_eq!(recipe(line), expected, "{line}");
        }
    }
}
