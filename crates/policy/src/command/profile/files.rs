//! Programs that look for, read and change files.

use super::super::reading::{Certainty, Reading};
use super::{
    KnownOption, Position, Profile, Row, RowPattern, Starts, Syntax, attached, flag, held, refuse, value,
};

const STARTS_A_PROGRAM: &str = "starts a program for what it finds";
const WRITES: &str = "writes a file of any name";
const LEADS_OUT: &str = "follows links, which may lead out of the folder";

pub const PROFILES: &[Profile] = &[
    Profile {
        names: &["rg", "ripgrep"],
        options: RG_OPTIONS,
        rows: RG_ROWS,
        ordinary: &[
            "rg -n 'fn main' src",
            "rg -ie --pretty .",
            "rg --files -g '*.rs'",
            "rg -tpy word",
            "rg -C3 word",
        ],
        ..Profile::PLAIN
    },
    Profile {
        names: &["fd", "fdfind"],
        starts: Starts::Words,
        rows: &[
            refuse(
                RowPattern::Option(Position::Any, &["-x", "--exec", "-X", "--exec-batch"]),
                STARTS_A_PROGRAM,
                "fd -x id",
            ),
            held(RowPattern::Option(Position::Any, &["-L", "--follow"]), LEADS_OUT, "fd -L x"),
        ],
        ordinary: &["fd -e rs main", "fd -H name src"],
        options: &[
            value(Position::Any, &["-e", "--extension"]),
            value(Position::Any, &["-t", "--type"]),
            value(Position::Any, &["-d", "--max-depth"]),
        ],
        ..Profile::PLAIN
    },
    Profile {
        names: &["find", "gfind"],
        syntax: Syntax::SingleDash,
        starts: Starts::Words,
        rows: FIND_ROWS,
        ordinary: &["find . -name '*.rs' -type f", "find src -newer a -print0"],
        ..Profile::PLAIN
    },
    Profile {
        names: &["sed", "gsed"],
        options: &[
            value(Position::Any, &["-e", "--expression"]),
            value(Position::Any, &["-f", "--file"]),
            value(Position::Any, &["-l", "--line-length"]),
            attached(Position::Any, &["-i", "--in-place"]),
            flag(Position::Any, &["-n", "--quiet", "--silent"]),
            flag(Position::Any, &["-E", "-r", "--regexp-extended"]),
            flag(Position::Any, &["-s", "--separate"]),
            flag(Position::Any, &["-z", "--null-data"]),
            flag(Position::Any, &["-u", "--unbuffered"]),
        ],
        rows: &[
            held(
                RowPattern::Option(Position::Any, &["-f", "--file"]),
                "takes its script from a file",
                "sed -nf x a.txt",
            ),
            held(
                RowPattern::Check(sed_does_more),
                "a script for sed can start programs and write files (`e`, `w`, `r`); only plain ones are let through",
                "sed 's/x/id/e' a.txt",
            ),
        ],
        ordinary: &[
            "sed -n '1,20p' a.txt",
            "sed 's/a/b/g' a.txt",
            "sed -e '/x/d' a.txt",
            "sed -n '$p' a.txt",
            "sed -i 's,a,b,' a.txt",
        ],
        ..Profile::PLAIN
    },
    Profile {
        names: &["sort", "gsort"],
        options: &[
            value(Position::Any, &["-k", "--key"]),
            value(Position::Any, &["-t", "--field-separator"]),
            value(Position::Any, &["-o", "--output"]),
            value(Position::Any, &["-T", "--temporary-directory"]),
            value(Position::Any, &["-S", "--buffer-size"]),
        ],
        rows: &[
            refuse(
                RowPattern::Option(Position::Any, &["--compress-program"]),
                "names a program that sort starts",
                "sort --compress-prog sh a.txt",
            ),
            held(RowPattern::Option(Position::Any, &["-o", "--output"]), WRITES, "sort -uo x a.txt"),
            held(
                RowPattern::Option(Position::Any, &["-T", "--temporary-directory", "--files0-from"]),
                "works with files of any name",
                "sort -T / a.txt",
            ),
        ],
        ordinary: &["sort -u a.txt", "sort -t: -k2 -rn a.txt"],
        ..Profile::PLAIN
    },
    Profile {
        names: &["grep", "egrep", "fgrep", "ggrep", "zgrep"],
        options: &[
            value(Position::Any, &["-e", "--regexp"]),
            value(Position::Any, &["-f", "--file"]),
            value(Position::Any, &["-m", "--max-count"]),
            value(Position::Any, &["-A", "--after-context"]),
            value(Position::Any, &["-B", "--before-context"]),
            value(Position::Any, &["-C", "--context"]),
        ],
        rows: &[held(
            RowPattern::Option(Position::Any, &["-R", "--dereference-recursive"]),
            LEADS_OUT,
            "grep -nR x .",
        )],
        ordinary: &["grep -rn 'a;b' src", "grep -e -R a.txt"],
        ..Profile::PLAIN
    },
    Profile {
        names: &["rm", "unlink", "shred"],
        options: &[
            flag(Position::Any, &["-r", "-R", "--recursive"]),
            flag(Position::Any, &["-f", "--force"]),
            flag(Position::Any, &["-i"]),
            flag(Position::Any, &["-v", "--verbose"]),
            flag(Position::Any, &["-d", "--dir"]),
        ],
        ordinary: &["rm -rf target"],
        ..Profile::PLAIN
    },
    Profile {
        names: &["cp", "mv", "install", "ln"],
        options: &[
            flag(Position::Any, &["-r", "-R", "--recursive"]),
            flag(Position::Any, &["-f", "--force"]),
            value(Position::Any, &["-t", "--target-directory"]),
        ],
        ordinary: &["cp -r a b", "ln -s a b"],
        ..Profile::PLAIN
    },
    Profile {
        names: &["chmod", "chown", "chgrp"],
        options: &[flag(Position::Any, &["-R", "--recursive"])],
        ordinary: &["chmod +x build.sh"],
        ..Profile::PLAIN
    },
    Profile {
        names: &["tee", "dd", "truncate", "split", "csplit"],
        rows: &[refuse(
            RowPattern::Option(Position::Any, &["--filter"]),
            "names a program that it starts",
            "split --filter=id a.txt",
        )],
        ordinary: &["tee out.txt"],
        ..Profile::PLAIN
    },
    Profile {
        names: &["jq", "yq", "gojq"],
        options: &[value(Position::Any, &["-f", "--from-file"]), value(Position::Any, &["-L"])],
        ordinary: &["jq -r '.name' package.json"],
        ..Profile::PLAIN
    },
    Profile {
        names: &["diff", "cmp", "colordiff"],
        rows: &[],
        ordinary: &["diff -ru a b"],
        ..Profile::PLAIN
    },
    Profile {
        names: &["bat", "batcat"],
        rows: &[refuse(
            RowPattern::Option(Position::Any, &["--pager", "--config-file"]),
            "names a program that it starts",
            "bat --pager=id a.txt",
        )],
        ordinary: &["bat -n a.txt"],
        ..Profile::PLAIN
    },
    Profile {
        names: &["tree", "ls", "gls", "exa", "eza"],
        options: &[value(Position::Any, &["-o"])],
        ordinary: &["ls -la src"],
        ..Profile::PLAIN
    },
];

