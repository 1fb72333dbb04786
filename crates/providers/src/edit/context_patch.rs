//! Reading a context patch: `*** Begin Patch`, files by `***` lines, hunks without line numbers.

use bailiwick_contract::Failure;

use super::hunk::{FilePatch, Hunk, Mark, PatchAction, malformed, unmarked};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";

/// Reads the patch.
///
/// # Errors
/// `invalid_request` that names the line.
pub fn parse(text: &str) -> Result<Vec<FilePatch>, Failure> {
    let mut lines = Lines { lines: text.split_inclusive('\n').collect(), at: 0 };
    while lines.peek().is_some_and(|line| line.trim().is_empty()) {
        lines.at += 1;
    }
    if lines.peek().map(str::trim_end) != Some(BEGIN) {
        return Err(lines.wrong(format!("a context patch begins with `{BEGIN}`")));
    }
    lines.at += 1;
    let mut files = Vec::new();
    loop {
        let Some(line) = lines.peek().map(str::trim_end) else {
            // Without its end, the patch may have been cut off.
            return Err(lines
                .wrong(format!("`{END}` is missing"))
                .hint(format!("Send the whole patch; its last line is `{END}`.")));
        };
        if line == END {
            lines.at += 1;
            break;
        }
        if line.is_empty() {
            lines.at += 1;
            continue;
        }
        files.push(file(&mut lines)?);
    }
    while let Some(line) = lines.peek() {
        if !line.trim().is_empty() {
            return Err(lines.wrong(format!("nothing may follow `{END}`")));
        }
        lines.at += 1;
    }
    Ok(files)
}

struct Lines<'a> {
    lines: Vec<&'a str>,
    at: usize,
}

impl<'a> Lines<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    fn wrong(&self, problem: impl std::fmt::Display) -> Failure {
        malformed(self.at + 1, problem)
    }

    /// Takes the rest of a line that begins in a certain way.
    fn take(&mut self, start: &str) -> Option<&'a str> {
        let rest = self.peek()?.strip_prefix(start)?.trim();
        self.at += 1;
        Some(rest)
    }
}

fn file(lines: &mut Lines<'_>) -> Result<FilePatch, Failure> {
    let named = |path: &str, lines: &Lines<'_>| match path {
        "" => Err(malformed(lines.at, "the path is missing")),
        path => Ok(path.to_owned()),
    };
    if let Some(path) = lines.take("*** Add File:") {
        let path = named(path, lines)?;
        let mut content = String::new();
        while let Some(line) = lines.peek().filter(|line| !line.starts_with("*** ")) {
            match line.strip_prefix('+') {
                Some(line) => content.push_str(line),
                None if line.trim().is_empty() && only_blank_until_header(lines) => {}
                None => return Err(lines.wrong("every line of a new file begins with `+`")),
            }
            lines.at += 1;
        }
        return Ok(FilePatch { path, action: PatchAction::Create { content, mode: None } });
    }
    if let Some(path) = lines.take("*** Delete File:") {
        return Ok(FilePatch { path: named(path, lines)?, action: PatchAction::Delete { content: None } });
    }
    let Some(path) = lines.take("*** Update File:") else {
        return Err(lines.wrong(
            "expected `*** Add File: PATH`, `*** Update File: PATH`, `*** Delete File: PATH` or `*** End Patch`",
        ));
    };
    let path = named(path, lines)?;
    let move_to = match lines.take("*** Move to:") {
        Some(to) => Some(named(to, lines)?),
        None => None,
    };
    let began = lines.at;
    let hunks = hunks(lines)?;
    if hunks.is_empty() && move_to.is_none() {
        return Err(malformed(began, format!("`{path}` has no hunks")));
    }
    Ok(FilePatch { path, action: PatchAction::Update { hunks, move_to, mode: None } })
}

fn only_blank_until_header(lines: &Lines<'_>) -> bool {
    let rest = lines.lines[lines.at..].iter().find(|line| !line.trim().is_empty());
    rest.is_none_or(|line| line.starts_with("*** "))
}

/// Returns whether only lines without any sign come before the next hunk or file.
fn only_blank_until_part(lines: &Lines<'_>) -> bool {
    let rest =
        lines.lines[lines.at..].iter().find(|line| !matches!(line.as_bytes().first(), Some(b'\n' | b'\r')));
    rest.is_none_or(|line| line.starts_with("*** ") || line.starts_with("@@"))
}

