//! What pytest prints, from version 6 on.

use super::super::facts::{Counts, DigestItem, Facts, Tool};
use super::super::place;
use super::router::{LineOwner, Reader};

/// How many blocks and lines of the summary are kept.
const KEPT: usize = 5_000;

/// Which section the stream is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Outside,
    Progress,
    Errors,
    Failures,
    Summary,
    Other,
}

/// The block of one failure: its title, and what was found below it.
#[derive(Debug, Default)]
struct Block {
    title: String,
    found: DigestItem,
    /// Whether what follows is what the test printed.
    captured: bool,
}

/// The reader.
#[derive(Debug)]
pub struct Pytest {
    facts: Facts,
    section: Section,
    errors: Vec<Block>,
    failures: Vec<Block>,
    /// The lines of the short summary, without their first word.
    errored: Vec<String>,
    failed: Vec<String>,
}

impl Pytest {
    /// At the beginning of a stream.
    pub fn new() -> Self {
        Self {
            facts: Facts::of(Tool::Pytest),
            section: Section::Outside,
            errors: Vec::new(),
            failures: Vec::new(),
            errored: Vec::new(),
            failed: Vec::new(),
        }
    }

    /// A line between two rows of `=`.
    fn headline(&mut self, title: &str) -> LineOwner {
        self.section = match title {
            "test session starts" => Section::Progress,
            "ERRORS" => Section::Errors,
            "FAILURES" => Section::Failures,
            "short test summary info" => Section::Summary,
            "warnings summary" | "PASSES" | "XPASSES" | "XFAILURES" => Section::Other,
            _ if self.section == Section::Outside => return LineOwner::Pass,
            _ => match ending(title) {
                Some(counts) => return self.end(title, counts),
                None => Section::Other,
            },
        };
        self.facts.seen = true;
        LineOwner::Inside
    }

    /// The last line.
    fn end(&mut self, title: &str, counts: SummaryLine) -> LineOwner {
        self.facts.seen = true;
        self.facts.ended = true;
        self.facts.summarize(title);
        self.section = Section::Outside;
        self.facts.declare(counts.failed + counts.errors);
        self.facts.counts.add(Counts {
            passed: counts.passed,
            failed: (counts.failed > 0).then_some(counts.failed),
            skipped: counts.skipped,
            errors: (counts.errors > 0).then_some(counts.errors),
            warnings: counts.warnings,
        });
        if self.failed.len() as u64 != counts.failed || self.errored.len() as u64 != counts.errors {
            self.facts.doubt("not every failing test is in the short summary");
        }
        let failures = pair(std::mem::take(&mut self.failed), std::mem::take(&mut self.failures));
        let errors = pair(std::mem::take(&mut self.errored), std::mem::take(&mut self.errors));
        for found in failures.into_iter().chain(errors) {
            self.facts.failures.push(found);
        }
        LineOwner::Line
    }

    fn in_blocks(&mut self, line: &str) {
        let lines_only = self.section == Section::Failures;
        let blocks = if self.section == Section::Errors { &mut self.errors } else { &mut self.failures };
        if let Some(title) = framed(line, '_') {
            if !title.is_empty() && blocks.len() < KEPT {
                blocks.push(Block { title: title.to_owned(), ..Block::default() });
            }
            return;
        }
        if let Some(block) = blocks.last_mut().filter(|block| !block.title.is_empty()) {
            block.line(line);
        } else if lines_only
            && blocks.len() < KEPT
            && let Some(at) = place::leading(line)
        {
            // `--tb=line` has a line for each failure.
            let found = DigestItem::saying(at.rest).at(at.file, at.line, None);
            blocks.push(Block { found, ..Block::default() });
        }
    }

    fn in_summary(&mut self, line: &str) {
        let (list, rest) =
            if let Some(rest) = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("SUBFAILED")) {
                (&mut self.failed, rest)
            } else if let Some(rest) = line.strip_prefix("ERROR ") {
                (&mut self.errored, rest)
            } else {
                return;
            };
        if list.len() < KEPT {
            list.push(rest.to_owned());
        }
    }
}

