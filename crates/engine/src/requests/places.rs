//! The names of other tools for fields, as data.

use serde_json::{Map, Value};

use super::names::fold;

/// Where a field belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FieldPlace {
    /// The envelope's `scope`.
    Scope,
    /// The envelope's `target`.
    Target,
    /// A field of `input`.
    Input(String),
    /// A field of `options`.
    Options(String),
}

impl FieldPlace {
    pub fn parse(text: &str) -> Self {
        match text.split_once('.') {
            Some(("input", name)) => Self::Input(name.to_owned()),
            Some((_, name)) => Self::Options(name.to_owned()),
            None => Self::Target,
        }
    }

    /// Returns the place as clients write it.
    pub fn shown(&self) -> String {
        match self {
            Self::Scope => "scope".to_owned(),
            Self::Target => "target".to_owned(),
            Self::Input(name) => format!("input.{name}"),
            Self::Options(name) => format!("options.{name}"),
        }
    }
}

/// For operations, where they have a field, and what other tools call it. An operation's own name comes before a
/// family's (`git.*`), and that before `*`. Names are folded: `file_path` and `filePath` are one.
const FIELDS: &[(&str, &str, &str)] = &[
    (
        "file.move file.copy",
        "target",
        "source src from old_path source_path from_path file path file_path source_file",
    ),
    (
        "file.move file.copy",
        "input.to",
        "destination dest dst new_path destination_path to_path dest_path new_file target_path",
    ),
    (
        "file.find",
        "input.pattern",
        "glob query name filename glob_pattern file_pattern patterns file_mask name_keyword",
    ),
    (
        "file.find",
        "target",
        "path dir directory folder root search_path search_directory target_directory base_path cwd",
    ),
    ("file.find", "options.kind", "type"),
    (
        "file.search",
        "input.query",
        "pattern regex search text search_term q regexp needle search_query search_pattern search_text regex_pattern substring_pattern",
    ),
    (
        "file.search",
        "options.glob",
        "include include_pattern file_pattern file_glob globs includes include_glob filter file_mask",
    ),
    ("file.search", "options.types", "type file_type"),
    ("file.search", "options.maxResults", "limit head_limit max max_matches max_count max_usage_count top"),
    ("file.search", "target", "search_directory directory_to_search"),
    ("file.search", "options.ignoreCase", "i case_insensitive insensitive"),
    ("file.search", "options.filesOnly", "l files_with_matches list_files names_only"),
    ("file.search", "options.before", "b before_context lines_before context_lines_before"),
    ("file.search", "options.after", "a after_context lines_after context_lines_after"),
    ("file.search", "options.literal", "fixed_strings fixed f plain"),
    (
        "file.read",
        "options.startLine",
        "start from_line line_start start_line_one_indexed begin_line first_line",
    ),
    (
        "file.read",
        "options.endLine",
        "end to_line line_end end_line_one_indexed end_line_one_indexed_inclusive last_line head",
    ),
    ("file.read", "options.lineNumbers", "show_line_numbers with_line_numbers number_lines numbered"),
    ("file.read_many", "input.paths", "path files file file_paths targets target_files file_path include"),
    (
        "file.write file.create",
        "input.content",
        "contents text file_text data body file_content new_content code_content",
    ),
    ("file.write file.create", "input.contentBase64", "base64"),
    (
        "file.write file.create",
        "options.createParents",
        "parents mkdirs create_dirs create_directories make_parents",
    ),
    ("file.write file.create", "options.mode", "permissions chmod"),
    ("file.mkdir", "options.parents", "recursive p create_parents make_parents"),
    ("file.delete", "options.recursive", "r recurse"),
    ("file.delete", "target", "paths files"),
    ("file.patch", "input.patch", "diff unified_diff patch_text patch_content"),
    ("file.patch", "input.edits", "changes replacements edit replacement_chunks"),
    ("file.patch file.write file.restore", "options.ifVersion", "version expected_version if_match"),
    ("file.list file.tree", "options.depth", "max_depth level levels"),
    ("file.restore", "input.undoId", "undo id"),
    ("file.*", "options.includeHidden", "hidden show_hidden all include_hidden_files dotfiles"),
    ("file.*", "options.includeIgnored", "no_ignore ignored"),
    (
        "command.* process.start",
        "input.command",
        "cmd command_line shell_command script argv bash program executable",
    ),
    (
        "command.* process.start package.*",
        "target",
        "cwd workdir working_directory dir directory folder current_directory path",
    ),
    ("command.* process.start package.*", "input.env", "environment env_vars environment_variables"),
    ("command.run", "input.stdin", "stdin_text standard_input"),
    ("command.start process.start", "input.label", "name title"),
    ("package.run package.start", "input.script", "name script_name command cmd"),
    ("process.read", "options.tail", "lines tail_lines last"),
    ("process.read", "options.from", "position"),
    ("process.write", "input.text", "data content stdin message chars input"),
    ("process.stop", "input.signal", "sig"),
    ("process.wait", "input.any", "conditions condition wait_for"),
    ("process.resize", "input.columns", "cols width"),
    ("process.resize", "input.rows", "lines height"),
    ("process.*", "target", "pid id process shell_id bash_id session_id terminal_id"),
    ("codex.read codex.stop", "target", "process_id session_id id"),
    ("git.stage git.unstage", "input.paths", "files path file pathspec file_paths file_path filename"),
    ("git.commit", "input.message", "m msg commit_message"),
    ("git.diff", "target", "files paths pathspec"),
    ("git.diff", "input.staged", "cached stage index"),
    ("git.diff", "input.from", "base ref revision commit"),
    ("git.diff", "input.to", "head"),
    ("git.diff", "options.statOnly", "stat"),
    ("git.diff git.show", "options.context", "unified context_lines u"),
    ("git.log", "options.maxResults", "n limit max_count count"),
    ("git.log", "input.message", "grep"),
    ("git.show", "input.revision", "commit ref rev sha hash commit_hash object"),
    ("git.blame", "input.revision", "commit ref rev sha"),
    ("git.branch_list", "options.remotes", "remote"),
    ("git.worktree_create git.worktree_remove", "input.path", "dir directory worktree worktree_path"),
    ("git.worktree_create", "input.from", "base ref commit start_point"),
    ("git.worktree_create", "input.branch", "new_branch branch_name b"),
    ("git.*", "target", "repo repo_path repository repository_path cwd"),
    ("code.search_symbols", "input.query", "name symbol pattern symbol_name name_path"),
    ("code.read_symbol code.references", "input.name", "symbol symbol_name query identifier name_path"),
    ("codex.run codex.start", "input.prompt", "task message instructions query"),
    ("history.get", "target", "id operation_id"),
    ("history.undo", "input.operation", "operation_id id"),
    ("history.*", "options.limit", "max_results max count n"),
    ("screen.capture_window", "target", "window_id window id"),
    ("screen.capture", "target", "display_id display id"),
    ("screen.capture_process", "target", "process process_id pid name"),
    ("screen.read_capture", "target", "capture_id id"),
    ("computer.info", "input.family", "op operation name"),
    ("computer.info", "input.include", "parts sections"),
    (
        "*",
        "target",
        "path target_directory file file_path filename absolute_path relative_path relative_workspace_path target_file dir directory dir_path directory_path folder uri path_in_project",
    ),
    ("*", "options.maxResults", "limit max max_matches head_limit"),
    ("*", "options.timeoutSeconds", "timeout_sec timeout_secs timeout_s max_seconds"),
    ("*", "options.maxOutputBytes", "max_output max_bytes max_output_size"),
];

