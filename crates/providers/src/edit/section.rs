//! The part of a text that a line after `@@` names: what follows that line, up to the next of its kind.

use super::text::{Text, body};

/// How long a header has to be so that its last word may be cut off.
const CUT_LENGTH: usize = 40;
/// How many letters and digits the beginning of a line needs to stand for it.
const TELLING_CHARS: usize = 4;
/// Words at the start of lines that belong to what was begun before, however little they are indented.
const CONTINUING: [&str; 18] = [
    "else",
    "elif",
    "elsif",
    "except",
    "finally",
    "catch",
    "rescue",
    "ensure",
    "case",
    "default",
    "when",
    "then",
    "do",
    "where",
    "public",
    "private",
    "protected",
    "extends",
];
/// Words that end what was begun before, and belong to it.
const CLOSING: [&str; 5] = ["end", "fi", "done", "esac", "endif"];

/// A part of a text: the line that names it, and the line after its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section {
    pub header: usize,
    pub end: usize,
}

impl Section {
    /// Returns whether new lines that come before a line are in it.
    pub fn takes(&self, line: usize) -> bool {
        (self.header + 1..=self.end).contains(&line)
    }

    /// Returns whether a line is in it.
    pub fn holds(&self, line: usize) -> bool {
        (self.header..self.end).contains(&line)
    }
}

/// Finds the sections that headers name, from the outside in. `Err` holds the header that no line is.
pub fn sections<'a>(text: &Text, headers: &'a [String]) -> Result<Vec<Section>, &'a str> {
    let mut found = vec![Section { header: 0, end: text.len() }];
    for (depth, header) in headers.iter().enumerate() {
        // The first section is the whole text; the line that names an outer one does not name the inner one, too.
        let inner = |outer: &Section| outer.header + usize::from(depth > 0)..outer.end;
        let lines = |is: &dyn Fn(&str, &str) -> bool| -> Vec<Section> {
            let inside = found.iter().flat_map(|outer| inner(outer).map(move |line| (line, outer.end)));
            inside
                .filter(|(line, _)| is(body(text.line(*line)).trim(), header.trim()))
                .map(|(line, end)| Section { header: line, end: end_of(text, line).min(end) })
                .collect()
        };
        let mut inside = lines(&|line, header| line == header);
        if inside.is_empty() {
            inside = lines(&begins);
        }
        if inside.is_empty() {
            return Err(header);
        }
        inside.dedup();
        found = inside;
    }
    Ok(found)
}

/// Returns whether a line begins as a header says, with whole words: `class A:` stands for `class A(Base):`.
fn begins(line: &str, header: &str) -> bool {
    let header = header.trim_end_matches(|it: char| !it.is_alphanumeric() && it != '_');
    let telling = header.chars().filter(|it| it.is_alphanumeric()).count() >= TELLING_CHARS;
    let Some(rest) = line.strip_prefix(header).filter(|_| telling) else { return false };
    header.len() >= CUT_LENGTH || !rest.starts_with(|it: char| it.is_alphanumeric() || it == '_')
}

/// Finds where the section of a line ends: where what is indented further ends, or, if nothing is, at the next line that
/// begins in the same way.
fn end_of(text: &Text, header: usize) -> usize {
    let line = |at: usize| body(text.line(at));
    let depth = |line: &str| line.len() - line.trim_start().len();
    let own = line(header);
    let speaks = |at: &usize| is_significant(line(*at).trim(), own.trim());
    let mut rest = (header + 1..text.len()).filter(speaks).peekable();
    let indented = rest.peek().is_some_and(|next| depth(line(*next)) > depth(own));
    let same_kind = |other: &str| kind(other) == kind(own.trim());
    let mut outside = rest.filter(|at| depth(line(*at)) <= depth(own));
    let close = if indented { outside.next() } else { outside.find(|at| same_kind(line(*at).trim())) };
    match close {
        None => text.len(),
        Some(at) if indented && CLOSING.contains(&first_word(line(at).trim())) => at + 1,
        Some(at) => at,
    }
}

/// Returns whether a line can begin something: no brackets that close, no labels, nothing for the preprocessor.
fn is_significant(line: &str, header: &str) -> bool {
    let first = first_word(line);
    let label = !header.ends_with(':') && line.strip_suffix(':').is_some_and(|word| word == first);
    let directive = line.starts_with('#') && !header.starts_with('#');
    line.contains(|it: char| it.is_alphanumeric())
        && !line.starts_with(['}', ')', ']'])
        && !CONTINUING.contains(&first)
        && !label
        && !directive
}

fn first_word(line: &str) -> &str {
    let end = line.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(line.len());
    &line[..end]
}

/// What a line begins with: its first word, or its first sign. Headings of text end with those of their own level.
fn kind(line: &str) -> &str {
    match first_word(line) {
        "" if line.starts_with('#') => "#",
        "" => line.get(..1).unwrap_or_default(),
        word => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(file: &str, headers: &[&str]) -> Result<Vec<(usize, usize)>, String> {
        let headers: Vec<String> = headers.iter().map(|it| (*it).to_owned()).collect();
        let text = Text::new(file.to_owned());
        let found = sections(&text, &headers).map_err(str::to_owned)?;
        Ok(found.iter().map(|it| (it.header, it.end)).collect())
    }

    #[test]
    fn a_section_ends_where_the_next_one_begins() {
        let python =
            "class A:\n    def f(self):\n        pass\n\n\nclass B(A):\n    def f(self):\n        return 1\n";
        assert_eq!(of(python, &["class A:"]), Ok(vec![(0, 5)]));
        assert_eq!(of(python, &["class A:", "def f(self):"]), Ok(vec![(1, 5)]));
        assert_eq!(of(python, &["def f(self):"]), Ok(vec![(1, 5), (6, 8)]));
        assert_eq!(of(python, &["class B:", "de"]), Err("de".to_owned()), "too little");
        assert_eq!(of(python, &["class B", "def f(self"]), Ok(vec![(6, 8)]));
        assert_eq!(of(python, &["class C:"]), Err("class C:".to_owned()));
        let c = "int f(void)\n{\n    a();\nout:\n#if X\n    b();\n#endif\n}\n\nint g(void)\n{\n}\n";
        assert_eq!(of(c, &["int f(void)"]), Ok(vec![(0, 9)]));
        assert_eq!(of(c, &["int g(void)"]), Ok(vec![(9, 12)]));
        let ruby = "def a\n  1\nend\nputs a\n";
        assert_eq!(of(ruby, &["def a"]), Ok(vec![(0, 3)]));
        let text = "# T\nx\n## A\none\n\n## B\ntwo\n";
        assert_eq!(of(text, &["## A"]), Ok(vec![(2, 5)]));
        assert_eq!(of("[a]\nx = 1\n[b]\ny = 1\n", &["[a]"]), Ok(vec![(0, 2)]));
    }
}
