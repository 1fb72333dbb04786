//! The help of `call`: the list of operations, and one operation's fields, out of the registry.

use std::fmt::Write;

use bailiwick_contract::{ScopeNeed, TargetRule};
use bailiwick_engine::operations::FAMILIES;
use bailiwick_engine::registry::{Entry, describe_operation};

use super::super::printer::table;
use super::fields::{flag_of, placeholder};
use super::submit::RUNS_A_COMMAND;
use bailiwick_engine::requests::fields::{Field, Kind, all_fields};

/// The columns that the list of operations keeps to.
const COLUMNS: usize = 80;
/// Half of them.
const HALF: usize = COLUMNS / 2;
/// A row that is shorter may have room for another one.
const SHORT: usize = HALF + 12;

/// Lists the operations, with how to call one.
pub fn overview() -> String {
    let mut text = "\
Run one operation and print its result

Usage: bailiwick call OPERATION [TARGET] [--FIELD VALUE …] | REQUEST-AS-JSON

Flags for every operation:
  --scope ID            the scope; needed where several are open
  --token NAME          with the rights of this token instead of the local user's
  --input JSON|@FILE|-  the input as one JSON object; flags add to it
  --options JSON|@FILE  the options as one JSON object
  --then JSON|@FILE|-   requests that follow, each if the one before succeeded
  --FIELD-file FILE|-   take a text field from a file or standard input
  --json                print the result envelope

Examples:
  bailiwick call file.read hello.txt --scope app --json

Operations, as FAMILY.NAME; `bailiwick call OPERATION --help` shows its fields:
"
    .to_owned();
    let mut left = None;
    for family in FAMILIES {
        let mut lines: Vec<String> = Vec::new();
        for (family, name) in family.operations.iter().filter_map(|entry| entry.spec.name.split_once('.')) {
            match lines.last_mut() {
                Some(line) if line.len() + name.len() < COLUMNS => line.extend([" ", name]),
                Some(_) => lines.push(format!("{:12} {name}", "")),
                None => lines.push(format!("  {family:<10} {name}")),
            }
        }
        // Two short families share a row, where they fit.
        if let [line] = lines.as_slice()
            && line.len() < SHORT
        {
            let Some(first) = left.replace(line.clone()) else { continue };
            let pairs = [(&first, line), (line, &first)];
            match pairs.into_iter().find(|(one, other)| one.len().max(HALF) + other.len() < COLUMNS) {
                Some((one, other)) => {
                    let _ = writeln!(text, "{one:<HALF$} {other}");
                    left = None;
                }
                None => text.extend([&first, "\n"]),
            }
            continue;
        }
        for line in lines {
            let _ = writeln!(text, "{line}");
        }
    }
    text.extend(left.map(|line| format!("{line}\n")));
    text
}

/// Describes one operation: usage, what it needs, its fields, an example.
pub fn operation(entry: &Entry) -> String {
    let spec = entry.spec;
    let fields = all_fields(entry);
    let target = match spec.target {
        TargetRule::None => "",
        TargetRule::Path(_) => " PATH",
        TargetRule::PathOrRoot(_) => " [PATH]",
        rule if rule.is_optional() => " [ID]",
        _ => " ID",
    };
    let mut text = format!("{}\n\nUsage: bailiwick call {}{target}", spec.summary, spec.name);
    for field in fields.iter().filter(|field| field.required) {
        let _ = write!(text, " --{} {}", flag_of(field), placeholder(&field.kind));
    }
    text.push_str(" [--FIELD VALUE …]\n");
    if !spec.details.is_empty() {
        let _ = write!(text, "\n{}\n", spec.details);
    }
    let needs: Vec<String> = spec
        .capabilities
        .iter()
        .map(|group| group.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(" or "))
        .collect();
    if !needs.is_empty() {
        let _ = write!(text, "\nNeeds: {}\n", needs.join(", and "));
    }
    if let Some(what) = spec.target.id_of() {
        let _ = write!(text, "\nID: {what}\n");
    }
    let own: Vec<&Field> = fields.iter().collect();
    text.push_str("\nFields:\n");
    text.push_str(&table(&own.iter().map(|field| row(field)).collect::<Vec<_>>()));
    if spec.scope != ScopeNeed::Optional {
        text.push_str("\nAnd --scope, --token, --input, --options, --json (`bailiwick call --help`).\n");
    }
    if RUNS_A_COMMAND.contains(&spec.name) {
        text.push_str(
            "\nExits as the command does: 128 and the signal's number where a signal ended it, 124 where its time was \
             over or it keeps running, 125 where it did not run. With --json it exits with 0 if the command ran.\n",
        );
    }
    let _ = write!(text, "\nExample:\n  bailiwick call '{}'\n", spec.example);
    text
}

/// Describes one operation as JSON.
pub fn operation_json(entry: &Entry) -> serde_json::Value {
    describe_operation(entry)
}

fn row(field: &Field) -> Vec<String> {
    let placeholder = match &field.kind {
        Kind::Bool => String::new(),
        other => format!(" {}", placeholder(other)),
    };
    let needed = if field.required { "Required. " } else { "" };
    vec![format!("  --{}{placeholder}", flag_of(field)), format!("{needed}{}", field.description)]
}
