//! Definitions that a tree with errors has lost, found again by their lines: a header begins its line, and indentation
//! shows how far it reaches.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;
use tree_sitter::Tree;

use super::arrange::{arrange, characters, of_line};
use super::definition::{Definition, Position};
use super::extent::narrow;
use super::kind::Kind;
use crate::syntax::Language;

/// How long a line can be that is checked, in bytes.
const MAX_LINE_BYTES: usize = 1_000;
/// How many headers of one text are checked.
const MAX_HEADERS: usize = 20_000;

/// A line that may begin a definition.
struct Header {
    line: usize,
    name: Range<usize>,
    kind: Kind,
}

/// The lines of a text.
struct Lines<'s> {
    text: &'s [u8],
    /// Where each begins.
    starts: Vec<usize>,
}

impl<'s> Lines<'s> {
    fn new(text: &'s [u8]) -> Self {
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', text).map(|feed| feed + 1));
        Self { text, starts }
    }

    fn get(&self, line: usize) -> &'s [u8] {
        let Some(start) = self.starts.get(line) else { return b"" };
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        &self.text[*start..end]
    }

    /// Returns the line of a byte.
    fn of(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte).saturating_sub(1)
    }

    /// Returns how far a line is indented; `None` for one that is empty.
    fn indentation(&self, line: usize) -> Option<usize> {
        let text = self.get(line);
        let blanks = text.iter().take_while(|byte| b" \t".contains(byte)).count();
        (!text.trim_ascii().is_empty()).then_some(blanks)
    }

    /// Returns the last line of a definition whose header is at a line.
    fn last_of(&self, header: usize, language: Language) -> usize {
        let own = self.indentation(header).unwrap_or(0);
        let is_complete = |text: &[u8]| {
            let text = text.trim_ascii_end();
            text.ends_with(b";") || text.ends_with(b"}")
        };
        let by_end = matches!(language, Language::Ruby);
        let by_blanks = matches!(language, Language::Python);
        if !by_blanks && !by_end && is_complete(self.get(header)) {
            return header;
        }
        let mut last = header;
        let mut is_open = self.get(header).contains(&b'{');
        for line in header + 1..self.starts.len() {
            let Some(blanks) = self.indentation(line) else { continue };
            let text = self.get(line).trim_ascii();
            let is_label = text.starts_with(b"#") && !by_blanks && !by_end;
            if blanks > own || is_label {
                last = if is_label { last } else { line };
                is_open |= text.contains(&b'{');
                if !is_open && !by_blanks && !by_end && text.ends_with(b";") {
                    return line;
                }
                continue;
            }
            let closes = match by_end {
                true => text.starts_with(b"end"),
                false => matches!(text.first(), Some(b'}' | b')' | b']')),
            };
            let opens = text.starts_with(b"{") && !is_open;
            if blanks == own && (opens || (text.starts_with(b")") && text.ends_with(b"{"))) {
                is_open = true;
                last = line;
                continue;
            }
            return if closes && blanks == own { line } else { last };
        }
        last
    }
}

/// Adds to a list what the tree has lost.
pub(super) fn recover(
    language: Language,
    tree: &Tree,
    source: &[u8],
    text: &[u8],
    list: &mut Vec<Definition>,
) {
    let lines = Lines::new(text);
    let mut headers = headers(language, &lines);
    if !matches!(language, Language::C | Language::Cpp) {
        shorten(language, tree, &lines, list, &headers);
    }
    let mut known: Vec<u32> = list.iter().map(|definition| definition.name_byte).collect();
    known.sort_unstable();
    headers.retain(|header| known.binary_search(&narrow(header.name.start)).is_err());
    if headers.is_empty() {
        return;
    }
    keep_unread(tree, &lines, list, &mut headers);
    let mut recovered: Vec<Definition> = Vec::new();
    for header in headers {
        recovered.push(of_header(&header, &lines, source, language));
    }
    nest(list, recovered);
}

