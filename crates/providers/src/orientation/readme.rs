//! What a project says it is: the title of its README and its first paragraphs.

use std::ops::ControlFlow;

use bailiwick_platform::names::OsStrExt;

use bailiwick_policy::PermittedPath;

use super::excerpt::{add_pieces, clean, clip};
use super::source::Source;

/// How much of a README is read.
const MAX_README_BYTES: u64 = 48 << 10;
/// How much of it is given at most, in characters.
const MAX_TEXT_CHARS: usize = 1_600;
/// How long a tag of HTML can be.
const MAX_TAG_BYTES: usize = 2_000;
/// A paragraph with fewer letters does not say what a project is.
const MIN_LETTERS: usize = 30;

/// The beginning of a README.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Readme {
    /// Its path, as results name it.
    pub path: String,
    /// How large it is.
    pub bytes: u64,
    /// Its first heading.
    pub title: Option<String>,
    /// Its first paragraphs, in pieces that make up the text.
    pub pieces: Vec<String>,
}

/// Finds the README of a folder. One that is closed or no text counts as none.
pub fn find_readme(target: &PermittedPath) -> Option<Readme> {
    let (dir, folder) = target.open_dir().ok()?;
    let rank = |name: &[u8]| {
        let lower = name.to_ascii_lowercase();
        let end = lower.strip_prefix(b"readme")?;
        [&b".md"[..], b".markdown", b".rst", b".adoc", b".txt", b""].iter().position(|known| *known == end)
    };
    let mut names = Vec::new();
    dir.for_each_entry(|name, _| {
        names.extend(rank(name.as_bytes()).map(|rank| (rank, name.to_owned())));
        ControlFlow::Continue(())
    })
    .ok()?;
    names.sort_unstable();
    let mut sources = names.iter().filter_map(|(_, name)| {
        let place = folder.child(name).ok()?;
        Source::read(&place, MAX_README_BYTES).ok()?
    });
    let source = sources.next()?;
    let (title, paragraphs) = paragraphs(&source.text);
    let mut pieces = Vec::new();
    let first = paragraphs.iter().position(|text| letters(text) >= MIN_LETTERS).unwrap_or(0);
    let mut left = MAX_TEXT_CHARS;
    for paragraph in paragraphs.iter().skip(first) {
        let characters = paragraph.chars().count();
        if characters > left {
            add_pieces(&mut pieces, &clip(paragraph, left));
            break;
        }
        left -= characters;
        add_pieces(&mut pieces, paragraph);
    }
    Some(Readme { path: source.shown, bytes: source.bytes, title, pieces })
}

fn letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphabetic()).count()
}

/// Returns the first heading, and the paragraphs of prose: without badges, headings, tables, markup and code.
fn paragraphs(text: &str) -> (Option<String>, Vec<String>) {
    let (mut title, mut all, mut open): (Option<String>, Vec<String>, String) =
        (None, Vec::new(), String::new());
    let mut fence: Option<&str> = None;
    let mut comment = false;
    let text = without_tags(without_front_matter(text));
    let mut lines = text.lines().peekable();
    let mut has_title = false;
    while let Some(line) = lines.next() {
        let trimmed = line.trim();
        if let Some(mark) = fence {
            if trimmed.starts_with(mark) {
                fence = None;
            }
            continue;
        }
        if comment || trimmed.starts_with("<!--") {
            comment = !trimmed.contains("-->");
            continue;
        }
        let ends = |all: &mut Vec<String>, open: &mut String| {
            // A link can go over the end of a line.
            let words = plain(&std::mem::take(open));
            if letters(&words) > 0 && !is_advert(&words) {
                all.push(words);
            }
        };
        if let Some(mark) = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark)) {
            ends(&mut all, &mut open);
            fence = Some(mark);
            continue;
        }
        let next = lines.peek().map(|next| next.trim()).unwrap_or_default();
        let underlined =
            next.len() >= 3 && ['=', '-', '~'].iter().any(|mark| next.chars().all(|c| c == *mark));
        let words = plain(trimmed);
        if trimmed.starts_with('#') || (underlined && !words.is_empty()) || trimmed.starts_with("= ") {
            ends(&mut all, &mut open);
            let heading = words.trim_start_matches(['#', '=']).trim().trim_end_matches('#').trim();
            let is_first = trimmed.starts_with("# ") || trimmed.starts_with("= ") || next.starts_with("==");
            // Behind much prose, a heading begins a part.
            let is_new = is_first && !has_title && all.len() < 3 || title.is_none() && all.is_empty();
            if is_new && letters(heading) > 0 && !is_about_a_part(heading) && !is_advert(heading) {
                // What is above the title is about others: sponsors, translations.
                all.retain(|text: &String| is_first && !is_advert(text));
                title = Some(clip(heading, 120));
                has_title = is_first;
            }
            if underlined && !trimmed.starts_with('#') {
                lines.next();
            }
            continue;
        }
        // Four blanks at the beginning of a paragraph begin code.
        let code = open.is_empty() && (line.starts_with("    ") || line.starts_with('\t'));
        if words.is_empty() || code || trimmed.starts_with('|') || trimmed.starts_with(".. ") {
            ends(&mut all, &mut open);
            continue;
        }
        let item = words.starts_with(['-', '*', '+']) && words[1..].starts_with(' ');
        if item {
            ends(&mut all, &mut open);
        }
        if !open.is_empty() {
            open.push(' ');
        }
        open.push_str(trimmed);
    }
    let words = plain(&open);
    if letters(&words) > 0 && !is_advert(&words) {
        all.push(words);
    }
    (title, all)
}

