//! The thread that looks and tells.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use bailiwick_contract::time::{now_ms, rfc3339};
use bailiwick_history::{Entry, State, Tail};
use bailiwick_providers::approval::Approvals;
use bailiwick_providers::secret_prompt::Prompts;

use super::super::home::Home;
use super::super::printer::Printer;
use super::super::running::processes_that_go_on;
use super::super::table::width;
use super::event::{Event, Standing};
use super::line::line;

/// How often is looked for what came.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How many rows are read at a time.
const ROWS: usize = 500;
/// How many requests a person is told of one by one at each look.
const SHOWN_EACH_LOOK: usize = 20;
/// How long a request continues before it is told of as running.
const LONG: Duration = Duration::from_secs(2);
/// How many requests that run are remembered.
const MAX_RUNNING: usize = 512;

/// How events are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As lines for the user at the terminal, as wide as it is.
    Terminal,
    /// As whole lines, for a log.
    Lines,
    /// As JSON, an object a line.
    Json,
}

/// The view, until it is ended.
pub struct LiveView {
    end: Sender<()>,
    ended: Receiver<()>,
}

impl LiveView {
    /// Begins to tell of what comes from now on. Where no thread can be had nothing is told.
    pub fn start(home: &Home, printer: Printer, form: Form) -> Self {
        let (end, asked_to_end) = channel();
        let (tell_ended, ended) = channel();
        let mut watch = Watch::new(home, printer, form);
        let thread = std::thread::Builder::new().name("live view".to_owned());
        let body = move || {
            watch.go(&asked_to_end);
            // Nobody may wait any more.
            let _ = tell_ended.send(());
        };
        drop(thread.spawn(body));
        Self { end, ended }
    }

    /// Has it tell of the last requests and of the end, and waits for that, but no longer than `limit`: nobody may
    /// be reading.
    pub fn end(self, limit: Duration) {
        drop(self.end);
        let _ = self.ended.recv_timeout(limit);
    }
}

/// What the thread keeps.
struct Watch {
    home: Home,
    printer: Printer,
    form: Form,
    tail: Option<Tail>,
    prompts: Prompts,
    approvals: Approvals,
    /// Prompts that were told of.
    told: BTreeSet<String>,
    /// Requests with an effect that have not ended, and whether they were told of.
    running: BTreeMap<String, (Entry, Instant, bool)>,
    requests: u64,
    trouble: String,
}

impl Watch {
    fn new(home: &Home, printer: Printer, form: Form) -> Self {
        Self {
            home: home.clone(),
            printer,
            form,
            // What fails now is tried again, and said, at the first look.
            tail: Tail::from_now(&home.dirs.state).ok(),
            prompts: Prompts::new(&home.dirs.state),
            approvals: Approvals::below(&home.dirs.state),
            told: BTreeSet::new(),
            running: BTreeMap::new(),
            requests: 0,
            trouble: String::new(),
        }
    }

    fn go(&mut self, asked_to_end: &Receiver<()>) {
        loop {
            let is_over = asked_to_end.recv_timeout(LOOK_EVERY) != Err(RecvTimeoutError::Timeout);
            self.look();
            if is_over {
                let processes = processes_that_go_on(&self.home);
                self.tell(&[Event::Stopped { requests: self.requests, processes }]);
                return;
            }
        }
    }

    fn look(&mut self) {
        let mut events = Vec::new();
        if let Err(trouble) = self.read(&mut events) {
            if trouble != self.trouble {
                events.push(Event::Notice { text: trouble.clone() });
            }
            self.trouble = trouble;
        } else {
            self.trouble.clear();
        }
        self.waiting(&mut events);
        self.tell(&events);
    }

    /// Reads what came since the last look.
    fn read(&mut self, events: &mut Vec<Event>) -> Result<(), String> {
        let tail = match &mut self.tail {
            Some(tail) => tail,
            none => none.insert(Tail::from_now(&self.home.dirs.state).map_err(|error| error.to_string())?),
        };
        loop {
            let entries = tail.more(ROWS).map_err(|error| error.to_string())?;
            let is_all = entries.len() < ROWS;
            for entry in entries {
                match entry.state {
                    State::Unfinished if self.running.len() < MAX_RUNNING => {
                        self.running.insert(entry.operation_id.clone(), (entry, Instant::now(), false));
                    }
                    State::Unfinished => {}
                    State::Finished => {
                        self.running.remove(&entry.operation_id);
                        self.requests += 1;
                        events.push(Event::of(&entry));
                    }
                    State::Notice => events.push(Event::of(&entry)),
                }
            }
            if is_all {
                break;
            }
        }
        for (entry, since, is_told) in self.running.values_mut() {
            if !*is_told && since.elapsed() >= LONG {
                *is_told = true;
                events.push(Event::of(entry));
            }
        }
        Ok(())
    }

    /// Looks for secrets and approvals that clients ask for.
    fn waiting(&mut self, events: &mut Vec<Event>) {
        let (Ok(waiting), Ok(tickets)) = (self.prompts.waiting(), self.approvals.waiting()) else { return };
        self.told.retain(|id| {
            waiting.iter().any(|prompt| prompt.id == *id) || tickets.iter().any(|ticket| ticket.id == *id)
        });
        for ticket in tickets {
            if self.told.insert(ticket.id.clone()) {
                events.push(Event::Approval {
                    answer: format!("bailiwick approve {}", ticket.id),
                    id: ticket.id,
                    caller: ticket.caller,
                    scope: ticket.scope,
                    op: ticket.op,
                    what: ticket.commands.into_iter().next().or(ticket.target).unwrap_or_default(),
                });
            }
        }
        for prompt in waiting {
            if self.told.insert(prompt.id.clone()) {
                events.push(Event::Waiting {
                    answer: format!("bailiwick approve {}", prompt.id),
                    text: prompt.text.quoted(),
                    id: prompt.id,
                    caller: prompt.caller,
                    scope: prompt.scope,
                    process_id: prompt.process_id,
                });
            }
        }
    }

    fn tell(&self, events: &[Event]) {
        if events.is_empty() {
            return;
        }
        let now = rfc3339(now_ms());
        let mut text = String::new();
        if self.form == Form::Json {
            for event in events {
                text.push_str(&serde_json::to_string(event).expect("an event has a JSON form"));
                text.push('\n');
            }
        } else {
            let room = if self.form == Form::Terminal { width() } else { None };
            for event in calm(events, self.form) {
                if self.form == Form::Terminal && matches!(event, Event::Stopped { .. }) {
                    // Below the Ctrl-C.
                    text.push('\n');
                }
                text.push_str(&line(&event, &now, room));
                text.push('\n');
            }
        }
        self.printer.data(&text);
    }
}

/// Leaves of many requests at once the first, and says how many more there were; a log gets all.
fn calm(events: &[Event], form: Form) -> Vec<Event> {
    let is_request = |event: &&Event| matches!(event, Event::Request { .. });
    let count = events.iter().filter(is_request).count();
    if form != Form::Terminal || count <= SHOWN_EACH_LOOK {
        return events.to_vec();
    }
    let is_ok = |event: &Event| matches!(event, Event::Request { standing: Standing::Ok, .. });
    let rest: Vec<&Event> = events.iter().filter(is_request).skip(SHOWN_EACH_LOOK).collect();
    let many = Event::Many { count: rest.len(), not_ok: rest.iter().filter(|event| !is_ok(event)).count() };
    let mut shown: Vec<Event> = events.iter().filter(is_request).take(SHOWN_EACH_LOOK).cloned().collect();
    shown.push(many);
    shown.extend(events.iter().filter(|event| !is_request(event)).cloned());
    shown
}
