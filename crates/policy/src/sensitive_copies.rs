//! Copies that editors and tools leave beside a file: what closes the file closes them.

/// What such a copy has at its end.
const ENDS: &[&str] = &[
    "~", ".bak", ".old", ".orig", ".backup", ".save", ".swp", ".swo", ".swn", ".swx", ".un", ".lock", ".tmp",
];
/// The ends of those that vim also begins with a dot.
const OF_VIM: &[&str] = &[".swp", ".swo", ".swn", ".swx", ".un"];
/// How many ends are taken away, one after the other.
const MAX_ENDS: usize = 4;

/// Shows which names are copies, as globs.
pub const PATTERNS: &[&str] = &[
    "*~", "*.~1~", "*.bak", "*.old", "*.orig", "*.backup", "*.save", "*.tmp", "*.lock", ".*.swp", ".*.un~",
    "#*#", ".#*",
];

/// Returns the names of which a folded name may be a copy, the nearest first.
pub fn originals(name: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    if !may_be_copy(name) {
        return found;
    }
    let mut rest = name;
    if let Some(inner) = rest.strip_prefix(b"#").and_then(|rest| rest.strip_suffix(b"#")) {
        rest = inner;
        found.push(rest);
    } else if let Some(inner) = rest.strip_prefix(b".#") {
        rest = inner;
        found.push(rest);
    }
    let mut is_of_vim = false;
    for _ in 0..MAX_ENDS {
        let Some(end) = ENDS.iter().find(|end| rest.ends_with(end.as_bytes())) else { break };
        rest = &rest[..rest.len() - end.len()];
        // The numbered copies of emacs: `name.~1~`.
        if *end == "~"
            && let Some(at) = rest.iter().rposition(|byte| *byte == b'~')
            && at + 1 < rest.len()
            && rest[at + 1..].iter().all(u8::is_ascii_digit)
            && rest[..at].ends_with(b".")
        {
            rest = &rest[..at - 1];
        }
        is_of_vim |= OF_VIM.contains(end);
        found.push(rest);
        if is_of_vim && let Some(inner) = rest.strip_prefix(b".") {
            found.push(inner);
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

/// Returns whether a name ends or begins as copies do. Most names do not: that costs them two bytes.
fn may_be_copy(name: &[u8]) -> bool {
    match name {
        [.., b'~'] | [b'#', ..] | [b'.', b'#', ..] => true,
        [.., b'k' | b'd' | b'g' | b'p' | b'e' | b'o' | b'n' | b'x'] => {
            ENDS.iter().any(|end| name.ends_with(end.as_bytes()))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_tells_its_original() {
        for (copy, original) in [
            (".env~", ".env"),
            ("..env.swp", ".env"),
            (".server.key.swp", "server.key"),
            (".server.key.un~", "server.key"),
            ("#.env#", ".env"),
            (".#.netrc", ".netrc"),
            ("credentials.json.~12~", "credentials.json"),
            (".npmrc.bak", ".npmrc"),
            (".npmrc.old~", ".npmrc"),
            (".git-credentials.lock", ".git-credentials"),
            ("a.key.orig", "a.key"),
        ] {
            let found = originals(copy.as_bytes());
            assert!(found.contains(&original.as_bytes()), "{copy}: {found:?}");
        }
    }

    #[test]
    fn other_names_are_no_copies() {
        for name in ["main.rs", ".env", "~", "#", "##", ".#", "a.backup2", "unlock", "folder", "", ".", "swp"]
        {
            assert!(originals(name.as_bytes()).is_empty(), "{name}");
        }
    }
}
