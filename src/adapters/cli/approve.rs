//! `approve`: what waits for the user, who answers it here, in a terminal of their own. Requests that need approval are in
//! [`crate::approvals::ticket`].
//!
//! A secret goes from here to the keeper of its process, and nowhere else: not through a service, a file or a log.

use std::time::{Duration, SystemTime};

use serde_json::json;

use bailiwick_config::Config;
use bailiwick_contract::time::rfc3339;
use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::tty::{Line, Tty};
use bailiwick_policy::{OwnFolders, Scopes};
use bailiwick_providers::approval::{
    Approvals, Decision as ApprovalDecision, EffectPreview, PreviewCommit, PreviewState, Ticket,
};
use bailiwick_providers::secret_prompt::Prompts;
use bailiwick_providers::terminal::Screens;

use super::approve_phone;
use super::args::ApproveArgs;
use super::printer::{Paint, Printer, Report, failure_text, one_line, paint, printable};
use super::scope;
use crate::adapters::http::ApprovalForm;
use crate::approvals::output::{ApproveListOutput, ApproveOutput};
use crate::approvals::secrets::{self, PendingPrompt, deliver, not_claimed, secrets, unreadable};
use crate::approvals::ticket::{self as approve_ticket, Answer, ApprovedRules, apply_rules};
use crate::installation::home::Home;
use crate::installation::local_time::span_ms;
use crate::installation::running::tickets_to_answer;
use crate::installation::runtime;

/// How long to wait between two checks whether anything has come or gone.
const PEEK_EVERY: Duration = Duration::from_millis(20);
/// After so many checks all that waits is read again, since a process that ends changes no file.
const PEEKS: u32 = 25;
/// What is asked. It says what each key does, since nothing is shown of what is typed.
const QUESTION: &str = "Secret, hidden (Enter alone: later, Ctrl-R: refuse, Ctrl-C: stop): ";

/// Something that waits for the user.
enum Item {
    Secret(Box<PendingPrompt>),
    Ticket(Box<Ticket>),
}

impl Item {
    fn id(&self) -> &str {
        match self {
            Self::Secret(waiting) => &waiting.prompt.id,
            Self::Ticket(ticket) => &ticket.id,
        }
    }
}

/// When tickets and prompts last came or went.
type Change = [Option<SystemTime>; 2];

/// What the user has done with a prompt.
enum Decision {
    Answered,
    Refused,
    Later,
    Interrupted,
}

/// Lists what waits, or goes through it at the terminal.
///
/// # Errors
/// `provider_unavailable` without a terminal, `not_found` for an unknown id, `cancelled` after Ctrl-C.
pub fn run(home: &Home, printer: Printer, args: &ApproveArgs) -> Result<Report, Failure> {
    if let Some(address) = args.phone {
        ApprovalForm::check(address)?;
    }
    let desk = Approver::open(home)?;
    let mut waiting = desk.waiting()?;
    if let Some(id) = &args.id {
        waiting.retain(|it| it.id() == id);
        if waiting.is_empty() {
            return Err(Failure::new(ErrorCode::NotFound, format!("nothing of the id `{id}` waits"))
                .hint("See `bailiwick approve --list`."));
        }
    }
    if args.list {
        return Ok(list(&desk.approvals, &waiting));
    }
    if waiting.is_empty() && !args.follow {
        let none = ApproveOutput { ok: true, answered: Vec::new(), refused: Vec::new(), left: Vec::new() };
        return Ok(Report::of("Nothing waits for you.\n", &none));
    }
    if let Some(address) = args.phone {
        return approve_phone::run(home, printer, &desk.approvals, &tickets_of(&waiting), address);
    }
    if let Some(answer) = answer_of(args)? {
        return desk.answer_all(&waiting, answer);
    }
    let runtime = runtime::small()?;
    let done = runtime.block_on(async {
        if args.deny { desk.refuse_all(&waiting) } else { desk.go_through(waiting, args.follow).await }
    });
    runtime.shutdown_background();
    done
}

/// What the command works on.
struct Approver {
    prompts: Prompts,
    approvals: Approvals,
    home: Home,
    scopes: Scopes,
    screens: Screens,
}

impl Approver {
    fn open(home: &Home) -> Result<Self, Failure> {
        let config: Config = home.config()?;
        Ok(Self {
            prompts: Prompts::new(&home.dirs.state),
            approvals: Approvals::below(&home.dirs.state),
            home: home.clone(),
            scopes: Scopes::compile(&config, &OwnFolders::of(&home.dirs))?,
            screens: Screens::default(),
        })
    }

