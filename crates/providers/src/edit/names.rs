//! The names of files in the headers of a unified diff.

use bailiwick_contract::path::encode_name;

/// The prefixes that `git diff` puts before names, for the old and the new side.
const PREFIXES: [(&str, &str); 6] =
    [("a/", "b/"), ("i/", "w/"), ("c/", "i/"), ("c/", "w/"), ("o/", "w/"), ("w/", "i/")];

/// A name of one side; `None` stands for `/dev/null`.
pub type Side = Option<String>;

/// Reads the name of a `---` or `+++` line: quoted as in C, or up to a tab.
pub fn read(rest: &str) -> Side {
    let rest = rest.trim_end_matches(['\n', '\r']);
    let name = match unquote(rest) {
        Some((name, _)) => name,
        None => rest.split('\t').next().unwrap_or_default().trim_end().to_owned(),
    };
    (name != "/dev/null").then_some(name)
}

/// Takes off the prefixes of both sides: those of a pair, the prefix of one side alone, or those of a diff that was turned
/// around. Names that are the same without them come first.
pub fn without_prefixes(old: Side, new: Side, from_git: bool) -> (Side, Side) {
    let paired = |old_prefix: &str, new_prefix: &str| -> Option<(Side, Side)> {
        let stripped = |name: &Side, prefix: &str| match name {
            None => Some(None),
            Some(name) => name.strip_prefix(prefix).map(|name| Some(name.to_owned())),
        };
        Some((stripped(&old, old_prefix)?, stripped(&new, new_prefix)?))
    };
    let usual = |(old_prefix, _): &(&str, &str)| *old_prefix == "a/" || from_git;
    let pairs = || PREFIXES.into_iter().filter(usual);
    let same = |(old, new): &(Side, Side)| old.is_some() && old == new;
    let alone = [("a/", ""), ("", "b/"), ("b/", "a/")];
    let of_one_name = pairs().chain(alone).find_map(|(old, new)| paired(old, new).filter(same));
    of_one_name.or_else(|| pairs().find_map(|(old, new)| paired(old, new))).unwrap_or((old, new))
}

/// Reads both names of a `diff --git` line; they are the same but for the prefixes, unless quoted.
pub fn of_git_line(rest: &str) -> Option<(String, String)> {
    let rest = rest.trim_end_matches(['\n', '\r']);
    if let Some((old, after)) = unquote(rest) {
        let after = after.strip_prefix(' ')?;
        let new = unquote(after).map_or_else(|| after.to_owned(), |(new, _)| new);
        return Some((old, new));
    }
    if let Some((old, quoted)) = rest.split_once(" \"")
        && let Some((new, "")) = unquote(&format!("\"{quoted}"))
    {
        return Some((old.to_owned(), new));
    }
    // Names can hold spaces: where both halves agree is the middle.
    rest.match_indices(' ').find_map(|(at, _)| {
        let (old, new) = (&rest[..at], &rest[at + 1..]);
        let (a, b) = without_prefixes(Some(old.to_owned()), Some(new.to_owned()), true);
        (a == b).then(|| (old.to_owned(), new.to_owned()))
    })
}

/// Reads a name in double quotes with the escapes of C; gives what follows it too.
fn unquote(text: &str) -> Option<(String, &str)> {
    let inner = text.strip_prefix('"')?;
    let mut bytes = Vec::new();
    let mut rest = inner.as_bytes();
    loop {
        match rest {
            [b'"', after @ ..] => {
                let after = inner.len() - after.len();
                return Some((encode_name(&bytes), inner.get(after..)?));
            }
            [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..] => {
                bytes.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
                rest = after;
            }
            [b'\\', escaped, after @ ..] => {
                bytes.push(match escaped {
                    b'a' => 7,
                    b'b' => 8,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 11,
                    b'f' => 12,
                    b'r' => b'\r',
                    other => *other,
                });
                rest = after;
            }
            [byte, after @ ..] => {
                bytes.push(*byte);
                rest = after;
            }
            [] => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_git_writes_them() {
        assert_eq!(read("a/x y.txt\t\n").as_deref(), Some("a/x y.txt"));
        assert_eq!(read("a.txt\t2024-01-01 00:00:00\n").as_deref(), Some("a.txt"));
        assert_eq!(read("\"a/\\303\\244\\t.txt\"\n").as_deref(), Some("a/ä\t.txt"));
        assert_eq!(read("/dev/null\n"), None);
        let stripped = |old: &str, new: &str| without_prefixes(read(old), read(new), false);
        let both = |old: &str, new: &str| (Some(old.to_owned()), Some(new.to_owned()));
        assert_eq!(stripped("a/x", "b/x"), both("x", "x"));
        assert_eq!(stripped("a/x", "a/x"), both("a/x", "a/x"));
        assert_eq!(stripped("x", "x"), both("x", "x"));
        assert_eq!(stripped("a/x", "x"), both("x", "x"));
        assert_eq!(stripped("x", "b/x"), both("x", "x"));
        assert_eq!(stripped("b/x", "a/x"), both("x", "x"));
        assert_eq!(stripped("b/x", "a/y"), both("b/x", "a/y"));
        assert_eq!(stripped("a/b/x", "b/x"), both("b/x", "b/x"));
        assert_eq!(stripped("/dev/null", "b/x"), (None, Some("x".to_owned())));
        assert_eq!(of_git_line("a/x y b/x y\n"), Some(("a/x y".to_owned(), "b/x y".to_owned())));
        assert_eq!(of_git_line("\"a/\\303\" \"b/\\303\""), Some((r"a/\xc3".into(), r"b/\xc3".into())));
    }
}
