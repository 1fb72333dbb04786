//! What the small language leaves out: each construct by its name, with what to do instead.

use bailiwick_contract::{Failure, StageName};

/// Why a text is not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It holds something that is not literal.
    Construct {
        /// What it is.
        construct: Construct,
        /// The byte at which it begins.
        at: usize,
    },
    /// It is no command at all, or larger than any.
    Malformed(String),
}

impl Refusal {
    /// Creates the refusal of a construct.
    pub const fn construct(construct: Construct, at: usize) -> Self {
        Self::Construct { construct, at }
    }

    /// Creates the refusal of a text that does not parse.
    pub fn malformed(message: impl Into<String>) -> Self {
        Self::Malformed(message.into())
    }

    /// Says it to the caller. `text` is what was read; only the place in it is told, never a part of it.
    pub fn failure(self, text: &str) -> Failure {
        match self {
            Self::Malformed(message) => Failure::invalid("input.command", message).hint(ARGV_HINT),
            Self::Construct { construct, at } => {
                let character = text.get(..at).map_or(at, |before| before.chars().count()) + 1;
                let message = format!(
                    "the command string holds {} at character {character}; only simple commands of literal words are taken",
                    construct.described()
                );
                let failure = Failure::denied(NOT_LITERAL, message)
                    .detail("construct", construct.name())
                    .detail("character", character)
                    .at_stage(StageName::Command);
                let failure = match construct.instead() {
                    "" => failure,
                    hint => failure.hint(hint),
                };
                if construct.has_argv_form() { failure.hint(ARGV_HINT) } else { failure }
            }
        }
    }
}

/// The rule of everything that is not a literal word.
pub const NOT_LITERAL: &str = "not-literal";
/// The rule of a program word that is no bare name.
pub const PROGRAM_WORD: &str = "program-word";

const ARGV_HINT: &str = "Give the command as an array: in `[\"program\", \"argument\", \"…\"]` every word is literal and nothing needs quoting.";

macro_rules! constructs {
    ($($(#[doc = $doc:literal])+ $variant:ident { name: $name:literal, described: $described:literal, instead: $instead:literal, argv: $argv:literal })+) => {
        /// A construct of the shell that the small language does not have.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Construct {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Construct {
            /// Returns the name that `details.construct` carries.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// Returns the construct as a part of a sentence.
            const fn described(self) -> &'static str {
                match self { $(Self::$variant => $described,)+ }
            }

            /// Returns what to do instead; empty where the array form says it all.
            const fn instead(self) -> &'static str {
                match self { $(Self::$variant => $instead,)+ }
            }

            /// Returns whether the array form can say what was probably meant.
            const fn has_argv_form(self) -> bool {
                match self { $(Self::$variant => $argv,)+ }
            }
        }
    };
}