    /// Returns what waits and can still be answered, requests first.
    fn waiting(&self) -> Result<Vec<Item>, Failure> {
        let tickets = tickets_to_answer(&self.home)?.into_iter();
        let secrets =
            secrets(&self.home, &self.scopes)?.into_iter().map(|waiting| Item::Secret(Box::new(waiting)));
        Ok(tickets.map(|ticket| Item::Ticket(Box::new(ticket))).chain(secrets).collect())
    }

    /// Answers without asking.
    fn answer_all(&self, waiting: &[Item], answer: Answer) -> Result<Report, Failure> {
        let (mut said, mut answered) = (String::new(), Vec::new());
        for it in waiting {
            let Item::Ticket(ticket) = it else {
                return Err(Failure::invalid("ID", "a secret is typed, not approved")
                    .hint(format!("Run `bailiwick approve {}`.", it.id())));
            };
            let preview = self.approvals.preview(&ticket.id);
            let done = approve_ticket::answer(&self.home, ticket, answer, preview.as_ref(), change_scope);
            said.push_str(&done?);
            answered.push(ticket.id.clone());
        }
        let done = ApproveOutput { ok: true, answered, refused: Vec::new(), left: Vec::new() };
        Ok(Report::of(said, &done))
    }

    fn refuse_all(&self, waiting: &[Item]) -> Result<Report, Failure> {
        let mut refused = Vec::new();
        for it in waiting {
            match it {
                Item::Secret(it) => {
                    let claim = self.prompts.claim(&it.prompt).map_err(|error| not_claimed(&error))?;
                    claim.refused().map_err(|error| unreadable(&error))?;
                }
                Item::Ticket(ticket) => {
                    approve_ticket::answer(&self.home, ticket, Answer::Refuse, None, change_scope)?;
                }
            }
            refused.push(it.id().to_owned());
        }
        Ok(report(&[], &refused, &[]))
    }

    /// Asks for one after another; where the command stays, also for what comes later, until Ctrl-C.
    async fn go_through(&self, mut waiting: Vec<Item>, stays: bool) -> Result<Report, Failure> {
        let stopped = runtime::asked_to_stop();
        tokio::pin!(stopped);
        let tty = match Tty::open() {
            Ok(tty) => tty,
            Err(error) => return Ok(self.without_terminal(&waiting, &error)),
        };
        let (mut answered, mut refused, mut left) = (Vec::new(), Vec::new(), Vec::new());
        // Whatever came before is read once more.
        let mut seen = Change::default();
        if stays {
            say(&tty, "Whatever waits for you is asked here; Ctrl-C ends.\n").await?;
        }
        loop {
            for it in std::mem::take(&mut waiting) {
                let id = it.id().to_owned();
                // Dropping the question gives the terminal back as it was.
                let decision = tokio::select! {
                    decision = self.decide(&tty, &it) => decision?,
                    () = &mut stopped => Decision::Interrupted,
                };
                match decision {
                    Decision::Answered => answered.push(id),
                    Decision::Refused => refused.push(id),
                    Decision::Later => left.push(id),
                    Decision::Interrupted => {
                        let said = match &it {
                            Item::Secret(it) => {
                                let until = rfc3339(it.prompt.expires_at_ms);
                                format!("nothing was sent; the prompt waits on until {until}")
                            }
                            Item::Ticket(ticket) => {
                                let until = rfc3339(ticket.expires_at_ms);
                                format!("nothing was decided; the request waits on until {until}")
                            }
                        };
                        return Err(Failure::new(ErrorCode::Cancelled, said)
                            .hint("Run `bailiwick approve` again to answer it."));
                    }
                }
            }
            if !stays {
                break;
            }
            tokio::select! {
                () = &mut stopped => break,
                () = self.change_after(seen) => {}
            }
            seen = self.changed_at();
            waiting = self.waiting()?;
            waiting.retain(|it| !left.iter().any(|id| id == it.id()));
            if !waiting.is_empty() {
                // The terminal's bell.
                say(&tty, "\x07").await?;
            }
        }
        Ok(report(&answered, &refused, &left))
    }

