//! What the registry says of operations is whole and true. Unit tests of `engine::reference` hold the committed files.

use bailiwick::contract::Envelope;
use bailiwick::operations::FAMILIES;
use bailiwick::policy::Candidate;

#[test]
fn every_field_that_a_client_sends_or_gets_is_described() {
    let mut problems = Vec::new();
    for entry in FAMILIES.iter().flat_map(|family| family.operations) {
        let schemas = entry.schemas();
        for (part, schema) in
            [("input", &schemas.input), ("options", &schemas.options), ("data", &schemas.output)]
        {
            let objects = std::iter::once(("", schema)).chain(
                schema["$defs"].as_object().into_iter().flatten().map(|(name, it)| (name.as_str(), it)),
            );
            for (object, schema) in objects {
                for (name, field) in schema["properties"].as_object().into_iter().flatten() {
                    if field["description"].as_str().is_none_or(str::is_empty) && field["$ref"].is_null() {
                        problems.push(format!("{} {part} {object} `{name}`", entry.spec.name));
                    }
                }
            }
        }
    }
    assert!(problems.is_empty(), "these fields have no doc comment:\n{}", problems.join("\n"));
}

#[test]
fn every_example_is_accepted_by_its_operation() {
    for entry in FAMILIES.iter().flat_map(|family| family.operations) {
        let name = entry.spec.name;
        let envelope = Envelope::from_json(entry.spec.example.as_bytes())
            .unwrap_or_else(|failure| panic!("the example of {name}: {failure}"));
        assert_eq!(envelope.op, name);
        if let Err(failure) = entry.parse(&envelope) {
            panic!("the example of {name}: {failure}");
        }
    }
}

#[test]
fn what_the_history_keeps_are_fields_that_exist() {
    for entry in FAMILIES.iter().flat_map(|family| family.operations) {
        let (input, options) = entry.field_names();
        for field in entry.spec.audited_fields {
            let shared = ["timeoutSeconds", "maxOutputBytes", "dryRun", "cursor", "detail"].contains(field);
            let known =
                shared || input.accepted.iter().chain(&options.accepted).any(|accepted| accepted == field);
            assert!(known, "{}: there is no field `{field}` to audit", entry.spec.name);
        }
    }
}
