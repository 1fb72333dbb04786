//! The second reading of a command string: a grammar of bash that others wrote has to find the same words.
//!
//! It widens nothing. It only ever sees text that the first reading took, which nests nowhere, so it needs
//! no deep stack; and where it finds other words, another structure or an error, the string is refused.

use std::panic::{AssertUnwindSafe, catch_unwind};

use brush_parser::ast::{
    AndOr, Command, CommandPrefixOrSuffixItem, IoFileRedirectKind, IoFileRedirectTarget, IoRedirect,
    Pipeline as ParsedPipeline, Program, SeparatorOperator, SimpleCommand as ParsedCommand, Word,
};
use brush_parser::word::WordPiece;
use brush_parser::{ParserOptions, parse_tokens, uncached_tokenize_str, word};

use bailiwick_contract::{CommandPlan, Joiner, Pipeline, Redirect, SimpleCommand};

/// Returns whether the grammar reads exactly this plan in the text.
pub fn agrees(text: &str, plan: &CommandPlan) -> bool {
    // A grammar that panics has not agreed.
    catch_unwind(AssertUnwindSafe(|| read(text))).is_ok_and(|found| found.as_ref() == Some(plan))
}

fn options() -> ParserOptions {
    ParserOptions {
        enable_extended_globbing: false,
        tilde_expansion_after_colon: true,
        ..ParserOptions::default()
    }
}

fn read(text: &str) -> Option<CommandPlan> {
    let options = options();
    let tokens = uncached_tokenize_str(text, &options.tokenizer_options()).ok()?;
    plan(&parse_tokens(&tokens, &options).ok()?, &options)
}

fn plan(program: &Program, options: &ParserOptions) -> Option<CommandPlan> {
    let mut pipelines = Vec::new();
    for item in program.complete_commands.iter().flat_map(|list| &list.0) {
        if !matches!(item.1, SeparatorOperator::Sequence) {
            return None;
        }
        pipelines.push((Joiner::Then, pipeline(&item.0.first, options)?));
        for next in &item.0.additional {
            pipelines.push(match next {
                AndOr::And(next) => (Joiner::And, pipeline(next, options)?),
                AndOr::Or(next) => (Joiner::Or, pipeline(next, options)?),
            });
        }
    }
    let mut pipelines = pipelines.into_iter();
    let (_, first) = pipelines.next()?;
    Some(CommandPlan { first, rest: pipelines.collect() })
}

fn pipeline(parsed: &ParsedPipeline, options: &ParserOptions) -> Option<Pipeline> {
    if parsed.timed.is_some() || parsed.bang {
        return None;
    }
    let commands = parsed.seq.iter().map(|parsed| match parsed {
        Command::Simple(parsed) => command(parsed, options),
        Command::Compound(..) | Command::Function(_) | Command::ExtendedTest(..) => None,
    });
    Some(Pipeline { commands: commands.collect::<Option<_>>()? })
}

fn command(parsed: &ParsedCommand, options: &ParserOptions) -> Option<SimpleCommand> {
    let mut command = SimpleCommand { argv: Vec::new(), redirects: Vec::new() };
    for item in parsed.prefix.iter().flat_map(|prefix| &prefix.0) {
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(parsed) => redirect(parsed, &mut command.redirects)?,
            _ => return None,
        }
    }
    command.argv.push(literal(parsed.word_or_name.as_ref()?, options)?);
    for item in parsed.suffix.iter().flat_map(|suffix| &suffix.0) {
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(parsed) => redirect(parsed, &mut command.redirects)?,
            // After the program a word with `=` is an argument like any other.
            CommandPrefixOrSuffixItem::Word(word) | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
                command.argv.push(literal(word, options)?);
            }
            CommandPrefixOrSuffixItem::ProcessSubstitution(..) => return None,
        }
    }
    Some(command)
}

fn redirect(parsed: &IoRedirect, found: &mut Vec<Redirect>) -> Option<()> {
    use IoFileRedirectKind::{DuplicateOutput, Read, Write};
    use IoFileRedirectTarget::{Duplicate, Filename};

    let is = |word: &Word, wanted: &str| word.value == wanted;
    match parsed {
        IoRedirect::File(None | Some(0), Read, Filename(to)) if is(to, "/dev/null") => {
            found.push(Redirect::StdinFromNull);
        }
        IoRedirect::File(None | Some(1), Write, Filename(to)) if is(to, "/dev/null") => {
            found.push(Redirect::StdoutToNull);
        }
        IoRedirect::File(Some(2), Write, Filename(to)) if is(to, "/dev/null") => {
            found.push(Redirect::StderrToNull);
        }
        IoRedirect::File(Some(2), DuplicateOutput, Duplicate(to)) if is(to, "1") => {
            found.push(Redirect::StderrToStdout);
        }
        IoRedirect::File(None | Some(1), DuplicateOutput, Duplicate(to)) if is(to, "2") => {
            found.push(Redirect::StdoutToStderr);
        }
        IoRedirect::OutputAndError(to, false) if is(to, "/dev/null") => {
            found.extend([Redirect::StdoutToNull, Redirect::StderrToStdout]);
        }
        _ => return None,
    }
    Some(())
}

/// Returns what the program sees, if every piece of the word is literal.
fn literal(word: &Word, options: &ParserOptions) -> Option<String> {
    let mut value = String::with_capacity(word.value.len());
    for piece in word::parse(&word.value, options).ok()? {
        match piece.piece {
            WordPiece::Text(text) | WordPiece::SingleQuotedText(text) => value.push_str(&text),
            WordPiece::EscapeSequence(escape) => value.push_str(escape.get(1..)?),
            WordPiece::DoubleQuotedSequence(inner) => {
                for piece in inner {
                    match piece.piece {
                        WordPiece::Text(text) => value.push_str(&text),
                        WordPiece::EscapeSequence(escape) => value.push_str(escape.get(1..)?),
                        _ => return None,
                    }
                }
            }
            _ => return None,
        }
    }
    Some(value)
}
