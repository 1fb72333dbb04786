//! The steps of `try` and `doctor --prove`, a line each as soon as it was done.

use super::printer::{Paint, Printer, one_line, paint};
use crate::installation::steps::{ShowStep, StepState};

/// Returns what prints each step, below the heading of its group; nothing where data goes out as JSON.
pub fn step_printer(printer: Printer) -> ShowStep {
    Box::new(move |step, last| {
        if printer.json {
            return;
        }
        if !step.group.is_empty() && last.is_none_or(|last| last.group != step.group) {
            let gap = if last.is_none() { "" } else { "\n" };
            printer.data(&format!("{gap}{}\n", step.group));
        }
        let mark = match step.state {
            StepState::Ok => paint(Paint::Good, "ok  "),
            StepState::Skipped => paint(Paint::Hint, "skip"),
            StepState::Failed => paint(Paint::Bad, "FAIL"),
        };
        let indent = if step.group.is_empty() { "" } else { "  " };
        let time = match step.state {
            StepState::Skipped => String::new(),
            StepState::Ok | StepState::Failed => format!(" ({:.1} ms)", step.duration_ms),
        };
        printer.text(&format!("{indent}{mark}  {:<24} {}{time}\n", step.step, one_line(&step.saw)));
    })
}
