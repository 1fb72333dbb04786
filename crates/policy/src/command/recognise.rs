//! From what a caller asked to what would start: a plan of literal words, or the reason why not.
//!
//! An array is taken as it is. A string is read twice: by the scanner of the small language, which names
//! what it does not take, and by a grammar of bash, which has to find the same plan.

use bailiwick_contract::command::is_program_name;
use bailiwick_contract::{CommandInput, CommandPlan, Failure, StageName};

use super::construct::{Construct, PROGRAM_WORD, Refusal};
use super::scan::{ScannedString, scan};
use super::second_reading;

/// The longest command string, in bytes.
pub const MAX_LINE_BYTES: usize = 32 * 1024;
/// The most words of an array.
pub const MAX_ARGV_WORDS: usize = 4_096;
/// The most bytes of an array's words together.
pub const MAX_ARGV_BYTES: usize = 128 * 1024;

/// Reads a command. The words of the plan are what programs would see; no rule has judged them yet.
///
/// # Errors
/// `permission_denied` that names the construct of a string that is not literal (rule `not-literal`) or a
/// program word that is no bare name (rule `program-word`); `invalid_request` for `input.command` where
/// there is no command to read.
pub fn plan(input: &CommandInput) -> Result<CommandPlan, Failure> {
    let plan = match input {
        CommandInput::Argv(argv) => of_argv(argv).map_err(|refusal| refusal.failure(""))?,
        CommandInput::Line(line) => of_line(line).map_err(|refusal| refusal.failure(line))?,
    };
    plan.commands().try_for_each(|command| program_word(command.program()))?;
    Ok(plan)
}

fn of_argv(argv: &[String]) -> Result<CommandPlan, Refusal> {
    if argv.is_empty() {
        return Err(Refusal::malformed("`input.command` is an empty array; its first word is the program"));
    }
    if argv.len() > MAX_ARGV_WORDS {
        return Err(Refusal::malformed(format!("`input.command` has more than {MAX_ARGV_WORDS} words")));
    }
    if argv.iter().map(|word| word.len() + 1).sum::<usize>() > MAX_ARGV_BYTES {
        return Err(Refusal::malformed(format!("`input.command` has more than {MAX_ARGV_BYTES} bytes")));
    }
    if argv.iter().any(|word| word.contains('\0')) {
        return Err(Refusal::malformed("a word of `input.command` has a NUL in it"));
    }
    Ok(CommandPlan::of_argv(argv.to_vec()))
}

fn of_line(line: &str) -> Result<CommandPlan, Refusal> {
    if line.len() > MAX_LINE_BYTES {
        return Err(Refusal::malformed(format!("the command string has more than {MAX_LINE_BYTES} bytes")));
    }
    check_characters(line)?;
    let ScannedString { plan, plain } = scan(line)?;
    if plain || second_reading::agrees(line, &plan) {
        Ok(plan)
    } else {
        Err(Refusal::construct(Construct::Ambiguous, 0))
    }
}

/// Refuses what has no place anywhere in a command string, quoted or not.
fn check_characters(line: &str) -> Result<(), Refusal> {
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b'\t' => {}
            b'\n' if at > 0 && line.as_bytes()[at - 1] == b'\\' => {
                return Err(Refusal::construct(Construct::LineContinuation, at - 1));
            }
            b'\n' => {}
            0..0x20 | 0x7f => return Err(Refusal::construct(Construct::ControlCharacter, at)),
            // The control characters above ASCII are two bytes in UTF-8: C2 80 to C2 9F.
            0x80..0xa0 if line.as_bytes()[at - 1] == 0xc2 => {
                return Err(Refusal::construct(Construct::ControlCharacter, at - 1));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Holds the word that names a program to a bare name that is looked up on the scope's search path.
fn program_word(word: &str) -> Result<(), Failure> {
    if BUILTINS.contains(&word) {
        let (message, hint) = match word {
            "cd" | "pushd" | "popd" => (
                format!("`{word}` would change the folder of a shell, and there is no shell"),
                "Name the folder as the request's `target` and leave the change of folder out.",
            ),
            "export" | "declare" | "typeset" | "local" | "readonly" | "unset" | "set" | "shopt" => (
                format!("`{word}` would change the state of a shell, and there is no shell"),
                "Give variables in `input.env` (the scope lists the names that are taken).",
            ),
            "command" | "builtin" | "exec" | "eval" => (
                format!("`{word}` is a command of the shell, and there is no shell"),
                "Give the program itself, with its arguments.",
            ),
            _ => (
                format!("`{word}` is a command of the shell, and there is no shell"),
                "Leave it out, or name a program.",
            ),
        };
        return Err(Failure::denied("shell-builtin", message)
            .detail("construct", format!("builtin {word}"))
            .at_stage(StageName::Command)
            .hint(hint));
    }
    if is_program_name(word) {
        return Ok(());
    }
    let failure = Failure::denied(
        PROGRAM_WORD,
        "the first word of a command must be the bare name of a program: letters, digits, `_`, and after the first one `.`, `+` and `-`",
    )
    .detail("construct", "program word")
    .at_stage(StageName::Command);
    Err(if word.contains('/') {
        failure.hint(
            "Give the program's name without a path: it is looked up on the scope's `searchPath`. Run a script of the \
             project through its interpreter, such as `[\"node\", \"script.js\"]`, where the scope allows that.",
        )
    } else {
        failure.hint("Give the program's name as the first word.")
    })
}

/// What bash does itself and no program does: to start a program of that name would do something else.
/// (`echo`, `false`, `kill`, `printf`, `pwd`, `test` and `true` are missing: they are programs as well.)
const BUILTINS: &[&str] = &[
    ".",
    ":",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "cd",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "declare",
    "dirs",
    "disown",
    "enable",
    "eval",
    "exec",
    "exit",
    "export",
    "fc",
    "fg",
    "getopts",
    "hash",
    "help",
    "history",
    "jobs",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "pushd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "times",
    "trap",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "wait",
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn plain_text_needs_no_second_reading(line in "[a-zA-Z0-9 _./:=@,+%\t\n;&|-]{0,40}") {
            if let Ok(scanned) = scan(&line)
                && scanned.plain
            {
                prop_assert!(second_reading::agrees(&line, &scanned.plan), "{line:?} {:?}", scanned.plan);
            }
        }

        #[test]
        fn no_text_makes_it_panic(line in any::<String>()) {
            let _ = plan(&CommandInput::Line(line));
        }
    }

    #[test]
    fn the_second_reading_takes_no_other_plan_for_the_same_text() {
        for (line, other) in
            [("a 'b c'", "a b c"), ("a; b", "a && b"), ("a | b", "a || b"), ("a 2>&1", "a >&2")]
        {
            let plan = scan(other).expect("a good command").plan;
            assert!(second_reading::agrees(other, &plan));
            assert!(!second_reading::agrees(line, &plan), "{line}");
        }
        let plan = scan("a").expect("a good command").plan;
        for line in ["a $x", "a *", "a &", "! a", "time a", "X=1 a", "a >x", "(a)", "a \"$(b)\"", "a '", ""] {
            assert!(!second_reading::agrees(line, &plan), "{line}");
        }
    }
}
