//! Reading a unified diff, as `git diff` or `diff -u` prints it, or as a model writes it.
//!
//! The numbers after `@@` are hints: they help to take the hunk apart where they are right, and to choose
//! between places that fit, if those of all hunks are right; a hunk with wrong numbers is read to its end all the same. Only the last hunk must not
//! announce more than comes: a patch that was cut off would be applied in part.

use bailiwick_contract::Failure;

use super::hunk::{FilePatch, Hunk, Mark, PatchAction, malformed, unmarked};
use super::names::{self, Side};

/// Git's name of an empty file.
const EMPTY: &str = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";

/// The numbers of a hunk's header: first line and count of the old and of the new side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    old: (usize, usize),
    new: (usize, usize),
}

/// Reads `@@ -1,2 +3,4 @@`.
pub fn numbers(line: &str) -> Option<Numbers> {
    let rest = line.strip_prefix("@@")?.trim_start().strip_prefix('-')?;
    let (old, rest) = rest.split_once(' ')?;
    let new = rest.trim_start().strip_prefix('+')?;
    let new = new.split([' ', '@']).next()?;
    let range = |text: &str| -> Option<(usize, usize)> {
        match text.split_once(',') {
            Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
            None => Some((text.parse().ok()?, 1)),
        }
    };
    Some(Numbers { old: range(old)?, new: range(new.trim_end())? })
}

/// What the lines before the hunks say.
#[derive(Debug, Default)]
struct Header {
    from_git: bool,
    git_names: Option<(String, String)>,
    old: Option<Side>,
    new: Option<Side>,
    rename: (Option<String>, Option<String>),
    mode: Option<u32>,
    /// Whether its lines say that hunks follow.
    announces: bool,
    is_new: bool,
    is_deleted: bool,
    /// Whether anything of it was seen.
    seen: bool,
}

/// Reads the diff.
///
/// # Errors
/// `invalid_request` that names the line.
pub fn parse(text: &str) -> Result<Vec<FilePatch>, Failure> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut at = 0;
    let mut files = Vec::new();
    while at < lines.len() {
        let began = at;
        let header = header(&lines, &mut at)?;
        let mut hunks = Vec::new();
        while at < lines.len() && lines[at].starts_with("@@") {
            hunks.push(hunk(&lines, &mut at)?);
            while at < lines.len() && lines[at].trim().is_empty() {
                at += 1;
            }
            if is_signature(&lines, at) {
                at += 2;
            }
        }
        let is_last = || !(at..lines.len()).any(|at| begins_part(&lines, at));
        if header.announces && hunks.is_empty() && is_last() {
            return Err(malformed(at, "the patch ends before the hunks of its last file")
                .detail("rule", "cut-off")
                .hint("Send the whole patch."));
        }
        if header.seen || !hunks.is_empty() {
            files.push(file(header, with_hints(hunks), began)?);
        }
        if at == began {
            // Words before, between and after the parts of a diff.
            at += 1;
        }
    }
    Ok(files)
}

