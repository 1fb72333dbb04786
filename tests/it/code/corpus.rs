//! Definitions of public code, held against those that universal-ctags finds.
//!
//! The code is no part of this repository: `CODE_CORPUS` names a folder with clones, and the test says what it found of
//! each language. Without it, or without ctags, there is nothing to compare.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use bailiwick::providers::code::{Definition, Kind, definitions, language_of};
use bailiwick::providers::syntax::Language;
use serde_json::Value;

/// Which part of what ctags finds has to be found at least, in thousandths.
const LEAST: usize = 980;
/// How many misses of a language are named.
const MAX_NAMED: usize = 200;
/// Fewer definitions than this say nothing about a language.
const MIN_TAGS: usize = 500;
/// How far the line of a name may be from where ctags sees it.
const MAX_LINES_APART: u32 = 3;

#[derive(Default)]
struct Count {
    found: usize,
    all: usize,
    missed: Vec<String>,
}

pub mod stress {
    use super::*;

    #[test]
    fn definitions_of_public_code_are_those_that_ctags_finds() {
        let Some(corpus) = std::env::var_os("CODE_CORPUS").map(PathBuf::from) else { return };
        assert!(Command::new("ctags").arg("--version").output().is_ok(), "universal-ctags is not installed");
        let mut files = Vec::new();
        collect(&corpus, &mut files);
        let mut counts: BTreeMap<&'static str, Count> = BTreeMap::new();
        for path in files {
            let Ok(text) = fs::read(&path) else { continue };
            let Some(language) = language_of(path.as_os_str().as_encoded_bytes(), &text) else { continue };
            let Ok(found) = definitions(language, &text, &|| false) else { continue };
            let count = counts.entry(language.name()).or_default();
            for tag in tags(&path) {
                if !is_definition(language, &tag, &found.list) {
                    continue;
                }
                count.all += 1;
                if is_found(&tag, &found.list) {
                    count.found += 1;
                } else if count.missed.len() < MAX_NAMED {
                    let text = |key: &str| tag[key].as_str().unwrap_or_default();
                    let name =
                        format!("{}:{} {} {}", path.display(), tag["line"], text("kind"), text("name"));
                    count.missed.push(name);
                }
            }
        }
        let mut report = String::new();
        let mut is_less = BTreeSet::new();
        for (language, Count { found, all, missed }) in &counts {
            writeln!(report, "{language}: {found} of {all}").expect("a text takes all");
            missed.iter().for_each(|name| writeln!(report, "  {name}").expect("a text takes all"));
            if *all >= MIN_TAGS && found * 1_000 < all * LEAST {
                is_less.insert(*language);
            }
        }
        println!("{report}");
        assert!(is_less.is_empty(), "less was found than should be in {is_less:?}:\n{report}");
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        let is_link = path.symlink_metadata().is_ok_and(|facts| facts.is_symlink());
        let is_left_out = path.file_name().is_some_and(|name| name == ".git" || name == "node_modules");
        match path.is_dir() {
            _ if is_link || is_left_out => {}
            true => collect(&path, files),
            false => files.push(path),
        }
    }
}

