//! The list of generated files, compared with those that are committed.

use std::fs;
use std::path::Path;

use bailiwick_config::Config;
use bailiwick_schema::assert_committed;
use serde_json::Value;

use super::schema::{config_schema, envelope_schema, operation_schema};
use super::{config_page, error_page, family_page, index_page, policy_page, program_page};
use crate::operations::FAMILIES;
use crate::reference::openapi::openapi_of;
use crate::reference::outcome::outcome_schema;
use crate::registry::{Registry, packed_request, packed_schemas};

const COMMAND: &str = "cargo test -p bailiwick-engine reference";

/// Makes every file: its path from the repository's root, and its text. Schemas come first, then pages.
fn documents(registry: &Registry) -> Vec<(String, String)> {
    let mut all = vec![
        schema_file("schemas/envelope.json", &envelope_schema(registry)),
        schema_file("schemas/outcome.json", &outcome_schema()),
        schema_file("schemas/config.json", &config_schema()),
        schema_file("schemas/openapi.json", &openapi_of(registry, operation_schema)),
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

fn schema_file(path: &str, schema: &Value) -> (String, String) {
    (path.to_owned(), format!("{schema:#}\n"))
}

fn page(path: &str, text: String) -> (String, String) {
    (path.to_owned(), format!("<!-- Generated from the code: UPDATE=1 {COMMAND} -->\n\n{text}"))
}

#[test]
fn committed_schemas_and_pages_equal_the_generated_ones() {
    let folders = ["schemas", "schemas/operations", "docs/reference"];
    assert_committed(&documents(&Registry::new(FAMILIES)), &folders, COMMAND);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the files of the repository are no scope's")]
fn the_program_carries_the_schemas_that_the_types_have() {
    let committed = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas").join(name);
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    for entry in FAMILIES.iter().flat_map(|family| family.operations) {
        let name = entry.spec.name;
        assert_eq!(
            format!("{:#}\n", packed_request(entry)),
            committed(&format!("operations/{name}.json")),
            "{name}"
        );
        let (packed, made) = (packed_schemas(entry), entry.schemas());
        assert_eq!(packed.input, made.input, "input of {name}");
        assert_eq!(packed.options, made.options, "options of {name}");
        assert_eq!(packed.output, made.output, "output of {name}");
    }
    assert_eq!(Config::SCHEMA, committed("config.json"));
}
