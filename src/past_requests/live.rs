//! What happens, as it happens: requests as they come, and what waits for the user.
//!
//! Reads the history from time to time, as any other reader does, on a thread of its own: no request knows of it or
//! waits for it, and it tells nothing that the history does not hold. Not started, it costs nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use bailiwick_history::{Entry, State, Tail};
use bailiwick_providers::approval::Approvals;
use bailiwick_providers::secret_prompt::Prompts;

use super::event::Event;
use crate::installation::home::Home;
use crate::installation::running::processes_that_go_on;

/// How often is looked for what came.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How many rows are read at a time.
const ROWS: usize = 500;
/// How long a request continues before it is told of as running.
const LONG: Duration = Duration::from_secs(2);
/// How many requests that run are remembered.
const MAX_RUNNING: usize = 512;

/// Prints events, of which there is at least one.
pub type TellEvents = Box<dyn FnMut(&[Event]) + Send>;

/// The view, until it is ended.
pub struct LiveView {
    end: Sender<()>,
    ended: Receiver<()>,
}

impl LiveView {
    /// Begins to tell of what comes from now on. Where no thread can be had nothing is told.
    pub fn start(home: &Home, tell: TellEvents) -> Self {
        let (end, asked_to_end) = channel();
        let (tell_ended, ended) = channel();
        let mut watch = Watch::new(home, tell);
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
    tell: TellEvents,
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
    fn new(home: &Home, tell: TellEvents) -> Self {
        Self {
            home: home.clone(),
            tell,
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

    fn tell(&mut self, events: &[Event]) {
        if !events.is_empty() {
            (self.tell)(events);
        }
    }
}