/// Fields that comment on a call, or are about how another client shows it or asks for it, and change nothing in it.
const COMMENTS: &[&str] = &[
    "description",
    "explanation",
    "reason",
    "justification",
    "comment",
    "thought",
    "instruction",
    "task_progress",
    "requires_approval",
    "require_user_approval",
    "safe_to_auto_run",
];

/// Fields of other tools that only make an answer smaller or order it: without them it has all that was asked for.
const NARROWING: &[(&str, &str)] = &[
    ("file.list file.tree file.find", "ignore exclude excludes exclude_pattern exclude_patterns sort_by"),
    ("file.find", "max_depth"),
    ("file.search", "match_per_line"),
    ("file.read", "should_read_entire_file"),
    ("file.write", "line_count"),
    ("command.run process.start", "login execute_in_shell max_lines_count truncate_mode"),
    ("process.read", "filter"),
    ("code.references", "file_paths"),
    ("git.log", "oneline decorate"),
    ("git.status", "short porcelain"),
];

/// Fields that one operation has by another's name beside it: what is renamed where one of the first is there too.
const BESIDE: &[(&str, &str, &str, &str)] = &[
    ("file.move file.copy", "source src from old_path source_path from_path", "target", "to"),
    ("git.diff", "repo_path", "target", "from"),
];

