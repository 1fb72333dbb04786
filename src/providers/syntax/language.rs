//! The languages whose grammars are built in, and the files that are written in them.

use tree_sitter::Language as Grammar;

/// A language with a grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
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

    /// Gives the languages in which a file of this name can be written, the likeliest first.
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

    /// Gives the name on the wire.
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

    /// Gives the grammar. Its tables are constants of the program, which the system maps where they are read.
    pub fn grammar(self) -> Grammar {
        match self {
            Self::Rust => tree_sitter_rust::LANGUAGE,
            Self::Python => tree_sitter_python::LANGUAGE,
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX,
            Self::JavaScript => tree_sitter_javascript::LANGUAGE,
            Self::Go => tree_sitter_go::LANGUAGE,
            Self::Java => tree_sitter_java::LANGUAGE,
            Self::C => tree_sitter_c::LANGUAGE,
            Self::Cpp => tree_sitter_cpp::LANGUAGE,
            Self::CSharp => tree_sitter_c_sharp::LANGUAGE,
            Self::Ruby => tree_sitter_ruby::LANGUAGE,
            Self::Php => tree_sitter_php::LANGUAGE_PHP,
            Self::Swift => tree_sitter_swift::LANGUAGE,
            Self::Kotlin => tree_sitter_kotlin_ng::LANGUAGE,
            Self::Bash => tree_sitter_bash::LANGUAGE,
            Self::Json => tree_sitter_json::LANGUAGE,
            Self::Yaml => tree_sitter_yaml::LANGUAGE,
            Self::Toml => tree_sitter_toml_ng::LANGUAGE,
            Self::Html => tree_sitter_html::LANGUAGE,
            Self::Css => tree_sitter_css::LANGUAGE,
        }
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
