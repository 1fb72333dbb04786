//! What a language lets a writer leave out and its grammar wants: semicolons of TypeScript.

use crate::syntax::Language;

/// Creates a text with what was left out; `None` where nothing can be.
pub(in crate::code) fn completed(language: Language, text: &[u8]) -> Option<Vec<u8>> {
    if !matches!(language, Language::TypeScript | Language::Tsx) {
        return None;
    }
    let mut whole = without_variance(text);
    let mut before = 0_u8;
    let mut is_comment = false;
    let mut start = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let trimmed = line.trim_ascii();
        let blanks = line.iter().take_while(|byte| b" \t".contains(byte)).count();
        if is_comment || trimmed.starts_with(b"/*") {
            is_comment = memchr::memmem::find(trimmed, b"*/").is_none();
        } else if !trimmed.is_empty() && !trimmed.starts_with(b"//") {
            // The member before ends with a type, and another begins with its type parameters or its parameters.
            let begins = (matches!(trimmed[0], b'<' | b'(') || is_called_in(trimmed)) && blanks > 0;
            if begins && (before.is_ascii_alphanumeric() || b">])}_$".contains(&before)) {
                whole.get_or_insert_with(|| text.to_vec())[start + blanks - 1] = b';';
            }
            let code =
                memchr::memmem::find(trimmed, b" //").map_or(trimmed, |at| trimmed[..at].trim_ascii_end());
            before = code.last().copied().unwrap_or(0);
        }
        start += line.len();
    }
    whole
}

/// Returns whether a line declares a member whose name begins as the operator `in` does: `in?: string`, `in2: number`.
fn is_called_in(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"in") else { return false };
    let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"_$".contains(byte)).count();
    let behind = &rest[length..];
    !rest.first().is_some_and(u8::is_ascii_alphabetic)
        && (behind.starts_with(b":") || behind.starts_with(b"?:") || behind.starts_with(b"("))
}

/// Makes `in` and `out` before parameters of types blank.
fn without_variance(text: &[u8]) -> Option<Vec<u8>> {
    let mut whole: Option<Vec<u8>> = None;
    for word in [&b"out "[..], b"in "] {
        for at in memchr::memmem::find_iter(text, word) {
            let before = text[..at].trim_ascii_end();
            let is_first = before.ends_with(b"<") || before.ends_with(b",") || before.ends_with(b" in");
            let is_type = text
                .get(at + word.len())
                .is_some_and(|byte| byte.is_ascii_uppercase() || b"_$".contains(byte));
            if is_first && is_type || word == b"in " && text[at..].starts_with(b"in out ") && is_first {
                whole.get_or_insert_with(|| text.to_vec())[at..at + word.len()].fill(b' ');
            }
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_that_begin_with_parameters_get_the_semicolon_before_them() {
        let text = b"interface I {\n  <A>(a: A): Map<A>\n  // more\n  <B>(b: B): void\n  f: (\n    (x: A) => B\n  )\n}\n";
        let whole = completed(Language::TypeScript, text).expect("one is missing");
        let expected = "interface I {\n  <A>(a: A): Map<A>\n  // more\n ;<B>(b: B): void\n  f: (\n    (x: A) => B\n  )\n}\n";
        assert_eq!(str::from_utf8(&whole), Ok(expected));
        let named = completed(
            Language::TypeScript,
            b"interface I {\n  a?: A | undefined\n  in?: B\n  in2: C\n  inner: D\n}\n",
        );
        let expected = "interface I {\n  a?: A | undefined\n ;in?: B\n ;in2: C\n  inner: D\n}\n";
        assert_eq!(named.as_deref().map(str::from_utf8), Some(Ok(expected)));
        assert_eq!(completed(Language::Rust, text), None);
        assert_eq!(completed(Language::TypeScript, b"f(\n  (a)\n)\n"), None);
    }
}
