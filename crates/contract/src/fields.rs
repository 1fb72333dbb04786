//! Reading an operation's `input` and `options` into its types, with errors that help.

use serde::de::DeserializeOwned;
use serde::de::value::MapDeserializer;
use serde_json::Value;

use super::{Failure, expected};

/// The fields of an `input` or `options` object: what is accepted and what must be there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldNames {
    /// Every accepted field.
    pub accepted: Vec<String>,
    /// Those that must be given.
    pub required: Vec<String>,
    /// Texts for which `""` is a value like any other: their schema says `minLength: 0`.
    pub may_be_empty: Vec<String>,
    /// The schema itself, for saying what a field takes.
    pub schema: Value,
}

impl FieldNames {
    /// Reads the field names out of a JSON Schema of an object.
    pub fn from_schema(schema: Value) -> Self {
        let accepted = schema["properties"].as_object().map(|map| map.keys().cloned().collect());
        let required = schema["required"]
            .as_array()
            .map(|names| names.iter().filter_map(Value::as_str).map(str::to_owned).collect());
        let may_be_empty = schema["properties"].as_object().map(|map| {
            let fields = map.iter().filter(|(_, field)| field["minLength"] == 0);
            fields.map(|(name, _)| name.clone()).collect()
        });
        Self {
            accepted: accepted.unwrap_or_default(),
            required: required.unwrap_or_default(),
            may_be_empty: may_be_empty.unwrap_or_default(),
            schema,
        }
    }
}

/// Parses `input` or `options` into an operation's type, without a copy of the fields.
///
/// Optional fields that are `null` or `""` count as absent, but for texts that may be empty.
///
/// # Errors
/// `invalid_request` that names the field (`input.content`), what was expected, and for an unknown
/// field the accepted ones and the nearest.
pub fn parse<'a, T: DeserializeOwned>(
    part: &str,
    fields: impl Iterator<Item = (&'a String, &'a Value)>,
    names: &FieldNames,
    also_accepted: &[&str],
) -> Result<T, Failure> {
    let is_given = |name: &String, value: &Value| {
        let empty = value.is_null() || (value.as_str() == Some("") && !names.may_be_empty.contains(name));
        !empty || names.required.contains(name) || !names.accepted.contains(name)
    };
    let given: Vec<(&str, &Value)> = fields
        .filter(|(name, value)| is_given(name, value))
        .map(|(name, value)| (name.as_str(), value))
        .collect();
    if let Some((unknown, _)) = given.iter().find(|(name, _)| !names.accepted.iter().any(|it| it == name)) {
        let mut accepted: Vec<&str> = names.accepted.iter().map(String::as_str).collect();
        accepted.extend_from_slice(also_accepted);
        return Err(unknown_field(part, unknown, &accepted));
    }
    if let Some(missing) = names.required.iter().find(|name| !given.iter().any(|(it, _)| it == name)) {
        return Err(missing_field(part, missing));
    }
    let given = MapDeserializer::<_, serde_json::Error>::new(given.into_iter());
    serde_path_to_error::deserialize(given).map_err(|error| {
        let path = error.path().to_string();
        let field = if path == "." { part.to_owned() } else { format!("{part}.{path}") };
        let expected = expected::expected(&names.schema, error.path());
        let told = error.inner().to_string();
        if let Some(failure) = about_a_field(&field, &told) {
            return failure;
        }
        // What the type itself says is better than what can be read out of its schema.
        let is_about_the_form =
            ["invalid ", "unknown variant", "data did not match"].iter().any(|start| told.starts_with(start));
        match expected.filter(|_| is_about_the_form) {
            Some(expected) => Failure::invalid(&field, format!("`{field}` must be {expected}")),
            None => match told.strip_prefix("expected ") {
                Some(expected) => Failure::invalid(&field, format!("`{field}` must be {expected}")),
                None => Failure::invalid(&field, format!("`{field}` is wrong: {told}")),
            },
        }
    })
}

/// Reads what serde says of a field of an object within the part: one that is unknown, or one that is missing.
fn about_a_field(field: &str, told: &str) -> Option<Failure> {
    let mut quoted = told.split('`').skip(1).step_by(2);
    let name = quoted.next()?;
    if told.starts_with("unknown field ") {
        let part = field.strip_suffix(name)?.strip_suffix('.')?;
        return Some(unknown_field(part, name, &quoted.collect::<Vec<_>>()));
    }
    told.starts_with("missing field ").then(|| missing_field(field, name))
}

fn missing_field(part: &str, name: &str) -> Failure {
    Failure::invalid(&format!("{part}.{name}"), format!("`{part}.{name}` is missing"))
        .hint(format!("Add `{name}` to `{part}`."))
}

fn unknown_field(part: &str, unknown: &str, accepted: &[&str]) -> Failure {
    let failure = Failure::invalid(
        &format!("{part}.{unknown}"),
        format!("`{part}` has no field `{unknown}` for this operation"),
    )
    .detail("accepted", accepted.to_vec());
    match nearest(unknown, accepted.iter().copied(), 1).first() {
        Some(name) => failure.hint(format!("Did you mean `{name}`?")),
        None if accepted.is_empty() => failure.hint(format!("This operation takes no `{part}`.")),
        None => failure.hint(format!("`{part}` accepts: {}.", accepted.join(", "))),
    }
}

/// Returns the names that are nearest to a misspelt one, best first, at most `limit`.
///
/// Nearest means an edit distance of at most a third of the longer name, at least 2; a name that
/// contains the misspelt one (or the other way round) counts as near too.
pub fn nearest<'a>(misspelt: &str, names: impl Iterator<Item = &'a str>, limit: usize) -> Vec<&'a str> {
    let misspelt: String = misspelt.chars().take(64).collect::<String>().to_lowercase();
    let mut ranked: Vec<(usize, &str)> = names
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let distance = strsim::levenshtein(&misspelt, &lower);
            let bound = (misspelt.len().max(lower.len()) / 3).max(2);
            let contained = misspelt.len() >= 3 && (lower.contains(&misspelt) || misspelt.contains(&lower));
            (distance <= bound || contained).then_some((distance, name))
        })
        .collect();
    ranked.sort();
    ranked.into_iter().take(limit).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_names_find_their_neighbours() {
        let names = ["file.read", "file.write", "file.read_many", "history.last"];
        assert_eq!(nearest("file.raed", names.into_iter(), 1), ["file.read"]);
        assert_eq!(nearest("read", names.into_iter(), 2), ["file.read", "file.read_many"]);
        assert!(nearest("zzzzzzzzz", names.into_iter(), 3).is_empty());
    }
}
