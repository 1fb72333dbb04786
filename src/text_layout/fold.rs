//! Text for people, folded between words to the width of their terminal. Must not write anything itself.

use super::columns::columns;
use super::table::width;

/// How far the text of a labelled line is in.
const INDENT: usize = 16;
/// The same on a narrow terminal, where the text is below its label.
const NARROW_INDENT: usize = 4;
/// Below so many columns a terminal is narrow.
const NARROW: usize = 60;

/// Lays out lines of a label and a text, whose further lines are below its first, no wider than the terminal.
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

/// Folds lines that are wider than the terminal; further parts of a line are below its text.
pub fn folded(text: &str) -> String {
    width().map_or_else(|| text.to_owned(), |room| folded_to(text, room))
}

/// As [`folded`], for so many columns.
pub fn folded_to(text: &str, room: usize) -> String {
    let fold = |line: &str| {
        if columns(line) <= room {
            return line.to_owned();
        }
        let indent = text_column(line, room);
        let (front, rest) = line.split_at(indent);
        // Colours take no room.
        let indent = columns(front);
        // A command continues as a shell has it, so that it can be copied.
        let is_command = ["bailiwick ", "--"].iter().any(|word| rest.starts_with(word));
        let (end, further) = if is_command { (" \\", indent + 2) } else { ("", indent) };
        let parts = wrapped(rest, room.saturating_sub(further + end.len()).max(1));
        front.to_owned() + &parts.join(&format!("{end}\n{:further$}", ""))
    };
    text.split('\n').map(fold).collect::<Vec<_>>().join("\n")
}

/// Finds where the text of a line begins: behind its label, which two blanks end, if that leaves half of the room.
fn text_column(line: &str, room: usize) -> usize {
    let lead = line.len() - line.trim_start_matches(' ').len();
    let front: String = line.chars().take_while(char::is_ascii).take(room / 2).collect();
    let label = front.rfind("  ").map(|at| at + 2).filter(|at| *at > lead && !line[*at..].starts_with(' '));
    label.unwrap_or(if lead < room / 2 { lead } else { 0 })
}

/// Breaks a line at blanks into lines of at most so many columns. What is longer stays whole, and so does what stands
/// in backquotes where it fits a line: a command is copied from there.
fn wrapped(line: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut used = 0;
    for word in words(line, room) {
        let width = columns(word);
        match lines.last_mut() {
            Some(line) if used + 1 + width <= room => {
                line.push(' ');
                line.push_str(word);
                used += 1 + width;
            }
            // The blanks between two words end with the line.
            Some(_) if word.is_empty() => {}
            _ => {
                lines.push(word.to_owned());
                used = width;
            }
        }
    }
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

/// Splits a line at its blanks, but for those between backquotes that fit the room.
fn words(line: &str, room: usize) -> Vec<&str> {
    let mut words: Vec<&str> = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(found) = line[at..].find([' ', '`']) {
        let here = at + found;
        at = here + 1;
        if line.as_bytes()[here] == b' ' {
            words.push(&line[start..here]);
            start = at;
        } else if let Some(length) = line[at..].find('`').filter(|it| columns(&line[at..at + it]) + 4 <= room)
        {
            at += length + 1;
        }
    }
    words.push(&line[start..]);
    words
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
        assert_eq!(wrapped("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrapped("a-long-word b", 4), ["a-long-word", "b"]);
        assert_eq!(wrapped("", 4), [""]);
        assert_eq!(
            labelled_to(&lines, Some(20)),
            "  never run\n    rm -rf *, mkfs*\n    *, shutdown *\n  asks\n    nothing\n"
        );
    }

    #[test]
    fn a_line_goes_on_below_its_text_and_a_command_stays_whole() {
        let line = "  -f, --follow     Show rows as they come, in their order, until Ctrl-C";
        let below = "  -f, --follow     Show rows as they come,\n                   in their order, until\n                   Ctrl-C";
        assert_eq!(folded_to(line, 42), below);
        assert_eq!(
            folded_to("hint: run `a b c` or `d e f g h i j`.", 16),
            "hint: run\n`a b c` or `d e\nf g h i j`."
        );
        assert_eq!(
            folded_to("  bailiwick scope edit app --name x", 24),
            "  bailiwick scope \\\n    edit app --name x"
        );
        assert_eq!(folded_to("short\n\n  日本語 日本語\n", 10), "short\n\n  日本語\n  日本語\n");
    }
}