/// Ends functions of which a tree with errors has not seen the end: a header that is indented as little as theirs is
/// behind them, and so is all that follows it.
fn shorten(language: Language, tree: &Tree, lines: &Lines<'_>, list: &mut [Definition], headers: &[Header]) {
    let is_text = |header: &Header| {
        let name = tree.root_node().descendant_for_byte_range(header.name.start, header.name.end);
        let around = std::iter::successors(name, |node| node.parent());
        around.take_while(|node| !node.is_error()).any(|node| is_quoted(node.kind()))
    };
    for at in 0..list.len() {
        let function = &list[at];
        let line = function.name_at.line as usize - 1;
        let range = function.bytes.start as usize..function.bytes.end as usize;
        let Some(own) = lines.indentation(line).filter(|_| function.kind.is_callable()) else { continue };
        let has_error = || {
            let node = tree.root_node().descendant_for_byte_range(function.name_byte as usize, range.end);
            node.is_some_and(|node| node.has_error())
        };
        let next = headers.partition_point(|header| header.line <= line);
        let inner = headers[next..].iter().take_while(|header| header.name.start < range.end);
        let mut outer =
            inner.filter(|header| lines.indentation(header.line).is_some_and(|blanks| blanks <= own));
        if !has_error() || !outer.any(|header| !is_text(header)) {
            continue;
        }
        let last = lines.last_of(line, language);
        let end = lines.starts.get(last + 1).copied().unwrap_or(lines.text.len());
        let end = narrow(range.start + lines.text[range.start..end.max(range.start)].trim_ascii_end().len());
        let container = function.container;
        list[at].bytes.end = end;
        list[at].last_line = narrow(last + 1);
        for behind in list.iter_mut().filter(|it| it.container == Some(narrow(at)) && it.bytes.start >= end) {
            behind.container = container;
        }
    }
}

/// Returns whether a node of this kind is a comment or a text.
fn is_quoted(kind: &str) -> bool {
    kind.contains("comment") || kind.contains("string") || kind.contains("heredoc")
}

/// Adds functions of which a tree saw no type: their names, and where their bodies begin.
pub(super) fn add_functions(list: &mut Vec<Definition>, functions: &[(Range<usize>, usize)], source: &[u8]) {
    let mut known: Vec<u32> = list.iter().map(|definition| definition.name_byte).collect();
    known.sort_unstable();
    let mut begun: Vec<u32> =
        list.iter().filter(|it| it.kind.is_callable()).map(|it| it.bytes.start).collect();
    begun.sort_unstable();
    let is_new = |function: &&(Range<usize>, usize)| {
        let start = narrow(function.0.start);
        known.binary_search(&start).is_err() && begun.binary_search(&start).is_err()
    };
    let new: Vec<&(Range<usize>, usize)> = functions.iter().filter(is_new).collect();
    if new.is_empty() {
        return;
    }
    let lines = Lines::new(source);
    let recovered = new.into_iter().map(|(name, end)| {
        let (line, last) = (lines.of(name.start), lines.of(end.saturating_sub(1)));
        let start = lines.starts[line] + lines.indentation(line).unwrap_or(0);
        let header = source[start..*end].split(|byte| *byte == b'\n').next().unwrap_or_default();
        Definition {
            name: String::from_utf8_lossy(&source[name.clone()]).into_owned(),
            kind: Kind::Function,
            container: None,
            owner: None,
            signature: of_line(header.split(|byte| *byte == b'{').next().unwrap_or_default()),
            bytes: narrow(start)..narrow(*end),
            name_at: Position {
                line: narrow(line + 1),
                column: narrow(characters(&source[lines.starts[line]..name.start]) + 1),
            },
            name_byte: narrow(name.start),
            first_line: narrow(line + 1),
            last_line: narrow(last + 1),
            declared_only: false,
        }
    });
    let recovered = recovered.collect();
    nest(list, recovered);
}

/// Finds the lines that look like headers.
fn headers(language: Language, lines: &Lines<'_>) -> Vec<Header> {
    let mut found = Vec::new();
    for line in 0..lines.starts.len() {
        let text = lines.get(line);
        if text.len() > MAX_LINE_BYTES || found.len() >= MAX_HEADERS {
            continue;
        }
        let Some((kind, name)) = header(language, text, || {
            (line + 1..line + 12).map(|line| lines.get(line)).find(|text| !text.trim_ascii().is_empty())
        }) else {
            continue;
        };
        let start = lines.starts[line];
        found.push(Header { line, name: start + name.start..start + name.end, kind });
    }
    found
}

macro_rules! pattern {
    ($name:ident, $text:expr) => {
        static $name: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new($text).ok());
    };
}

