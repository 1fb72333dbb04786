//! Case files: Markdown with headings for cases and fenced blocks for steps; written back unchanged
//! but for the blocks that a run replaced.

use std::collections::BTreeSet;

use bailiwick::contract::path::decode_name;
use support::system::Need;

/// What a case shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The operation doing its work, or failing at it.
    Works,
    /// The policy refusing.
    Denied,
    /// A request that is not of the required form.
    Malformed,
}

impl Kind {
    /// Returns the word in the heading.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Denied => "denied",
            Self::Malformed => "malformed",
        }
    }
}

/// One fenced block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The first word after the fence, such as `call`.
    pub name: String,
    /// What follows it on that line, such as a path.
    pub argument: String,
    /// The lines between the fences, each with its newline.
    pub content: String,
    /// The line of the opening fence, counted from 1; 0 for a block that a run has added.
    pub line: usize,
    fence: String,
}

impl Block {
    /// Creates a block that a run adds.
    pub fn added(name: &str, content: String) -> Self {
        Self { name: name.to_owned(), argument: String::new(), content, line: 0, fence: "```".to_owned() }
    }
}

/// A part of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A line of prose, with its newline.
    Prose(String),
    /// A fenced block.
    Block(Block),
}

/// One case.
#[derive(Debug)]
pub struct Case {
    /// The heading without `## `.
    pub title: String,
    /// What it shows.
    pub kind: Kind,
    /// Prose and blocks, in order.
    pub parts: Vec<Part>,
}

impl Case {
    /// Returns the heading without its first word.
    pub fn claim(&self) -> &str {
        self.title.split_once(": ").map_or(&self.title, |(_, claim)| claim)
    }

    /// Returns what the case says that it needs, in blocks `needs`: a word a line.
    ///
    /// # Errors
    /// The line of the block, and a sentence about the word that is none.
    pub fn declared_needs(&self) -> Result<BTreeSet<Need>, (usize, String)> {
        let mut needs = BTreeSet::new();
        for block in self.blocks().filter(|block| block.name == "needs") {
            for word in block.content.split_whitespace() {
                let need = Need::ALL.into_iter().find(|need| need.as_str() == word);
                needs.insert(need.ok_or_else(|| (block.line, format!("needs: `{word}` is no need")))?);
            }
        }
        Ok(needs)
    }

    /// Returns what the blocks need by which the case makes its files.
    pub fn needs_of_blocks(&self) -> BTreeSet<Need> {
        self.blocks()
            .filter_map(|block| match block.name.as_str() {
                "link" => Some(Need::Links),
                "mode" => Some(Need::Modes),
                "fifo" => Some(Need::Pipes),
                "git" => Some(Need::Git),
                "display" | "desktop" => Some(Need::Displays),
                "file" | "file-base64" | "dir" | "hard-link" if is_odd(&block.argument) => Some(Need::Names),
                _ => None,
            })
            .collect()
    }

    fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.parts.iter().filter_map(|part| match part {
            Part::Block(block) => Some(block),
            Part::Prose(_) => None,
        })
    }
}

/// Returns whether some system cannot have a file of this name.
///
/// # Source
/// "Naming Files, Paths, and Namespaces" of Microsoft's documentation.
fn is_odd(path: &str) -> bool {
    let bytes = decode_name(path);
    let forbidden = |byte: &u8| *byte < b' ' || b"<>:\"|?*\\".contains(byte);
    bytes.iter().any(forbidden)
        || std::str::from_utf8(&bytes).is_err()
        || path.split('/').any(|name| name.ends_with(' ') || (name.ends_with('.') && !name.starts_with('.')))
}

/// One case file.
#[derive(Debug)]
pub struct CaseFile {
    /// The operation that its first line names.
    pub operation: String,
    /// The prose before the first case.
    preamble: String,
    /// The cases, in order.
    pub cases: Vec<Case>,
}

impl CaseFile {
    /// Reads a case file.
    ///
    /// # Errors
    /// A sentence with the line number.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.split_inclusive('\n').enumerate();
        let title = lines.next().map(|(_, line)| line).unwrap_or_default();
        let operation = title.strip_prefix("# ").ok_or("the first line must be `# family.verb`")?;
        let mut file =
            Self { operation: operation.trim().to_owned(), preamble: title.to_owned(), cases: Vec::new() };
        while let Some((at, line)) = lines.next() {
            let number = at + 1;
            if let Some(heading) = line.strip_prefix("## ") {
                let title = heading.trim().to_owned();
                let kind = [Kind::Works, Kind::Denied, Kind::Malformed]
                    .into_iter()
                    .find(|kind| title.starts_with(&format!("{}: ", kind.as_str())))
                    .ok_or_else(|| {
                        format!(
                            "line {number}: a case begins `## works: `, `## denied: ` or `## malformed: `"
                        )
                    })?;
                file.cases.push(Case { title, kind, parts: Vec::new() });
            } else if line.starts_with("```") {
                let ticks = line.len() - line.trim_start_matches('`').len();
                let fence = "`".repeat(ticks);
                let info = line[ticks..].trim();
                let (name, argument) = info.split_once(' ').unwrap_or((info, ""));
                let mut content = String::new();
                loop {
                    let (_, inner) = lines
                        .next()
                        .ok_or_else(|| format!("line {number}: the block `{info}` is not closed"))?;
                    if inner.trim_end() == fence {
                        break;
                    }
                    content.push_str(inner);
                }
                let block = Block {
                    name: name.to_owned(),
                    argument: argument.trim().to_owned(),
                    content,
                    line: number,
                    fence,
                };
                file.cases
                    .last_mut()
                    .ok_or_else(|| format!("line {number}: a block before the first case"))?
                    .parts
                    .push(Part::Block(block));
            } else {
                match file.cases.last_mut() {
                    Some(case) => case.parts.push(Part::Prose(line.to_owned())),
                    None => file.preamble.push_str(line),
                }
            }
        }
        Ok(file)
    }

    /// Returns the text of the file.
    pub fn text(&self) -> String {
        let mut text = self.preamble.clone();
        for case in &self.cases {
            text.push_str(&format!("## {}\n", case.title));
            for part in &case.parts {
                match part {
                    Part::Prose(line) => text.push_str(line),
                    Part::Block(block) => {
                        let space = if block.argument.is_empty() { "" } else { " " };
                        text.push_str(&format!(
                            "{}{}{space}{}\n{}{}\n",
                            block.fence, block.name, block.argument, block.content, block.fence
                        ));
                    }
                }
            }
        }
        text
    }
}

pub fn a_case_file_is_written_back_as_it_was_read() {
    let text = "# file.read\n\nProse.\n\n## works: a\n```file a b.md\n# not a heading\n```\n\n````call\n```\n````\n## denied: b\n";
    let file = CaseFile::parse(text).expect("a good file");
    assert_eq!(file.text(), text);
    assert_eq!(file.cases.len(), 2);
    let Part::Block(block) = &file.cases[0].parts[0] else { panic!("a block comes first") };
    assert_eq!((block.name.as_str(), block.argument.as_str()), ("file", "a b.md"));
    assert_eq!(block.content, "# not a heading\n");
}