fn header(lines: &[&str], at: &mut usize) -> Result<Header, Failure> {
    let mut header = Header::default();
    while *at < lines.len() {
        let line = lines[*at];
        let plain = line.trim_end_matches(['\n', '\r']);
        let after = |start: &str| plain.strip_prefix(start);
        if let Some(rest) = after("diff --git ") {
            if header.seen {
                break;
            }
            (header.from_git, header.seen) = (true, true);
            header.git_names = names::of_git_line(rest);
        } else if let Some(rest) = after("--- ")
            && lines.get(*at + 1).is_some_and(|next| next.starts_with("+++ "))
        {
            if header.old.is_some() {
                break;
            }
            header.seen = true;
            header.old = Some(names::read(rest));
            header.new = Some(names::read(&lines[*at + 1][4..]));
            *at += 2;
            // Hunks follow.
            while *at < lines.len() && lines[*at].trim().is_empty() {
                *at += 1;
            }
            break;
        } else if plain.starts_with("@@") {
            break;
        } else if header.from_git {
            if let Some(rest) = after("rename from ") {
                header.rename.0 = names::read(rest);
            } else if let Some(rest) = after("rename to ") {
                header.rename.1 = names::read(rest);
            } else if let Some(mode) = after("new file mode ") {
                (header.is_new, header.mode) = (true, Some(file_mode(mode, *at)?));
            } else if let Some(mode) = after("new mode ") {
                header.mode = Some(file_mode(mode, *at)?);
            } else if let Some(mode) = after("deleted file mode ") {
                header.is_deleted = true;
                file_mode(mode, *at)?;
            } else if let Some(percent) = after("similarity index ") {
                header.announces |= percent.trim() != "100%";
            } else if let Some(objects) = after("index ") {
                // A file that is empty before and after its change has no hunks.
                let objects = objects.split(' ').next().unwrap_or_default();
                let has_lines =
                    |id: &str| !id.is_empty() && !id.bytes().all(|it| it == b'0') && !EMPTY.starts_with(id);
                header.announces |= objects
                    .split_once("..")
                    .is_some_and(|(old, new)| old != new && (has_lines(old) || has_lines(new)));
            } else if plain.starts_with("GIT binary patch") || plain.starts_with("Binary files ") {
                return Err(malformed(*at + 1, "changes of binary files cannot be applied")
                    .hint("Use file.write with `contentBase64`."));
            } else if plain.starts_with("copy from ") {
                return Err(malformed(*at + 1, "a patch cannot copy files").hint("Use file.copy first."));
            } else if !plain.is_empty()
                && !["old mode ", "dissimilarity index ", "copy to "]
                    .iter()
                    .any(|start| plain.starts_with(start))
            {
                break;
            }
        } else {
            return Ok(header);
        }
        *at += 1;
    }
    Ok(header)
}

/// Reads the mode of a regular file.
fn file_mode(text: &str, at: usize) -> Result<u32, Failure> {
    match text.trim() {
        "100644" => Ok(0o644),
        "100755" => Ok(0o755),
        _ => Err(malformed(at + 1, "only regular files can be patched, no links and no submodules")),
    }
}

fn file(header: Header, hunks: Vec<Hunk>, began: usize) -> Result<FilePatch, Failure> {
    let (mut old, mut new) = match (header.old, header.new) {
        (Some(old), Some(new)) => names::without_prefixes(old, new, header.from_git),
        _ => match header.git_names {
            Some((old, new)) => names::without_prefixes(Some(old), Some(new), true),
            // Hunks alone: the request's target is the file.
            None => (Some(String::new()), Some(String::new())),
        },
    };
    let renamed = header.rename.0.is_some() && header.rename.1.is_some();
    if renamed {
        (old, new) = header.rename;
    }
    if header.is_new {
        old = None;
    }
    if header.is_deleted {
        new = None;
    }
    match (old, new) {
        (None, None) => Err(malformed(began + 1, "both sides are /dev/null")),
        (None, Some(path)) => {
            if hunks.iter().any(|hunk| !hunk.old().is_empty()) {
                return Err(malformed(
                    began + 1,
                    format!("`{path}` is new, and has lines that must be there"),
                ));
            }
            let content = hunks.iter().flat_map(Hunk::added).collect();
            Ok(FilePatch { path, action: PatchAction::Create { content, mode: header.mode } })
        }
        (Some(path), None) => {
            if hunks.iter().any(|hunk| hunk.added().next().is_some()) {
                return Err(malformed(began + 1, format!("`{path}` is deleted, and gets new lines")));
            }
            let content = (!hunks.is_empty()).then(|| hunks.iter().flat_map(Hunk::old).collect());
            Ok(FilePatch { path, action: PatchAction::Delete { content } })
        }
        (Some(old), Some(new)) => {
            let (path, move_to) = if renamed { (old, Some(new)) } else { (new, None) };
            if hunks.is_empty() && move_to.is_none() && header.mode.is_none() {
                return Err(malformed(began + 1, format!("`{path}` has no hunks")));
            }
            Ok(FilePatch { path, action: PatchAction::Update { hunks, move_to, mode: header.mode } })
        }
    }
}

fn hunk(lines: &[&str], at: &mut usize) -> Result<(Option<Numbers>, Hunk), Failure> {
    let began = *at;
    let numbers = numbers(lines[began]);
    *at += 1;
    let (body, blank_after) = match numbers.and_then(|numbers| counted(lines, *at, numbers)) {
        Some((body, end)) => {
            *at = end;
            (body, 0)
        }
        None => uncounted(lines, at)?,
    };
    if (*at == lines.len() || is_signature(lines, *at))
        && let Some(numbers) = numbers
    {
        check_end(&body, blank_after, numbers, began)?;
    }
    let heading = lines[began][2..].split_once("@@").map_or("", |(_, heading)| heading.trim()).to_owned();
    let hunk = Hunk { lines: body, heading, blank_after, ..Hunk::default() };
    if hunk.changes_nothing() {
        return Err(malformed(began + 1, "the hunk changes nothing"));
    }
    Ok((numbers, hunk))
}