pattern!(
    SCRIPT,
    r"^[ \t]*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:const\s+)?(interface|type|class|enum|namespace|function)\b\*?\s*([A-Za-z_$][\w$]*)\s*(?:[<{=(:]|extends\b|implements\b|$)"
);
pattern!(VALUE, r"^(?:export\s+)?(?:declare\s+)?(const|let|var)\s+([A-Za-z_$][\w$]*)\s*[=:]");
pattern!(
    KOTLIN,
    r"^[ \t]*(?:@[\w.]+(?:\([^)]*\))?\s+)*(?:(?:public|private|protected|internal|open|abstract|sealed|final|override|actual|expect|inline|suspend|data|enum|inner|value|lateinit|const|operator|infix|tailrec|external|fun|annotation)\s+)*(class|interface|companion\s+object|object|fun|val|var|typealias)\s+(?:<[^>]*>\s+)?(?:[\w<>?*, .]+\.)?`?([A-Za-z_]\w*|\{)"
);
pattern!(
    JAVA_TYPE,
    r"^[ \t]*(?:@[\w.]+(?:\([^)]*\))?\s+)*(?:(?:public|private|protected|internal|static|final|abstract|sealed|partial|readonly|ref|unsafe|strictfp|non-sealed)\s+)*(class|interface|@interface|enum|record|struct|namespace)\s+([A-Za-z_][\w.]*)"
);
pattern!(
    JAVA_METHOD,
    r"^[ \t]+(?:@[\w.]+(?:\([^)]*\))?\s+)*(?:(?:public|private|protected|internal|static|final|abstract|synchronized|native|default|override|virtual|async|sealed|extern|unsafe|new)\s+)+(?:<[^>]*>\s+)?(?:[\w<>?\[\],. ]+\s+)?([A-Za-z_]\w*)\s*(?:<[^>]*>)?\("
);
pattern!(
    SWIFT,
    r"^[ \t]*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|private|fileprivate|internal|open|final|static|class|mutating|override|indirect|convenience|required)\s+)*(class|struct|enum|protocol|extension|actor|func|typealias)\s+([A-Za-z_]\w*)"
);
pattern!(
    PHP,
    r"^[ \t]*(?:(?:public|private|protected|static|final|abstract|readonly)\s+)*(class|interface|trait|enum|function)\s+&?([A-Za-z_]\w*)"
);
pattern!(GO, r"^(func|type)\s+(?:\([^)]*\)\s*)?([A-Za-z_]\w*)");
pattern!(
    RUST,
    r#"^[ \t]*(?:pub(?:\([^)]*\))?\s+)?(?:default\s+)?(?:const\s+)?(?:async\s+)?(?:unsafe\s+)?(?:extern\s+"[^"]*"\s+)?(fn|struct|enum|union|trait|mod|type|macro_rules!)\s+([A-Za-z_]\w*)"#
);
pattern!(PYTHON, r"^[ \t]*(?:async\s+)?(def|class)\s+([A-Za-z_]\w*)");
pattern!(RUBY, r"^[ \t]*(?:private\s+|protected\s+)?(def|class|module)\s+(?:self\.)?([A-Za-z_]\w*[?!=]?)");
pattern!(BASH, r"^[ \t]*(?:function\s+)?([A-Za-z_][\w:.-]*)\s*\(\)");
pattern!(
    C_TYPE,
    r"^[ \t]*(?:typedef\s+)?(?:template\s*<.*>\s*)?(class|struct|union|enum(?:\s+class)?|namespace)\s+(?:\w+\s+)*?([A-Za-z_]\w*)\s*(?:<.*>\s*)?(?:final\s*)?(?::[^:].*)?(?:\{.*)?$"
);
pattern!(C_ALIAS, r"^[ \t]*using\s+([A-Za-z_]\w*)\s*=");
pattern!(C_FUNCTION, r"^(?:[A-Za-z_][\w:<>,*& ]*[\s*&])?\*?((?:\w+::)*~?[A-Za-z_]\w*)\s*\([^;]*$");