const RG_OPTIONS: &[KnownOption] = &[
    value(Position::Any, &["-e", "--regexp"]),
    value(Position::Any, &["-f", "--file"]),
    value(Position::Any, &["-g", "--glob", "--iglob"]),
    value(Position::Any, &["-t", "--type"]),
    value(Position::Any, &["-T", "--type-not"]),
    value(Position::Any, &["-A", "--after-context"]),
    value(Position::Any, &["-B", "--before-context"]),
    value(Position::Any, &["-C", "--context"]),
    value(Position::Any, &["-m", "--max-count"]),
    value(Position::Any, &["-M", "--max-columns"]),
    value(Position::Any, &["-d", "--max-depth"]),
    value(Position::Any, &["-E", "--encoding"]),
    value(Position::Any, &["-j", "--threads"]),
    value(Position::Any, &["-r", "--replace"]),
    value(Position::Any, &["--ignore-file"]),
    flag(Position::Any, &["--pretty"]),
];

const RG_ROWS: &[Row] = &[
    refuse(RowPattern::Option(Position::Any, &["--pre"]), "starts a program for every file", "rg --pre sh x"),
    refuse(
        RowPattern::Option(Position::Any, &["--hostname-bin"]),
        "names a program that ripgrep starts",
        "rg --hostname-bin=sh x",
    ),
    held(
        RowPattern::Option(Position::Any, &["-z", "--search-zip"]),
        "starts programs that unpack",
        "rg -nz x",
    ),
    held(RowPattern::Option(Position::Any, &["-L", "--follow"]), LEADS_OUT, "rg -L x"),
    held(
        RowPattern::Option(Position::Any, &["-f", "--file", "--ignore-file"]),
        "reads a file of any name",
        "rg -f /x .",
    ),
];