/// Fields of other tools, with the value that says what is so here anyway.
const GIVEN: &[(&str, &str, &str)] = &[
    ("file.patch", "replace_all", "false"),
    ("command.run", "run_in_background", "false"),
    ("command.run", "is_background", "false"),
    ("command.run", "background", "false"),
    ("command.run", "blocking", "true"),
    ("command.run", "wait_for_completion", "true"),
    ("command.run", "restart", "false"),
    ("command.run", "shell", "true"),
    ("command.run", "shell", "\"bash\""),
    ("command.run", "shell", "\"sh\""),
    ("process.start", "shell", "\"bash\""),
    ("process.start", "shell", "\"sh\""),
    ("file.read", "format", "\"text\""),
    ("file.write", "empty_file", "false"),
    ("file.list", "offset", "0"),
    ("file.list", "offset", "1"),
    ("git.branch_list", "branch_type", "\"local\""),
    ("process.start", "run_in_background", "true"),
    ("process.start", "is_background", "true"),
    ("process.start", "background", "true"),
    ("file.search", "n", "true"),
    ("file.search", "line_numbers", "true"),
    ("file.search", "show_line_numbers", "true"),
    ("file.search", "recursive", "true"),
    ("file.search", "r", "true"),
    ("file.search", "output_mode", "\"content\""),
    ("file.search", "regex", "true"),
    ("file.search", "is_regex", "true"),
    ("file.search", "case_sensitive", "true"),
    ("file.find", "recursive", "true"),
    ("file.list", "recursive", "false"),
    ("file.delete", "force", "false"),
    ("file.write", "append", "false"),
    ("file.write", "overwrite", "true"),
    ("file.create", "overwrite", "false"),
    ("file.write", "encoding", "\"utf-8\""),
    ("file.create", "encoding", "\"utf-8\""),
    ("file.write", "encoding", "\"utf8\""),
    ("file.create", "encoding", "\"utf8\""),
];

/// The fields of objects in lists, by the field that holds the list.
const NESTED: &[(&str, &str, &str)] = &[
    ("edits", "old", "old_string old_str old_text search find before original target_content"),
    (
        "edits",
        "new",
        "new_string new_str new_text replace replace_with replacement after replacement_content",
    ),
    ("edits", "replaceAll", "all allow_multiple global"),
    ("edits", "path", "file file_path filename target"),
    ("edits", "expect", "expected_replacements count occurrences"),
    ("lines", "path", "file file_path filename target"),
    ("lines", "new", "content text new_text"),
    ("any all", "process", "process_id target id pid"),
    ("any all", "until", "type kind condition"),
];

/// Finds where an operation may have a field of another tool's name, the nearest meaning first.
pub(super) fn places(op: &str, name: &str) -> impl Iterator<Item = FieldPlace> {
    let name = fold(name);
    let family = op.split_once('.').map_or(op, |(family, _)| family);
    let families = format!("{family}.*");
    let of = move |wanted: String| {
        let name = name.clone();
        FIELDS.iter().filter_map(move |(ops, place, names)| {
            let fits = ops.split(' ').any(|it| it == wanted) && names.split(' ').any(|it| fold(it) == name);
            fits.then(|| FieldPlace::parse(place))
        })
    };
    of(op.to_owned()).chain(of(families)).chain(of("*".to_owned()))
}

/// Renames the fields of a part of a request that mean something else beside another one.
pub(super) fn rename(op: &str, fields: &mut Map<String, Value>) {
    for (ops, beside, from, to) in BESIDE {
        let is_beside = |name: &String| beside.split(' ').any(|it| fold(it) == fold(name));
        if ops.split(' ').any(|it| it == op)
            && fields.keys().any(is_beside)
            && !fields.contains_key(*to)
            && let Some(value) = fields.remove(*from)
        {
            fields.insert((*to).to_owned(), value);
        }
    }
}

