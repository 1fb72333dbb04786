//! The crate's own source files, for tests that hold them to rules.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, OnceLock};

use regex::Regex;

/// One file of Rust.
#[derive(Clone)]
pub struct SourceFile {
    /// Its path from the repository's root, with `/`.
    pub path: String,
    /// Its text.
    pub text: String,
    code: OnceLock<String>,
}

impl SourceFile {
    /// Returns the names of the crate and the modules that lead to the file: `["policy", "stage", "path"]`. The root
    /// package's files have no crate before them.
    pub fn module_path(&self) -> Vec<&str> {
        let inner = self.path.strip_prefix("crates/").unwrap_or(&self.path);
        let inner = inner.strip_suffix(".rs").unwrap_or(inner);
        let inner = inner.strip_suffix("/mod").unwrap_or(inner);
        inner.split('/').filter(|name| !matches!(*name, "src" | "lib" | "main")).collect()
    }

    /// Returns its text with comments and the contents of literals blanked out, line for line.
    pub fn code(&self) -> &str {
        self.code.get_or_init(|| code_only(&self.text))
    }

    /// Returns the lines of the code, counted from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.code().lines().enumerate().map(|(at, line)| (at + 1, line))
    }
}

/// Returns the root of the repository.
pub fn repository() -> &'static Path {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors().nth(2).expect("this crate is in `tests/support`")
}

/// Returns the path of a file from the repository's root, with `/`.
pub fn shown_path(path: &Path) -> String {
    let below = path.strip_prefix(repository()).expect("it was found below the repository");
    below.to_string_lossy().replace('\\', "/")
}

/// Reads every `.rs` file below a folder of the repository.
pub fn rust_files(folder: &str) -> Vec<SourceFile> {
    files(folder)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|it| it == "rs"))
        .map(|path| {
            let text = fs::read_to_string(&path).expect("a source file is UTF-8");
            SourceFile { path: shown_path(&path), text, code: OnceLock::new() }
        })
        .collect()
}

/// Lists every file below a folder of the repository, in order. None if the folder does not exist.
pub fn files(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![repository().join(folder)];
    while let Some(folder) = todo.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.expect("the repository can be read").path();
            if path.is_dir() {
                if path.file_name().is_none_or(|name| name != "node_modules" && name != ".venv") {
                    todo.push(path);
                }
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// What may open a comment or a literal.
static OPENING: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"//|/\*|"|'|b?r#*""#).expect("a good pattern"));

/// Blanks out comments and the contents of string and character literals; newlines stay.
pub fn code_only(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let blank = |out: &mut String, from: usize, to: usize| {
        out.extend(bytes[from..to].iter().map(|byte| if *byte == b'\n' { '\n' } else { ' ' }));
    };
    while at < bytes.len() {
        let rest = &bytes[at..];
        let end = if rest.starts_with(b"//") {
            rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
        } else if rest.starts_with(b"/*") {
            block_comment(rest)
        } else if let Some(hashes) = raw_string(bytes, at) {
            let close = [b"\"", "#".repeat(hashes).as_bytes()].concat();
            let open = rest.iter().position(|byte| *byte == b'"').map_or(rest.len(), |quote| quote + 1);
            let length = rest[open..].windows(close.len()).position(|window| window == close);
            length.map_or(rest.len(), |length| open + length + close.len())
        } else if rest[0] == b'"' {
            quoted(rest, b'"')
        } else if rest[0] == b'\'' && is_character(rest) {
            quoted(rest, b'\'')
        } else {
            let width = text[at..].chars().next().map_or(1, char::len_utf8);
            let next = OPENING.find_at(text, at + width).map_or(text.len(), |found| found.start());
            out.push_str(&text[at..next]);
            at = next;
            continue;
        };
        blank(&mut out, at, at + end);
        at += end;
    }
    out
}

fn block_comment(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    at
}

/// Returns the number of hashes if a raw string begins here.
fn raw_string(bytes: &[u8], at: usize) -> Option<usize> {
    let inside_a_word = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
    if inside_a_word {
        return None;
    }
    let rest = bytes[at..].strip_prefix(b"br").or_else(|| bytes[at..].strip_prefix(b"r"))?;
    let hashes = rest.iter().take_while(|byte| **byte == b'#').count();
    (rest.get(hashes) == Some(&b'"')).then_some(hashes)
}

fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// Tells a character literal from a lifetime.
fn is_character(rest: &[u8]) -> bool {
    match rest.get(1) {
        Some(b'\\') => true,
        Some(first) if first.is_ascii() => rest.get(2) == Some(&b'\''),
        Some(_) => true,
        None => false,
    }
}
