//! `docs/reference/config.md`: the fields of `config.json`.

use super::fields::{RequiredMark, rows};
use super::markdown::table;
use super::schema::config_schema;

pub fn page() -> String {
    let fields = table(&["field", "type", ""], &rows(&config_schema(), RequiredMark::Marked));
    format!(
        "# config.json\n\n\
         Reading is strict: an unknown field or a wrong type refuses the whole file, and a service with a broken\n\
         config starts nothing. A star marks what must be given. The JSON Schema is `schemas/config.json`.\n\n{fields}"
    )
}
