//! Answers as a model reads them: what was asked for as it is, and one line of what the next call may need.
//!
//! That line is in brackets. Above a content it is the first line, below an output the last: whatever a file or a
//! program says, it cannot put a line there. Between several files stands a mark that nobody knew before.

mod changes;
mod fields;
mod main_parts;
mod processes;
mod text;

pub(super) use main_parts::{answer, read_file};
