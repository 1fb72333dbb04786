//! Words that lead out of the working folder, for programs that read or write the files that their words name.
//!
//! A guard for commands that nothing holds: at every other level the sandbox decides what can be reached.

use super::reading::{Certainty, Reading};

/// Programs whose words are files.
const FILES: &[&str] = &[
    "cat",
    "tac",
    "nl",
    "head",
    "tail",
    "less",
    "more",
    "most",
    "bat",
    "batcat",
    "ls",
    "gls",
    "exa",
    "eza",
    "tree",
    "du",
    "stat",
    "file",
    "wc",
    "sort",
    "uniq",
    "cut",
    "paste",
    "join",
    "comm",
    "diff",
    "cmp",
    "colordiff",
    "patch",
    "xxd",
    "od",
    "hexdump",
    "strings",
    "base64",
    "base32",
    "sum",
    "cksum",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "cp",
    "mv",
    "ln",
    "install",
    "rm",
    "rmdir",
    "unlink",
    "shred",
    "mkdir",
    "mktemp",
    "mkfifo",
    "touch",
    "truncate",
    "tee",
    "split",
    "csplit",
    "chmod",
    "chown",
    "chgrp",
    "find",
    "gfind",
    "tar",
    "zip",
    "unzip",
    "gzip",
    "gunzip",
    "zcat",
    "bzip2",
    "xz",
    "zstd",
    "7z",
    "open",
    "xdg-open",
    "type",
    "copy",
    "dir",
    "more.com",
];
/// Programs whose words are files, but for the first: what they look for, or their script.
const FILES_AFTER_A_TEXT: &[&str] = &[
    "grep", "egrep", "fgrep", "ggrep", "zgrep", "rg", "ripgrep", "ag", "ack", "sed", "gsed", "awk", "gawk",
    "mawk", "jq", "yq", "gojq", "fd", "fdfind",
];
/// The options that give that text, so that no word is it.
const GIVES_TEXT: &[&str] = &["-e", "--regexp", "--expression", "-f", "--file", "--from-file", "--files"];
/// Subcommands of other programs, whose words are folders or files.
const SUBCOMMANDS: &[(&str, &[&str])] = &[
    ("git", &["init", "clone", "mv"]),
    ("cargo", &["new", "init", "vendor"]),
    ("npm", &["init"]),
    ("go", &["vet"]),
];

/// Returns the first word that leads out of the working folder as a file of the program.
pub fn word<'a>(reading: &Reading<'a>) -> Option<&'a str> {
    let is_one_of = |names: &[&str]| reading.names.iter().any(|name| names.contains(&name.as_str()));
    let has_text = is_one_of(FILES_AFTER_A_TEXT);
    let sub = SUBCOMMANDS.iter().any(|(program, subs)| is_one_of(&[program]) && reading.has_sub(subs));
    if !is_one_of(FILES) && !has_text && !sub {
        return None;
    }
    let gives_text = reading.options.iter().any(|found| GIVES_TEXT.iter().any(|name| found.is(name)));
    let mut text = usize::from(has_text && !gives_text);
    let words = reading.words.iter().filter(|word| {
        // The values of options of these programs are numbers and texts, but for a few that rows look at.
        if has_text && word.sure == Certainty::Value {
            return false;
        }
        let is_text = text > 0;
        text -= usize::from(is_text);
        !is_text
    });
    let values = reading.options.iter().filter(|_| !has_text).filter_map(|found| found.value);
    words.map(|word| word.text).chain(values).find(|word| leads_out(word))
}

/// Returns whether a path leads out of the working folder, as far as its text says.
fn leads_out(path: &str) -> bool {
    let path = path.strip_prefix('=').unwrap_or(path);
    let is_drive = path.as_bytes().get(1) == Some(&b':') && path.as_bytes()[0].is_ascii_alphabetic();
    path != "/dev/null"
        && (is_drive
            || path.starts_with(['/', '\\', '~'])
            || path.split(['/', '\\']).any(|part| part == ".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Option<String> {
        let words: Vec<&str> = line.split(' ').collect();
        word(&Reading::of(&words)).map(str::to_owned)
    }

    #[test]
    fn a_word_that_leads_out_is_found_for_programs_that_take_files() {
        for (line, expected) in [
            ("cat /etc/passwd", "/etc/passwd"),
            ("head -n 5 ../x", "../x"),
            ("ls -la ~", "~"),
            ("rg word ..", ".."),
            ("grep -rn -e /api ../x", "../x"),
            ("cp -t /tmp a", "/tmp"),
            ("cp --target-directory=/tmp a", "/tmp"),
            ("git init /tmp/x", "/tmp/x"),
            ("git -C a clone x ../y", "../y"),
            ("cargo new ../x", "../x"),
            ("cargo vendor /x", "/x"),
            ("cat a/../../b", "a/../../b"),
            ("type C:\\x", "C:\\x"),
        ] {
            assert_eq!(found(line).as_deref(), Some(expected), "{line}");
        }
    }

    #[test]
    fn what_stays_inside_and_what_is_no_file_is_not_found() {
        for line in [
            "cat a/b ./c",
            "grep -rn /api/v1 src",
            "rg -e /x src",
            "sed -n /x/p a.txt",
            "git log HEAD~2..HEAD",
            "git diff main..topic",
            "git clone https://example.com/a.git",
            "printf /etc",
            "cmp a /dev/null",
            "ls a..b",
        ] {
            assert_eq!(found(line), None, "{line}");
        }
    }
}
