//! The languages that files are written in, by their names.
//!
//! More than have a grammar: this is for counting, not for reading.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Language(u8);

struct Row {
    name: &'static str,
    /// Whether programs are written in it; the others are prose, data and markup.
    program: bool,
    extensions: &'static [&'static str],
}

const fn program(name: &'static str, extensions: &'static [&'static str]) -> Row {
    Row { name, program: true, extensions }
}

const fn other(name: &'static str, extensions: &'static [&'static str]) -> Row {
    Row { name, program: false, extensions }
}

const ROWS: &[Row] = &[
    program("Rust", &["rs"]),
    program("Python", &["py", "pyi", "pyw", "pyx"]),
    program("TypeScript", &["ts", "tsx", "mts", "cts"]),
    program("JavaScript", &["js", "jsx", "mjs", "cjs"]),
    program("Go", &["go"]),
    program("Java", &["java"]),
    program("Kotlin", &["kt", "kts"]),
    program("C", &["c"]),
    program("C++", &["cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "ipp", "inl"]),
    program(HEADERS, &["h"]),
    program("C#", &["cs"]),
    program("F#", &["fs", "fsi", "fsx"]),
    program("Swift", &["swift"]),
    program("Objective-C", &["m", "mm"]),
    program("Ruby", &["rb", "rake", "gemspec"]),
    program("PHP", &["php"]),
    program("Scala", &["scala", "sc"]),
    program("Clojure", &["clj", "cljs", "cljc"]),
    program("Groovy", &["groovy", "gradle"]),
    program("Elixir", &["ex", "exs"]),
    program("Erlang", &["erl", "hrl"]),
    program("Haskell", &["hs", "lhs"]),
    program("OCaml", &["ml", "mli"]),
    program("Dart", &["dart"]),
    program("Lua", &["lua"]),
    program("Perl", &["pl", "pm"]),
    program("R", &["r"]),
    program("Julia", &["jl"]),
    program("Zig", &["zig"]),
    program("Nim", &["nim"]),
    program("Solidity", &["sol"]),
    program("Shell", &["sh", "bash", "zsh", "fish"]),
    program("PowerShell", &["ps1", "psm1"]),
    program("Assembly", &["s", "asm"]),
    program("Vue", &["vue"]),
    program("Svelte", &["svelte"]),
    program("Astro", &["astro"]),
    program("SQL", &["sql"]),
    program("Nix", &["nix"]),
    program("Terraform", &["tf", "hcl"]),
    program("Protocol Buffers", &["proto"]),
    program("GraphQL", &["graphql", "gql"]),
    program("CMake", &["cmake"]),
    other("HTML", &["html", "htm"]),
    other("CSS", &["css", "scss", "sass", "less"]),
    other("Markdown", &["md", "mdx", "markdown"]),
    other("reStructuredText", &["rst"]),
    other("TeX", &["tex"]),
    other("JSON", &["json", "jsonc", "json5", "jsonl"]),
    other("YAML", &["yaml", "yml"]),
    other("TOML", &["toml"]),
    other("XML", &["xml", "xsd", "xsl"]),
    other("CSV", &["csv", "tsv"]),
    other("Notebook", &["ipynb"]),
];

/// Headers of which the name says only that they are of C, C++ or Objective-C.
const HEADERS: &str = "C or C++ header";

/// Files whose name alone shows the language.
const NAMES: &[(&str, &str)] = &[
    ("Makefile", "Shell"),
    ("Dockerfile", "Shell"),
    ("Rakefile", "Ruby"),
    ("Gemfile", "Ruby"),
    ("CMakeLists.txt", "CMake"),
];

/// Files that tools write: they are counted, but say nothing about what a project is written in.
const WRITTEN_BY_TOOLS: &[&str] = &[
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "bun.lock",
    "composer.lock",
    "Pipfile.lock",
];

/// The language of each extension.
static BY_EXTENSION: LazyLock<HashMap<&str, Language>> = LazyLock::new(|| {
    let of_row = |(at, row): (usize, &'static Row)| {
        let language = Language::at(at);
        row.extensions.iter().filter_map(move |extension| Some((*extension, language?)))
    };
    ROWS.iter().enumerate().flat_map(of_row).collect()
});

impl Language {
    /// How many there are.
    pub const COUNT: usize = ROWS.len();

    /// Finds the language of a file by its name.
    pub fn of_name(name: &[u8]) -> Option<Self> {
        let named = |known: &str| known.as_bytes() == name;
        if let Some((_, language)) = NAMES.iter().find(|(known, _)| named(known)) {
            let at = ROWS.iter().position(|row| row.name == *language);
            return at.and_then(Self::at);
        }
        let dot = memchr::memrchr(b'.', name).filter(|at| *at > 0)?;
        let extension = str::from_utf8(&name[dot + 1..]).ok()?;
        if extension.len() > 10 || WRITTEN_BY_TOOLS.iter().any(|known| named(known)) {
            return None;
        }
        match BY_EXTENSION.get(extension) {
            Some(language) => Some(*language),
            None => BY_EXTENSION.get(extension.to_ascii_lowercase().as_str()).copied(),
        }
    }

    /// Finds a language by its name.
    pub fn named(name: &str) -> Option<Self> {
        ROWS.iter().position(|row| row.name == name).and_then(Self::at)
    }

    /// Returns the language of headers in a project that has so many bytes in each language.
    pub fn of_headers(bytes: impl Fn(Self) -> u64) -> Option<Self> {
        let count = |name: &str| Self::named(name).map_or(0, &bytes);
        let (c, cpp, objective) = (count("C"), count("C++"), count("Objective-C"));
        Self::named(match () {
            () if cpp > c && cpp >= objective => "C++",
            () if objective > c => "Objective-C",
            () => "C",
        })
    }

    /// Returns its place in the table.
    pub fn place(self) -> usize {
        usize::from(self.0)
    }

    /// Returns the language of a place.
    pub fn at(place: usize) -> Option<Self> {
        u8::try_from(place).ok().filter(|at| usize::from(*at) < ROWS.len()).map(Self)
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        ROWS[self.place()].name
    }

    /// Returns whether programs are written in it.
    pub fn is_program(self) -> bool {
        ROWS[self.place()].program
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_language() {
        for (name, language) in [
            ("main.rs", Some("Rust")),
            ("A.PY", Some("Python")),
            ("Makefile", Some("Shell")),
            ("package-lock.json", None),
            ("package.json", Some("JSON")),
            (".rs", None),
            ("notes", None),
        ] {
            assert_eq!(Language::of_name(name.as_bytes()).map(Language::name), language, "{name}");
        }
        for (c, cpp, language) in [(0, 0, "C"), (9, 3, "C"), (3, 9, "C++")] {
            let bytes = |language: Language| match language.name() {
                "C" => c,
                "C++" => cpp,
                _ => 0,
            };
            assert_eq!(Language::of_headers(bytes).map(Language::name), Some(language));
        }
        assert_eq!(Language::of_name(b"a\xff.rs").map(Language::name), Some("Rust"));
    }

    #[test]
    fn no_extension_is_in_two_rows() {
        let mut all: Vec<&str> = ROWS.iter().flat_map(|row| row.extensions).copied().collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
