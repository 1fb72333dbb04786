//! The language of a file, by its name and its first bytes.

use crate::syntax::Language;

/// How much of a header is checked to tell C from C++.
const HEADER_BYTES: usize = 64 << 10;

/// Tells in which language a file is written; `None` where its definitions cannot be found.
///
/// `content` may be its beginning only, or empty: then the name decides.
pub fn language_of(path: &[u8], content: &[u8]) -> Option<Language> {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    let name = str::from_utf8(name).ok()?;
    let language = match Language::of_path(name) {
        [Language::C, Language::Cpp] if is_cpp(content) => Language::Cpp,
        [first, ..] => *first,
        [] => of_name(name).or_else(|| of_shebang(content))?,
    };
    super::kinds::has_rules(language).then_some(language)
}

/// Knows files by their whole names.
fn of_name(name: &str) -> Option<Language> {
    match name {
        "Rakefile" | "Gemfile" | "Podfile" | "Vagrantfile" | "Guardfile" => Some(Language::Ruby),
        ".bashrc" | ".bash_profile" | ".bash_aliases" | ".profile" | "PKGBUILD" => Some(Language::Bash),
        _ => None,
    }
}

/// Reads the interpreter of a script.
fn of_shebang(content: &[u8]) -> Option<Language> {
    let line = content.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let mut words = str::from_utf8(line).ok()?.split_ascii_whitespace();
    let mut program = words.next()?;
    if program.ends_with("/env") {
        program = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    }
    let program = program.rsplit('/').next()?.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.');
    match program {
        "python" | "pypy" => Some(Language::Python),
        "sh" | "bash" | "dash" | "ksh" => Some(Language::Bash),
        "node" | "bun" | "deno" => Some(Language::JavaScript),
        "ruby" => Some(Language::Ruby),
        "php" => Some(Language::Php),
        _ => None,
    }
}

/// Looks for lines that only C++ has.
fn is_cpp(content: &[u8]) -> bool {
    let beginning = &content[..content.len().min(HEADER_BYTES)];
    let words: [&[u8]; 9] = [
        b"namespace ",
        b"class ",
        b"template",
        b"using ",
        b"public:",
        b"private:",
        b"protected:",
        b"constexpr ",
        b"virtual ",
    ];
    beginning.split(|byte| *byte == b'\n').any(|line| {
        let line = line.trim_ascii_start();
        words.iter().any(|word| line.starts_with(word)) || (!line.starts_with(b"*") && has_scope(line))
    })
}

/// Finds `::` between two words, outside comments.
fn has_scope(line: &[u8]) -> bool {
    let code = line.windows(2).position(|pair| matches!(pair, b"//" | b"/*")).map_or(line, |at| &line[..at]);
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    code.windows(4).any(|part| is_word(part[0]) && &part[1..3] == b"::" && is_word(part[3]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_c_unless_they_say_otherwise() {
        for (content, language) in [
            ("int f(void);\n", Language::C),
            ("/* class of things */\n * class\nint f(int class_);\n", Language::C),
            ("// see a::b\nint f(void);\n", Language::C),
            ("  class A;\n", Language::Cpp),
            ("template<class T> T f();\n", Language::Cpp),
            ("std::string f();\n", Language::Cpp),
        ] {
            assert_eq!(language_of(b"a/b.h", content.as_bytes()), Some(language), "{content}");
        }
    }

    #[test]
    fn scripts_are_known_by_their_first_line() {
        for (content, language) in [
            ("#!/usr/bin/env python3\n", Some(Language::Python)),
            ("#!/usr/bin/env -S python3.12 -u\n", Some(Language::Python)),
            ("#!/bin/sh -e\n", Some(Language::Bash)),
            ("#!/usr/bin/env node", Some(Language::JavaScript)),
            ("#!/usr/bin/perl\n", None),
            ("#!", None),
            ("", None),
        ] {
            assert_eq!(language_of(b"bin/tool", content.as_bytes()), language, "{content}");
        }
    }

    #[test]
    fn data_has_no_definitions() {
        for path in ["a.json", "b.yaml", "c.html", "d.md", "e"] {
            assert_eq!(language_of(path.as_bytes(), b"{}"), None, "{path}");
        }
    }
}