fn hunks(lines: &mut Lines<'_>) -> Result<Vec<Hunk>, Failure> {
    let mut hunks = Vec::new();
    let mut hunk = Hunk::default();
    let mut began = lines.at;
    while let Some(line) = lines.peek() {
        let plain = line.trim_end();
        if plain == END_OF_FILE {
            hunk.at_end = true;
            lines.at += 1;
            finish(&mut hunk, began, &mut hunks)?;
            continue;
        }
        if line.starts_with("*** ") {
            break;
        }
        if let Some(header) = plain.strip_prefix("@@") {
            if !hunk.lines.is_empty() {
                finish(&mut hunk, began, &mut hunks)?;
                began = lines.at;
            }
            let header = header.trim().trim_end_matches("@@").trim_end();
            // `-1,2 +1,3` are numbers of a unified diff, not a line of the file.
            if !header.is_empty() && super::unified::numbers(plain).is_none() {
                hunk.headers.push(header.to_owned());
            }
            lines.at += 1;
            continue;
        }
        if matches!(line.as_bytes().first(), Some(b'\n' | b'\r')) && only_blank_until_part(lines) {
            // Either an empty line of context whose space was lost, or a line between the parts of the patch.
            hunk.blank_after += usize::from(!hunk.lines.is_empty());
            lines.at += 1;
            continue;
        }
        let (mark, rest) = match line.as_bytes().first() {
            Some(b' ') => (Mark::Context, &line[1..]),
            Some(b'-') => (Mark::Remove, &line[1..]),
            Some(b'+') => (Mark::Add, &line[1..]),
            // An empty line of context whose space was lost.
            Some(b'\n' | b'\r') => (Mark::Context, line),
            Some(_) | None => return Err(unmarked(lines.at + 1, line)),
        };
        if hunk.blank_after > 0 {
            return Err(lines.wrong("a hunk continues after empty lines"));
        }
        hunk.lines.push((mark, rest.to_owned()));
        lines.at += 1;
    }
    if !hunk.lines.is_empty() || !hunk.headers.is_empty() {
        finish(&mut hunk, began, &mut hunks)?;
    }
    Ok(hunks)
}

fn finish(hunk: &mut Hunk, began: usize, hunks: &mut Vec<Hunk>) -> Result<(), Failure> {
    let hunk = std::mem::take(hunk);
    if hunk.changes_nothing() {
        return Err(malformed(began + 1, "the hunk changes nothing"));
    }
    hunks.push(hunk);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_read() {
        let text = "*** Begin Patch\n*** Add File: new.txt\n+one\n+\n*** Update File: a.py\n*** Move to: b.py\n\
                    @@ class A\n@@ def f(self):\n x\n-y\n+z\n\n more\n@@\n-last\n*** End of File\n\
                    *** Delete File: old.txt\n*** End Patch\n";
        let files = parse(text).expect("it is a patch");
        assert_eq!(files.len(), 3);
        assert_eq!(
            files[0].action,
            PatchAction::Create { content: "one\n\n".to_owned(), mode: None },
            "{files:?}"
        );
        let PatchAction::Update { hunks, move_to, .. } = &files[1].action else { panic!("{files:?}") };
        assert_eq!(move_to.as_deref(), Some("b.py"));
        assert_eq!(hunks.len(), 2);
        assert_eq!(hunks[0].headers, ["class A", "def f(self):"]);
        assert_eq!(hunks[0].old(), ["x\n", "y\n", "\n", "more\n"]);
        assert!(hunks[1].at_end && !hunks[0].at_end);
        assert_eq!(files[2].action, PatchAction::Delete { content: None });
    }

    #[test]
    fn a_patch_that_was_cut_off_is_refused() {
        let whole = "*** Begin Patch\n*** Update File: a\n-b\n+c\n*** End Patch\n";
        assert!(parse(whole).is_ok());
        for line in 1..5 {
            let cut: String = whole.split_inclusive('\n').take(line).collect();
            assert!(parse(&cut).is_err(), "{cut}");
        }
        assert!(parse("*** Begin Patch\n*** Update File: a\n b\n*** End Patch\n").is_err());
        assert!(parse("*** Begin Patch\n*** Update File: a\nb\n*** End Patch\n").is_err());
    }
}
