//! How many columns of a terminal a text takes, and cutting it to so many. Must not write anything itself.

use unicode_width::UnicodeWidthChar;

/// Counts the columns that a terminal shows a text in: colours take none, most of East Asia and pictures take two.
pub fn columns(text: &str) -> usize {
    let mut is_colour = false;
    let shown = text.chars().filter(|it| {
        let was_colour = is_colour;
        is_colour = *it == '\x1b' || is_colour && *it != 'm';
        !was_colour && !is_colour
    });
    shown.map(columns_of).sum()
}

fn columns_of(character: char) -> usize {
    character.width().unwrap_or(0)
}

/// Cuts the end of a text to so many columns; what was cut ends in `…`.
pub fn cut(text: &str, room: usize) -> String {
    if columns(text) <= room {
        return text.to_owned();
    }
    let mut width = 1;
    let kept = text.chars().take_while(|it| {
        width += columns_of(*it);
        width <= room
    });
    kept.chain(['…']).collect()
}

/// Cuts the front of a text, of a path its folders, to so many columns.
pub fn cut_front(text: &str, room: usize) -> String {
    if columns(text) <= room {
        return text.to_owned();
    }
    let mut width = 1;
    let kept = text.chars().rev().take_while(|it| {
        width += columns_of(*it);
        width <= room
    });
    let kept: Vec<char> = kept.collect();
    std::iter::once('…').chain(kept.into_iter().rev()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_that_a_terminal_shows() {
        for (text, count) in
            [("abc", 3), ("größe", 5), ("日本語", 6), ("e\u{301}", 1), ("\x1b[31merror:\x1b[0m", 6), ("", 0)]
        {
            assert_eq!(columns(text), count, "{text:?}");
        }
    }

    #[test]
    fn a_cut_text_fits() {
        assert_eq!((cut("four", 4), cut("fourth", 4)), ("four".to_owned(), "fou…".to_owned()));
        assert_eq!((cut("日本語", 5), cut_front("日本語", 5)), ("日本…".to_owned(), "…本語".to_owned()));
        assert_eq!(cut_front("a/b/main.rs", 8), "…main.rs");
    }
}
