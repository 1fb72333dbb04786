//! The keeper's side of a program's terminal.

use std::os::windows::io::AsHandle;
use std::sync::Arc;

use super::super::opened::step;
use super::super::plan::Streams;
use super::super::pseudo_console::PseudoConsole;
use crate::launch::answers::Answers;
use crate::launch::kept::TerminalSize;
use crate::launch::{LaunchError, pipe};

/// What a person types at a console to end a program's input: Ctrl-Z, and Enter.
pub(super) const END_OF_INPUT: &[u8] = b"\x1a\r";

/// A terminal that a plan runs in.
#[derive(Debug)]
pub(super) struct Terminal {
    console: Arc<PseudoConsole>,
    /// What it answers on its own. The system's console answers the programs, and may ask what it draws into itself.
    answers: Answers,
}

impl Terminal {
    /// Opens one. Returns what it draws, what it takes as typed, and the streams of a plan.
    pub(super) fn open(
        size: TerminalSize,
    ) -> Result<(Self, pipe::Receiver, pipe::Sender, Streams), LaunchError> {
        let failed = |error: std::io::Error| step("terminal", error);
        let (typed, input) = pipe::to_program().map_err(failed)?;
        let (output, drawn) = pipe::from_program().map_err(failed)?;
        let console =
            Arc::new(PseudoConsole::new(size, typed.as_handle(), drawn.as_handle()).map_err(failed)?);
        let streams = Streams::Terminal(Arc::clone(&console));
        Ok((Self { console, answers: Answers::new(size) }, output, input, streams))
    }

    /// Takes in what was drawn. Returns what is typed in answer; nothing as a rule.
    pub(super) fn answer(&mut self, drawn: &[u8]) -> Vec<u8> {
        self.answers.take(drawn)
    }

    /// Changes its size.
    pub(super) fn resize(&mut self, size: TerminalSize) -> std::io::Result<()> {
        self.console.resize(size)?;
        self.answers.resize(size);
        Ok(())
    }
}
