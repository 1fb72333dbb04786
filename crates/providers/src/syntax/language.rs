//! The languages whose grammars are built in, and the files that are written in them.

use bailiwick_grammars as grammars;
use serde::{Deserialize, Serialize};
use tree_sitter::Language as Grammar;

/// A language with a grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Language {
    /// Rust.
    Rust,
    /// Python.
    Python,
    /// TypeScript.
    TypeScript,
    /// TypeScript with JSX.
    Tsx,
    /// JavaScript, with JSX.
    JavaScript,
    /// Go.
    Go,
    /// Java.
    Java,
    /// C.
    C,
    /// C++.
    Cpp,
    /// C#.
    CSharp,
    /// Ruby.
    Ruby,
    /// PHP, with the text around it.
    Php,
    /// Swift.
    Swift,
    /// Kotlin.
    Kotlin,
    /// Bash, and what other shells share with it.
    Bash,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
    /// TOML.
    Toml,
    /// HTML.
    Html,
    /// CSS.
    Css,
}

impl Language {
    /// Every language.
    pub const ALL: [Self; 20] = [
        Self::Rust,
        Self::Python,
        Self::TypeScript,
        Self::Tsx,
        Self::JavaScript,
        Self::Go,
        Self::Java,
        Self::C,
        Self::Cpp,
        Self::CSharp,
        Self::Ruby,
        Self::Php,
        Self::Swift,
        Self::Kotlin,
        Self::Bash,
        Self::Json,
        Self::Yaml,
        Self::Toml,
        Self::Html,
        Self::Css,
    ];

    /// Returns the languages in which a file of this name can be written, the likeliest first.
    ///
    /// A header is C or C++, and JavaScript is often written with types.
    pub fn of_path(path: &str) -> &'static [Self] {
        let name = path.rsplit('/').next().unwrap_or(path);
        let Some((stem, extension)) = name.rsplit_once('.') else { return &[] };
        if stem.is_empty() {
            return &[];
        }
        match extension.to_ascii_lowercase().as_str() {
            "rs" => &[Self::Rust],
            "py" | "pyi" | "pyw" => &[Self::Python],
            "ts" | "mts" | "cts" => &[Self::TypeScript],
            "tsx" => &[Self::Tsx],
            "js" | "jsx" | "mjs" | "cjs" => &[Self::JavaScript, Self::Tsx],
            "go" => &[Self::Go],
            "java" => &[Self::Java],
            "c" => &[Self::C],
            "h" => &[Self::C, Self::Cpp],
            "cc" | "cpp" | "cxx" | "c++" | "hh" | "hpp" | "hxx" | "h++" | "ipp" => &[Self::Cpp],
            "cs" | "csx" => &[Self::CSharp],
            "rb" | "rake" | "gemspec" | "ru" => &[Self::Ruby],
            "php" | "phtml" => &[Self::Php],
            "swift" => &[Self::Swift],
            "kt" | "kts" => &[Self::Kotlin],
            "sh" | "bash" => &[Self::Bash],
            "json" => &[Self::Json],
            "yaml" | "yml" => &[Self::Yaml],
            "toml" => &[Self::Toml],
            "html" | "htm" | "xhtml" => &[Self::Html],
            "css" => &[Self::Css],
            _ => &[],
        }
    }

    /// Returns the name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Python => "python",
            Self::TypeScript => "typescript",
            Self::Tsx => "tsx",
            Self::JavaScript => "javascript",
            Self::Go => "go",
            Self::Java => "java",
            Self::C => "c",
            Self::Cpp => "cpp",
            Self::CSharp => "csharp",
            Self::Ruby => "ruby",
            Self::Php => "php",
            Self::Swift => "swift",
            Self::Kotlin => "kotlin",
            Self::Bash => "bash",
            Self::Json => "json",
            Self::Yaml => "yaml",
            Self::Toml => "toml",
            Self::Html => "html",
            Self::Css => "css",
        }
    }

    /// Returns the grammar. Its first use in a process inflates its tables.
    pub fn grammar(self) -> Grammar {
        match self {
            Self::Rust => &grammars::RUST,
            Self::Python => &grammars::PYTHON,
            Self::TypeScript => &grammars::TYPESCRIPT,
            Self::Tsx => &grammars::TSX,
            Self::JavaScript => &grammars::JAVASCRIPT,
            Self::Go => &grammars::GO,
            Self::Java => &grammars::JAVA,
            Self::C => &grammars::C,
            Self::Cpp => &grammars::CPP,
            Self::CSharp => &grammars::C_SHARP,
            Self::Ruby => &grammars::RUBY,
            Self::Php => &grammars::PHP,
            Self::Swift => &grammars::SWIFT,
            Self::Kotlin => &grammars::KOTLIN,
            Self::Bash => &grammars::BASH,
            Self::Json => &grammars::JSON,
            Self::Yaml => &grammars::YAML,
            Self::Toml => &grammars::TOML,
            Self::Html => &grammars::HTML,
            Self::Css => &grammars::CSS,
        }
        .function()
        .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_language() {
        for (path, language) in [
            ("src/main.rs", Some(Language::Rust)),
            ("a/b.PY", Some(Language::Python)),
            ("x.d.ts", Some(Language::TypeScript)),
            ("index.mjs", Some(Language::JavaScript)),
            (".json", None),
            ("Makefile", None),
            ("a.rs/notes", None),
            ("notes.md", None),
        ] {
            assert_eq!(Language::of_path(path).first().copied(), language, "{path}");
        }
    }

    #[test]
    fn every_grammar_can_be_used() {
        for language in Language::ALL {
            assert!(language.grammar().is_parseable(), "{language:?}");
        }
    }
}
