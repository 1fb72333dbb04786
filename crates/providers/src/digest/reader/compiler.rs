//! What GCC, Clang, assemblers and linkers print.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::super::facts::{Counts, DigestItem, Facts, NAME_BYTES, Tool, cut};
use super::super::place;
use super::router::{LineOwner, Reader};

/// How many different diagnostics are told apart.
const KNOWN: usize = 20_000;
/// Ends of the names of files that these compilers read.
const SOURCES: &[&str] = &[
    ".c", ".cc", ".cpp", ".cxx", ".c++", ".C", ".h", ".hh", ".hpp", ".hxx", ".inc", ".ipp", ".tcc", ".inl",
    ".m", ".mm", ".S", ".s", ".cu", ".cuh", ".def", ".y", ".l",
];
/// Programs that say something without a file.
const PROGRAMS: &[&str] = &[
    "gcc", "g++", "cc", "c++", "cc1", "cc1plus", "clang", "clang++", "collect2", "ld", "ld.lld", "lto1", "as",
];

/// The reader.
#[derive(Debug)]
pub struct Compiler {
    facts: Facts,
    /// Hashes of what was read, so that what a header causes in many files stands once.
    known: HashSet<u64>,
    /// How many lines of a source may follow.
    shown: u8,
    errors: u64,
    warnings: u64,
    generated: Option<u64>,
    /// What the driver says of a failed linker.
    linker: Option<DigestItem>,
    /// What was read last, and whether it is an error: lines after it may say where a template is used.
    last: Option<(DigestItem, bool)>,
    /// Where the template is used that the next lines are about.
    required: Option<String>,
}

impl Compiler {
    /// At the beginning of a stream.
    pub fn new() -> Self {
        Self {
            facts: Facts::of(Tool::Gcc),
            known: HashSet::new(),
            shown: 0,
            errors: 0,
            warnings: 0,
            generated: None,
            linker: None,
            last: None,
            required: None,
        }
    }

    fn keep(&mut self, found: DigestItem, is_error: bool) {
        self.close();
        self.facts.seen = true;
        if is_error {
            self.errors += 1;
        } else {
            self.warnings += 1;
        }
        self.last = Some((found, is_error));
    }

    /// Puts what was read last into its list.
    fn close(&mut self) {
        let Some((found, is_error)) = self.last.take() else { return };
        let mut hasher = DefaultHasher::new();
        (&found.file, found.line, found.column, &found.message, &found.required_from, is_error)
            .hash(&mut hasher);
        let is_new = self.known.len() >= KNOWN || self.known.insert(hasher.finish());
        if is_new {
            let list = if is_error { &mut self.facts.failures } else { &mut self.facts.warnings };
            list.push(found);
        }
    }

    /// `FILE:LINE:COLUMN: error: message`.
    fn diagnostic(&mut self, line: &str) -> bool {
        let Some(at) = place::leading(line).filter(|at| is_source(at.file)) else { return false };
        let lower = [
            ("error: ", true),
            ("fatal error: ", true),
            ("Error: ", true),
            ("warning: ", false),
            ("Warning: ", false),
        ];
        for (kind, is_error) in lower {
            if let Some(message) = at.rest.strip_prefix(kind) {
                let message = if kind == "fatal error: " { at.rest } else { message };
                let mut found = DigestItem::saying(message).at(at.file, at.line, at.column);
                found.required_from.clone_from(&self.required);
                self.keep(found, is_error);
                self.shown = 3;
                return true;
            }
        }
        if at.rest.starts_with("note: ") {
            // Clang names the uses of a template from the inside out.
            if at.rest.ends_with(" requested here")
                && let Some((found, _)) = &mut self.last
            {
                found.required_from = Some(shown(&at));
            }
            self.shown = 3;
            return true;
        }
        if at.rest.starts_with("required from here") {
            self.required = Some(shown(&at));
        }
        at.rest.starts_with("  required from")
            || at.rest.starts_with("required from")
            || at.rest.starts_with("required by")
            || at.rest.starts_with("recursively required")
            || at.rest.starts_with("in ‘constexpr’")
    }

    /// Something that a linker cannot do.
    fn link(&mut self, line: &str) -> bool {
        let (before, after) = if let Some(found) = line.split_once(": undefined reference to ") {
            found
        } else if let Some(found) = line.split_once(": multiple definition of ") {
            found
        } else {
            return false;
        };
        let message = &line[before.len() + 2..];
        let name = after.trim_start_matches(['`', '\'', '‘']).split(['\'', '’']).next().unwrap_or(after);
        let mut found = DigestItem::saying(message);
        found.name = Some(name.to_owned());
        let before = before.split_once("ld: ").map_or(before, |(_, file)| file);
        if let Some(at) = place::whole(before) {
            found.set_place(at.file, at.line, at.column);
        } else {
            // `file.c:(.text+0x5)`
            found.file = before.split(":(").next().map(ToOwned::to_owned);
        }
        self.keep(found, true);
        true
    }

