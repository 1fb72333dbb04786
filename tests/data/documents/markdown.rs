//! As much of Markdown as the documents use: fenced and indented blocks, code spans, headings, links.

use std::collections::BTreeSet;
use std::fs;

use regex::{Captures, Regex};

use support::source::{files, repository, shown_path};

/// The documents in the repository's top folder.
const AT_THE_TOP: &[&str] =
    &["README.md", "SECURITY.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md", "book/SUMMARY.md"];

/// One document.
pub struct Page {
    /// Its path from the repository's root.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// A block of code.
pub struct Block {
    /// What follows the fence, such as `console`; empty for an indented block.
    pub kind: String,
    /// The line of its first line of content, counted from 0.
    pub line: usize,
    /// Its lines.
    pub lines: Vec<String>,
}

/// Reads every document.
pub fn pages() -> Vec<Page> {
    let below = ["docs", "examples"].into_iter().flat_map(files);
    let below = below.filter(|path| path.extension().is_some_and(|it| it == "md"));
    let below = below.map(|path| shown_path(&path));
    AT_THE_TOP.iter().map(|path| (*path).to_owned()).chain(below).map(|path| Page::read(&path)).collect()
}

impl Page {
    /// Reads a document.
    pub fn read(path: &str) -> Self {
        let text =
            fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        Self { path: path.to_owned(), text }
    }

    /// Returns its blocks of code, in order.
    pub fn blocks(&self) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut fence: Option<String> = None;
        let mut is_after_blank = true;
        let mut is_indented = false;
        for (at, line) in self.text.lines().enumerate() {
            let bare = line.trim_start();
            if let Some(open) = &fence {
                if bare.starts_with(open.as_str()) && bare.trim_matches('`').trim().is_empty() {
                    fence = None;
                } else if let Some(block) = blocks.last_mut() {
                    block.lines.push(line.to_owned());
                }
            } else if bare.starts_with("```") {
                let ticks: String = bare.chars().take_while(|it| *it == '`').collect();
                let kind = bare.trim_matches('`').trim().to_owned();
                blocks.push(Block { kind, line: at + 1, lines: Vec::new() });
                fence = Some(ticks);
                is_indented = false;
            } else if let Some(code) = line.strip_prefix("    ").filter(|_| is_indented || is_after_blank) {
                if !is_indented {
                    blocks.push(Block { kind: String::new(), line: at, lines: Vec::new() });
                    is_indented = true;
                }
                blocks.last_mut().expect("it was just made").lines.push(code.to_owned());
            } else if !line.trim().is_empty() {
                is_indented = false;
            }
            is_after_blank = line.trim().is_empty();
        }
        blocks
    }

    /// Returns its lines outside of fenced blocks, each with its number counted from 1.
    pub fn prose(&self) -> Vec<(usize, &str)> {
        let mut fence: Option<usize> = None;
        let mut prose = Vec::new();
        for (at, line) in self.text.lines().enumerate() {
            let ticks = line.trim_start().chars().take_while(|it| *it == '`').count();
            match fence {
                Some(open) if ticks >= open => fence = None,
                Some(_) => {}
                None if ticks >= 3 => fence = Some(ticks),
                None => prose.push((at + 1, line)),
            }
        }
        prose
    }

    /// Returns what stands between single backticks, each with its line counted from 1.
    pub fn spans(&self) -> Vec<(usize, String)> {
        let span = Regex::new("`([^`]+)`").expect("a good pattern");
        let paragraphs = self.paragraphs();
        let found = paragraphs.iter().flat_map(|(first, text)| {
            span.captures_iter(text).map(move |found| {
                let whole = found.get(0).expect("a match has a whole");
                (first + text[..whole.start()].matches('\n').count(), found[1].replace('\n', " "))
            })
        });
        found.collect()
    }

    /// Returns where its links lead, each with its line counted from 1.
    pub fn links(&self) -> Vec<(usize, String)> {
        let span = Regex::new("`[^`]*`").expect("a good pattern");
        let link = Regex::new(r#"\]\(([^()\s]+)\)|\b(?:src|href)="([^"]+)""#).expect("a good pattern");
        let mut links = Vec::new();
        for (first, text) in self.paragraphs() {
            let text =
                span.replace_all(&text, |found: &Captures| "\n".repeat(found[0].matches('\n').count()));
            links.extend(link.captures_iter(&text).filter_map(|found| {
                let to = found.get(1).or_else(|| found.get(2))?;
                Some((first + text[..to.start()].matches('\n').count(), to.as_str().to_owned()))
            }));
        }
        links
    }

    /// Returns what stands between blank lines, outside of fenced blocks, each with its first line counted from 1.
    fn paragraphs(&self) -> Vec<(usize, String)> {
        let mut paragraphs: Vec<(usize, String)> = Vec::new();
        let mut next = 0;
        for (at, line) in self.prose() {
            if line.trim().is_empty() {
                continue;
            }
            match paragraphs.last_mut().filter(|_| at == next) {
                Some((_, text)) => {
                    text.push('\n');
                    text.push_str(line);
                }
                None => paragraphs.push((at, line.to_owned())),
            }
            next = at + 1;
        }
        paragraphs
    }

    /// Returns the names by which links reach its headings, as GitHub and mdBook both make them.
    pub fn anchors(&self) -> BTreeSet<String> {
        let mut anchors = BTreeSet::new();
        for (_, line) in self.prose() {
            let title = line.trim_start_matches('#');
            if title.len() == line.len() || !title.starts_with(' ') {
                continue;
            }
            let name: String = title
                .trim()
                .to_lowercase()
                .chars()
                .filter_map(|it| match it {
                    ' ' => Some('-'),
                    '-' | '_' => Some(it),
                    it => it.is_alphanumeric().then_some(it),
                })
                .collect();
            let again = (1..).map(|count| format!("{name}-{count}"));
            let free = std::iter::once(name.clone()).chain(again).find(|name| !anchors.contains(name));
            anchors.extend(free);
        }
        anchors
    }
}

pub fn blocks_headings_and_links_are_found() {
    let text = "# A `b.c` D\n\ntext `[no](no)`\n\n    indented\n\n```console\n$ one\n# no heading\n```\n[x](y.md#z) [w\nv](u)\n## A b.c d\n";
    let page = Page { path: "x.md".to_owned(), text: text.to_owned() };
    let blocks: Vec<(String, usize, String)> =
        page.blocks().into_iter().map(|it| (it.kind, it.line, it.lines.join("|"))).collect();
    assert_eq!(
        blocks,
        [
            (String::new(), 4, "indented".to_owned()),
            ("console".to_owned(), 7, "$ one|# no heading".to_owned())
        ]
    );
    assert_eq!(page.links(), [(11, "y.md#z".to_owned()), (12, "u".to_owned())]);
    assert_eq!(page.anchors().into_iter().collect::<Vec<_>>(), ["a-bc-d", "a-bc-d-1"]);
    assert_eq!(page.spans().len(), 2);
}
