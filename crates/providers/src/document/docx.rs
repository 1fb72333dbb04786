//! DOCX: paragraphs as lines, headings with `#`, cells of tables with tabs between them.

use super::ConvertError;
use super::convert::Text;
use super::markup::Node;
use super::package::Package;

/// Where the text is, before its notes.
const PARTS: [&str; 3] = ["word/document.xml", "word/footnotes.xml", "word/endnotes.xml"];

pub(super) fn convert(content: &[u8], text: &mut Text) -> Result<(), ConvertError> {
    let package = Package::open(content)?;
    for (at, part) in PARTS.into_iter().enumerate() {
        let Some(mut markup) = package.entry(part)? else {
            if at == 0 {
                return Err(ConvertError::Damaged);
            }
            continue;
        };
        let (mut is_text, mut cells, mut has_left_out) = (false, 0_u32, 0_u32);
        while let Some(node) = markup.next()? {
            if text.is_full() {
                return Ok(());
            }
            match &node {
                Node::Start(name, _) => match name.as_str() {
                    "t" => is_text = has_left_out == 0,
                    "tab" if has_left_out == 0 => text.push("\t"),
                    "br" | "cr" if has_left_out == 0 => text.push("\n"),
                    "pStyle" => text.push(&heading(node.attribute("val").unwrap_or_default())),
                    "tc" => {
                        if cells > 0 {
                            text.push("\t");
                        }
                        cells += 1;
                    }
                    "tr" => cells = 0,
                    // The same as a picture for older programs.
                    "Fallback" | "instrText" => has_left_out += 1,
                    _ => {}
                },
                Node::End(name) => match name.as_str() {
                    "t" => is_text = false,
                    "p" if cells == 0 => text.push("\n"),
                    "p" => text.push(" "),
                    "tr" => {
                        text.end_line();
                        cells = 0;
                    }
                    "Fallback" | "instrText" => has_left_out = has_left_out.saturating_sub(1),
                    _ => {}
                },
                Node::Text(piece) if is_text => text.push(piece),
                Node::Text(_) => {}
            }
        }
    }
    Ok(())
}

/// Returns what is before a paragraph of a style: for `Heading2` two marks.
fn heading(style: &str) -> String {
    match style {
        "Title" => "# ".to_owned(),
        _ => match style.strip_prefix("Heading").and_then(|level| level.trim().parse::<usize>().ok()) {
            Some(level @ 1..=6) => format!("{} ", "#".repeat(level)),
            _ => String::new(),
        },
    }
}