    /// What a program says of no file.
    fn program(&mut self, line: &str) -> bool {
        let Some((program, rest)) = line.split_once(": ") else { return false };
        let name = program.rsplit('/').next().unwrap_or(program);
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-' || c == '.');
        if !PROGRAMS.contains(&name) {
            return false;
        }
        if let Some(message) = rest.strip_prefix("error: ").or_else(|| rest.strip_prefix("fatal error: ")) {
            let found = DigestItem::saying(message);
            if name == "collect2" || message.starts_with("linker command failed") {
                self.facts.seen = true;
                self.linker = Some(found);
            } else {
                self.keep(found, true);
            }
            return true;
        }
        if let Some(message) = rest.strip_prefix("cannot find ") {
            self.keep(DigestItem::saying(&format!("cannot find {message}")), true);
            return true;
        }
        rest.contains(": in function `")
            || rest.starts_with("all warnings being treated")
            || rest.starts_with("warning: ")
    }

    /// `1 warning and 2 errors generated.`
    fn generated(&mut self, line: &str) -> bool {
        let Some(told) = line.strip_suffix(" generated.") else { return false };
        let (mut errors, mut all) = (0, 0);
        for part in told.split(" and ") {
            let Some((count, word)) = place::number(part) else { return false };
            match word {
                " error" | " errors" => errors += count,
                " warning" | " warnings" => {}
                _ => return false,
            }
            all += count;
        }
        self.facts.tool = Tool::Clang;
        self.facts.seen |= all > 0;
        self.facts.summarize(line);
        *self.generated.get_or_insert(0) += errors;
        true
    }

    fn told(&mut self, line: &str) -> bool {
        // What the next lines are about.
        let is_context = line.contains(": In function ‘")
            || line.contains(": In function '")
            || line.contains(": In member function ")
            || line.contains(": In instantiation of ")
            || line.contains(": In substitution of ")
            || line.contains(": In constructor ")
            || line.contains(": In destructor ")
            || line.contains(": In lambda function:")
            || line.contains(": At top level:")
            || line.contains(": At global scope:");
        if is_context {
            self.required = None;
        }
        is_context
            || line.starts_with("compilation terminated.")
            || line.starts_with("In file included from ")
            || line.starts_with("                 from ")
    }
}

impl Reader for Compiler {
    fn line(&mut self, line: &str) -> LineOwner {
        let bytes = line.as_bytes();
        // Every line that says something has a colon, but for two.
        let has_colon = memchr::memchr(b':', bytes).is_some();
        let taken = if has_colon {
            self.diagnostic(line)
                || self.link(line)
                || self.program(line)
                || (memchr::memmem::find(bytes, b" errors emitted").is_some() && self.too_many(line))
        } else {
            false
        };
        if taken || (line.ends_with(" generated.") && self.generated(line)) || (has_colon && self.told(line))
        {
            return LineOwner::Line;
        }
        if is_margin(line) {
            return if self.facts.seen { LineOwner::Line } else { LineOwner::Pass };
        }
        if self.shown > 0 && !line.is_empty() {
            self.shown -= 1;
            return LineOwner::Line;
        }
        self.shown = 0;
        LineOwner::Pass
    }

    fn finish(mut self: Box<Self>) -> Facts {
        if let Some(found) = self.linker.take()
            && self.errors == 0
        {
            self.keep(found, true);
        }
        self.close();
        let facts = &mut self.facts;
        facts.ended = facts.seen;
        if let Some(errors) = self.generated
            && errors != self.errors
        {
            facts.doubt("other numbers of errors in the list and at the end");
        }
        if facts.seen {
            facts.counts = Counts {
                errors: (self.errors > 0).then_some(self.errors),
                warnings: (self.warnings > 0).then_some(self.warnings),
                ..Counts::default()
            };
        }
        self.facts
    }
}

impl Compiler {
    /// Clang counts its own giving up as an error.
    fn too_many(&mut self, line: &str) -> bool {
        let is_so = line.starts_with("fatal error: too many errors emitted");
        if is_so {
            self.errors += 1;
            self.facts.summarize(line);
        }
        is_so
    }
}

/// `FILE:LINE:COLUMN`.
fn shown(at: &place::TextLocation<'_>) -> String {
    let column = at.column.map(|column| format!(":{column}")).unwrap_or_default();
    cut(&format!("{}:{}{column}", at.file, at.line), NAME_BYTES)
}

fn is_source(file: &str) -> bool {
    SOURCES.iter().any(|end| file.ends_with(end)) || file.contains("/include/")
}

/// Returns whether a line is one of a source with its number, as GCC shows it: `   10 | int x;`.
fn is_margin(line: &str) -> bool {
    let Some((before, _)) = line.split_once('|') else { return false };
    before.len() >= 3 && before.ends_with(' ') && before.trim().bytes().all(|byte| byte.is_ascii_digit())
}
