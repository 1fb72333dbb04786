//! What type a file is, by its name. Mathematics only.

/// What a folder is.
pub(super) const FOLDER: &str = "inode/directory";

/// One line of the database.
struct Glob<'a> {
    weight: u32,
    mime_type: &'a str,
    pattern: &'a str,
    has_case: bool,
}

/// Returns the type of a file by its name: that of the pattern of the most weight, and of these the longest.
pub(super) fn of_name(globs: &str, name: &str) -> Option<String> {
    let lower = name.to_lowercase();
    let fits = |glob: &Glob<'_>| {
        if glob.has_case {
            matches(glob.pattern, name)
        } else {
            matches(&glob.pattern.to_lowercase(), &lower)
        }
    };
    let found = globs.lines().filter_map(read).filter(fits);
    found.max_by_key(|glob| (glob.weight, glob.pattern.len())).map(|glob| glob.mime_type.to_owned())
}

/// Reads a line such as `50:text/plain:*.txt` or `60:text/x-c++src:*.C:cs`.
fn read(line: &str) -> Option<Glob<'_>> {
    let mut parts = line.split(':');
    let (weight, mime_type, pattern) = (parts.next()?.parse().ok()?, parts.next()?, parts.next()?);
    let has_case = parts.next().is_some_and(|flags| flags.split(',').any(|flag| flag == "cs"));
    Some(Glob { weight, mime_type, pattern, has_case })
}

/// Returns whether a name fits a pattern with `*`, `?` and `[…]`.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_prefix('*') {
        Some(end) if !end.contains(['*', '?', '[']) => name.ends_with(end),
        _ if !pattern.contains(['*', '?', '[']) => pattern == name,
        _ => globset::Glob::new(pattern).is_ok_and(|glob| glob.compile_matcher().is_match(name)),
    }
}

/// Returns a type and those that it is a kind of, from the nearest on.
pub(super) fn with_parents(subclasses: &str, mime_type: &str) -> Vec<String> {
    let mut all = vec![mime_type.to_owned()];
    let mut at = 0;
    while let Some(child) = all.get(at).cloned() {
        let of_child = subclasses.lines().filter_map(|line| line.split_once(' '));
        let mut parents: Vec<&str> =
            of_child.filter(|(it, _)| *it == child).map(|(_, parent)| parent).collect();
        if child.starts_with("text/") {
            parents.push("text/plain");
        }
        for parent in parents {
            if !all.iter().any(|known| known == parent) {
                all.push(parent.to_owned());
            }
        }
        at += 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const GLOBS: &str = "# comment\n50:text/plain:*.txt\n50:application/gzip:*.gz\n50:application/x-compressed-tar:*.tar.gz\n\
                         80:text/html:*.html\n50:text/x-makefile:makefile\n60:text/x-c++src:*.C:cs\n50:text/x-csrc:*.c\n\
                         10:text/x-readme:readme*\n";

    #[test]
    fn a_name_has_the_type_of_its_longest_pattern() {
        for (name, expected) in [
            ("a.txt", Some("text/plain")),
            ("A.TXT", Some("text/plain")),
            ("a.tar.gz", Some("application/x-compressed-tar")),
            ("Makefile", Some("text/x-makefile")),
            ("a.C", Some("text/x-c++src")),
            ("a.c", Some("text/x-csrc")),
            ("README.first", Some("text/x-readme")),
            ("a", None),
        ] {
            assert_eq!(of_name(GLOBS, name).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn a_type_is_also_what_it_is_a_kind_of() {
        let subclasses =
            "text/x-python text/x-executable\napplication/a application/b\napplication/b application/a\n";
        assert_eq!(
            with_parents(subclasses, "text/x-python"),
            ["text/x-python", "text/x-executable", "text/plain"]
        );
        assert_eq!(with_parents(subclasses, "application/a"), ["application/a", "application/b"]);
    }
}
