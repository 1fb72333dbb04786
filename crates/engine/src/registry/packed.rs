//! The schemas that the program carries: the files of `schemas/operations`, packed by the build script.
//!
//! Nothing here is made from types. `tests/it/reference.rs` holds the files to the types, and what is read here to the files.

use miniz_oxide::inflate::decompress_to_vec_with_limit;
use serde_json::Value;

use bailiwick_contract::CommonOption;

use super::{Entry, Schemas};

/// Every operation with its file, in the order of names.
const PACKED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/schemas.rs"));
/// More than any file has.
const MAX_BYTES: usize = 1 << 20;

/// Returns the schema of a request for an operation, as its file has it.
pub fn packed_request(entry: &Entry) -> Value {
    let at = PACKED.binary_search_by_key(&entry.spec.name, |(name, _)| name);
    let (_, packed) = PACKED[at.expect("each operation has a file; a test holds them to the types")];
    let text = decompress_to_vec_with_limit(packed, MAX_BYTES).expect("the build packed it");
    serde_json::from_slice(&text).expect("the build packed JSON")
}

/// Returns the schemas of an operation's parts.
pub fn packed_schemas(entry: &Entry) -> Schemas {
    let mut request = packed_request(entry);
    let mut part = |place: &str| {
        let mut schema = request["$defs"][place].take();
        rebase(&mut schema, &format!("#/$defs/{place}/"), "#/");
        schema
    };
    let (input, mut options, output) = (part("input"), part("options"), part("output"));
    // The file names the shared options among the operation's own.
    if let Some(options) = options.as_object_mut()
        && let Some(Value::Object(mut properties)) = options.remove("properties")
    {
        properties.retain(|name, _| CommonOption::ALL.iter().all(|shared| shared.as_str() != name));
        if !properties.is_empty() {
            options.insert("properties".to_owned(), Value::Object(properties));
        }
    }
    Schemas { input, options, output }
}

/// Makes references that begin in one way begin in another: at a part that is whole in itself, or at the schema around it.
pub fn rebase(value: &mut Value, from: &str, to: &str) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match (key.as_str(), &value) {
                    ("$ref", Value::String(reference)) => {
                        if let Some(rest) = reference.strip_prefix(from) {
                            *value = Value::from(format!("{to}{rest}"));
                        }
                    }
                    _ => rebase(value, from, to),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rebase(item, from, to)),
        _ => {}
    }
}