    /// Shows what waits where nobody can be asked, and the commands that answer it. Fails: nothing is decided.
    fn without_terminal(&self, waiting: &[Item], error: &std::io::Error) -> Report {
        let mut text = String::new();
        let mut failure = Failure::new(
            ErrorCode::ProviderUnavailable,
            format!("there is no terminal in which you could be asked: {error}"),
        )
        .hint("Run `bailiwick approve` in a terminal: it asks for one after another.");
        for it in waiting {
            match it {
                Item::Secret(it) => text.push_str(&secrets::described(&self.screens, it)),
                Item::Ticket(ticket) => {
                    text.push_str(&approve_ticket::described(ticket));
                    let preview = self.approvals.preview(&ticket.id);
                    text.push_str(&preview.as_ref().map(approve_ticket::previewed).unwrap_or_default());
                    failure = failure.hint(format!(
                        "`bailiwick approve {0} --once` approves it here, `bailiwick approve {0} --deny` refuses it.",
                        ticket.id
                    ));
                }
            }
        }
        Report {
            text,
            json: json!({"ok": false, "error": failure.to_json()}),
            notes: vec![failure_text(&failure)],
            is_verbatim: true,
            exit: failure.code.facts().exit_code,
        }
    }

    async fn decide(&self, tty: &Tty, it: &Item) -> Result<Decision, Failure> {
        match it {
            Item::Secret(it) => self.decide_secret(tty, it).await,
            Item::Ticket(ticket) => self.decide_ticket(tty, ticket).await,
        }
    }

    async fn decide_ticket(&self, tty: &Tty, ticket: &Ticket) -> Result<Decision, Failure> {
        say(tty, &approve_ticket::described(ticket)).await?;
        let mut shown = self.show_preview(tty, ticket).await?;
        loop {
            let is_shown =
                shown.as_ref().map_or(!ticket.awaits_preview, |it| it.state != PreviewState::Running);
            let commit = approve_ticket::commit_of(ticket, shown.as_ref());
            let question = approve_ticket::question(ticket, commit.as_ref());
            // What is typed is not shown: it may have been meant for the prompt of a secret.
            let typed = tokio::select! {
                typed = ask(tty, &question) => typed?,
                () = self.preview_done(ticket), if !is_shown => {
                    say(tty, "\n").await?;
                    shown = self.show_preview(tty, ticket).await?;
                    continue;
                }
            };
            let answer = match typed {
                Line::Typed(word) if word.bytes().is_empty() => return Ok(Decision::Later),
                Line::Typed(word) => std::str::from_utf8(word.bytes()).ok().and_then(Answer::parse),
                Line::Refused => Some(Answer::Refuse),
                Line::Interrupted => return Ok(Decision::Interrupted),
            };
            let Some(answer) = answer else {
                say(tty, "That is none of the answers.\n").await?;
                continue;
            };
            if answer == Answer::Once && commit == Some(PreviewCommit::Pending) {
                say(tty, "The preview has not ended: its changes are not known yet.\n").await?;
                continue;
            }
            return match approve_ticket::answer(&self.home, ticket, answer, shown.as_ref(), change_scope) {
                Ok(said) => {
                    say(tty, &format!("{said}\n")).await?;
                    Ok(if answer == Answer::Refuse { Decision::Refused } else { Decision::Answered })
                }
                Err(failure) => told(tty, &failure).await,
            };
        }
    }

    /// Shows what the command would do, as far as that is known, and returns it.
    async fn show_preview(&self, tty: &Tty, ticket: &Ticket) -> Result<Option<EffectPreview>, Failure> {
        let preview = self.approvals.preview(&ticket.id);
        if let Some(preview) = &preview {
            say(tty, &approve_ticket::previewed(preview)).await?;
        }
        Ok(preview)
    }

    /// Waits until what the command would do is known.
    async fn preview_done(&self, ticket: &Ticket) {
        let is_running = || {
            self.approvals
                .preview(&ticket.id)
                .map_or(ticket.awaits_preview, |it| it.state == PreviewState::Running)
        };
        loop {
            let seen = self.changed_at();
            if !is_running() {
                return;
            }
            self.change_after(seen).await;
        }
    }

    fn changed_at(&self) -> Change {
        [self.approvals.changed_at(), self.prompts.changed_at()]
    }

    /// Waits until anything has come or gone since a moment, or has had the time to without a change of a file.
    async fn change_after(&self, seen: Change) {
        for _ in 0..PEEKS {
            if self.changed_at() != seen {
                return;
            }
            tokio::time::sleep(PEEK_EVERY).await;
        }
    }

