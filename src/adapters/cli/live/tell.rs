//! Printing events in the form of where they go.

use bailiwick_contract::time::{now_ms, rfc3339};

use super::super::printer::Printer;
use super::line::line;
use crate::past_requests::event::{Event, RequestState};
use crate::past_requests::live::TellEvents;
use crate::text_layout::table::width;

/// How many requests are shown one by one at each look.
const SHOWN_EACH_LOOK: usize = 20;

/// How events are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As lines for the user at the terminal, as wide as it is.
    Terminal,
    /// As whole lines, for a log.
    Lines,
    /// As JSON, an object a line.
    Json,
}

/// Returns what prints events.
pub fn tell(printer: Printer, form: Form) -> TellEvents {
    Box::new(move |events| {
        let now = rfc3339(now_ms());
        let mut text = String::new();
        if form == Form::Json {
            for event in events {
                text.push_str(&serde_json::to_string(event).expect("an event has a JSON form"));
                text.push('\n');
            }
        } else {
            let room = if form == Form::Terminal { width() } else { None };
            for event in calm(events, form) {
                if form == Form::Terminal && matches!(event, Event::Stopped { .. }) {
                    // Below the Ctrl-C.
                    text.push('\n');
                }
                text.push_str(&line(&event, &now, room));
                text.push('\n');
            }
        }
        printer.data(&text);
    })
}

/// Leaves of many requests at once the first, and says how many more there were; a log gets all.
fn calm(events: &[Event], form: Form) -> Vec<Event> {
    let is_request = |event: &&Event| matches!(event, Event::Request { .. });
    let count = events.iter().filter(is_request).count();
    if form != Form::Terminal || count <= SHOWN_EACH_LOOK {
        return events.to_vec();
    }
    let is_ok = |event: &Event| matches!(event, Event::Request { standing: RequestState::Ok, .. });
    let rest: Vec<&Event> = events.iter().filter(is_request).skip(SHOWN_EACH_LOOK).collect();
    let many = Event::Many { count: rest.len(), not_ok: rest.iter().filter(|event| !is_ok(event)).count() };
    let mut shown: Vec<Event> = events.iter().filter(is_request).take(SHOWN_EACH_LOOK).cloned().collect();
    shown.push(many);
    shown.extend(events.iter().filter(|event| !is_request(event)).cloned());
    shown
}
