//! `history --follow`: each operation as it ends, until Ctrl-C. Reads the store, no matter who writes to it.

use std::time::Duration;

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_history::{Entry, HistoryReadError, Tail};

use super::super::args::HistoryArgs;
use super::super::columns::cut;
use super::super::home::Home;
use super::super::printer::Printer;
use super::super::runtime;
use super::super::table::{line, width};
use super::output::EntryOutput;
use super::views::{filter, read, row, unknown_scope};

/// How often is looked for what came.
const LOOK_EVERY: Duration = Duration::from_millis(400);
/// The columns of a wide terminal, by their places in a row, with their widths; the last takes what is left.
const WIDE: &[(usize, usize)] = &[(0, 19), (1, 24), (2, 14), (3, 20), (4, 28), (5, 60)];
/// The columns of a narrow one.
const NARROW: &[(usize, usize)] = &[(0, 19), (3, 16), (4, 18), (5, 24)];
/// From how many columns on a terminal is wide.
const WIDE_COLUMNS: usize = 130;

/// Prints the newest operations, oldest first, and then each one as it ends.
///
/// # Errors
/// `provider_unavailable` when the store cannot be read.
pub fn follow(home: &Home, printer: Printer, args: &HistoryArgs) -> Result<(), Failure> {
    let filter = filter(args);
    let runtime = runtime::small()?;
    runtime.block_on(async {
        let stopped = runtime::asked_to_stop();
        tokio::pin!(stopped);
        let unreadable = |error: HistoryReadError| {
            Failure::new(ErrorCode::ProviderUnavailable, error.to_string())
                .hint("`bailiwick doctor` says how the history is.")
        };
        let mut tail = Tail::from_now(&home.dirs.state).map_err(unreadable)?;
        let mut entries = read(home, &filter)?.entries;
        entries.retain(|entry| entry.seq <= tail.place());
        entries.reverse();
        if !printer.json {
            if let Some(note) = unknown_scope(home, args) {
                printer.talk(note.trim());
            }
            if entries.is_empty() {
                printer.talk("Nothing was done yet that fits; Ctrl-C ends.");
            }
        }
        loop {
            for entry in &entries {
                let text = if printer.json {
                    let object = serde_json::to_string(&EntryOutput::of(entry));
                    format!("{}\n", object.expect("an output has a JSON form"))
                } else {
                    shown(entry)
                };
                // Nobody reads any more.
                if printer.try_data(&text).is_err() {
                    return Ok(());
                }
            }
            tokio::select! {
                () = &mut stopped => return Ok(()),
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
            entries = tail.more_of(&filter).map_err(unreadable)?;
        }
    })
}

fn shown(entry: &Entry) -> String {
    let cells = row(entry);
    let room = width();
    let columns = if room.is_none_or(|room| room >= WIDE_COLUMNS) { WIDE } else { NARROW };
    let mut left = room.unwrap_or(usize::MAX);
    let last = columns.len() - 1;
    let laid_out: Vec<(String, usize)> = columns
        .iter()
        .enumerate()
        .map(|(place, (at, wanted))| {
            let width = if place == last { left } else { (*wanted).min(left) };
            left = left.saturating_sub(width + 2);
            (cut(&cells[*at], width), if place == last { 0 } else { width })
        })
        .collect();
    line(&laid_out)
}