/// Tells headings that are about a part of a README, not about its project.
fn is_about_a_part(heading: &str) -> bool {
    let lower = heading.to_lowercase();
    let lower = lower.trim_matches(|it: char| !it.is_alphanumeric());
    [
        "about",
        "build status",
        "changelog",
        "contents",
        "contributing",
        "description",
        "documentation",
        "features",
        "getting started",
        "install",
        "installation",
        "introduction",
        "license",
        "overview",
        "quick start",
        "quickstart",
        "requirements",
        "sponsors",
        "status",
        "table of contents",
        "usage",
    ]
    .contains(&lower)
        || lower.starts_with("what is")
}

/// Tells words that thank or look for sponsors.
fn is_advert(text: &str) -> bool {
    let lower = text.to_lowercase();
    [
        "sponsor",
        "special thanks to",
        "backers",
        "become a patron",
        "buy me a coffee",
        "open collective",
        "advertis",
    ]
    .iter()
    .any(|word| lower.contains(word))
}

/// Takes out the tags of HTML, which may go over lines; a heading of the first level becomes one of Markdown. Code and
/// addresses stay.
fn without_tags(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        whole.push_str(&rest[..at]);
        let here = &rest[at..];
        let is_tag = here[1..].starts_with(|it: char| it.is_ascii_alphabetic() || it == '/');
        let end = here.find('>').filter(|end| is_tag && *end < MAX_TAG_BYTES);
        let inner = end.map_or("", |end| &here[1..end]);
        let in_code = whole.rsplit('\n').next().is_some_and(|line| line.matches('`').count() % 2 == 1);
        let in_block = whole.matches("\n```").count() % 2 == 1;
        match end.filter(|_| !inner.contains("://") || inner.contains(['=', ' '])) {
            Some(end) if !in_code && !in_block => {
                let name = inner.split_ascii_whitespace().next().unwrap_or_default().to_ascii_lowercase();
                match name.as_str() {
                    "h1" => whole.push_str("\n# "),
                    "/h1" | "/p" | "p" | "/div" | "div" | "br" | "br/" | "table" | "/table" | "/tr"
                    | "/li" => {
                        whole.push('\n');
                    }
                    _ => {}
                }
                rest = &here[end + 1..];
            }
            _ => {
                whole.push('<');
                rest = &here[1..];
            }
        }
    }
    whole.push_str(rest);
    whole
}

fn without_front_matter(text: &str) -> &str {
    let inner = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    inner.map_or(text, |(_, rest)| rest)
}

