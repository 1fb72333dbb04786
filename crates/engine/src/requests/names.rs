//! The names of other tools for operations, as data.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::Value;

use crate::operations::FAMILIES;
use crate::registry::Entry;

/// An operation, and what else it is called. Only names of tools that do the same: what differs in its effect has
/// advice instead.
const SYNONYMS: &[(&str, &str)] = &[
    (
        "file.read",
        "read_file read cat view view_file open_file get_file get_file_contents read_text_file file.cat file.view file.open file.get fs.read fs.read_file filesystem.read_file show_file load_file get_file_text_by_path view_image read_media_file view_line_range",
    ),
    (
        "file.read_many",
        "read_multiple_files read_files read_many_files file.read_multiple file.read_files fs.read_multiple_files",
    ),
    (
        "file.write",
        "write_file write save_file file.save file.put fs.write fs.write_file filesystem.write_file write_to_file overwrite_file file.overwrite",
    ),
    ("file.create", "create_file new_file file.new fs.create create_new_file create_text_file"),
    (
        "file.patch",
        "edit_file edit str_replace replace_in_file file.edit file.replace file.str_replace multi_edit file.multi_edit apply_patch apply_diff patch edit_block search_replace search_and_replace file.apply_patch fs.edit fs.edit_file string_replace replace replace_string_in_file multi_replace_string_in_file replace_text_in_file replace_file_content",
    ),
    (
        "file.search",
        "grep rg ripgrep search search_file_content grep_search grep_files file.grep text_search search_text find_in_files search_in_files content_search file.search_text file.search_content fs.grep fs.search search_in_files_by_text search_in_files_by_regex search_for_pattern regex_search search_code",
    ),
    (
        "file.find",
        "glob find find_files find_file find_by_name file.glob glob_search glob_files search_filenames fs.glob fs.find glob_file_search file_glob_search find_files_by_glob find_files_by_name_keyword",
    ),
    (
        "file.list",
        "ls list list_directory list_dir list_files list_folder dir read_directory readdir file.ls file.dir file.list_directory file.list_dir folder.list directory.list dir.list fs.list fs.ls fs.readdir fs.list_directory filesystem.list_directory list_directory_with_sizes",
    ),
    (
        "file.tree",
        "tree directory_tree dir_tree folder_tree list_tree file.directory_tree fs.tree list_directory_tree",
    ),
    ("file.stat", "stat get_file_info file_info file.metadata file.exists get_metadata fs.stat"),
    (
        "file.mkdir",
        "mkdir create_directory create_dir create_folder make_directory make_dir directory.create folder.create file.create_directory file.make_directory fs.mkdir",
    ),
    (
        "file.delete",
        "rm rmdir remove delete delete_file remove_file unlink file.remove file.rm file.unlink fs.delete fs.remove fs.rm",
    ),
    ("file.move", "mv move rename move_file rename_file file.rename file.mv fs.move fs.rename"),
    ("file.copy", "cp copy copy_file duplicate_file file.cp file.duplicate fs.copy"),
    ("file.restore", "undo undo_edit file.undo"),
    ("file.history", "file.versions"),
    ("history.undo", "undo_last undo_changes revert revert_changes rollback history.revert history.rollback"),
    (
        "command.run",
        "bash sh zsh shell exec execute run cmd terminal subprocess run_command execute_command exec_command run_shell_command execute_shell_command shell_command local_shell shell.run shell.exec shell.execute bash.run bash.exec terminal.run command.exec command.execute run_terminal_cmd run_terminal_command run_in_terminal run_bash run_bash_command subprocess.run process.run process.exec container.exec execute_terminal_command run_terminal run_shell",
    ),
    (
        "process.start",
        "start_process spawn spawn_process process.spawn command.spawn run_in_background background.run shell.start",
    ),
    ("process.list", "list_processes command.list shell.list list_sessions list_terminals"),
    (
        "process.read",
        "read_process_output get_process_output process.output process.logs process.tail read_output bash_output get_terminal_output command.read command.output command.logs shell.read",
    ),
    (
        "process.stop",
        "stop_process kill_process terminate_process force_terminate kill terminate process.kill process.terminate command.stop command.kill kill_shell kill_bash shell.kill shell.stop",
    ),
    (
        "process.write",
        "interact_with_process send_input write_stdin write_to_process send_to_process process.send process.input process.send_input command.write shell.write",
    ),
    ("process.wait", "wait_for_process wait command.wait"),
    ("git.stage", "git.add"),
    ("git.changes", "get_changed_files"),
    ("git.diff", "git_diff_unstaged git_diff_staged view_diff"),
    ("git.log", "git.history"),
    ("git.branch_list", "git.branch git.branches git.list_branches"),
    ("git.worktree_create", "git.worktree_add"),
    ("code.search_symbols", "search_symbols find_symbol workspace_symbols code.find_symbol code.symbols"),
    (
        "code.outline",
        "document_symbols get_symbols_overview list_code_definition_names code.symbols_overview",
    ),
    ("code.read_symbol", "read_symbol get_symbol code.get_symbol"),
    (
        "code.references",
        "find_references find_referencing_symbols list_code_usages code.find_references code.usages",
    ),
    ("code.context", "project_context project_overview"),
    ("computer.info", "info get_info system_info computer.status list_allowed_directories get_config"),
    ("screen.capture", "screenshot take_screenshot capture_screen capture_screenshot screen.screenshot"),
    ("screen.list", "list_displays"),
    ("window.list", "list_windows windows.list"),
    ("package.run", "run_script npm.run package.script"),
    ("package.scripts", "list_scripts package.list"),
    ("history.timeline", "get_operation_history history history.list"),
    ("codex.run", "codex codex.exec"),
];