/// Takes the line numbers of a file's hunks as hints, if all of them fit: each hunk has as many lines as its header
/// announces, and none begins before the one before it has ended. Who does not know the numbers writes others, such as
/// `@@ -1,1 +1,1 @@` before every hunk.
fn with_hints(hunks: Vec<(Option<Numbers>, Hunk)>) -> Vec<Hunk> {
    // An old side without lines names the line before; others name their first line.
    let first = |(start, count): (usize, usize)| if count == 0 { start } else { start.saturating_sub(1) };
    let (mut old_end, mut new_end) = (0, 0);
    let fit = hunks.iter().all(|(numbers, hunk)| {
        let Some(Numbers { old, new }) = *numbers else { return false };
        let follows = first(old) >= old_end && first(new) >= new_end;
        (old_end, new_end) = (first(old).saturating_add(old.1), first(new).saturating_add(new.1));
        let counts = (hunk.count(Mark::Remove), hunk.count(Mark::Add), hunk.count(Mark::Context));
        follows && old.1 == counts.0 + counts.2 && new.1 == counts.1 + counts.2
    });
    let hinted = hunks.into_iter().map(|(numbers, hunk)| {
        let hint = numbers.filter(|_| fit).map(|numbers| first(numbers.old));
        Hunk { hint, ..hunk }
    });
    hinted.collect()
}

type Body = Vec<(Mark, String)>;

/// Refuses the last hunk if it announces more lines than come: the patch was cut off, and what is missing may be what
/// takes the place of the lines that go.
fn check_end(body: &Body, blank_after: usize, numbers: Numbers, began: usize) -> Result<(), Failure> {
    let count = |other: Mark| body.iter().filter(|(mark, _)| *mark != other).count() + blank_after;
    let (old, new) = (count(Mark::Add), count(Mark::Remove));
    if old >= numbers.old.1 && new >= numbers.new.1 {
        return Ok(());
    }
    let message = format!(
        "the patch ends within a hunk: it announces {} old and {} new lines, and only {old} and {new} follow",
        numbers.old.1, numbers.new.1
    );
    Err(malformed(began + 1, message)
        .detail("rule", "cut-off")
        .hint("Send the whole patch. If nothing is missing, leave the numbers out: a hunk may begin with `@@` alone."))
}

fn mark(line: &str) -> Option<(Mark, &str)> {
    match line.as_bytes().first()? {
        b' ' => Some((Mark::Context, &line[1..])),
        b'-' => Some((Mark::Remove, &line[1..])),
        b'+' => Some((Mark::Add, &line[1..])),
        // An empty line of context whose space was lost.
        b'\n' => Some((Mark::Context, line)),
        b'\r' if line == "\r\n" => Some((Mark::Context, line)),
        _ => None,
    }
}

/// Takes off the line end that the mark `\ No newline at end of file` says is not there.
fn unend(body: &mut Body) {
    if let Some((_, line)) = body.last_mut()
        && line.ends_with('\n')
    {
        line.pop();
    }
}

/// Reads as many lines as the numbers say; `None` if they do not fit what is there.
fn counted(lines: &[&str], from: usize, numbers: Numbers) -> Option<(Body, usize)> {
    let (mut old, mut new) = (numbers.old.1, numbers.new.1);
    let (mut body, mut at) = (Body::new(), from);
    while old > 0 || new > 0 {
        let line = lines.get(at)?;
        if line.starts_with('\\') {
            unend(&mut body);
            at += 1;
            continue;
        }
        let (mark, rest) = mark(line)?;
        match mark {
            Mark::Context => (old, new) = (old.checked_sub(1)?, new.checked_sub(1)?),
            Mark::Remove => old = old.checked_sub(1)?,
            Mark::Add => new = new.checked_sub(1)?,
        }
        body.push((mark, rest.to_owned()));
        at += 1;
    }
    if lines.get(at).is_some_and(|line| line.starts_with('\\')) {
        unend(&mut body);
        at += 1;
    }
    // What follows must be no more of the hunk, or the numbers are wrong.
    let more = lines.get(at).is_some_and(|line| {
        !begins_part(lines, at) && (mark(line).is_some_and(|_| !line.trim().is_empty()))
            || lines.get(at).is_some_and(|line| line.trim().is_empty()) && more_after_blank(lines, at)
    });
    (!more).then_some((body, at))
}

