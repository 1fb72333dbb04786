//! The schemas of an operation's parts, made out of its types: what `schemas/operations` is written from.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::{Operation, Schemas};

/// Creates the schemas of an operation's parts.
pub fn schemas<O: Operation>() -> Schemas {
    Schemas {
        input: of::<O::Input>(SchemaSettings::draft2020_12()),
        options: of::<O::Options>(SchemaSettings::draft2020_12()),
        output: of::<O::Output>(SchemaSettings::draft2020_12().for_serialize()),
    }
}

/// Creates the schema of a part, without what says nothing in a part: its draft and the names of types.
fn of<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(map) = schema.as_object_mut() {
        map.remove("$schema");
        map.remove("title");
        if !map.contains_key("properties") {
            map.remove("description");
        }
    }
    schema
}
