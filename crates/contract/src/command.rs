//! Commands as values: how they are asked for, what will start, and how strongly it is held.
//!
//! Nothing here judges or runs a command. A plan holds literal words only: there is no text left in it
//! that any shell would read again.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A command: the program and its arguments as an array (the usual way, nothing needs quoting), or one string.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a list of words such as [\"git\", \"status\"], or one string")]
pub enum CommandInput {
    /// The program's name and its arguments, each taken literally: `["git", "log", "--format=%h; %s"]`.
    Argv(Vec<String>),
    /// Simple commands of literal words, joined by `&&`, `||`, `;`, `|` or newlines:
    /// `cargo test && git status`. No shell reads it.
    Line(String),
}

/// What runs: pipelines, one after the other. Every word is literal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandPlan {
    /// The pipeline that always starts.
    pub first: Pipeline,
    /// The pipelines after it, each with what decides whether it starts.
    pub rest: Vec<(Joiner, Pipeline)>,
}

impl CommandPlan {
    /// Creates the plan of a single command without redirections.
    pub fn of_argv(argv: Vec<String>) -> Self {
        Self { first: Pipeline::single(SimpleCommand { argv, redirects: Vec::new() }), rest: Vec::new() }
    }

    /// Returns every command of the plan in the written order, whether or not it will start.
    pub fn commands(&self) -> impl Iterator<Item = &SimpleCommand> {
        let rest = self.rest.iter().flat_map(|(_, pipeline)| &pipeline.commands);
        self.first.commands.iter().chain(rest)
    }
}

/// When a pipeline starts, as seen from the exit status before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Joiner {
    /// `&&`: when the status is zero.
    And,
    /// `||`: when the status is not zero.
    Or,
    /// `;` or a newline: always.
    Then,
}

impl Joiner {
    /// Returns the joiner as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::And => "&&",
            Self::Or => "||",
            Self::Then => ";",
        }
    }
}

/// Commands that run at the same time, each one's output the next one's input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pipeline {
    /// The commands in the order of the pipe; at least one.
    pub commands: Vec<SimpleCommand>,
}

impl Pipeline {
    /// Creates a pipeline of one command, without a pipe.
    pub fn single(command: SimpleCommand) -> Self {
        Self { commands: vec![command] }
    }
}

/// One program with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SimpleCommand {
    /// The program word and its arguments; at least one word.
    pub argv: Vec<String>,
    /// What is done with its standard streams, in the written order.
    pub redirects: Vec<Redirect>,
}

impl SimpleCommand {
    /// Returns the word that names the program.
    pub fn program(&self) -> &str {
        self.argv.first().map_or("", String::as_str)
    }
}

/// The few redirections that touch no file. They take effect one after the other, after the pipe is wired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Redirect {
    /// `</dev/null`
    StdinFromNull,
    /// `>/dev/null`
    StdoutToNull,
    /// `2>/dev/null`
    StderrToNull,
    /// `2>&1`: standard error goes where standard output goes at this point.
    StderrToStdout,
    /// `>&2`: standard output goes where standard error goes at this point.
    StdoutToStderr,
}

impl Redirect {
    /// Returns the redirection as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::StdinFromNull => "</dev/null",
            Self::StdoutToNull => ">/dev/null",
            Self::StderrToNull => "2>/dev/null",
            Self::StderrToStdout => "2>&1",
            Self::StdoutToStderr => ">&2",
        }
    }
}

/// How strongly a command is held. The order is the strength.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Containment {
    /// Not held: the program may do what the service's user may do.
    None,
    /// Landlock and seccomp, or what stands for them on the platform; some ways out stay open and are listed.
    Partial,
    /// A sandbox of its own: only system folders, the scope's folders and a private home exist in it.
    Full,
}

impl Containment {
    /// Returns the name that configs and results use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Partial => "partial",
            Self::Full => "full",
        }
    }
}

impl fmt::Display for Containment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a command may reach over the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// Nothing: no socket but connected pairs.
    None,
    /// A loopback interface of its own, which nothing outside can reach.
    Loopback,
    /// The same, and by a proxy of the service the hosts that the scope names.
    Hosts,
    /// Everything that the computer reaches.
    Full,
}

impl Network {
    /// Returns whether a loopback interface of its own comes with it.
    pub const fn has_own_loopback(self) -> bool {
        matches!(self, Self::Loopback | Self::Hosts)
    }

    /// Returns the name that configs and results use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Loopback => "loopback",
            Self::Hosts => "hosts",
            Self::Full => "full",
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Returns whether a word is the bare name of a program: at most 255 letters, digits, `_`, and after the first
/// one `.`, `+` and `-`. No path, no option, nothing that a system reads otherwise.
pub fn is_program_name(word: &str) -> bool {
    let begins = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let goes_on = |byte: u8| begins(byte) || matches!(byte, b'.' | b'+' | b'-');
    word.len() <= 255 && word.bytes().next().is_some_and(begins) && word.bytes().all(goes_on)
}
