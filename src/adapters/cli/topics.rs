//! `help TOPIC`: pages of the documents that this program carries, as text for a terminal.

use std::ffi::OsString;

/// Each topic and its page.
const TOPICS: &[(&str, &str)] = &[
    ("errors", include_str!("../../../docs/reference/errors.md")),
    ("permissions", include_str!("../../../docs/concepts/policy.md")),
    ("sandbox", include_str!("../../../docs/concepts/running-commands.md")),
    ("screens", include_str!("../../../docs/concepts/screens.md")),
];

/// Returns the page that the words of a process ask for: `help TOPIC`.
pub fn asked(words: &[OsString]) -> Option<String> {
    let [_, help, name] = words else { return None };
    let (_, page) = TOPICS.iter().find(|(topic, _)| name == topic).filter(|_| help == "help")?;
    Some(plain(page))
}

/// Returns the line of the program's help that names the topics.
pub fn list() -> String {
    let names: Vec<&str> = TOPICS.iter().map(|(name, _)| *name).collect();
    format!("Pages: bailiwick help {}", names.join("|"))
}

/// Turns a page into text: a paragraph is one line, which the printer folds, and a row of a table is a block.
fn plain(page: &str) -> String {
    let mut blocks: Vec<String> = Vec::new();
    let (mut is_code, mut goes_on, mut has_head) = (false, false, false);
    for line in page.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
            goes_on = false;
            blocks.extend(is_code.then(String::new));
        } else if is_code {
            let block = blocks.last_mut().expect("the fence began one");
            block.push_str(&format!("    {line}\n"));
        } else if line.trim().is_empty() || line.starts_with("<!--") {
            (goes_on, has_head) = (false, false);
        } else if let Some(title) = line.strip_prefix('#') {
            blocks.push(format!("{}\n", words(title.trim_start_matches('#').trim())));
            goes_on = false;
        } else if let Some(row) = line.strip_prefix('|') {
            // The names of the columns and the rule below them say nothing here.
            if has_head && !row.starts_with(" ---") {
                blocks.push(cells(row));
            }
            has_head = true;
            goes_on = false;
        } else if let Some(block) = blocks.last_mut().filter(|_| goes_on && !is_item(line)) {
            block.truncate(block.trim_end().len());
            block.push_str(&format!(" {}\n", words(line.trim())));
        } else {
            blocks.push(format!("{}\n", words(line)));
            goes_on = true;
        }
    }
    blocks.join("\n")
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("- ") || line.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok())
}

/// Lays out a row: its first cell, and the others below it.
fn cells(row: &str) -> String {
    let mut cells = row.trim_end_matches('|').split('|').map(|cell| words(cell.trim()));
    let first = cells.next().unwrap_or_default();
    let others: Vec<String> = cells.filter(|cell| !cell.is_empty()).collect();
    format!("{first}\n    {}\n", others.join(" · "))
}

/// Takes the marks out of a text: of a link the text stays.
fn words(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        plain.push_str(before);
        match link.split_once("](").and_then(|(name, rest)| Some((name, rest.split_once(')')?.1))) {
            Some((name, after)) if !name.contains('[') => {
                plain.push_str(name);
                rest = after;
            }
            _ => {
                plain.push('[');
                rest = link;
            }
        }
    }
    plain.push_str(rest);
    // A glob in backquotes keeps its stars.
    let parts = plain.split('`').enumerate();
    let parts: Vec<String> =
        parts.map(|(at, part)| if at % 2 == 0 { part.replace("**", "") } else { part.to_owned() }).collect();
    parts.join("`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topic_is_a_page_without_marks() {
        for (name, _) in TOPICS {
            let page = asked(&["bailiwick".into(), "help".into(), name.into()]).expect("a page");
            for mark in ["](", "\n|", "\n#", "<!--", "```", "docs/"] {
                assert!(!page.contains(mark), "{name} has {mark:?}:\n{page}");
            }
            let text: Vec<&str> = page.lines().filter(|line| !line.starts_with("    ")).collect();
            assert!(
                !text.join("\n").split('`').step_by(2).any(|part| part.contains("**")),
                "{name}:\n{page}"
            );
        }
        assert_eq!(asked(&["bailiwick".into(), "help".into(), "scope".into()]), None);
        assert_eq!(asked(&["bailiwick".into(), "scope".into(), "errors".into()]), None);
    }

    #[test]
    fn a_page_keeps_its_words_and_loses_its_marks() {
        let page = "<!-- made -->\n\n# Title\n\nOne **[two](x.md)**\nthree `a[0]/**`.\n\n| a | b |\n| --- | --- |\n| `x` | y |\n\n- one\n  more\n- two\n\n```sh\nrun  it\n```\n";
        let text = "Title\n\nOne two three `a[0]/**`.\n\n`x`\n    y\n\n- one more\n\n- two\n\n    run  it\n";
        assert_eq!(plain(page), text);
    }
}
