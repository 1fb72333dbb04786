//! `approve --phone`: one request, answered by yes or no on a phone of the same network. The link is good while this command runs.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use qrcode::render::unicode::Dense1x2;
use qrcode::{EcLevel, QrCode};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_util::sync::CancellationToken;

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_providers::approval::{Approvals, EffectPreview, PreviewCommit, Ticket};

use super::approve::{change_scope, report};
use super::printer::{Printer, Report, has_colour, one_line};
use crate::adapters::http::{ApprovalForm, FormEvent, FormQuestion};
use crate::approvals::ticket::{self as approve_ticket, Answer};
use crate::installation::home::Home;
use crate::installation::runtime;
use crate::text_layout::table::width;

/// How long the link is good.
const LIFE: Duration = Duration::from_secs(5 * 60);
/// How long an answer of the phone may take to be written down.
const GRACE: Duration = Duration::from_secs(5);
/// How often it is checked that the request still waits.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Shows the link for the one request that waits, and stays until it is answered.
///
/// # Errors
/// `invalid_request` unless one request alone is meant, or for an address that is not of a local network; `timeout` and
/// `cancelled` if nobody has answered.
pub fn run(
    home: &Home,
    printer: Printer,
    approvals: &Approvals,
    waiting: &[&Ticket],
    address: SocketAddr,
) -> Result<Report, Failure> {
    let [ticket] = waiting else {
        return Err(Failure::invalid("ID", "a link for a phone is for one request alone").hint(
            "Name it: `bailiwick approve ID --phone ADDRESS`; `bailiwick approve --list` shows what waits.",
        ));
    };
    let ticket = (*ticket).clone();
    let question = question(home, approvals, &ticket);
    let runtime = runtime::small()?;
    let done = runtime.block_on(async {
        let (sender, mut events) = unbounded_channel();
        let form = ApprovalForm::bind(address, question, sender).await?;
        show(printer, &form.link());
        let (shutdown, handle) = (CancellationToken::new(), form.handle());
        let served = tokio::spawn(form.serve(shutdown.clone()));
        let done = match wait(printer, approvals, &ticket, &mut events).await {
            Ok(done) => done,
            // An answer that was taken at the last moment counts.
            Err(failure) if handle.close() => late_answer(&ticket, &mut events).await.unwrap_or(Err(failure)),
            Err(failure) => Err(failure),
        };
        // What is answered reaches the phone.
        shutdown.cancel();
        let _ = served.await;
        done
    });
    runtime.shutdown_background();
    done
}

fn question(home: &Home, approvals: &Approvals, ticket: &Ticket) -> FormQuestion {
    // What the page has shown last: an approval of changes is for these.
    let on_page = Arc::new(Mutex::new(None::<EffectPreview>));
    let shown = {
        let (approvals, ticket, on_page) = (approvals.clone(), ticket.clone(), Arc::clone(&on_page));
        move || {
            let preview = approvals.preview(&ticket.id);
            let commit = approve_ticket::commit_of(&ticket, preview.as_ref());
            let text = preview.as_ref().map(approve_ticket::previewed).unwrap_or_default();
            *on_page.lock().unwrap_or_else(PoisonError::into_inner) = preview;
            let yes = Answer::Once.in_words(&ticket, commit.as_ref());
            let yes = (commit != Some(PreviewCommit::Pending)).then_some(yes);
            (approve_ticket::described(&ticket) + &text, yes)
        }
    };
    let (home, ticket) = (home.clone(), ticket.clone());
    FormQuestion {
        shown: Box::new(shown),
        decide: Box::new(move |yes, from| {
            let answer = if yes { Answer::Once } else { Answer::Refuse };
            let shown = on_page.lock().unwrap_or_else(PoisonError::into_inner).clone();
            approve_ticket::answer_from(
                &home,
                &ticket,
                answer,
                shown.as_ref(),
                &format!(" on a phone at {from}"),
                change_scope,
            )
        }),
    }
}

