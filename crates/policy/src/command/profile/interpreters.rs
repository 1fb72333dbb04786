//! Languages, shells and editors: what they are given can do anything.

use super::super::reading::{Certainty, Reading};
use super::{Position, Profile, Row, RowEffect, RowPattern, Starts, row, value};

pub const PROFILES: &[Profile] = &[
    Profile {
        names: &[
            "bash", "sh", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "nu", "elvish",
            "xonsh", "rbash", "yash",
        ],
        code: Some("a script for a shell can do anything"),
        options: &[
            value(Position::Any, &["-o", "+o"]),
            value(Position::Any, &["-O"]),
            value(Position::Any, &["--rcfile", "--init-file"]),
        ],
        starts: Starts::Texts,
        rows: SHELL,
        ordinary: &["bash build.sh", "sh -e build.sh", "bash --version"],
        ..Profile::PLAIN
    },
    Profile {
        names: &["cmd"],
        code: Some("a script for a shell can do anything"),
        starts: Starts::Texts,
        rows: &[
            row(
                RowEffect::ShellText,
                RowPattern::Check(hands_cmd_a_text),
                "hands a text to a shell",
                "cmd /c dir",
            ),
            row(
                RowEffect::Shell,
                RowPattern::Check(leaves_cmd_open),
                "a shell without `/c` and a text reads its input as commands",
                "cmd /k dir",
            ),
            row(
                RowEffect::Shell,
                RowPattern::Check(has_variables),
                "`cmd` puts values of variables into its text, and reads them as commands",
                "cmd /c echo %NAME%",
            ),
        ],
        ..Profile::PLAIN
    },
    Profile {
        names: &["pwsh", "powershell", "command.com", "wscript", "cscript"],
        code: Some("a script for a shell can do anything"),
        starts: Starts::Texts,
        rows: &[row(RowEffect::Shell, RowPattern::Program, "is a shell", "pwsh -c id")],
        ..Profile::PLAIN
    },
    Profile {
        names: &[
            "perl",
            "ruby",
            "irb",
            "php",
            "lua",
            "luajit",
            "rscript",
            "r",
            "julia",
            "java",
            "jshell",
            "groovy",
            "scala",
            "kotlin",
            "elixir",
            "iex",
            "erl",
            "escript",
            "ghci",
            "runghc",
            "swipl",
            "tclsh",
            "wish",
            "guile",
            "racket",
            "sbcl",
            "clojure",
            "clj",
            "crystal",
            "osascript",
            "octave",
            "gnuplot",
            "gdb",
            "lldb",
            "sqlite3",
            "psql",
            "mysql",
            "bc",
            "m4",
        ],
        code: Some("what it is given can do anything"),
        starts: Starts::Words,
        ordinary: &["perl tool.pl", "ruby -Itest test.rb", "java -jar a.jar"],
        ..Profile::PLAIN
    },
    Profile {
        names: &["awk", "gawk", "mawk", "nawk", "original-awk"],
        code: Some("a program for awk can start others and write files"),
        ordinary: &["awk '{print $1}' a.txt"],
        ..Profile::PLAIN
    },
    Profile {
        names: &[
            "vi",
            "vim",
            "nvim",
            "emacs",
            "emacsclient",
            "ed",
            "ex",
            "nano",
            "less",
            "more",
            "most",
            "man",
            "view",
            "vimdiff",
            "code",
        ],
        code: Some("it starts other programs at a word"),
        ..Profile::PLAIN
    },
];

const SHELL: &[Row] = &[
    row(
        RowEffect::ShellText,
        RowPattern::Option(Position::Any, &["-c", "--command"]),
        "hands a text to a shell",
        "bash -ec id",
    ),
    row(
        RowEffect::Shell,
        RowPattern::Check(reads_input),
        "a shell without a script reads its input as commands",
        "bash -s",
    ),
];

/// `cmd` ends after a text behind `/c`, which has to be its first word: others could come with one that changes that.
fn hands_cmd_a_text(reading: &Reading<'_>) -> bool {
    let mut words = reading.words.iter();
    words.next().is_some_and(|word| word.text.eq_ignore_ascii_case("/c")) && words.next().is_some()
}

fn has_variables(reading: &Reading<'_>) -> bool {
    let words = reading.words.iter().map(|word| word.text);
    words.chain(reading.hoisted.iter().copied()).any(|text| text.contains(['%', '!']))
}

fn leaves_cmd_open(reading: &Reading<'_>) -> bool {
    !hands_cmd_a_text(reading)
}

fn reads_input(reading: &Reading<'_>) -> bool {
    let tells = |name: &str| reading.options.iter().any(|it| it.name == name);
    let script = reading.words.iter().any(|word| word.sure != Certainty::Value);
    let stdin = reading.options.iter().any(|it| it.letter == Some('s'));
    (!script || stdin) && !tells("--version") && !tells("--help")
}