const FIND_ROWS: &[Row] = &[
    refuse(
        RowPattern::Option(Position::Any, &["-exec", "-execdir", "-ok", "-okdir"]),
        STARTS_A_PROGRAM,
        "find . -exec id ;",
    ),
    refuse(RowPattern::Option(Position::Any, &["-delete"]), "removes what it finds", "find . -delete"),
    refuse(
        RowPattern::Option(Position::Any, &["-fprint", "-fprint0", "-fprintf", "-fls"]),
        WRITES,
        "find . -fprintf x %p",
    ),
    held(RowPattern::Option(Position::Any, &["-L", "-follow", "-H"]), LEADS_OUT, "find -L ."),
    held(
        RowPattern::Option(Position::Any, &["-files0-from"]),
        "reads a file of any name",
        "find -files0-from x",
    ),
];

/// Returns whether a script does more than print, delete, quit or replace.
fn sed_does_more(reading: &Reading<'_>) -> bool {
    let given: Vec<&str> = reading
        .options
        .iter()
        .filter(|found| found.is("-e") || found.is("--expression"))
        .filter_map(|found| found.value.or(found.next))
        .collect();
    let from_file = reading.options.iter().any(|found| found.is("-f") || found.is("--file"));
    if given.is_empty() && !from_file {
        let script = reading.words.iter().find(|word| word.sure != Certainty::Value);
        return script.is_some_and(|script| !is_plain_sed(script.text));
    }
    given.iter().any(|script| !is_plain_sed(script.strip_prefix('=').unwrap_or(script)))
}

/// Knows the scripts that everybody writes: addresses with `p`, `d`, `q`, `=`, and `s` with flags `g`, `i`, `p`.
fn is_plain_sed(script: &str) -> bool {
    let script = script.trim();
    let after_address = |text: &str| -> Option<usize> {
        if text.starts_with(|it: char| it.is_ascii_digit()) {
            return Some(text.bytes().take_while(u8::is_ascii_digit).count());
        }
        if text.starts_with('$') {
            return Some(1);
        }
        let inner = text.strip_prefix('/')?;
        let end = inner.find('/')?;
        (!inner[..end].contains(['\\', '\n'])).then_some(end + 2)
    };
    let mut rest = script;
    if let Some(end) = after_address(rest) {
        rest = &rest[end..];
        if let Some(second) = rest.strip_prefix(',') {
            match after_address(second) {
                Some(end) => rest = &second[end..],
                None => return false,
            }
        }
    }
    if ["p", "d", "q", "=", "!d", "!p"].contains(&rest) {
        return true;
    }
    let Some(replacing) = rest.strip_prefix('s') else { return false };
    let Some(delimiter) = replacing.chars().next().filter(|it| "/,|#:@!".contains(*it)) else { return false };
    let parts: Vec<&str> = replacing[1..].split(delimiter).collect();
    let [_, _, flags] = parts.as_slice() else { return false };
    !script.contains('\n')
        && !parts[..2].iter().any(|part| part.ends_with('\\'))
        && flags.chars().all(|it| "gipI".contains(it) || it.is_ascii_digit())
}
