//! An event as one line for a person, no wider than the terminal. Nothing that a client chose can steer it.

use bailiwick_contract::time::parse_rfc3339;

use super::super::printer::{Paint, one_line, paint};
use crate::installation::local_time::day_and_time;
use crate::past_requests::event::{Event, RequestState};
use crate::text_layout::columns::{columns, cut, cut_front};

/// Below so many columns who asked and how long it took are left out.
const NARROW: usize = 60;
/// How wide the name of who asked is.
const WHO: usize = 12;
/// From how many columns on there is room for the scope beside a target.
const WITH_SCOPE: usize = 30;
/// The least that is shown of a target; where there is less room it is left out.
const LEAST_TARGET: usize = 8;

/// Lays out an event for so many columns; `None` for lines of any length. `time` is when it is told, in RFC 3339.
pub fn line(event: &Event, time: &str, room: Option<usize>) -> String {
    let cut_to_room = |text: &str| room.map_or_else(|| text.to_owned(), |room| cut(text, room));
    match event {
        Event::Request {
            at, standing, duration_ms, caller, client, scope, op, target, code, says, ..
        } => {
            let is_narrow = room.is_some_and(|room| room < NARROW);
            let who = who(client.as_deref().unwrap_or(caller));
            let took = duration_ms.map_or_else(String::new, took);
            let front = if is_narrow {
                format!("{} ", clock(at))
            } else {
                format!("{}  {took:>8}  {}  ", clock(at), padded(&who, WHO))
            };
            let word = format!("{:<8}", word(*standing));
            let room = room.map(|room| room.saturating_sub(columns(&front) + columns(&word)));
            let asked = match (target, says) {
                // A command has no target: its result names it.
                (None, Some(says)) => {
                    let scope =
                        scope.as_ref().map(|scope| format!(" {}", one_line(scope))).unwrap_or_default();
                    let text = format!("{}{scope}: {}", one_line(op), one_line(says));
                    room.map_or_else(|| text.clone(), |room| cut(&text, room))
                }
                _ => asked(op, scope.as_deref(), target.as_deref(), code.as_deref(), room),
            };
            format!("{front}{}{asked}", paint(colour(*standing), &word)).trim_end().to_owned()
        }
        Event::Many { count, not_ok } => {
            let not_ok = if *not_ok == 0 { "all ok".to_owned() } else { format!("{not_ok} not ok") };
            cut_to_room(&format!("{}  and {count} more, {not_ok}: `bailiwick log`", clock(time)))
        }
        Event::Waiting { caller, scope, process_id, .. } => {
            let said = format!("for you: {caller} asks for a secret, for {process_id} in {scope}");
            let first = cut_to_room(&format!("{}  waits   {}", clock(time), one_line(&said)));
            // The command stands whole on a line of its own, whatever the names are.
            format!("{first}\n          {}", paint(Paint::Hint, "answer it: bailiwick approve"))
        }
        Event::Approval { id, caller, scope, op, what, .. } => {
            let said = format!("for you: {caller} needs approval in {scope}: {op} {what}");
            let first = cut_to_room(&format!("{}  waits   {}", clock(time), one_line(&said)));
            format!(
                "{first}\n          {}",
                paint(Paint::Hint, &format!("answer it: bailiwick approve {id}"))
            )
        }
        Event::Notice { text } => cut_to_room(&format!("{}  note    {}", clock(time), one_line(text))),
        Event::Stopped { requests, processes } => {
            let seen = match requests {
                0 => String::new(),
                1 => " after 1 request".to_owned(),
                more => format!(" after {more} requests"),
            };
            let go_on = match processes {
                0 => "Nothing that clients started keeps running.".to_owned(),
                1 => "1 process that clients started keeps running: `bailiwick ps`.".to_owned(),
                more => format!("{more} processes that clients started keep running: `bailiwick ps`."),
            };
            format!("Stopped{seen}. {go_on}")
        }
    }
}

/// Names who asked; a client whose version there is no room for, by its name alone.
fn who(name: &str) -> String {
    let name = one_line(name);
    let first = name.split(' ').next().unwrap_or_default();
    if columns(&name) > WHO && !first.is_empty() { first.to_owned() } else { name }
}

/// Returns what was asked, and why not: of too much, the scope goes first, then the front of the target.
fn asked(
    op: &str,
    scope: Option<&str>,
    target: Option<&str>,
    code: Option<&str>,
    room: Option<usize>,
) -> String {
    let (op, scope, target) = (one_line(op), scope.map(one_line), target.map(one_line));
    let place = match (scope, target) {
        (Some(scope), Some(target)) if room.is_none_or(|room| room >= WITH_SCOPE) => {
            format!("{scope}:{target}")
        }
        (_, Some(only)) | (Some(only), None) => only,
        (None, None) => String::new(),
    };
    let why = code.map(|code| format!(": {code}")).unwrap_or_default();
    let place = if place.is_empty() { place } else { format!(" {place}") };
    let Some(room) = room else { return format!("{op}{place}{why}") };
    let left = room.saturating_sub(columns(&op) + columns(&why));
    let place = if columns(&place) <= left {
        place
    } else if left >= LEAST_TARGET {
        format!(" {}", cut_front(place.trim_start(), left - 1))
    } else {
        String::new()
    };
    cut(&format!("{op}{place}{why}"), room)
}

