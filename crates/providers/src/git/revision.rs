//! Names of revisions: a strict grammar, so that nothing else can be smuggled in by one.

use bailiwick_contract::Failure;

/// The longest name.
const MAX_BYTES: usize = 250;

/// The name of one commit: a branch, a tag, a hash, `HEAD`, with `~N`, `^N`, `@{N}` or `@{upstream}` behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision(String);

impl Revision {
    /// Reads a name.
    ///
    /// # Errors
    /// `invalid_request` that names the field.
    pub fn parse(field: &str, text: &str) -> Result<Self, Failure> {
        match problem(text) {
            None => Ok(Self(text.to_owned())),
            Some(why) => Err(Failure::invalid(field, format!("`{field}` is no revision: {why}"))
                .hint("Name one commit: a branch, a tag, a hash, HEAD, or such a name with `~2`, `^` or `@{1}` behind it.")),
        }
    }

    /// Names what is checked out.
    pub fn head() -> Self {
        Self("HEAD".to_owned())
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn problem(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        return Some("it is empty");
    }
    if text.len() > MAX_BYTES {
        return Some("it is longer than 250 bytes");
    }
    if text.starts_with('-') {
        return Some("it begins with `-`");
    }
    if text.contains("..") {
        return Some("a range takes two fields, one for each end");
    }
    if text.contains(':') {
        return Some("a path goes into `target`");
    }
    let plain = |c: char| c.is_alphanumeric() || "._-/+#%=,".contains(c);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '{' => return Some("`{` goes only behind `@` or `^`"),
            '@' | '^' if rest.starts_with('{') => {
                let Some(end) = rest.find('}') else { return Some("a `}` is missing") };
                let inside = &rest[1..end];
                let word = inside.chars().all(|c| c.is_ascii_alphanumeric() || "-. ".contains(c));
                if !word || (inside.is_empty() && c == '@') {
                    return Some("what is in `{}` is not understood");
                }
                rest = &rest[end + 1..];
            }
            '@' | '^' | '~' => {}
            c if plain(c) => {}
            _ => return Some("it has a character that no name of a commit has"),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_commits_are_taken() {
        for name in [
            "HEAD",
            "main",
            "feature/größe",
            "v1.2.3",
            "HEAD~2",
            "HEAD^",
            "HEAD^2~3",
            "@",
            "@{1}",
            "main@{upstream}",
            "@{-1}",
            "v1^{}",
            "v1^{commit}",
            "0123abcd",
            "origin/main@{2 days ago}",
            "fix-#12",
        ] {
            assert!(Revision::parse("input.from", name).is_ok(), "{name}");
        }
    }

    #[test]
    fn options_ranges_paths_and_searches_are_not() {
        for name in [
            "",
            "-p",
            "--output=x",
            "-",
            "a..b",
            "a...b",
            "HEAD:file",
            ":/text",
            "HEAD^{/text}",
            "a b",
            "a\nb",
            "a\0",
            "a*",
            "a?",
            "[a]",
            "a\\b",
            "^{",
            "@{",
            "@{}",
            "{a}",
            "$(x)",
            "a;b",
            "`a`",
            "refs/../x",
        ] {
            assert!(Revision::parse("input.from", name).is_err(), "{name:?}");
        }
        assert!(Revision::parse("input.from", &"a".repeat(251)).is_err());
    }
}