impl Block {
    fn line(&mut self, line: &str) {
        if self.captured {
            return;
        }
        match line.as_bytes().first() {
            Some(b'-') if framed(line, '-').is_some_and(|title| title.starts_with("Captured ")) => {
                self.captured = true;
            }
            Some(b'E') => {
                let Some(said) = line.strip_prefix("E   ") else { return };
                if let Some(at) = place::of_python_frame(said) {
                    self.found.set_place(at.file, at.line, None);
                } else if self.found.message.is_empty() && !said.starts_with(' ') {
                    self.found.say(said);
                } else if said.starts_with("SyntaxError: ") || said.starts_with("  SyntaxError: ") {
                    self.found.message.clear();
                    self.found.say(said);
                }
            }
            Some(b' ') => {
                // A traceback as Python prints it continues into what the test called of pytest.
                if let Some(at) = place::of_python_frame(line)
                    && (!place::is_library(at.file)
                        || self.found.file.as_deref().is_none_or(place::is_library))
                {
                    self.found.set_place(at.file, at.line, None);
                }
            }
            Some(_) => {
                // `FILE:LINE: Exception`, `FILE:LINE: in function`, or only the place, between two levels.
                let bare = line.strip_suffix(": ").or_else(|| line.strip_suffix(':'));
                if let Some(at) = place::leading(line)
                    .filter(|at| is_frame(at.rest))
                    .or_else(|| bare.and_then(place::whole))
                    && !at.file.starts_with('<')
                {
                    self.found.set_place(at.file, at.line, None);
                }
            }
            None => {}
        }
    }
}

impl Reader for Pytest {
    fn line(&mut self, line: &str) -> LineOwner {
        let first = line.as_bytes().first().copied().unwrap_or_default();
        if first == b'='
            && let Some(title) = framed(line, '=')
        {
            return self.headline(title);
        }
        match self.section {
            Section::Outside => {
                // `-q` leaves the rows of `=` out.
                if first.is_ascii_digit()
                    && let Some(counts) = ending(line)
                {
                    return self.end(line, counts);
                }
                let is_progress = line.ends_with("%]")
                    && line.split(" [").next().is_some_and(|marks| {
                        marks.trim_end().bytes().all(|mark| b".FEsxXRu,-".contains(&mark))
                    });
                if is_progress { LineOwner::Line } else { LineOwner::Pass }
            }
            Section::Errors | Section::Failures => {
                self.in_blocks(line);
                LineOwner::Inside
            }
            Section::Summary | Section::Progress | Section::Other => {
                if first.is_ascii_digit()
                    && let Some(counts) = ending(line)
                {
                    return self.end(line, counts);
                }
                if self.section == Section::Summary {
                    self.in_summary(line);
                }
                LineOwner::Inside
            }
        }
    }

    fn finish(self: Box<Self>) -> Facts {
        let mut facts = self.facts;
        if self.section != Section::Outside {
            facts.doubt("the output breaks off");
        }
        facts
    }
}

/// Returns what is between two rows of a mark, such as `==== FAILURES ====`.
fn framed(line: &str, mark: char) -> Option<&str> {
    if !line.starts_with(mark) || !line.ends_with(mark) || line.len() < 3 {
        return None;
    }
    let inner = line.trim_start_matches(mark);
    let Some(inner) = inner.strip_prefix(' ') else { return inner.is_empty().then_some("") };
    let inner = inner.trim_end_matches(mark).trim_end();
    // A row of `_ _ _` only parts the levels of a traceback.
    Some(if inner.chars().all(|c| c == mark || c == ' ') { "" } else { inner })
}