fn more_after_blank(lines: &[&str], at: usize) -> bool {
    let next = (at..lines.len()).find(|at| !matches!(lines[*at], "\n" | "\r\n"));
    next.is_some_and(|at| !begins_part(lines, at) && mark(lines[at]).is_some())
}

/// Returns whether a line begins a hunk or the header of another file.
fn begins_part(lines: &[&str], at: usize) -> bool {
    let line = lines[at];
    line.starts_with("@@")
        || line.starts_with("diff --git ")
        || is_signature(lines, at)
        || (line.starts_with("--- ") && lines.get(at + 1).is_some_and(|next| next.starts_with("+++ ")))
}

/// Returns whether a line begins what ends a mail: `-- ` and below it the version of Git, up to the end or the next mail.
fn is_signature(lines: &[&str], at: usize) -> bool {
    let version = |line: &&str| {
        let line = line.trim_end();
        line.starts_with(|it: char| it.is_ascii_digit())
            && line.contains('.')
            && line.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_ ()".contains(&byte))
    };
    let mut rest = lines[(at + 2).min(lines.len())..].iter();
    lines.get(at).is_some_and(|line| line.trim_end() == "--")
        && lines.get(at + 1).is_some_and(version)
        && rest.find(|line| !line.trim().is_empty()).is_none_or(|line| line.starts_with("From "))
}