const fn word(standing: RequestState) -> &'static str {
    match standing {
        RequestState::Running => "running",
        RequestState::Ok => "ok",
        RequestState::Refused => "denied",
        RequestState::Asks => "asks",
        RequestState::Failed => "failed",
    }
}

const fn colour(standing: RequestState) -> Paint {
    match standing {
        RequestState::Ok => Paint::Good,
        RequestState::Running | RequestState::Asks => Paint::Hint,
        RequestState::Refused | RequestState::Failed => Paint::Bad,
    }
}

/// Returns the hours, minutes and seconds of a time in RFC 3339, in the time zone of this computer.
fn clock(time: &str) -> String {
    let shown = parse_rfc3339(time).map(|ms| day_and_time(ms, false)).unwrap_or_default();
    shown.get(11..19).unwrap_or("        ").to_owned()
}

fn took(ms: f64) -> String {
    if ms < 10.0 {
        format!("{ms:.1} ms")
    } else if ms < 10_000.0 {
        format!("{ms:.0} ms")
    } else {
        format!("{:.0} s", ms / 1_000.0)
    }
}

/// Cuts or fills a text to so many columns.
fn padded(text: &str, width: usize) -> String {
    let text = cut(&one_line(text), width);
    let blanks = width.saturating_sub(columns(&text));
    format!("{text}{:blanks$}", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(client: &str, op: &str, target: &str, code: Option<&str>) -> Event {
        Event::Request {
            operation_id: String::new(),
            at: "2026-11-21T23:12:04.567Z".to_owned(),
            standing: if code.is_some() { RequestState::Refused } else { RequestState::Ok },
            duration_ms: Some(1.25),
            caller: "local".to_owned(),
            client: Some(client.to_owned()),
            transport: "stdio".to_owned(),
            scope: Some("app".to_owned()),
            op: op.to_owned(),
            target: Some(target.to_owned()),
            code: code.map(str::to_owned),
            says: None,
        }
    }

    #[test]
    fn a_request_takes_one_line_of_the_terminals_width_at_most() {
        let shown = line(&request("claude-code", "file.read", "src/main.rs", None), "", Some(80));
        let at = clock("2026-11-21T23:12:04.567Z");
        assert!(at.ends_with(":04"), "{at}");
        assert_eq!(shown, format!("{at}    1.2 ms  claude-code   ok      file.read app:src/main.rs"));
        let long = format!("{}/main.rs", "folder/".repeat(40));
        for (client, op, target, code) in [
            ("claude-code", "file.write", long.as_str(), Some("permission_denied")),
            ("\u{1b}[2J\u{202e}\r\n", "\u{1b}]0;title\u{7}", "a\nb\u{9b}2J", None),
            (
                "日本語のクライアント",
                "file.read",
                "資料/日本語の名前のとても長いファイル.md",
                Some("path_out_of_scope"),
            ),
        ] {
            for room in 20..200 {
                let shown = line(&request(client, op, target, code), "", Some(room));
                assert!(columns(&shown) <= room.max(30), "{room}: {shown}");
                assert!(!shown.contains(|it: char| it.is_control() || it == '\u{202e}'), "{shown:?}");
            }
        }
        let shown = line(&request("x", "file.write", &long, Some("permission_denied")), "", Some(80));
        assert!(shown.ends_with("main.rs: permission_denied"), "{shown}");
    }

    #[test]
    fn a_command_is_shown_with_its_end_and_a_refused_one_with_the_reason() {
        let mut event = request("claude-code", "command.run", "", None);
        let mut shown_with = |text: &str, standing_code: Option<&str>, room| {
            if let Event::Request { target, says, code, standing, .. } = &mut event {
                (*target, *says) = (None, Some(text.to_owned()));
                *code = standing_code.map(str::to_owned);
                *standing = if code.is_some() { RequestState::Refused } else { RequestState::Ok };
            }
            line(&event, "", Some(room))
        };
        let ok = shown_with("`npm test`, full, exit 0", None, 120);
        assert!(ok.ends_with("ok      command.run app: `npm test`, full, exit 0"), "{ok}");
        let denied = shown_with("`git push` does not run: the rule `git push *` denies it", Some("x"), 80);
        assert!(
            denied.contains("denied  command.run app: `git push` does") && denied.ends_with('\u{2026}'),
            "{denied}"
        );
        for room in [80, 120] {
            let shown = shown_with(&"漢字の長い説明".repeat(20), None, room);
            assert!((room - 1..=room).contains(&columns(&shown)), "{room}: {shown}");
        }
    }
}
