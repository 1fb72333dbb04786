//! The schemas of what `client …` prints.

use schemars::schema_for;
use serde_json::Value;

use crate::client_settings::output::{BundleOutput, ChangesOutput, EditOutput, ListOutput, PrintOutput};

/// Returns the schemas: the path from the repository's root, and the text.
pub fn schemas() -> Vec<(&'static str, String)> {
    let text = |schema: schemars::Schema| format!("{:#}\n", Value::from(schema));
    vec![
        ("schemas/cli/client.list.json", text(schema_for!(ListOutput))),
        ("schemas/cli/client.list.changes.json", text(schema_for!(ChangesOutput))),
        ("schemas/cli/client.add.json", text(schema_for!(EditOutput))),
        ("schemas/cli/client.remove.json", text(schema_for!(EditOutput))),
        ("schemas/cli/client.undo.json", text(schema_for!(EditOutput))),
        ("schemas/cli/client.print.json", text(schema_for!(PrintOutput))),
        ("schemas/cli/client.mcpb.json", text(schema_for!(BundleOutput))),
    ]
}