/// Returns whether a field can be left out: it comments on the call, asks for what is so anyway, or for less than all.
pub(super) fn is_idle(op: &str, name: &str, value: &Value) -> bool {
    let folded = fold(name);
    let is_one = |names: &str| names.split(' ').any(|it| fold(it) == folded);
    COMMENTS.iter().any(|it| fold(it) == folded)
        || NARROWING.iter().any(|(ops, names)| ops.split(' ').any(|it| it == op) && is_one(names))
        || is_given(op, name, value)
}

/// Returns whether a field of another tool asks for what is so anyway.
pub(super) fn is_given(op: &str, name: &str, value: &Value) -> bool {
    let name = fold(name);
    let is_so = |given: &str| match value {
        Value::String(text) => text == given.trim_matches('"'),
        other => serde_json::from_str::<Value>(given).is_ok_and(|it| it == *other),
    };
    GIVEN.iter().any(|(of, field, given)| *of == op && fold(field) == name && is_so(given))
}

/// Finds what a field of an object in a list is called here.
pub(super) fn nested(list: &str, name: &str) -> Option<&'static str> {
    let name = fold(name);
    let mut rows = NESTED.iter().filter(|(lists, ..)| lists.split(' ').any(|it| it == list));
    rows.find(|(_, _, names)| names.split(' ').any(|it| fold(it) == name)).map(|(_, field, _)| *field)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use bailiwick_contract::{CommonOption, Envelope, TargetRule};
    use serde_json::json;

    use super::super::names::operation;
    use super::super::read;
    use super::*;
    use crate::operations::FAMILIES;
    use crate::registry::Entry;

    fn entries() -> impl Iterator<Item = &'static Entry> {
        FAMILIES.iter().flat_map(|family| family.operations)
    }

    fn has(entry: &Entry, place: &FieldPlace) -> bool {
        let (input, options) = entry.field_names();
        match place {
            FieldPlace::Scope => true,
            FieldPlace::Target => entry.spec.target != TargetRule::None,
            FieldPlace::Input(name) => input.accepted.contains(name),
            FieldPlace::Options(name) => {
                options.accepted.contains(name)
                    || CommonOption::ALL.iter().any(|option| option.as_str() == name)
            }
        }
    }

    /// Returns what a place holds, if nothing else is set.
    fn only<'e>(envelope: &'e Envelope, place: &FieldPlace) -> Option<&'e Value> {
        let count = usize::from(envelope.target.is_some()) + envelope.input.len() + envelope.options.len();
        let found = match place {
            FieldPlace::Scope => None,
            FieldPlace::Target => envelope.target.as_ref().map(|_| &Value::Bool(true)),
            FieldPlace::Input(name) => envelope.input.get(name),
            FieldPlace::Options(name) => envelope.options.get(name),
        };
        found.filter(|_| count == 1)
    }

    /// Sends a field with a value of any kind, until one is read into its place.
    fn is_read(op: &str, sent: impl Fn(Value) -> Value, place: &FieldPlace) -> bool {
        let samples = [json!("x"), json!(1), json!(true), json!(["x"]), json!([{}])];
        samples
            .into_iter()
            .any(|sample| read(sent(sample)).is_ok_and(|it| it.op == op && only(&it, place).is_some()))
    }

    #[test]
    fn every_spelling_of_a_field_is_read_wherever_it_was_sent() {
        let (mut wrong, mut count) = (Vec::new(), 0);
        for entry in entries() {
            let op = entry.spec.name;
            let family = format!("{}.*", op.split('.').next().unwrap_or_default());
            let (input, options) = entry.field_names();
            let mut taken: HashSet<String> =
                input.accepted.iter().chain(&options.accepted).map(|own| fold(own)).collect();
            // What is nearer to the operation comes first; no name is there twice for one of them.
            for near in [op, &family, "*"] {
                let rows = FIELDS.iter().filter(|(ops, ..)| ops.split(' ').any(|it| it == near));
                let mut here = HashSet::new();
                for (_, place, names) in rows {
                    let place = FieldPlace::parse(place);
                    let new = |name: &&str| has(entry, &place) && !taken.contains(&fold(name));
                    for name in names.split(' ').filter(new) {
                        here.insert(fold(name));
                        let at_top = |value: Value| json!({"op": op, name: value});
                        let in_input = |value: Value| json!({"op": op, "input": {name: value}});
                        let in_options = |value: Value| json!({"op": op, "options": {name: value}});
                        count += 1;
                        // Beside `op`, another name of it is one.
                        let is_op = matches!(name, "op" | "operation");
                        let ways = [
                            ("top", is_op || is_read(op, at_top, &place)),
                            ("input", is_read(op, in_input, &place)),
                            ("options", is_read(op, in_options, &place)),
                        ];
                        let missed = ways.iter().filter(|(_, is_read)| !is_read);
                        wrong.extend(
                            missed.map(|(way, _)| format!("{op}: {name} in {way}: {}", place.shown())),
                        );
                    }
                }
                taken.extend(here);
            }
        }
        assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
        assert!(count > 1_000, "{count} spellings");
    }

    #[test]
    fn every_spelling_in_a_list_and_every_value_that_is_so_anyway_is_read() {
        for (lists, field, names) in NESTED {
            for list in lists.split(' ') {
                let op = if matches!(list, "edits" | "lines") { "file.patch" } else { "process.wait" };
                for name in names.split(' ') {
                    let fits = [json!("x"), json!(1)].into_iter().any(|value| {
                        read(json!({"op": op, "input": {list: [{name: value}]}}))
                            .is_ok_and(|it| it.input[list][0].get(field).is_some())
                    });
                    assert!(fits, "{op}: {name} in {list}: {field}");
                }
            }
        }
        let names_it = |op: &str, field: &str| {
            let (input, options) = operation(op).expect("it is one").field_names();
            input.accepted.iter().chain(&options.accepted).any(|own| own == field)
        };
        for (op, field, given) in GIVEN.iter().filter(|(op, field, _)| !names_it(op, field)) {
            let value: Value = serde_json::from_str(given).expect("a value");
            let got = read(json!({"op": op, (*field): value}));
            assert_eq!(got, read(json!({"op": op})), "{op}: {field}");
        }
        let got = read(json!({"op": "file.search", "query": "x", "regex": true}));
        assert_eq!(got, read(json!({"op": "file.search", "input": {"query": "x"}})));
        for (ops, names) in NARROWING {
            for (op, name) in ops.split(' ').flat_map(|op| names.split(' ').map(move |name| (op, name))) {
                let got = read(json!({"op": op, "input": {name: "x"}}));
                assert_eq!(got, read(json!({"op": op})), "{op}: {name}");
            }
        }
        for (ops, beside, from, to) in BESIDE {
            for (op, beside) in ops.split(' ').flat_map(|op| beside.split(' ').map(move |it| (op, it))) {
                let got = read(json!({"op": op, "input": {beside: "a", (*from): "b"}}));
                let got = got.map(|it| (it.target, it.input.get(*to).cloned()));
                assert_eq!(got, Ok((Some("a".to_owned()), Some(json!("b")))), "{op}: {beside}");
            }
        }
        for field in COMMENTS {
            let got = read(json!({"op": "git.status", (*field): "to see"}));
            assert_eq!(got, read(json!({"op": "git.status"})), "{field}");
        }
    }

    #[test]
    fn every_row_is_about_operations_and_fields_that_exist() {
        let mut seen = HashSet::new();
        for (ops, place, names) in FIELDS {
            for op in ops.split(' ') {
                let fits = |entry: &&Entry| match op.strip_suffix('*') {
                    Some(start) => entry.spec.name.starts_with(start),
                    None => entry.spec.name == op,
                };
                let rows: Vec<_> = entries().filter(fits).collect();
                assert!(!rows.is_empty(), "{op} is no operation");
                let place = FieldPlace::parse(place);
                assert!(rows.iter().any(|entry| has(entry, &place)), "{op} has no {}", place.shown());
                for name in names.split(' ') {
                    assert!(seen.insert((op, fold(name))), "{op}: {name} is there twice");
                }
            }
        }
        for (op, ..) in GIVEN {
            assert!(operation(op).is_some(), "{op}");
        }
    }
}
