//! Holding every answer to the published schemas.

use std::collections::HashMap;
use std::sync::LazyLock;

use bailiwick::operations::FAMILIES;
use bailiwick::reference::{operation_schema, outcome_schema};
use jsonschema::Validator;
use serde_json::{Value, json};

static OUTCOME: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::validator_for(&outcome_schema()).expect("the schema of answers is one"));

/// For each operation, the validators of a request and of the data of an answer.
static OPERATIONS: LazyLock<HashMap<&'static str, (Validator, Validator)>> = LazyLock::new(|| {
    let rows = FAMILIES.iter().flat_map(|family| family.operations);
    rows.map(|entry| {
        let schema = operation_schema(entry);
        let output = json!({"$ref": "#/$defs/output", "$defs": schema["$defs"]});
        let request = jsonschema::validator_for(&schema).expect("the schema of an operation is one");
        let data = jsonschema::validator_for(&output).expect("the schema of an operation's data is one");
        (entry.spec.name, (request, data))
    })
    .collect()
});

/// Tells in which ways a request and its answer contradict the published schemas.
///
/// A request that succeeded must be of the published form; what was refused may be of any.
pub fn contradictions(call: &str, outcome: &Value) -> Vec<String> {
    let mut problems = found("outcome.json", &OUTCOME, outcome);
    let Some((request, data)) = outcome["op"].as_str().and_then(|op| OPERATIONS.get(op)) else {
        return problems;
    };
    if outcome["ok"] == true {
        problems.extend(found("the data", data, &outcome["data"]));
        if let Ok(call) = serde_json::from_str(call) {
            problems.extend(found("the request", request, &call));
        }
    }
    problems
}

fn found(what: &str, validator: &Validator, value: &Value) -> Vec<String> {
    let errors = validator.iter_errors(value);
    errors
        .map(|error| format!("{what} contradicts its schema at `{}`: {error}", error.instance_path()))
        .collect()
}

#[test]
fn every_example_is_of_the_published_form() {
    for entry in FAMILIES.iter().flat_map(|family| family.operations) {
        let example: Value = serde_json::from_str(entry.spec.example).expect("an example is JSON");
        let (request, _) = &OPERATIONS[entry.spec.name];
        assert_eq!(found("the example", request, &example), Vec::<String>::new(), "{}", entry.spec.name);
    }
}

#[test]
fn an_answer_that_contradicts_its_schema_is_found() {
    let answer = json!({
        "ok": true, "operationId": "x", "scope": null, "op": "file.stat", "startedAt": "x", "durationMs": 1,
        "data": {"path": 3}, "warnings": []
    });
    assert!(!contradictions(r#"{"op":"file.stat"}"#, &answer).is_empty());
    assert!(!contradictions("{}", &json!({"ok": true})).is_empty());
}
