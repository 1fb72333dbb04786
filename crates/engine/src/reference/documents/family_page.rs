//! `docs/reference/<family>.md`: every operation of a family.

use crate::registry::{Entry, Family, describe_target};
use bailiwick_contract::{CommonOption, Effect, ScopeNeed, ScopeType};

use super::fields::{RequiredMark, rows};
use super::markdown::{code, codes, table};
use super::schema::honours;

pub fn page(family: &Family) -> String {
    let mut text = format!("# {}\n\n{}\n\n", family.name, family.summary);
    for entry in family.operations {
        let spec = entry.spec;
        let anchor = spec.name.replace('.', "");
        text.push_str(&format!("- [{}](#{anchor}): {}\n", spec.name, lower_first(spec.summary)));
    }
    text.push_str("\nPaths are relative to the scope's folder. A star marks what must be given.\n");
    for entry in family.operations {
        text.push('\n');
        text.push_str(&section(entry));
    }
    text
}

fn section(entry: &Entry) -> String {
    let spec = entry.spec;
    let schemas = entry.schemas();
    let mut text = format!("## {}\n\n{}.", spec.name, spec.summary);
    if !spec.details.is_empty() {
        text.push_str(&format!(" {}", spec.details));
    }
    text.push_str(&format!("\n\n- Needs: {}\n", needs(entry)));
    text.push_str(&format!("- Effect: {}\n", effect(spec.effect)));
    text.push_str(&format!("- Target: {}\n", describe_target(spec.target)));
    text.push_str(&format!("- Acts in: {}\n", place(spec.scope)));
    text.push_str(&format!(
        "- Time limit: {} s unless `timeoutSeconds` says otherwise\n",
        spec.timeout_seconds
    ));
    if !spec.platforms.is_empty() {
        text.push_str(&format!("- Platforms: {}\n", spec.platforms.join(", ")));
    }
    if !spec.audited_fields.is_empty() {
        text.push_str(&format!("- Kept in the history: {}\n", codes(spec.audited_fields.iter().copied())));
    }
    let mut options = rows(&schemas.options, RequiredMark::Marked);
    for option in CommonOption::ALL.iter().filter(|option| honours(entry, **option)) {
        options.push(vec![
            code(option.as_str()),
            kind(*option).to_owned(),
            option.describe(spec.timeout_seconds),
        ]);
    }
    let parts = [
        ("Input", "input", rows(&schemas.input, RequiredMark::Marked)),
        ("Options", "options", options),
        ("Data", "data", rows(&schemas.output, RequiredMark::Unmarked)),
    ];
    for (title, column, rows) in parts {
        let table = table(&[column, "type", ""], &rows);
        if !table.is_empty() {
            text.push_str(&format!("\n**{title}**\n\n{table}"));
        }
    }
    text.push_str(&format!("\n**Example**\n\n```json\n{}\n```\n", spec.example));
    text
}

pub fn needs(entry: &Entry) -> String {
    let groups: Vec<String> = entry
        .spec
        .capabilities
        .iter()
        .map(|group| group.iter().map(|it| code(it.as_str())).collect::<Vec<_>>().join(" or "))
        .collect();
    if groups.is_empty() { "nothing".to_owned() } else { groups.join(", and ") }
}

const fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::ReadOnly => "none; it only reads",
        Effect::Writes => "writes",
        Effect::Destroys => "removes or replaces what was there",
        Effect::RunsCode => "runs programs",
        Effect::Captures => "takes an image of a screen",
        Effect::ControlsDesktop => "acts on the desktop",
    }
}

fn place(scope: ScopeNeed) -> String {
    match scope {
        ScopeNeed::Optional => "no scope; one can be named".to_owned(),
        ScopeNeed::In(types) => {
            let names: Vec<&str> = types
                .iter()
                .map(|one| match one {
                    ScopeType::Folder => "folder scopes",
                    ScopeType::Computer => "computer scopes",
                })
                .collect();
            names.join(" and ")
        }
    }
}

const fn kind(option: CommonOption) -> &'static str {
    match option {
        CommonOption::TimeoutSeconds | CommonOption::MaxOutputBytes => "integer",
        CommonOption::DryRun => "boolean",
        CommonOption::Cursor => "string",
        CommonOption::Detail => "concise or full",
    }
}

fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_lowercase().chain(characters).collect())
}