/// What a name of another tool says beside the operation: where, and the value.
const IMPLIED: &[(&str, &str, &str)] = &[
    ("git_diff_staged", "input.staged", "true"),
    ("view_image read_media_file", "options.image", "true"),
    ("search_in_files_by_text", "options.literal", "true"),
    ("find_files_by_name_keyword", "options.fuzzy", "true"),
    ("list_allowed_directories", "input.include", "[\"scopes\"]"),
];

/// What makes the folders that are missing: the tools that have other names for these operations do so.
const MAKING_PARENTS: &[(&str, &str)] = &[
    ("file.write", "options.createParents"),
    ("file.create", "options.createParents"),
    ("file.mkdir", "options.parents"),
];

/// Prefixes that some clients put before the names of tools.
const PREFIXES: &[&str] = &["builtin_", "functions.", "default_api."];

/// Names of what is not an operation here, and what to do instead.
const ADVICE: &[(&str, &str)] = &[
    (
        "append append_file append_to_file file.append insert insert_line file.insert insert_edit_into_file",
        "Add lines with file.patch: {\"lines\":[{\"after\":\"LINE:HASH\",\"new\":\"…\"}]}; file.read with options.anchors shows LINE:HASH before each line.",
    ),
    (
        "search_files start_search",
        "Text in files: file.search {\"query\":\"…\"}. Names of files: file.find {\"pattern\":\"*.rs\"}.",
    ),
    ("touch file.touch", "A new file: file.create. A changed one: file.write."),
    ("chmod file.chmod", "file.write and file.create set it: options.mode."),
    (
        "str_replace_editor str_replace_based_edit_tool text_editor file_editor editor",
        "Name what you want to do: file.read, file.create, or file.patch with {\"edits\":[{\"old\":\"…\",\"new\":\"…\"}]}.",
    ),
    (
        "git.push git.pull git.fetch git.clone git.checkout git.switch git.restore git.reset git.revert git.merge git.rebase git.stash git.tag git.init git.remote git.cherry_pick git.create_branch",
        "Run it as a program, where the scope allows it: command.run {\"command\":[\"git\",\"…\"]}.",
    ),
    (
        "python node npm npx pnpm yarn pip uv cargo go make pytest jest tsc docker java test build lint",
        "Run programs with command.run: {\"command\":[\"PROGRAM\",\"ARGUMENT\"]}; scripts of package.json with package.run.",
    ),
    (
        "which where type env printenv whoami uname",
        "get_computer_info shows the system and which programs may run.",
    ),
    ("sleep", "Wait with process.wait: {\"any\":[{\"until\":\"time\",\"seconds\":5}]}."),
    (
        "curl wget fetch http web_fetch fetch_url http_request",
        "Wait for a started server with process.wait {\"any\":[{\"until\":\"http\",\"port\":8000}]}; other requests are programs for command.run, where the scope allows them.",
    ),
    ("kill_all", "process.stop with {\"all\":true}."),
];

static OPERATIONS: LazyLock<HashMap<String, &'static Entry>> = LazyLock::new(|| {
    let rows = || FAMILIES.iter().flat_map(|family| family.operations);
    let mut found: HashMap<String, &'static Entry> = HashMap::new();
    for (name, synonyms) in SYNONYMS {
        let Some(entry) = rows().find(|entry| entry.spec.name == *name) else { continue };
        found.extend(synonyms.split(' ').map(|synonym| (fold(synonym), entry)));
    }
    // An operation's own name comes before what others call theirs.
    found.extend(rows().map(|entry| (fold(entry.spec.name), entry)));
    found
});