/// Takes images, tags and the targets of links out of a line of Markdown; what is left is its words.
fn plain(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['!', '[', '<']) {
        text.push_str(&rest[..at]);
        let here = &rest[at..];
        let taken = match here.as_bytes() {
            [b'!', b'[', ..] => link(&here[1..]).map(|(_, length)| (String::new(), length + 1)),
            [b'[', ..] => link(here).map(|(words, length)| (plain(words), length)),
            [b'<', next, ..] if next.is_ascii_alphabetic() || *next == b'/' => here.find('>').map(|end| {
                let inner = &here[1..end];
                let address = inner.contains("://").then(|| inner.to_owned());
                (address.unwrap_or_default(), end + 1)
            }),
            _ => None,
        };
        let (words, length) = taken.unwrap_or_else(|| (here[..1].to_owned(), 1));
        text.push_str(&words);
        rest = &here[length..];
    }
    text.push_str(rest);
    clean(text.replace("&nbsp;", " ").trim())
}

/// Reads `[words](target)` or `[words][name]`; gives the words and the length of it all.
fn link(text: &str) -> Option<(&str, usize)> {
    let mut depth = 0_usize;
    let close = text.char_indices().find_map(|(at, character)| {
        match character {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    })?;
    let after = &text[close + 1..];
    let end = match after.as_bytes().first() {
        Some(b'(') => after.find(')')?,
        Some(b'[') => after.find(']')?,
        _ => return None,
    };
    Some((&text[1..close], close + 1 + end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_and_the_first_words_are_found_behind_badges() {
        let text = "---\ntitle: x\n---\n<!-- a\ncomment -->\n<p align=\"center\"><img src=\"x.png\"></p>\n\n\
            # Frob [![ci](https://a/b.svg)](https://a)\n\n[![one](https://x/y.svg)](https://x) ![two](z.svg)\n\n\
            ```sh\nnpm i frob\n```\nFrob turns **tables** into [many\ncharts](https://c.example), and\nback again. <b>Now</b>.\n\n## Usage\n\n    frob x\n\nMore.\n";
        let (title, paragraphs) = paragraphs(text);
        assert_eq!(title.as_deref(), Some("Frob"));
        assert_eq!(paragraphs, ["Frob turns **tables** into many charts, and back again. Now.", "More."]);
    }

    #[test]
    fn other_forms_of_headings_are_known() {
        let (title, text) = paragraphs("Frob\n====\n\nA tool.\n\n- one\n- two\n");
        assert_eq!((title.as_deref(), text.len()), (Some("Frob"), 3));
        assert_eq!(paragraphs("").0, None);
    }

    #[test]
    fn adverts_badges_and_parts_are_no_title() {
        let advert = "<div align=\"center\">\n<sup>Special thanks to:</sup>\n<a href=\"https://a.example\"\n target=\"_blank\">\n<b>Term, the terminal for everyone</b>\n</a>\n</div>\n\n![logo](x.png)\n\nCub is a library for making command lines of many words.\n\n# Overview\n\nMore.\n";
        let (title, words) = paragraphs(advert);
        assert_eq!(title, None);
        assert!(words.iter().any(|text| text.starts_with("Cub is a library")), "{words:?}");
        let html = "<p align=\"center\"><a\n href=\"https://b.example\"><img src=\"x\"></a></p>\n\n<h1 align=\"center\">Frob</h1>\n\n<p>A <em>next</em> thing for the web.</p>\n\n## Features\n\n- one\n";
        let (title, words) = paragraphs(html);
        assert_eq!(title.as_deref(), Some("Frob"));
        assert_eq!(words.first().map(String::as_str), Some("A next thing for the web."));
        let (title, words) = paragraphs("## Features\n\nIt does a lot.\n");
        assert_eq!((title, words.len()), (None, 1));
    }

    #[test]
    fn brackets_that_are_no_links_stay() {
        for (line, words) in [
            ("a [b] c", "a [b] c"),
            ("[a](b", "[a](b"),
            ("x < y and y > z", "x < y and y > z"),
            ("see <https://e.example>", "see https://e.example"),
            ("![", "!["),
            ("[[a](b)](c)", "a"),
        ] {
            assert_eq!(plain(line), words, "{line}");
        }
    }
}