/// Reads up to the next part, whatever the numbers say. Returns how many lines without any sign come last, too.
fn uncounted(lines: &[&str], at: &mut usize) -> Result<(Body, usize), Failure> {
    let (mut body, mut blank_after) = (Body::new(), 0);
    while *at < lines.len() && !begins_part(lines, *at) {
        let line = lines[*at];
        if line.starts_with('\\') {
            unend(&mut body);
        } else if matches!(line, "\n" | "\r\n") && !more_after_blank(lines, *at) {
            // Either empty lines of context whose space was lost, or lines between the parts of the patch.
            blank_after += 1;
        } else {
            let (mark, rest) = mark(line).ok_or_else(|| unmarked(*at + 1, line))?;
            body.push((mark, rest.to_owned()));
        }
        *at += 1;
    }
    Ok((body, blank_after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunks(text: &str) -> Vec<Hunk> {
        match parse(text).expect("it is a diff").remove(0).action {
            PatchAction::Update { hunks, .. } => hunks,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn lines_that_look_like_headers_belong_to_the_hunk_that_counts_them() {
        let text = "--- a/x.sql\n+++ b/x.sql\n@@ -1,3 +1,3 @@\n a\n--- old comment\n+++ new\n b\n";
        let hunks = hunks(text);
        assert_eq!(hunks[0].old(), ["a\n", "-- old comment\n", "b\n"]);
        assert_eq!(hunks[0].hint, Some(0));
    }

    #[test]
    fn wrong_numbers_do_not_matter() {
        for numbers in ["@@ -1,9 +1,9 @@", "@@ -7 +7 @@ fn x()", "@@", "@@ ... @@", "@@ -1,2 +1,2 @@"] {
            let text = format!("--- x\n+++ x\n{numbers}\n a\n-b\n+c\n\n d\n\n@@ -9,1 +9,1 @@\n-e\n+f\n");
            let hunks = hunks(&text);
            assert_eq!(hunks[0].old(), ["a\n", "b\n", "\n", "d\n"], "{numbers}");
            assert_eq!(hunks[1].old(), ["e\n"], "{numbers}");
        }
    }

    #[test]
    fn a_patch_of_git_that_was_cut_off_in_a_header_is_refused() {
        for header in [
            "similarity index 90%\nrename from x\nrename to y\n",
            "similarity index 90%\nrename from x\nrename to y\nindex 1..2 100644\n--- a/x\n",
            "index 1a..2b 100644\n",
            "old mode 100644\nnew mode 100755\nindex 1a..2b\n",
            "new file mode 100644\nindex 0000000..1a2b\n",
            "deleted file mode 100644\nindex 1a2b..0000000\n",
        ] {
            let failure = parse(&format!("diff --git a/x b/y\n{header}")).expect_err(header);
            assert_eq!(failure.rule(), Some("cut-off"), "{failure:?}");
        }
        for header in [
            "similarity index 100%\nrename from x\nrename to y\n",
            "old mode 100644\nnew mode 100755\n",
            "new file mode 100644\nindex 0000000..e69de29\n",
            "deleted file mode 100644\nindex e69de29..0000000\n",
        ] {
            assert!(parse(&format!("diff --git a/x b/x\n{header}")).is_ok(), "{header}");
        }
    }

    #[test]
    fn numbers_are_hints_only_if_those_of_all_hunks_fit() {
        let hints = |first: &str, second: &str| -> Vec<Option<usize>> {
            let text = format!("--- x\n+++ x\n{first}\n a\n-b\n+c\n{second}\n-d\n+e\n+f\n");
            hunks(&text).iter().map(|hunk| hunk.hint).collect()
        };
        assert_eq!(hints("@@ -4,2 +4,2 @@", "@@ -9 +9,2 @@ fn x()"), [Some(3), Some(8)]);
        // Taken out of a larger diff.
        assert_eq!(hints("@@ -4,2 +7,2 @@", "@@ -9 +19,2 @@"), [Some(3), Some(8)]);
        for (first, second) in [
            ("@@ -1,2 +1,2 @@", "@@ -1 +1,2 @@"),
            ("@@ -4,2 +4,2 @@", "@@ -5 +6,2 @@"),
            ("@@ -4,2 +4,2 @@", "@@ -9 +5,2 @@"),
            ("@@ -4,3 +4,2 @@", "@@ -9 +9,2 @@"),
            ("@@ -4,2 +4,2 @@", "@@"),
        ] {
            assert_eq!(hints(first, second), [None, None], "{first} {second}");
        }
    }

    #[test]
    fn a_patch_that_was_cut_off_is_refused_wherever_it_ends() {
        let whole = "--- a/x\n+++ b/x\n@@ -1,4 +1,4 @@\n-one\n-two\n-three\n+1\n+2\n+3\n four\n@@ -9,2 +9,2 @@\n a\n-b\n+c\n";
        assert!(parse(whole).is_ok());
        let lines: Vec<&str> = whole.split_inclusive('\n').collect();
        for kept in (4..lines.len()).filter(|kept| *kept != 10) {
            assert!(parse(&lines[..kept].concat()).is_err(), "{kept} lines");
        }
        // Too few lines announced, or numbers left out: nothing tells of more.
        for numbers in ["@@ -1,1 +1,1 @@", "@@ -1 +1 @@", "@@", "@@ ... @@"] {
            assert!(parse(&format!("--- x\n+++ x\n{numbers}\n a\n-b\n+c\n")).is_ok(), "{numbers}");
        }
    }

    #[test]
    fn what_git_says_besides_hunks_is_read() {
        let text = "diff --git a/a b.txt b/c.txt\nsimilarity index 90%\nrename from a b.txt\nrename to c.txt\n\
                    diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n\
                    diff --git a/e b/e\nnew file mode 100644\nindex 0000000..e69de29\n\
                    diff --git a/g b/g\ndeleted file mode 100644\nindex 1..0\n--- a/g\n+++ /dev/null\n\
                    @@ -1 +0,0 @@\n-x\n\\ No newline at end of file\n";
        let files = parse(text).expect("it is a diff");
        let update = |move_to: Option<&str>, mode| PatchAction::Update {
            hunks: Vec::new(),
            move_to: move_to.map(str::to_owned),
            mode,
        };
        assert_eq!(files[0], FilePatch { path: "a b.txt".into(), action: update(Some("c.txt"), None) });
        assert_eq!(files[1], FilePatch { path: "run.sh".into(), action: update(None, Some(0o755)) });
        assert_eq!(files[2].action, PatchAction::Create { content: String::new(), mode: Some(0o644) });
        assert_eq!(files[3].action, PatchAction::Delete { content: Some("x".to_owned()) });
        for refused in ["Binary files a/x and b/x differ\n", "GIT binary patch\n", "new file mode 120000\n"] {
            assert!(parse(&format!("diff --git a/x b/x\n{refused}")).is_err(), "{refused}");
        }
    }
}
