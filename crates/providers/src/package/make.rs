//! The targets of a makefile that a person would name.

use super::manifest::Folder;
use super::{Arguments, Script, Scripts};

/// Finds the explicit targets: plain names, with a recipe's first lines or the `## text` beside them, or else what they
/// need.
///
/// Only what is in the file itself is read. Nothing is expanded or included, make is not asked: that would
/// run code of the project.
///
/// # Source
/// GNU Make manual, 3.2 (names of makefiles) and 4.2 (rules).
pub fn find(folder: &Folder, scripts: &mut Scripts) {
    let Some(manifest) = folder.read(&["GNUmakefile", "makefile", "Makefile"], scripts) else { return };
    let mut names: Vec<(String, String)> = Vec::new();
    let mut needed: Vec<String> = Vec::new();
    let mut current: Vec<usize> = Vec::new();
    for line in manifest.text.lines() {
        if let Some(recipe) = line.strip_prefix('\t') {
            let recipe = recipe.trim_start_matches(['@', '-', '+']).trim();
            for at in &current {
                let runs = &mut names[*at].1;
                if !recipe.is_empty() && runs.len() < 400 {
                    runs.push_str(if runs.is_empty() { "" } else { "; " });
                    runs.push_str(recipe);
                }
            }
            continue;
        }
        if line.trim().is_empty() || line.starts_with([' ', '#']) {
            continue;
        }
        current.clear();
        let Some((targets, about)) = rule(line) else { continue };
        for target in targets {
            let at = names.iter().position(|(name, _)| name == target).unwrap_or_else(|| {
                names.push((target.to_owned(), String::new()));
                needed.push(String::new());
                names.len() - 1
            });
            if names[at].1.is_empty() {
                about.trim().clone_into(&mut names[at].1);
            }
            if needed[at].is_empty() {
                needs(line).clone_into(&mut needed[at]);
            }
            current.push(at);
        }
    }
    for ((name, runs), needed) in names.into_iter().zip(needed) {
        let runs = if runs.is_empty() { needed } else { runs };
        scripts.add(Script {
            argv: vec!["make".to_owned(), name.clone()],
            name,
            runner: Some("make"),
            source: manifest.source.clone(),
            runs,
            arguments: Arguments::None,
        });
    }
}

/// Returns what the target of a rule needs.
fn needs(line: &str) -> &str {
    let rest = line.split_once(':').map_or("", |(_, rest)| rest.trim_start_matches(':'));
    rest.split(['#', ';', '|']).next().unwrap_or(rest).trim()
}

/// Reads a line as a rule: its plain targets, and what a `##` comment says.
fn rule(line: &str) -> Option<(Vec<&str>, &str)> {
    let (targets, rest) = line.split_once(':')?;
    // `:=`, `::=` and `+=` set variables; `::` is a rule too.
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    if rest.starts_with('=') || targets.contains(['=', '$', '%', '#', '(']) {
        return None;
    }
    let plain = |name: &&str| {
        let word = |byte: u8| byte.is_ascii_alphanumeric() || b"_./+-".contains(&byte);
        !name.starts_with(['.', '-']) && name.bytes().all(word)
    };
    let targets: Vec<&str> = targets.split_whitespace().filter(plain).collect();
    let about = rest.split_once("##").map_or("", |(_, about)| about);
    (!targets.is_empty()).then_some((targets, about))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_told_from_variables_patterns_and_special_targets() {
        for (line, targets) in [
            ("all: build test", Some(vec!["all"])),
            ("build test:: deps ## compile", Some(vec!["build", "test"])),
            ("out/a.txt: in.txt", Some(vec!["out/a.txt"])),
            (".PHONY: all", None),
            ("CC := gcc", None),
            ("CC = a:b", None),
            ("X ::= 1", None),
            ("%.o: %.c", None),
            ("$(OUT): x", None),
            ("-x: y", None),
            ("include other.mk", None),
        ] {
            assert_eq!(rule(line).map(|(targets, _)| targets), targets, "{line}");
        }
        assert_eq!(rule("a: b ## say it").map(|(_, about)| about), Some(" say it"));
    }
}