constructs! {
    /// `$name`, `${…}`.
    ParameterExpansion {
        name: "parameter expansion", described: "a parameter expansion (`$`)",
        instead: "Write the value itself, or put a literal `$` in single quotes.", argv: true
    }
    /// `$(…)`.
    CommandSubstitution {
        name: "command substitution", described: "a command substitution (`$(…)`)",
        instead: "Run the inner command first and put its output into the next one.", argv: false
    }
    /// `` `…` ``.
    Backquote {
        name: "command substitution", described: "a command substitution (backquotes)",
        instead: "Run the inner command first, or put literal backquotes in single quotes.", argv: true
    }
    /// `$((…))`, `$[…]`.
    ArithmeticExpansion {
        name: "arithmetic expansion", described: "an arithmetic expansion",
        instead: "Write the number itself.", argv: false
    }
    /// `$'…'`.
    AnsiQuotes {
        name: "ANSI-C quoting", described: "ANSI-C quoting (`$'…'`)",
        instead: "", argv: true
    }
    /// `$"…"`.
    TranslatedQuotes {
        name: "translated quoting", described: "translated quoting (`$\"…\"`)",
        instead: "Use plain double quotes.", argv: true
    }
    /// `<(…)`, `>(…)`.
    ProcessSubstitution {
        name: "process substitution", described: "a process substitution",
        instead: "Write the output to a file of the scope first, and name the file.", argv: false
    }
    /// `<<WORD`.
    HereDocument {
        name: "here-document", described: "a here-document (`<<`)",
        instead: "Give the text as `input.stdin`, or write it with `file.write` and name the file.", argv: false
    }
    /// `<<<`.
    HereString {
        name: "here-string", described: "a here-string (`<<<`)",
        instead: "Give the text as `input.stdin`.", argv: false
    }
    /// `*`, `?`, `[`.
    Glob {
        name: "glob", described: "an unquoted glob character (`*`, `?` or `[`)",
        instead: "Quote it if the program shall see it, or name the files (`file.find` lists them).", argv: true
    }
    /// `{a,b}`, `{1..3}`.
    BraceExpansion {
        name: "brace expansion", described: "a brace expansion",
        instead: "Write the words out, or quote the braces.", argv: true
    }
    /// `~`.
    Tilde {
        name: "tilde expansion", described: "a tilde that a shell would expand",
        instead: "Write the path itself, or quote a literal `~`.", argv: true
    }
    /// `NAME=value program`.
    Assignment {
        name: "assignment", described: "an assignment",
        instead: "Give the variable in `input.env` (the scope lists the names that are taken).", argv: false
    }
    /// `&`.
    Background {
        name: "background command", described: "a background command (`&`)",
        instead: "Leave the `&` out: a command runs until it ends; `timeoutSeconds` bounds it.", argv: false
    }
    /// `name() { … }`, `function name`.
    Function {
        name: "function definition", described: "a function definition",
        instead: "Give the commands themselves.", argv: false
    }
    /// `if`, `for`, `while`, `case`, `[[`, `{ …; }` and what belongs to them.
    Compound {
        name: "compound command", described: "a reserved word of a compound command",
        instead: "Give one simple command, or several joined by `&&`, `||`, `;` or `|`.", argv: false
    }
    /// `[ … ]`.
    Bracket {
        name: "builtin [", described: "the shell's `[`",
        instead: "Use `test` with the same arguments, without the `]`.", argv: false
    }
    /// `((…))`.
    ArithmeticCommand {
        name: "arithmetic command", described: "an arithmetic command (`((…))`)",
        instead: "", argv: false
    }
    /// `( … )`.
    Subshell {
        name: "subshell", described: "a subshell (`(…)`)",
        instead: "Leave the parentheses out.", argv: false
    }
    /// A parenthesis anywhere else.
    Parenthesis {
        name: "parenthesis", described: "an unquoted parenthesis",
        instead: "Quote it if the program shall see it.", argv: true
    }
    /// `!`.
    Negation {
        name: "negation", described: "a negation (`!`)",
        instead: "Run the command and look at `exitCode`.", argv: false
    }
    /// `time`.
    Time {
        name: "time", described: "the shell's `time`",
        instead: "Leave it out: every result has `durationMs`.", argv: false
    }
    /// `coproc`.
    Coprocess {
        name: "coproc", described: "a coprocess",
        instead: "Run the command itself.", argv: false
    }
    /// `> file`, `>> file`, `&> file`, `>| file`.
    OutputToFile {
        name: "redirection to a file", described: "a redirection to a file",
        instead: "Leave it out and read `stdout` of the result; `file.write` writes files.", argv: false
    }
    /// `< file`, `<> file`.
    InputFromFile {
        name: "redirection from a file", described: "a redirection from a file",
        instead: "Name the file as an argument, or give the text as `input.stdin`.", argv: false
    }
    /// `3>&1`, `2>&-`, `<&3`, `{fd}>…`.
    Descriptor {
        name: "redirection of a descriptor", described: "a redirection of a descriptor",
        instead: "Only `>/dev/null`, `2>/dev/null`, `</dev/null`, `&>/dev/null`, `2>&1` and `>&2` are taken.", argv: false
    }
    /// `|&`.
    PipeBoth {
        name: "pipe of both outputs", described: "a pipe of both outputs (`|&`)",
        instead: "Write `2>&1 |`.", argv: false
    }
    /// A redirection, and no command.
    BareRedirection {
        name: "redirection without a command", described: "a redirection without a command",
        instead: "Leave it out.", argv: false
    }
    /// `# …`.
    Comment {
        name: "comment", described: "a comment (`#`)",
        instead: "Leave the comment out, or quote a literal `#`.", argv: true
    }
    /// A backslash before a newline.
    LineContinuation {
        name: "line continuation", described: "a line continuation (a backslash before a newline)",
        instead: "Write the command in one line.", argv: true
    }
    /// A control character.
    ControlCharacter {
        name: "control character", described: "a control character",
        instead: "", argv: true
    }
    /// A blank that is not ASCII, a zero-width or a bidirectional character outside quotes.
    UnusualCharacter {
        name: "unusual blank or invisible character",
        described: "a blank that is not ASCII, or an invisible character, outside quotes",
        instead: "Use plain blanks between words, or quote the character.", argv: true
    }
    /// More unquoted braces than any command has.
    TooManyOpeners {
        name: "too many opening braces", described: "too many opening braces",
        instead: "", argv: true
    }
    /// What the second reader did not read in the same way.
    Ambiguous {
        name: "ambiguous text", described: "a text that two readers of shell text do not read alike",
        instead: "", argv: true
    }
}
