//! Making pieces of text out of what files say: lines of a bounded length, without control characters.

/// The longest piece, in characters. A piece is given whole or not at all.
pub(super) const MAX_PIECE_CHARS: usize = 240;

/// Cleans a line: control characters vanish, blanks become one.
pub(super) fn clean(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    for character in line.chars() {
        match character {
            ' ' | '\t' | '\u{a0}' => {
                if !text.ends_with(' ') {
                    text.push(' ');
                }
            }
            // What changes the direction of text or shows nothing can hide what a line says.
            '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}' => {}
            _ if character.is_control() => {}
            _ => text.push(character),
        }
    }
    text.trim_end().to_owned()
}

/// Adds a line as one piece, or as several where it is long, cut between words as far as there are any.
/// The pieces in a row are the text: the last one of a line ends with the end of the line.
pub(super) fn add_pieces(pieces: &mut Vec<String>, line: &str) {
    let mut rest = line;
    while let Some((most, _)) = rest.char_indices().nth(MAX_PIECE_CHARS) {
        let at = rest[..most].rfind(' ').map_or(most, |blank| blank + 1);
        pieces.push(rest[..at].to_owned());
        rest = &rest[at..];
    }
    pieces.push(format!("{rest}\n"));
}

/// Shortens a text to so many characters.
pub(super) fn clip(text: &str, most: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_become_pieces_between_words() {
        let line = "word ".repeat(200);
        let mut pieces = Vec::new();
        add_pieces(&mut pieces, line.trim_end());
        assert_eq!(pieces.concat().trim_end(), line.trim_end());
        assert!(pieces.iter().all(|piece| piece.chars().count() <= MAX_PIECE_CHARS + 1), "{pieces:?}");
        let mut one = Vec::new();
        add_pieces(&mut one, &"é".repeat(1_000));
        assert_eq!(one.concat().trim_end().chars().count(), 1_000);
    }

    #[test]
    fn lines_have_no_control_characters() {
        assert_eq!(clean("a\u{1b}[31m \t b\u{202e}c\0\u{e0041}\u{200b} "), "a[31m bc");
    }
}