/// Reads a line as a header. `next` is the line behind it that is not empty.
fn header<'s>(
    language: Language,
    line: &'s [u8],
    next: impl Fn() -> Option<&'s [u8]>,
) -> Option<(Kind, Range<usize>)> {
    let patterns: &[&LazyLock<Option<Regex>>] = match language {
        Language::TypeScript | Language::Tsx | Language::JavaScript => &[&SCRIPT, &VALUE],
        Language::Kotlin => &[&KOTLIN],
        Language::Java | Language::CSharp => &[&JAVA_TYPE, &JAVA_METHOD],
        Language::Swift => &[&SWIFT],
        Language::Php => &[&PHP],
        Language::Go => &[&GO],
        Language::Rust => &[&RUST],
        Language::Python => &[&PYTHON],
        Language::Ruby => &[&RUBY],
        Language::Bash => &[&BASH],
        Language::C | Language::Cpp => &[&C_TYPE, &C_ALIAS, &C_FUNCTION],
        Language::Json | Language::Yaml | Language::Toml | Language::Html | Language::Css => &[],
    };
    let line = line.trim_ascii_end();
    for pattern in patterns {
        let Some(found) = pattern.as_ref().and_then(|pattern| pattern.captures(line)) else { continue };
        let (keyword, name) = match (found.get(1), found.get(2)) {
            (Some(keyword), Some(name)) => (keyword.as_bytes(), name),
            (Some(name), None) => (&b""[..], name),
            (None, _) => continue,
        };
        let name = match (keyword.ends_with(b"object"), name.as_bytes()) {
            // A companion is called so, and stands for its keyword here.
            (true, b"{") if keyword != b"object" => {
                let end = keyword_end(line, keyword);
                end - b"object".len()..end
            }
            (_, b"{") => return None,
            _ => name.range(),
        };
        if is_reserved(&line[name.clone()]) {
            return None;
        }
        let opens = |text: &[u8]| text.ends_with(b"{") || text.ends_with(b"}");
        let kind = match keyword {
            b"class" | b"actor" => Kind::Class,
            keyword if keyword.ends_with(b"object") => Kind::Class,
            b"interface" | b"@interface" | b"protocol" => Kind::Interface,
            b"struct" | b"record" | b"union" => Kind::Struct,
            b"enum" => Kind::Enum,
            keyword if keyword.starts_with(b"enum") => Kind::Enum,
            b"trait" => Kind::Trait,
            b"extension" => Kind::Implementation,
            b"type" | b"typealias" => Kind::Type,
            b"namespace" | b"mod" | b"module" => Kind::Module,
            b"macro_rules!" => Kind::Macro,
            b"const" | b"val" => Kind::Constant,
            b"let" | b"var" => Kind::Variable,
            b"" if line.trim_ascii_start().starts_with(b"using") => Kind::Type,
            _ => Kind::Function,
        };
        let is_c = matches!(language, Language::C | Language::Cpp);
        if is_c && !matches!(kind, Kind::Type) {
            // A declaration, a variable or a call has no body.
            let opens_next = || next().is_some_and(|next| next.trim_ascii_start().starts_with(b"{"));
            let goes_on = kind == Kind::Function && !line.ends_with(b";") && line.ends_with(b",");
            if !(opens(line) || opens_next() || goes_on) {
                return None;
            }
        }
        return Some((kind, name));
    }
    None
}

/// Returns where a keyword ends that a line has.
fn keyword_end(line: &[u8], keyword: &[u8]) -> usize {
    memchr::memmem::find(line, keyword).map_or(0, |at| at + keyword.len())
}

/// Returns whether a word is no name in any language where it could be in a header.
fn is_reserved(word: &[u8]) -> bool {
    matches!(
        word,
        b"if"
            | b"for"
            | b"while"
            | b"switch"
            | b"catch"
            | b"return"
            | b"else"
            | b"do"
            | b"new"
            | b"function"
            | b"in"
            | b"is"
            | b"as"
            | b"extends"
            | b"implements"
            | b"sizeof"
            | b"defined"
            | b"throw"
            | b"await"
            | b"case"
            | b"class"
    )
}

/// Keeps the headers that are in no comment, no text, and not in the middle of code that the tree has understood.
fn keep_unread(tree: &Tree, lines: &Lines<'_>, list: &[Definition], headers: &mut Vec<Header>) {
    let mut code: Vec<Range<usize>> = list
        .iter()
        .filter(|it| !it.kind.has_methods() && !matches!(it.kind, Kind::Module | Kind::Implementation))
        .map(|it| it.bytes.start as usize..it.bytes.end as usize)
        .collect();
    code.sort_unstable_by_key(|range| range.start);
    // The end of what reaches furthest of all that begins before.
    let mut reach = Vec::with_capacity(code.len());
    for range in &code {
        reach.push(range.end.max(reach.last().copied().unwrap_or(0)));
    }
    let is_in_code = |header: &Header| {
        let before = code.partition_point(|range| range.start < lines.starts[header.line]);
        before > 0 && reach[before - 1] > header.name.start
    };
    let mut is_kept = vec![true; headers.len()];
    let mut cursor = tree.walk();
    let mut next = 0;
    'walk: loop {
        let node = cursor.node();
        while headers.get(next).is_some_and(|header| header.name.start < node.start_byte()) {
            next += 1;
        }
        let Some(header) = headers.get(next) else { break };
        if header.name.start < node.end_byte() {
            let kind = node.kind();
            let is_text = is_quoted(kind);
            let begins_before = node.start_byte() < lines.starts[header.line];
            let is_clean = !node.has_error() && !node.is_error();
            if is_text || (is_clean && begins_before && is_in_code(header)) {
                is_kept[next] = false;
                next += 1;
                continue;
            }
            if cursor.goto_first_child() {
                continue;
            }
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                break 'walk;
            }
        }
    }
    let mut kept = is_kept.iter();
    headers.retain(|_| kept.next().copied().unwrap_or(false));
}