/// Returns whether what follows a place makes it one of a traceback.
fn is_frame(rest: &str) -> bool {
    rest.is_empty()
        || rest.starts_with("in ")
        || (rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && rest.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.'))
}

/// The numbers of the last line.
#[derive(Debug, Default)]
struct SummaryLine {
    passed: Option<u64>,
    failed: u64,
    errors: u64,
    skipped: Option<u64>,
    warnings: Option<u64>,
}

/// Reads `1 failed, 2 passed, 1 warning in 0.12s`.
fn ending(text: &str) -> Option<SummaryLine> {
    let (counts, time) = text.rsplit_once(" in ")?;
    if !time.starts_with(|c: char| c.is_ascii_digit()) || !time.contains('s') {
        return None;
    }
    let mut ending = SummaryLine::default();
    if counts == "no tests ran" {
        return Some(ending);
    }
    for part in counts.split(", ") {
        let (count, word) = place::number(part)?;
        match word.strip_prefix(' ')? {
            "passed" => ending.passed = Some(count),
            "failed" => ending.failed = count,
            "error" | "errors" => ending.errors = count,
            "skipped" => ending.skipped = Some(count),
            "warning" | "warnings" => ending.warnings = Some(count),
            "xfailed" | "xpassed" | "deselected" | "rerun" | "subtests passed" | "subtests failed" => {}
            _ => return None,
        }
    }
    Some(ending)
}

/// Joins the lines of the summary with the blocks, which come in the same order.
fn pair(lines: Vec<String>, blocks: Vec<Block>) -> Vec<DigestItem> {
    let fits = lines.len() == blocks.len();
    let mut blocks = blocks.into_iter();
    let mut paired = Vec::with_capacity(lines.len());
    for line in lines {
        let block = if fits { blocks.next() } else { None };
        let title = block.as_ref().map_or("", |block| block.title.as_str());
        let (name, said) = split(&line, title);
        // A part that failed is before its test.
        let mut found = match name.rsplit_once(' ').filter(|_| name.starts_with(['[', '('])) {
            Some((part, test)) => DigestItem::named(&format!("{test} {part}")),
            None => DigestItem::named(name.trim_start()),
        };
        match block {
            Some(block) => {
                let DigestItem { file, line, message, .. } = block.found;
                (found.file, found.line, found.message) = (file, line, message);
                if found.message.is_empty() {
                    found.say(said);
                }
            }
            None => found.say(said),
        }
        if found.file.is_none() {
            found.file =
                found.name.as_deref().and_then(|name| name.split("::").next()).map(ToOwned::to_owned);
        }
        paired.push(found);
    }
    paired
}

/// Parts a line of the summary into the test and what is said of it. Names may hold ` - ` themselves; the block's
/// title says where they end.
fn split<'a>(line: &'a str, title: &str) -> (&'a str, &'a str) {
    let line = line.trim_start();
    let told = ["ERROR at setup of ", "ERROR at teardown of ", "ERROR collecting "];
    let title = told.iter().find_map(|told| title.strip_prefix(told)).unwrap_or(title);
    if !title.is_empty() && !line.starts_with(['[', '(']) {
        let (path, parameters) = title.split_at(title.find('[').unwrap_or(title.len()));
        for known in [format!("::{}{parameters}", path.replace('.', "::")), title.to_owned()] {
            if let Some(at) = line.find(&known) {
                let (name, rest) = line.split_at(at + known.len());
                if rest.is_empty() || rest.starts_with(" - ") {
                    return (name, rest.trim_start_matches(" - "));
                }
            }
        }
    }
    if line.starts_with(['[', '('])
        && let Some(at) = line.find("::")
    {
        let end = line[at..].find(" - ").map_or(line.len(), |found| at + found);
        return (&line[..end], line[end..].trim_start_matches(" - "));
    }
    // Without a title: the first ` - ` outside of the brackets of parameters.
    let mut from = 0;
    while let Some(at) = line[from..].find(" - ").map(|at| from + at) {
        let before = &line[..at];
        if !before.contains('[') || before.ends_with(']') {
            return (before, &line[at + 3..]);
        }
        from = at + 3;
    }
    (line, "")
}