    async fn decide_secret(&self, tty: &Tty, it: &PendingPrompt) -> Result<Decision, Failure> {
        say(tty, &secrets::described(&self.screens, it)).await?;
        // One question, and what is typed at it is never shown: anyone who expects to be asked for the password types it at
        // the first question there is.
        let mut secret = match ask(tty, QUESTION).await? {
            Line::Typed(secret) if secret.bytes().is_empty() => return Ok(Decision::Later),
            Line::Typed(secret) => secret,
            Line::Refused => {
                return match self.prompts.claim(&it.prompt) {
                    Ok(claim) => {
                        claim.refused().map_err(|error| unreadable(&error))?;
                        Ok(Decision::Refused)
                    }
                    Err(error) => told(tty, &not_claimed(&error)).await,
                };
            }
            Line::Interrupted => return Ok(Decision::Interrupted),
        };
        if it.prompt.enter && !secret.push(b'\r') {
            return told(tty, &Failure::invalid("secret", "it is too long; nothing was sent")).await;
        }
        // From here on it cannot be withdrawn, nor answered by somebody else.
        let claim = match self.prompts.claim(&it.prompt) {
            Ok(claim) => claim,
            Err(error) => return told(tty, &not_claimed(&error)).await,
        };
        match deliver(it, &secret, claim).await {
            Ok(()) => {
                let words = format!("{} the process has it.\n\n", paint(Paint::Good, "Sent:"));
                say(tty, &words).await?;
                Ok(Decision::Answered)
            }
            Err(failure) => told(tty, &failure).await,
        }
    }
}

async fn ask(tty: &Tty, question: &str) -> Result<Line, Failure> {
    tty.ask(question).await.map_err(|error| terminal_gone(&error))
}

/// Shows why a prompt could not be answered, and continues with the next.
async fn told(tty: &Tty, failure: &Failure) -> Result<Decision, Failure> {
    let words = format!("{} {}\n\n", paint(Paint::Bad, "error:"), one_line(&failure.message));
    say(tty, &words).await?;
    Ok(Decision::Later)
}

/// Returns the answer that the flags give, if they give one.
fn answer_of(args: &ApproveArgs) -> Result<Option<Answer>, Failure> {
    Ok(match &args.time {
        Some(time) => Some(Answer::For(milliseconds(time)?)),
        None if args.once => Some(Answer::Once),
        None if args.session => Some(Answer::Session),
        None if args.always => Some(Answer::Always),
        None => None,
    })
}

/// Reads a time such as `30m` or `1h`.
fn milliseconds(time: &str) -> Result<i64, Failure> {
    span_ms(time).filter(|ms| (1..=ApprovalDecision::MAX_MS).contains(ms)).ok_or_else(|| {
        Failure::invalid("--for", format!("`{}` is not a time of up to 24h", one_line(time)))
            .hint("Write it as `30m` or `1h`.")
    })
}

/// Returns the requests of what waits.
fn tickets_of(waiting: &[Item]) -> Vec<&Ticket> {
    let tickets = waiting.iter().filter_map(|it| match it {
        Item::Ticket(ticket) => Some(&**ticket),
        Item::Secret(_) => None,
    });
    tickets.collect()
}

fn list(approvals: &Approvals, waiting: &[Item]) -> Report {
    let mut text = String::new();
    let tickets = tickets_of(waiting);
    let secrets = waiting.iter().filter_map(|it| match it {
        Item::Secret(waiting) => Some(&**waiting),
        Item::Ticket(_) => None,
    });
    text.extend(tickets.iter().map(|ticket| approve_ticket::listed(ticket)));
    text.extend(secrets.clone().map(secrets::listed));
    let note = match waiting.is_empty() {
        true => {
            text.push_str("Nothing waits for you.\n");
            None
        }
        false => Some("\nhint: `bailiwick approve` goes through them in this terminal."),
    };
    let output = ApproveListOutput {
        ok: true,
        waiting: secrets.map(secrets::facts).collect(),
        approvals: tickets
            .iter()
            .map(|ticket| approve_ticket::facts(ticket, approvals.preview(&ticket.id)))
            .collect(),
    };
    let report = Report::of(text, &output);
    match note {
        Some(note) => report.note(note),
        None => report,
    }
}

pub(super) fn report(answered: &[String], refused: &[String], left: &[String]) -> Report {
    let text =
        format!("{} answered, {} refused, {} left waiting\n", answered.len(), refused.len(), left.len());
    let owned = |ids: &[String]| ids.to_vec();
    let (answered, refused, left) = (owned(answered), owned(refused), owned(left));
    Report::of(text, &ApproveOutput { ok: true, answered, refused, left })
}

async fn say(tty: &Tty, text: &str) -> Result<(), Failure> {
    tty.write(text).await.map_err(|error| terminal_gone(&error))
}

fn terminal_gone(error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::ProviderUnavailable, format!("the terminal does not answer: {error}"))
}

pub(super) fn change_scope(home: &Home, id: &str, rules: &ApprovedRules) -> Result<String, Failure> {
    let report = scope::change(home, id, |scope| {
        apply_rules(scope, rules);
        Ok(())
    })?;
    Ok(printable(&report.text))
}
