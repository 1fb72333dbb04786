//! The list of generated files.

use serde_json::Value;

use crate::registry::Registry;

use super::outcome::outcome_schema;
use super::schema::{config_schema, envelope_schema, operation_schema};
use super::{config_page, error_page, family_page, index_page, policy_page, program_page};

/// A generated file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its path from the repository's root.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// Makes every generated file: schemas first, then pages.
pub fn documents(registry: &Registry) -> Vec<Document> {
    let mut all = vec![
        schema_file("schemas/envelope.json", &envelope_schema(registry)),
        schema_file("schemas/outcome.json", &outcome_schema()),
        schema_file("schemas/config.json", &config_schema()),
    ];
    for entry in registry.operations() {
        let path = format!("schemas/operations/{}.json", entry.spec.name);
        all.push(schema_file(&path, &operation_schema(entry)));
    }
    all.push(page("docs/reference/README.md", index_page::page(registry)));
    for family in registry.families() {
        if !family.operations.is_empty() {
            all.push(page(&format!("docs/reference/{}.md", family.name), family_page::page(family)));
        }
    }
    all.push(page("docs/reference/config.md", config_page::page()));
    all.push(page("docs/reference/errors.md", error_page::page()));
    all.push(page("docs/reference/policy.md", policy_page::page(registry)));
    all.push(page("docs/reference/programs.md", program_page::page()));
    all
}

fn schema_file(path: &str, schema: &Value) -> Document {
    Document { path: path.to_owned(), text: format!("{schema:#}\n") }
}

fn page(path: &str, text: String) -> Document {
    let notice = "<!-- Generated from the code: UPDATE=1 cargo test --test it reference -->\n";
    Document { path: path.to_owned(), text: format!("{notice}\n{text}") }
}
