//! `docs/reference/README.md`: every operation in one table.

use crate::registry::Registry;

use super::family_page::needs;
use super::markdown::table;

pub fn page(registry: &Registry) -> String {
    let rows: Vec<Vec<String>> = registry
        .operations()
        .map(|entry| {
            let spec = entry.spec;
            let anchor = spec.name.replace('.', "");
            vec![
                format!("[{}]({}.md#{anchor})", spec.name, spec.family()),
                spec.summary.to_owned(),
                needs(entry),
            ]
        })
        .collect();
    format!(
        "# Reference\n\n\
         Every request is an envelope `{{\"scope\", \"op\", \"target\", \"input\", \"options\"}}`, and every answer an\n\
         outcome `{{\"ok\", …}}`. Their JSON Schemas are in `schemas/`, one for each operation in\n\
         `schemas/operations/`.\n\n{}\n\
         - [The config file](config.md)\n\
         - [Error codes](errors.md)\n\
         - [The policy: stages, capabilities, sensitive files](policy.md)\n\
         - [Programs: what is known about those that commands start](programs.md)\n",
        table(&["operation", "what it does", "needs"], &rows)
    )
}
