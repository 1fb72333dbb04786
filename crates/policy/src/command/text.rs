//! Reading texts roughly: the words of a line, and what in a shell's text looks like commands.
//!
//! [`words`] reads what the person writes in rules. [`pieces`] is advice: it finds what it can in a text that
//! a shell would read, so that a rule that denies can say so. Nothing is ever allowed by what it finds.

/// How many pieces are looked at.
const MAX_PIECES: usize = 512;

/// Splits a line into words at blanks; quotes hold a word together. `None` if a quote is not closed.
pub fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in line.chars() {
        match quote {
            Some(open) if letter == open => quote = None,
            Some(_) => word.get_or_insert_default().push(letter),
            None if letter == '"' || letter == '\'' => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            None if letter.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// Finds what looks like commands in a text for a shell.
pub fn pieces(text: &str) -> Vec<Vec<String>> {
    const KEYWORDS: &[&str] = &[
        "then", "do", "else", "elif", "if", "while", "until", "!", "time", "exec", "command", "builtin",
        "eval",
    ];
    let mut found = Vec::new();
    for part in text.split(['\n', ';', '&', '|', '(', ')', '{', '}', '<', '>', '`']).take(MAX_PIECES) {
        let mut words: Vec<String> = part
            .split_whitespace()
            .map(|word| word.chars().filter(|it| !['"', '\'', '\\', '$'].contains(it)).collect())
            .filter(|word: &String| !word.is_empty())
            .collect();
        let skip =
            words.iter().take_while(|word| KEYWORDS.contains(&word.as_str()) || is_assignment(word)).count();
        words.drain(..skip);
        if !words.is_empty() {
            found.push(words);
        }
    }
    found
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
    })
}
