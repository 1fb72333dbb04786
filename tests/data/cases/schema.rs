//! Holding every answer to the published schemas.

use std::sync::LazyLock;

use bailiwick::operations::FAMILIES;
use bailiwick::reference::outcome_schema;
use bailiwick::registry::packed_request;
use jsonschema::Validator;
use serde_json::{Value, json};

static OUTCOME: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::validator_for(&outcome_schema()).expect("the schema of answers is one"));

/// Returns the validators of an operation's request, and of the data of its answer.
fn validators(operation: &str) -> Option<(Validator, Validator)> {
    let mut entries = FAMILIES.iter().flat_map(|family| family.operations);
    let schema = packed_request(entries.find(|entry| entry.spec.name == operation)?);
    let output = json!({"$ref": "#/$defs/output", "$defs": schema["$defs"]});
    let request = jsonschema::validator_for(&schema).expect("the schema of an operation is one");
    let data = jsonschema::validator_for(&output).expect("the schema of an operation's data is one");
    Some((request, data))
}

/// Tells in which ways a request and its answer contradict the published schemas.
///
/// A request that succeeded must be of the published form; what was refused may be of any.
pub fn contradictions(call: &str, outcome: &Value) -> Vec<String> {
    let mut problems = found("outcome.json", &OUTCOME, outcome);
    // Refused requests, and their answers, have no other form to hold to.
    if outcome["ok"] == true
        && let Some((request, data)) = outcome["op"].as_str().and_then(validators)
    {
        problems.extend(found("the data", &data, &outcome["data"]));
        if let Ok(call) = serde_json::from_str(call) {
            problems.extend(found("the request", &request, &call));
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

pub fn every_example_is_of_the_published_form() {
    for entry in FAMILIES.iter().flat_map(|family| family.operations) {
        let example: Value = serde_json::from_str(entry.spec.example).expect("an example is JSON");
        let (request, _) = validators(entry.spec.name).expect("it is in a table");
        assert_eq!(found("the example", &request, &example), Vec::<String>::new(), "{}", entry.spec.name);
    }
}

pub fn an_answer_that_contradicts_its_schema_is_found() {
    let answer = json!({
        "ok": true, "operationId": "x", "scope": null, "op": "file.stat", "startedAt": "x", "durationMs": 1,
        "data": {"path": 3}, "warnings": []
    });
    assert!(!contradictions(r#"{"op":"file.stat"}"#, &answer).is_empty());
    assert!(!contradictions("{}", &json!({"ok": true})).is_empty());
}