/// What ctags finds in a file.
fn tags(path: &Path) -> Vec<Value> {
    let output = Command::new("ctags")
        .args(["--output-format=json", "--fields=+nKzsZeE", "--kinds-c++=+p", "--kinds-c=+p"])
        .args(["--map-typescript=+.tsx", "--langmap=c++:+.h", "-f", "-"])
        .arg(path)
        .output()
        .expect("ctags runs");
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Returns whether a tag is of a definition that is wanted: no local, no alias of an import, none of the errors that
/// ctags is known for.
fn is_definition(language: Language, tag: &Value, list: &[Definition]) -> bool {
    let text = |key: &str| tag[key].as_str().unwrap_or_default();
    let (name, kind) = (text("name"), text("kind"));
    let source = text("pattern").trim_start_matches("/^").trim_end_matches("$/");
    let line = line_of(tag);
    let is_local =
        ["function", "method", "generator", "singletonMethod", "func", "constructor", "getter", "setter"];
    let is_anonymous =
        text("extras").contains("anonymous") || name.starts_with("__anon") || name.starts_with('<');
    if is_anonymous || is_local.contains(&text("scopeKind")) || text("_type") != "tag" {
        return false;
    }
    let in_code = |strictly: bool| {
        let code = list.iter().filter(|it| it.kind.is_callable());
        code.clone()
            .any(|it| it.first_line < line && (line < it.last_line || !strictly && line == it.last_line))
    };
    let is_indented = source.starts_with([' ', '\t']);
    let upper = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    };
    match language {
        Language::C | Language::Cpp => {
            let last = name.trim_end_matches('_').rsplit('_').next().unwrap_or_default().to_ascii_uppercase();
            let is_guard = kind == "macro"
                && ["H", "HH", "HPP", "HXX", "INCLUDED", "GUARD"].contains(&last.as_str())
                && source.split_whitespace().last().is_some_and(|word| word == name || word.ends_with("*/"));
            let is_inner =
                ["variable", "prototype", "function", "typedef", "enumerator", "enum", "externvar", "signal"];
            // A call of a macro looks like a prototype.
            let is_call = kind == "prototype"
                && upper(name.split(|it: char| it.is_lowercase()).next().unwrap_or(""))
                && name.len() > 3
                && name.starts_with(|it: char| it.is_ascii_uppercase())
                && name.contains('_')
                || kind == "function" && upper(name) && name.contains('_') && !source.contains('{');
            let is_local = is_inner.contains(&kind) && in_code(true);
            let is_left_out = is_guard || is_call || is_local;
            !is_left_out
                && !["return", "CHECK", "REQUIRE", "EXPECT", "static_assert"]
                    .iter()
                    .any(|word| source.contains(word))
        }
        Language::TypeScript | Language::Tsx | Language::JavaScript => {
            // Of `A = 0x20` and of what follows `const enum`, ctags takes parts for names; arguments of types for members.
            let is_part = kind == "enumerator" && !source.trim_start().starts_with(name)
                || matches!((kind, name), ("property", "void" | "get" | "set") | ("method", "new"));
            if is_part {
                return false;
            }
            let is_value = matches!(kind, "constant" | "variable");
            let behind = source.split(name).nth(1).unwrap_or_default().trim_start();
            !source.contains("import")
                && !source.contains("satisfies")
                && !source.contains(" extends ") | (kind != "property")
                && !(is_value && (is_indented || !behind.starts_with(['=', ':', ';', '!'])))
                && (!is_value || source.contains(&format!(" {name}")))
                && (kind != "property" || matches!(text("scopeKind"), "class" | "interface"))
                && !["const", "let", "var", "from", "function", "export", "extends", "false", "symbol"]
                    .contains(&name)
                && !is_indented | tag["scope"].is_string()
                && !in_code(true)
        }
        Language::CSharp => {
            let is_parameter = kind == "field" && source.split('(').skip(1).any(|rest| rest.contains(name));
            !is_parameter && !source.contains("where ")
        }
        Language::Php => !matches!(kind, "alias" | "variable" | "namespace"),
        Language::Ruby => {
            // Of `def object.name`, the object is taken for the name; of `if Hash === it`, the class for a constant.
            let is_object = kind == "singletonMethod" && source.contains(&format!("def {name}."));
            let is_test = kind == "constant" && source.contains(&format!("{name} ==="));
            let is_left_out = matches!(kind, "describe" | "context" | "library" | "accessor" | "alias");
            !is_object && !is_test && !is_left_out
        }
        // `names=(…)` and what is in a text are functions for ctags.
        Language::Bash => {
            let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_:.-".contains(&byte));
            is_name && !matches!(kind, "heredoc" | "alias" | "script")
        }
        Language::Java => {
            kind != "package" && !(kind == "enumConstant" && source.trim_start().starts_with('@'))
        }
        // Names that are imported are `unknown`, modules that get another name are `namespace`.
        Language::Python => {
            let is_inner = is_indented && matches!(kind, "variable" | "member");
            !is_inner && !matches!(kind, "unknown" | "namespace")
        }
        Language::Kotlin => kind != "package" && !(matches!(kind, "constant" | "variable") && in_code(false)),
        _ => !matches!(kind, "package" | "packageName" | "unknown"),
    }
}

fn line_of(tag: &Value) -> u32 {
    tag["line"].as_u64().and_then(|line| u32::try_from(line).ok()).unwrap_or_default()
}

fn is_found(tag: &Value, list: &[Definition]) -> bool {
    let plain =
        |name: &str| name.split_whitespace().collect::<String>().trim_matches(['`', '"', '\'']).to_owned();
    let name = plain(tag["name"].as_str().unwrap_or_default());
    let last = name.rsplit('.').next().unwrap_or(&name);
    let line = line_of(tag);
    list.iter().any(|it| {
        let is_near = it.name_at.line.abs_diff(line) <= MAX_LINES_APART;
        // `typedef struct a { … } a;` is one definition; a macro may take the place of a function's type.
        let is_around = (it.first_line..=it.last_line).contains(&line) && it.kind != Kind::Module;
        let own = plain(&it.name);
        (own == name || own == last) && (is_near || is_around)
            || it.kind == Kind::Function && it.first_line == line && it.signature.starts_with(&name)
    })
}
