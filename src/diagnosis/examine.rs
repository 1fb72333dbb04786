//! Everything that is wrong in a config's text: in its form, and in what its rules say; each with its line.

use std::path::Path;

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use schemars::JsonSchema;
use serde::Serialize;

use bailiwick_config::{Config, ConfigError};
use bailiwick_engine::operations::FAMILIES;
use bailiwick_engine::registry::Registry;
use bailiwick_policy::{OwnFolders, RootPaths, Scope};

use crate::installation::home::Home;
use crate::installation::text::{one_line, to_user};

/// A mistake in a config.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ProblemOutput {
    /// The line, from 1; null where it is about the file as a whole.
    pub line: Option<usize>,
    /// The column, from 1.
    pub column: Option<usize>,
    /// The field, such as `scopes[0].roots[1]`; empty where it is not about one.
    pub field: String,
    /// What is wrong.
    pub problem: String,
    /// The smallest change.
    pub fix: String,
}

/// Finds the mistakes, in the order of the text.
pub fn examine(home: &Home, file: &Path, content: &[u8]) -> Vec<ProblemOutput> {
    let examined = Config::examine(file, content);
    let text = String::from_utf8_lossy(content);
    let mut problems: Vec<ProblemOutput> =
        examined.problems.into_iter().map(|error| placed(&text, error)).collect();
    let own = OwnFolders::of(&home.dirs);
    let scopes = examined.rest.map(|config| config.scopes).unwrap_or_default();
    let (paths, registry) = (RootPaths::new(&scopes), Registry::new(FAMILIES));
    for (scope, place) in scopes.iter().zip(examined.scopes) {
        let compiled = Scope::compile(scope, &paths, &own);
        let compiled = compiled.and_then(|it| registry.check_asked_operations(&it).map(|()| it));
        let (field, failure) = match compiled {
            Err(failure) => {
                let part =
                    failure.details.get("field").and_then(|it| it.as_str()).unwrap_or("policy").to_owned();
                (part, failure)
            }
            Ok(compiled) => {
                let broken = compiled.roots().iter().enumerate();
                let broken = broken.filter_map(|(at, root)| Some((at, root.problem()?.clone())));
                problems.extend(broken.map(|(at, failure)| {
                    let field = format!("scopes[{place}].roots[{at}]");
                    let fix = failure.hints.first().map(|hint| to_user(hint)).unwrap_or_default();
                    placed(
                        &text,
                        ConfigError {
                            field: field.into(),
                            ..ConfigError::new(file, "", failure.message, fix)
                        },
                    )
                }));
                continue;
            }
        };
        let fix = failure.hints.first().map(|hint| to_user(hint));
        let fix = fix.unwrap_or_else(|| "Correct it, or take it out.".to_owned());
        let part =
            if field.starts_with("policy") || field == "roots" { field } else { format!("policy.{field}") };
        let field = format!("scopes[{place}].{part}");
        problems.push(placed(
            &text,
            ConfigError { field: field.into(), ..ConfigError::new(file, "", failure.message, fix) },
        ));
    }
    problems.sort_by_key(|problem| (problem.line, problem.column));
    problems
}

/// Writes the mistakes for a person, one after another.
pub fn problems_text(file: &Path, problems: &[ProblemOutput]) -> String {
    let shown = one_line(&file.display().to_string());
    let mut text = String::new();
    for problem in problems {
        let place = match (problem.line, problem.column) {
            (Some(line), Some(column)) => format!("{shown}:{line}:{column}"),
            _ => shown.clone(),
        };
        let field = if problem.field.is_empty() {
            String::new()
        } else {
            format!(" `{}`:", one_line(&problem.field))
        };
        text.push_str(&format!(
            "{place}:{field} {}\n  {}\n",
            one_line(&problem.problem),
            one_line(&problem.fix)
        ));
    }
    text
}

/// Finds the line and the column of a mistake.
fn placed(text: &str, error: ConfigError) -> ProblemOutput {
    let said = said_place(&error.place);
    let found = if error.field.is_empty() { said } else { place_of(text, &error.field).or(said) };
    ProblemOutput {
        line: found.map(|(line, _)| line),
        column: found.map(|(_, column)| column),
        field: error.field.into_string(),
        problem: error.problem,
        fix: error.fix,
    }
}

/// Reads `line 4, column 7` at the beginning of a place.
fn said_place(place: &str) -> Option<(usize, usize)> {
    let (line, rest) = place.strip_prefix("line ")?.split_once(", column ")?;
    let column = rest.split(',').next()?;
    Some((line.parse().ok()?, column.parse().ok()?))
}

/// Finds where a field stands; for one that is missing, where what it belongs to begins.
fn place_of(text: &str, field: &str) -> Option<(usize, usize)> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default()).ok()?;
    let mut value = parsed.value.as_ref()?;
    let mut start = value.start();
    for part in field.split(['.', '[']).filter(|part| !part.is_empty()) {
        let next = match (part.strip_suffix(']').and_then(|index| index.parse::<usize>().ok()), value) {
            (Some(index), Value::Array(items)) => items.elements.get(index).map(|it| (it.start(), it)),
            (None, Value::Object(object)) => object
                .properties
                .iter()
                .find(|property| property.name.as_str() == part)
                .map(|property| (property.start(), &property.value)),
            _ => None,
        };
        let Some((at, inner)) = next else { break };
        (start, value) = (at, inner);
    }
    let before = text.get(..start)?;
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    Some((line, column))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_in_the_text_and_a_missing_one_by_what_it_belongs_to() {
        let text = "{\n  \"a\": 1,\n  \"scopes\": [\n    {\"id\": \"é\", \"roots\": [7]},\n    {}\n  ]\n}\n";
        for (field, place) in [
            ("a", (2, 3)),
            ("scopes[0].id", (4, 6)),
            ("scopes[0].roots[0]", (4, 27)),
            ("scopes[1].id", (5, 5)),
            ("port", (1, 1)),
        ] {
            assert_eq!(place_of(text, field), Some(place), "{field}");
        }
        assert_eq!(said_place("line 4, column 7, `x`"), Some((4, 7)));
    }
}