/// Waits for the answer, and shows who opens the link.
///
/// # Errors
/// Why there is none.
async fn wait(
    printer: Printer,
    approvals: &Approvals,
    ticket: &Ticket,
    events: &mut UnboundedReceiver<FormEvent>,
) -> Result<Result<Report, Failure>, Failure> {
    let (stopped, over) = (runtime::asked_to_stop(), tokio::time::sleep(LIFE));
    tokio::pin!(stopped, over);
    let hint = format!("`bailiwick approve {}` answers it here.", ticket.id);
    loop {
        let event = tokio::select! {
            event = events.recv() => event,
            () = tokio::time::sleep(LOOK_EVERY) => {
                if approvals.is_open(ticket) {
                    continue;
                }
                // The answer may be one of the phone, of which it is heard next.
                match tokio::time::timeout(GRACE, events.recv()).await {
                    Ok(event) => event,
                    Err(_) => return Err(Failure::new(ErrorCode::Conflict, "the request was answered elsewhere")),
                }
            }
            () = &mut over => return Err(Failure::new(ErrorCode::Timeout, "the link was not used; nothing was decided").hint(hint)),
            () = &mut stopped => return Err(Failure::new(ErrorCode::Cancelled, "the link is closed; nothing was decided").hint(hint)),
        };
        match event {
            Some(FormEvent::Opened(from)) => {
                printer.talk(&format!("Opened from {from}. Was that not you? Press Ctrl-C."));
            }
            Some(FormEvent::Answered(from, yes, done)) => return Ok(answered(ticket, from, yes, done)),
            Some(FormEvent::Closed) | None => {
                let words =
                    "the link is closed, as too much else was asked for at its address; nothing was decided";
                return Err(Failure::new(ErrorCode::Cancelled, words).hint(hint));
            }
        }
    }
}

/// Returns the answer that was taken already, once it is written down.
async fn late_answer(
    ticket: &Ticket,
    events: &mut UnboundedReceiver<FormEvent>,
) -> Option<Result<Report, Failure>> {
    while let Ok(Some(event)) = tokio::time::timeout(GRACE, events.recv()).await {
        if let FormEvent::Answered(from, yes, done) = event {
            return Some(answered(ticket, from, yes, done));
        }
    }
    None
}

fn answered(
    ticket: &Ticket,
    from: IpAddr,
    yes: bool,
    done: Result<String, Failure>,
) -> Result<Report, Failure> {
    let words = done?;
    let ids = [ticket.id.clone()];
    let report = if yes { report(&ids, &[], &[]) } else { report(&[], &ids, &[]) };
    Ok(Report { text: format!("{} on a phone at {from}\n", one_line(words.trim())), ..report })
}

/// Shows the link, and what it is worth.
fn show(printer: Printer, link: &str) {
    printer.talk(&format!(
        "A phone in this network can answer for {} minutes:\n\n  {link}\n",
        LIFE.as_secs() / 60
    ));
    if !printer.json
        && let Some(picture) = picture(link)
    {
        printer.data(&format!("{picture}\n"));
    }
    printer.talk(
        "The link works in the first browser that opens it, for one answer. The connection is not encrypted: anyone who can \
         read the traffic of this network can see the request, and answer it.",
    );
    printer.talk("Ctrl-C closes the link.");
}

/// Returns the link as a QR code, black on white whatever the colours of the terminal are. `None` where it cannot be shown.
fn picture(link: &str) -> Option<String> {
    let code = QrCode::with_error_correction_level(link, EcLevel::L).ok()?;
    let drawn = code.render::<Dense1x2>().build();
    let columns = drawn.lines().next()?.chars().count();
    let fits = has_colour() && width().is_some_and(|width| width >= columns);
    fits.then(|| drawn.lines().map(|line| format!("\x1b[30;107m{line}\x1b[0m\n")).collect())
}