fn of_header(header: &Header, lines: &Lines<'_>, source: &[u8], language: Language) -> Definition {
    let last = lines.last_of(header.line, language);
    let line = lines.starts[header.line];
    let start = line + lines.indentation(header.line).unwrap_or(0);
    let end = lines.starts.get(last + 1).copied().unwrap_or(source.len());
    let end = start + source[start..end.max(start)].trim_ascii_end().len();
    let first = source[start..end].split(|byte| *byte == b'\n').next().unwrap_or_default();
    let name = match &source[header.name.clone()] {
        b"object" => b"Companion",
        name => name,
    };
    let (owner, own) = match name.windows(2).rposition(|pair| pair == b"::") {
        Some(at) => (Some(String::from_utf8_lossy(&name[..at]).into_owned()), &name[at + 2..]),
        None => (None, name),
    };
    let name_byte = header.name.start + name.len() - own.len();
    let column = characters(&source[line..name_byte]) + 1;
    Definition {
        name: String::from_utf8_lossy(own).into_owned(),
        kind: if owner.is_some() { Kind::Method } else { header.kind },
        container: None,
        owner,
        signature: of_line(first),
        bytes: narrow(start)..narrow(end),
        name_at: Position { line: narrow(header.line + 1), column: narrow(column) },
        name_byte: narrow(name_byte),
        first_line: narrow(header.line + 1),
        last_line: narrow(lines.of(end.saturating_sub(1).max(start)) + 1),
        declared_only: false,
    }
}

/// Adds definitions to a list, and puts each where it lies: in the innermost that holds members.
fn nest(list: &mut Vec<Definition>, recovered: Vec<Definition>) {
    let first = list.len();
    list.extend(recovered);
    let is_recovered = |at: usize| at >= first;
    let mut order: Vec<usize> = (0..list.len()).collect();
    order.sort_by_key(|at| (list[*at].bytes.start, std::cmp::Reverse(list[*at].bytes.end), *at));
    let mut open: Vec<usize> = Vec::new();
    let mut left_out = vec![false; list.len()];
    for at in order {
        while open.last().is_some_and(|above| list[*above].bytes.end <= list[at].bytes.start) {
            open.pop();
        }
        let above = open
            .iter()
            .rev()
            .copied()
            .find(|above| *above != at && list[*above].bytes.end >= list[at].bytes.end);
        let is_value = matches!(list[at].kind, Kind::Constant | Kind::Variable);
        if is_recovered(at) {
            let holder = above.map(|above| list[above].kind);
            // Values within functions are no definitions.
            left_out[at] =
                is_value && holder.is_some_and(|kind| kind.is_callable() || kind == Kind::Constant);
            list[at].container = above.map(narrow);
        } else if let Some(above) = above.filter(|above| is_recovered(*above)) {
            list[at].container = Some(narrow(above));
        }
        let holder = above.map(|above| list[above].kind);
        if holder.is_some_and(Kind::has_methods) {
            match list[at].kind {
                Kind::Function => list[at].kind = Kind::Method,
                Kind::Constant | Kind::Variable if is_recovered(at) => list[at].kind = Kind::Property,
                _ => {}
            }
        }
        open.push(at);
    }
    if left_out.contains(&true) {
        // What is in one that is left out loses its container.
        for definition in list.iter_mut() {
            definition.container = definition.container.filter(|container| !left_out[*container as usize]);
        }
        let mut places = Vec::with_capacity(list.len());
        let mut kept = 0_u32;
        for is_left_out in &left_out {
            places.push(kept);
            kept += u32::from(!is_left_out);
        }
        let mut all = std::mem::take(list);
        for (at, mut definition) in all.drain(..).enumerate() {
            if !left_out[at] {
                definition.container = definition.container.map(|container| places[container as usize]);
                list.push(definition);
            }
        }
    }
    arrange(list);
}
