//! Text for people, folded between words to the width of their terminal. Must not write anything itself.

use super::table::{width, wrapped};

/// How far the text of a labelled line stands in.
const INDENT: usize = 16;
/// The same on a narrow terminal, where the text stands below its label.
const NARROW_INDENT: usize = 4;
/// Below so many columns a terminal is narrow.
const NARROW: usize = 60;

/// Lays out lines of a label and a text, whose further lines stand below its first, no wider than the terminal.
pub fn labelled(lines: &[(&str, String)]) -> String {
    labelled_to(lines, width())
}

fn labelled_to(lines: &[(&str, String)], room: Option<usize>) -> String {
    let mut text = String::new();
    for (label, said) in lines {
        let is_narrow = room.is_some_and(|room| room < NARROW);
        let indent = if is_narrow { NARROW_INDENT } else { INDENT };
        if is_narrow {
            text.push_str(&format!("  {label}\n"));
        }
        let room = room.map_or(usize::MAX, |room| room.saturating_sub(indent).max(1));
        for (place, line) in said.split('\n').flat_map(|line| wrapped(line, room)).enumerate() {
            if place == 0 && !is_narrow {
                text.push_str(format!("  {label:<13} {line}").trim_end());
                text.push('\n');
            } else {
                text.push_str(&format!("{:indent$}{line}\n", ""));
            }
        }
    }
    text
}

/// Folds lines of prose to the width of the terminal; further parts of a line begin where it begins.
pub fn folded_prose(text: &str) -> String {
    let Some(room) = width() else { return text.to_owned() };
    let fold = |line: &str| {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let parts = wrapped(&line[indent..], room.saturating_sub(indent).max(1));
        parts.iter().map(|part| format!("{:indent$}{part}", "")).collect::<Vec<_>>().join("\n")
    };
    text.lines().map(fold).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_folded_between_words_to_the_width() {
        let lines =
            [("never run", "rm -rf *, mkfs* *, shutdown *".to_owned()), ("asks", "nothing".to_owned())];
        assert_eq!(
            labelled_to(&lines, None),
            "  never run     rm -rf *, mkfs* *, shutdown *\n  asks          nothing\n"
        );
        let wide = [("may run", "word ".repeat(40).trim_end().to_owned())];
        let wide = labelled_to(&wide, Some(80));
        assert_eq!(wide.lines().map(str::len).collect::<Vec<_>>(), [80, 80, 80, 20], "{wide}");
        assert_eq!(wrapped("\x1b[31merror:\x1b[0m four", 11), ["\x1b[31merror:\x1b[0m four"]);
        assert_eq!(
            labelled_to(&lines, Some(20)),
            "  never run\n    rm -rf *, mkfs*\n    *, shutdown *\n  asks\n    nothing\n"
        );
    }
}