/// Reduces a name to what its spellings have in common: its letters and digits, in lower case.
pub fn fold(name: &str) -> String {
    name.chars().filter(|it| it.is_alphanumeric()).take(64).flat_map(char::to_lowercase).collect()
}

/// Finds the operation that a name can only mean: its own, another spelling of it, or another tool's name for it.
pub fn operation(name: &str) -> Option<&'static Entry> {
    let mut rows = FAMILIES.iter().flat_map(|family| family.operations);
    rows.find(|entry| entry.spec.name == name)
        .or_else(|| OPERATIONS.get(&fold(name)).or_else(|| OPERATIONS.get(&fold(bare(name)))).copied())
}

/// Takes away what clients put in front of the names of tools: `mcp__files__read_file`, `builtin_read_file`.
pub(super) fn bare(name: &str) -> &str {
    let last = name.rsplit("__").next().unwrap_or(name);
    PREFIXES.iter().find_map(|prefix| last.strip_prefix(prefix)).unwrap_or(last)
}

/// Returns what a name of another tool says beside the operation: places and values.
pub(super) fn implied(name: &str, op: &str) -> Vec<(&'static str, Value)> {
    let name = fold(bare(name));
    let rows = IMPLIED.iter().filter(|(names, ..)| names.split(' ').any(|it| fold(it) == name));
    let said = rows.map(|(_, place, value)| (*place, serde_json::from_str(value).unwrap_or_default()));
    let parents = MAKING_PARENTS.iter().filter(|(own, _)| *own == op && fold(own) != name);
    said.chain(parents.map(|(_, place)| (*place, Value::Bool(true)))).collect()
}

/// Returns what to do instead of what another tool calls so.
pub(super) fn advice(name: &str) -> Option<&'static str> {
    let name = fold(bare(name));
    ADVICE.iter().find(|(names, _)| names.split(' ').any(|it| fold(it) == name)).map(|(_, advice)| *advice)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::json;

    use super::super::read;
    use super::*;

    #[test]
    fn every_name_means_one_thing() {
        let rows = || FAMILIES.iter().flat_map(|family| family.operations);
        let mut seen: HashSet<String> = HashSet::new();
        for entry in rows() {
            assert!(seen.insert(fold(entry.spec.name)), "{}", entry.spec.name);
        }
        for (name, synonyms) in SYNONYMS {
            assert!(rows().any(|entry| entry.spec.name == *name), "{name} is no operation");
            for synonym in synonyms.split(' ') {
                assert!(seen.insert(fold(synonym)), "{synonym} is there twice");
                assert_eq!(operation(synonym).map(|entry| entry.spec.name), Some(*name), "{synonym}");
                for key in ["op", "operation", "tool"] {
                    let read = read(json!({key: synonym})).map(|envelope| envelope.op);
                    assert_eq!(read.as_deref(), Ok(*name), "{key}: {synonym}");
                }
            }
        }
        for (names, place, value) in IMPLIED {
            let value: Value = serde_json::from_str(value).expect("JSON");
            for name in names.split(' ') {
                let envelope = read(json!({"op": name})).expect(name);
                let (part, field) = place.split_once('.').expect("a part and a field");
                let part = if part == "input" { &envelope.input } else { &envelope.options };
                assert_eq!(part.get(field), Some(&value), "{name}");
            }
        }
        for (own, place) in MAKING_PARENTS {
            let (_, field) = place.split_once('.').expect("a part and a field");
            let has = |name: &str| read(json!({"op": name})).expect(name).options.contains_key(field);
            assert!(!has(own), "{own}");
            let (_, synonyms) = SYNONYMS.iter().find(|(name, _)| name == own).expect(own);
            assert!(synonyms.split(' ').all(has), "{own}");
        }
        for name in ADVICE.iter().flat_map(|(names, _)| names.split(' ')) {
            assert!(seen.insert(fold(name)), "{name} is an operation too");
            assert!(operation(name).is_none() && advice(name).is_some(), "{name}");
        }
    }

    #[test]
    fn spellings_and_prefixes_lead_to_the_operation() {
        for (name, expected) in [
            ("file.read", "file.read"),
            ("file_read", "file.read"),
            ("FileRead", "file.read"),
            ("Bash", "command.run"),
            ("BashOutput", "process.read"),
            ("MultiEdit", "file.patch"),
            ("mcp__filesystem__write_file", "file.write"),
            ("git_diff", "git.diff"),
            ("builtin_read_file", "file.read"),
            ("functions.shell", "command.run"),
            ("mcp__x__builtin_ls", "file.list"),
            ("command.list", "process.list"),
        ] {
            assert_eq!(operation(name).map(|entry| entry.spec.name), Some(expected), "{name}");
        }
        assert!(operation("").is_none() && operation("frobnicate").is_none() && operation("...").is_none());
    }
}
