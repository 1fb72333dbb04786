//! Parsing a source for its definitions: with the thread's parser, and only what a person could have written.

use std::cell::RefCell;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};
use tree_sitter::{ParseOptions, ParseState, Parser, Point, Tree};

use crate::syntax::{Language, rest_of};

/// The longest source that is parsed.
pub const MAX_BYTES: usize = 2 << 20;
/// How long the lines of a source can be on average; longer ones were made by a tool, to be short.
const MAX_LINE_BYTES: usize = 400;
/// How short a source can be so that its lines are not looked at.
const SMALL_BYTES: usize = 16 << 10;

/// Why a source was not looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SourceProblem {
    /// It is longer than [`MAX_BYTES`].
    TooLarge,
    /// Its lines are too long to have been written by a person.
    Minified,
    /// The caller wanted no more.
    Stopped,
    /// The grammar failed on it: it crashed, or needed too much memory.
    Failed,
    /// No parse worker could be started.
    Unavailable,
}

impl SourceProblem {
    /// Says so in a few words.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::TooLarge => "the file is larger than 2 MiB",
            Self::Minified => "its lines are too long to have been written by a person",
            Self::Stopped => "it took too long",
            Self::Failed => "the parser failed on this text",
            Self::Unavailable => "the parser cannot be started",
        }
    }
}

thread_local! {
    static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
}

/// Checks that a source is worth parsing.
///
/// # Errors
/// `TooLarge`, `Minified`.
pub(crate) fn worth_parsing(source: &[u8]) -> Result<(), SourceProblem> {
    if source.len() > MAX_BYTES {
        return Err(SourceProblem::TooLarge);
    }
    if source.len() > SMALL_BYTES {
        let lines = memchr::memchr_iter(b'\n', source).count() + 1;
        if source.len() / lines > MAX_LINE_BYTES {
            return Err(SourceProblem::Minified);
        }
    }
    Ok(())
}

/// Parses a source.
///
/// # Errors
/// See [`SourceProblem`].
pub(super) fn parse(
    language: Language,
    source: &[u8],
    stop: &dyn Fn() -> bool,
) -> Result<Tree, SourceProblem> {
    worth_parsing(source)?;
    PARSER.with_borrow_mut(|parser| {
        if parser.set_language(&language.grammar()).is_err() {
            // Held by a test: every grammar is of a version that the library reads.
            return Err(SourceProblem::Stopped);
        }
        let mut rest = |from: usize, _: Point| rest_of(language, source, from);
        let mut progress = |_: &ParseState| match stop() {
            false => ControlFlow::Continue(()),
            true => ControlFlow::Break(()),
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let tree = parser.parse_with_options(&mut rest, None, Some(options));
        if tree.is_none() {
            // A parse that was stopped would continue with the next source.
            parser.reset();
        }
        tree.ok_or(SourceProblem::Stopped)
    })
}
