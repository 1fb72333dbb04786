//! Text as it is in XML.
//!
//! # Source
//! Extensible Markup Language (XML) 1.0, fifth edition, §2.2 and §2.4.

/// Writes text so that it is text to every reader, in elements and in attributes. Control characters, for which XML has
/// no way, were refused before ([`super::job::path_text`]).
pub fn escaped(text: &str) -> String {
    let mut made = String::with_capacity(text.len() + 16);
    for it in text.chars() {
        match it {
            '&' => made.push_str("&amp;"),
            '<' => made.push_str("&lt;"),
            '>' => made.push_str("&gt;"),
            '"' => made.push_str("&quot;"),
            '\'' => made.push_str("&apos;"),
            _ => made.push(it),
        }
    }
    made
}
