//! What is known of each run is in its digest.

use std::collections::BTreeSet;

use bailiwick::providers::digest::{Digest, Failure, WHOLE_BYTES};
use support::logs::{KnownFailure, Log, LogFile, logs};

/// The most that a digest may have of the output's size without control sequences, in percent.
const MOST_PERCENT: usize = 12;

/// What one more failure with its message needs at most, in bytes.
const MESSAGE_ROOM: usize = 400;
/// Logs in which some failures have no message.
const SILENT: [&str; 0] = [];

/// One failure of a digest, with what stands together taken apart again.
#[derive(Debug, Default, Clone)]
struct Single {
    name: Option<String>,
    file: Option<String>,
    lines: (u64, u64),
    required_from: Option<String>,
    has_message: bool,
}

/// Takes apart what stands together, by the rules that the field `also` states.
fn singles(list: &[Failure]) -> Vec<Single> {
    let mut all = Vec::new();
    for shown in list {
        let line = shown.line.unwrap_or_default();
        let single = |name: Option<String>, lines: (u64, u64)| Single {
            name,
            file: shown.file.clone(),
            lines,
            required_from: shown.required_from.clone(),
            has_message: !shown.message.is_empty(),
        };
        all.push(single(shown.name.clone(), (line, line)));
        for also in &shown.also {
            if shown.name.is_some() {
                let (line, name) = match also.split_once(' ') {
                    Some((line, name)) if line.parse::<u64>().is_ok() => {
                        (line.parse().expect("a number"), name)
                    }
                    _ => (0, also.as_str()),
                };
                let name = match (name.strip_prefix('~'), &shown.prefix) {
                    (Some(rest), Some(prefix)) => format!("{prefix}{rest}"),
                    _ => name.to_owned(),
                };
                all.push(single(Some(name), (line, line)));
            } else {
                for place in also.split(' ') {
                    let number = |text: &str| {
                        text.split(':').next().and_then(|line| line.parse().ok()).expect("a line")
                    };
                    let (first, last) = place.split_once('-').unwrap_or((place, place));
                    all.push(single(None, (number(first), number(last))));
                }
            }
        }
    }
    all
}

fn is_same_file(shown: &str, known: &str) -> bool {
    let (shown, known) = (shown.trim_start_matches("/project/"), known.trim_start_matches("/project/"));
    shown == known || shown.ends_with(&format!("/{known}")) || known.ends_with(&format!("/{shown}"))
}

fn is_same_name(shown: &Single, known: &str) -> bool {
    let Some(name) = shown.name.as_deref() else { return false };
    // A parent is there by its parts.
    name == known
        || name.starts_with(&format!("{known}/"))
        || name.trim_end() == known.trim_end()
        || name.ends_with(&format!(" {known}"))
}

fn is_there(known: &KnownFailure, shown: &[Single]) -> bool {
    shown.iter().any(|shown| {
        let file = known
            .file
            .as_deref()
            .is_none_or(|file| shown.file.as_deref().is_some_and(|own| is_same_file(own, file)));
        let line = known.line.is_none_or(|line| shown.lines.0 <= line && line <= shown.lines.1);
        let name = known.name.as_deref().is_none_or(|name| is_same_name(shown, name));
        // With the column behind it.
        let required = known.required_from.as_deref().is_none_or(|known| {
            let own = shown.required_from.as_deref().and_then(|own| own.rsplit_once(':'));
            own.is_some_and(|(place, _)| place == known)
        });
        file && line && name && required
    })
}

fn problems(log: &Log, digest: &Digest) -> Vec<String> {
    let shown = singles(&digest.failures);
    let mut problems: Vec<String> = log
        .known
        .failures
        .iter()
        .filter(|known| !is_there(known, &shown))
        .map(|known| format!("{}: not there: {known:?}", log.name))
        .collect();
    let counts = serde_json::to_value(digest.counts).expect("serializable");
    for (what, known) in &log.known.counts {
        let given = &counts[what];
        if given.as_u64().unwrap_or(0) != known.as_u64().unwrap_or(0)
            && what != "run"
            && !what.starts_with('x')
        {
            problems.push(format!("{}: {known} {what} are known, the digest says {given}", log.name));
        }
    }
    let json = serde_json::to_string(digest).expect("serializable");
    let most = log.text().len() * MOST_PERCENT / 100;
    if json.len() > most {
        problems.push(format!("{}: {} bytes, of {} at most", log.name, json.len(), most));
    }
    problems
}

/// Returns whether a log's output is long enough for a digest.
fn is_long(log: &Log) -> bool {
    log.text().len() as u64 > WHOLE_BYTES
}

pub fn every_failing_test_and_every_place_of_an_error_is_in_the_digest_of_its_log(file: &LogFile) {
    let log = file.read();
    if !is_long(&log) {
        return;
    }
    let digest = log.digest().filter(Digest::is_recognised);
    let digest = digest.unwrap_or_else(|| panic!("{}: no digest", log.name));
    let json = serde_json::to_string(&digest).expect("serializable");
    let share = json.len() * 1_000 / log.text().len();
    let all = problems(&log, &digest);
    assert!(
        all.is_empty(),
        "{} problems:\n{}\nof its digest ({}.{} %):\n{json}",
        all.len(),
        all.join("\n"),
        share / 10,
        share % 10
    );
}

/// Whatever room is left by the messages that are there, none of the next failure's would fit.
pub fn messages_are_given_while_there_is_room_for_them(file: &LogFile) {
    let log = file.read();
    let Some(digest) = log.digest().filter(|digest| is_long(&log) && digest.is_recognised()) else { return };
    let all = singles(&digest.failures);
    let silent = all.iter().filter(|single| !single.has_message).count();
    let most = log.text().len() * MOST_PERCENT / 100;
    let used = serde_json::to_string(&digest).expect("serializable").len();
    // A message of 80 bytes with its failure's own entry.
    assert!(
        silent == 0 || used + MESSAGE_ROOM > most || is_told_without(&log),
        "{}: {silent} of {} failures without a message, {used} of {most} bytes used",
        log.name,
        all.len()
    );
}

/// Returns whether the tool itself says nothing of some failures, but that they are.
fn is_told_without(log: &Log) -> bool {
    SILENT.contains(&log.name.as_str())
}

pub fn there_are_sixty_logs_of_twelve_tools() {
    let long: Vec<Log> = logs().into_iter().filter(is_long).collect();
    let tools: BTreeSet<&str> = long.iter().map(|log| log.known.tool.as_str()).collect();
    assert!(long.len() >= 60, "{}", long.len());
    assert!(tools.len() >= 12, "{tools:?}");
}

pub fn short_output_has_no_digest(file: &LogFile) {
    let log = file.read();
    if (log.text().len() as u64) < WHOLE_BYTES {
        assert_eq!(log.digest(), None, "{}", log.name);
    }
}
