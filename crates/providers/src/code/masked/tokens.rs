//! The tokens of a text in C or C++, as far as they matter to its outer structure.

use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A word: a name or a keyword.
    Word,
    /// A number, a text or a character.
    Literal,
    /// One byte of punctuation; `::` is `:` twice.
    Sign(u8),
    /// A line for the preprocessor, with the lines that continue it.
    Directive(Directive),
}

/// What a line for the preprocessor does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Directive {
    /// `#if`, `#ifdef`, `#ifndef`; `true` for `#if 0`.
    If(bool),
    /// `#else`, `#elif`.
    Else,
    /// `#endif`.
    End,
    /// `#define`.
    Define,
    /// Another.
    Other,
}

/// A token.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub kind: TokenKind,
    pub start: usize,
    pub end: usize,
    /// Whether it is the first of its line.
    pub is_first: bool,
    /// Whether it is left out, with its branch.
    pub is_dropped: bool,
}

impl Token {
    pub fn is(&self, sign: u8) -> bool {
        self.kind == TokenKind::Sign(sign)
    }

    pub fn bytes(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// Takes a text apart.
pub(super) fn tokens(source: &[u8]) -> Vec<Token> {
    let mut found = Vec::with_capacity(source.len() / 5);
    let mut at = 0;
    let mut is_first = true;
    while let Some(byte) = source.get(at).copied() {
        let rest = &source[at..];
        let start = at;
        let kind = match byte {
            b'\n' => {
                is_first = true;
                at += 1;
                continue;
            }
            b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c' | b'\\' => {
                at += 1;
                continue;
            }
            b'/' if rest.starts_with(b"//") => {
                at = end_of_line(source, at);
                continue;
            }
            b'/' if rest.starts_with(b"/*") => {
                at = memchr::memmem::find(&rest[2..], b"*/").map_or(source.len(), |end| at + end + 4);
                continue;
            }
            b'#' if is_first => {
                at = end_of_line(source, at);
                TokenKind::Directive(directive(&source[start..at]))
            }
            b'"' => {
                at = end_of_quote(source, at);
                TokenKind::Literal
            }
            b'\'' => {
                at = end_of_quote(source, at);
                TokenKind::Literal
            }
            b'0'..=b'9' => {
                at += rest.iter().take_while(|byte| is_word(**byte) || b".'".contains(byte)).count();
                TokenKind::Literal
            }
            _ if is_word(byte) => {
                at += rest.iter().take_while(|byte| is_word(**byte)).count();
                match source.get(at) {
                    Some(b'"') if matches!(&source[start..at], b"R" | b"LR" | b"uR" | b"UR" | b"u8R") => {
                        at = end_of_raw(source, at);
                        TokenKind::Literal
                    }
                    Some(b'"' | b'\'') if matches!(&source[start..at], b"L" | b"u" | b"U" | b"u8") => {
                        at = end_of_quote(source, at);
                        TokenKind::Literal
                    }
                    _ => TokenKind::Word,
                }
            }
            sign => {
                at += 1;
                TokenKind::Sign(sign)
            }
        };
        found.push(Token { kind, start, end: at, is_first, is_dropped: false });
        is_first = false;
    }
    found
}

/// Returns whether a byte can be in a name.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// Returns where a line ends that may be continued by a backslash; comments that begin in it and continue count in.
fn end_of_line(source: &[u8], from: usize) -> usize {
    let is_comment = source[from..].starts_with(b"//");
    let mut at = from;
    loop {
        let Some(next) = memchr::memchr2(b'\n', b'/', &source[at..]) else { return source.len() };
        let place = at + next;
        if source[place] == b'/' {
            if !is_comment && source[place..].starts_with(b"/*") {
                let end = memchr::memmem::find(&source[place + 2..], b"*/");
                at = end.map_or(source.len(), |end| place + end + 4);
            } else {
                at = place + 1;
            }
            continue;
        }
        let before = source[from..place].strip_suffix(b"\r").unwrap_or(&source[from..place]);
        if !before.ends_with(b"\\") {
            return place;
        }
        at = place + 1;
    }
}

/// Returns where a text or a character ends: at its quote, or at the end of its line.
fn end_of_quote(source: &[u8], from: usize) -> usize {
    let quote = source[from];
    let mut at = from + 1;
    while let Some(byte) = source.get(at) {
        match *byte {
            b'\\' => at += 1,
            b'\n' => return at,
            byte if byte == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    source.len()
}

/// Returns where a raw text ends, whose quote is at `from`.
fn end_of_raw(source: &[u8], from: usize) -> usize {
    let rest = &source[from + 1..];
    let Some(open) = rest.iter().take(20).position(|byte| *byte == b'(') else {
        return end_of_quote(source, from);
    };
    let mut end = vec![b')'];
    end.extend_from_slice(&rest[..open]);
    end.push(b'"');
    memchr::memmem::find(rest, &end).map_or(source.len(), |at| from + 1 + at + end.len())
}

fn directive(line: &[u8]) -> Directive {
    let words = line[1..].trim_ascii_start();
    let length = words.iter().take_while(|byte| is_word(**byte)).count();
    match &words[..length] {
        b"if" => Directive::If(words[length..].trim_ascii().first() == Some(&b'0')),
        b"ifdef" | b"ifndef" => Directive::If(false),
        b"else" | b"elif" | b"elifdef" | b"elifndef" => Directive::Else,
        b"endif" => Directive::End,
        b"define" => Directive::Define,
        _ => Directive::Other,
    }
}
