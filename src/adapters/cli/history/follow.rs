//! `watch` and `log --follow`: each operation as it ends, until Ctrl-C. Reads the store, no matter who writes to it.

use std::time::Duration;

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_history::{HistoryReadError, Tail};

use super::super::args::RowFilter;
use super::super::live::line;
use super::super::printer::Printer;
use super::views::{filter, unknown_scope};
use crate::installation::home::Home;
use crate::installation::runtime;
use crate::past_requests::event::Event;
use crate::past_requests::find::read;
use crate::past_requests::output::EntryOutput;
use crate::text_layout::table::width;

/// How often is looked for what came.
const LOOK_EVERY: Duration = Duration::from_millis(400);
/// How many of the newest operations come first.
const SHOWN_BEFORE: u32 = 10;

/// Prints the newest operations, and then each one as it ends.
///
/// # Errors
/// As those of [`follow`].
pub fn watch(home: &Home, printer: Printer, only: &RowFilter) -> Result<(), Failure> {
    follow(home, printer, only, SHOWN_BEFORE)
}

/// Prints the newest operations, at most `limit`, oldest first, and then each one as it ends.
///
/// # Errors
/// `invalid_request` for a filter that cannot be read; `provider_unavailable` when the store cannot be read.
pub fn follow(home: &Home, printer: Printer, only: &RowFilter, limit: u32) -> Result<(), Failure> {
    let filter = filter(only, limit)?;
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
            if let Some(note) = unknown_scope(home, only.scope.as_deref()) {
                printer.talk(note.trim());
            }
            if entries.is_empty() {
                printer.talk("No matching history yet; Ctrl-C ends.");
            }
        }
        loop {
            for entry in &entries {
                let text = if printer.json {
                    let object = serde_json::to_string(&EntryOutput::of(entry));
                    format!("{}\n", object.expect("an output has a JSON form"))
                } else {
                    format!("{}\n", line(&Event::of(entry), "", width()))
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
