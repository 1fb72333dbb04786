//! `token …`: by which tokens clients are known, and what each may use.

use serde_json::{Value, json};

use crate::config::{NewToken, TokenRecord};
use crate::contract::time::{now_ms, parse_rfc3339, rfc3339};
use crate::contract::{ErrorCode, Failure};

use super::args::{TokenCommand, TokenCreateArgs};
use super::home::Home;
use super::printer::{Report, one_line, table};

/// Runs one of the commands.
///
/// # Errors
/// When there is no such token, or the file cannot be read or written.
pub fn run(home: &Home, command: &TokenCommand) -> Result<Report, Failure> {
    match command {
        TokenCommand::Create(args) => create(home, args),
        TokenCommand::List => list(home),
        TokenCommand::Rotate(args) => {
            let (record, secret) = home.edit_tokens(|tokens| {
                known(tokens.find(&args.name), &args.name)?;
                tokens.rotate(&args.name, now_ms()).map_err(|error| error.for_person())
            })?;
            Ok(shown_once(&record, &secret, "The old value opens nothing any more."))
        }
        TokenCommand::Revoke(args) => {
            let record = home.edit_tokens(|tokens| {
                known(tokens.find(&args.name), &args.name)?;
                Ok(tokens.revoke(&args.name).expect("it was just found"))
            })?;
            let text = format!("Revoked `{}`: it opens nothing any more.\n", one_line(&record.name));
            let report = Report::new(text, json!({"ok": true, "revoked": facts(&record)}));
            Ok(if record.owner {
                report.note("\nhint: that was the owner's; `bailiwick setup` makes a new one.")
            } else {
                report
            })
        }
    }
}

fn known<'a>(found: Option<&'a TokenRecord>, name: &str) -> Result<&'a TokenRecord, Failure> {
    found.ok_or_else(|| {
        Failure::new(ErrorCode::NotFound, format!("there is no token `{name}`"))
            .hint("`bailiwick token list` shows them.")
    })
}

fn create(home: &Home, args: &TokenCreateArgs) -> Result<Report, Failure> {
    let config = home.config()?;
    if let Some(unknown) =
        args.scope.iter().find(|id| *id != "*" && !config.scopes.iter().any(|scope| scope.id == **id))
    {
        return Err(Failure::new(ErrorCode::UnknownScope, format!("there is no scope `{unknown}`"))
            .hint("`bailiwick scope list` shows them."));
    }
    let now = now_ms();
    let all_if_empty = |names: Vec<String>| if names.is_empty() { vec!["*".to_owned()] } else { names };
    let new = NewToken {
        name: args.name.clone(),
        scopes: all_if_empty(args.scope.clone()),
        capabilities: all_if_empty(args.capability.iter().map(ToString::to_string).collect()),
        expires_at_ms: args.expires.as_deref().map(|when| expiry(when, now)).transpose()?,
        owner: false,
    };
    let (record, secret) = home.edit_tokens(|tokens| {
        if tokens.find(&args.name).is_some() {
            return Err(Failure::new(
                ErrorCode::Conflict,
                format!("there is a token `{}` already", args.name),
            )
            .hint(format!("Choose another name, or run `bailiwick token rotate {}`.", args.name)));
        }
        tokens.create(new, now).map_err(|error| Failure::invalid("name", error.problem).hint(error.fix))
    })?;
    Ok(shown_once(&record, &secret, ""))
}

fn shown_once(record: &TokenRecord, secret: &str, also: &str) -> Report {
    let mut json = json!({"ok": true, "token": facts(record)});
    json["token"]["secret"] = json!(secret);
    let report = Report::new(format!("{secret}\n"), json)
        .note(format!(
            "\nThis is the token `{}`. It is shown this once and kept only as a hash.",
            one_line(&record.name)
        ))
        .note(format!("It opens {}.", rights(record)));
    if also.is_empty() { report } else { report.note(also) }
}

fn list(home: &Home) -> Result<Report, Failure> {
    let tokens = home.tokens()?;
    let now = now_ms();
    let mut rows = vec![["NAME", "OPENS", "EXPIRES", "MADE", "ID"].map(str::to_owned).to_vec()];
    for record in tokens.records() {
        let expires = match &record.expires_at {
            None => "never".to_owned(),
            Some(_) if record.is_expired(now) => "has expired".to_owned(),
            Some(at) => date(at).to_owned(),
        };
        let name = if record.owner { format!("{} (owner)", record.name) } else { record.name.clone() };
        rows.push(vec![
            one_line(&name),
            rights(record),
            expires,
            date(&record.created_at).to_owned(),
            record.id.clone(),
        ]);
    }
    let text = if tokens.records().is_empty() { "There are no tokens.\n".to_owned() } else { table(&rows) };
    let all: Vec<Value> = tokens.records().iter().map(facts).collect();
    Ok(Report::new(text, json!({"ok": true, "tokens": all})))
}

/// Gives what may be told about a token: everything but its hash.
fn facts(record: &TokenRecord) -> Value {
    json!({
        "id": record.id, "name": record.name, "scopes": record.scopes, "capabilities": record.capabilities,
        "createdAt": record.created_at, "expiresAt": record.expires_at,
        "expired": record.is_expired(now_ms()), "owner": record.owner,
    })
}

fn rights(record: &TokenRecord) -> String {
    let or_all = |list: &[String], all: &str| {
        if list.iter().any(|it| it == "*") { all.to_owned() } else { list.join(" ") }
    };
    format!(
        "{}: {}",
        or_all(&record.scopes, "all scopes"),
        or_all(&record.capabilities, "whatever they grant")
    )
}

fn date(at: &str) -> &str {
    at.split('T').next().unwrap_or(at)
}

/// Reads `30d`, `8h` or a date as a moment in the future.
fn expiry(when: &str, now: i64) -> Result<i64, Failure> {
    let wrong = |problem: &str| {
        Failure::invalid("--expires", format!("`{when}` {problem}"))
            .hint("Use a number of days (30d) or hours (8h), or a date (2027-01-31).")
    };
    let span = |suffix: char, unit_ms: i64| {
        let number: i64 = when.strip_suffix(suffix)?.parse().ok()?;
        (1..=100_000).contains(&number).then(|| now + number * unit_ms)
    };
    let at = span('d', 86_400_000)
        .or_else(|| span('h', 3_600_000))
        .or_else(|| parse_rfc3339(when))
        .ok_or_else(|| wrong("is not a time"))?;
    // A leap day that does not exist would be another day when read back.
    if when.len() == 10 && !rfc3339(at).starts_with(when) {
        return Err(wrong("is not a day"));
    }
    if at <= now { Err(wrong("has passed")) } else { Ok(at) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expiry_reads_spans_and_dates_and_refuses_the_past() {
        let now = parse_rfc3339("2026-11-21").expect("a date");
        assert_eq!(expiry("30d", now).map(rfc3339), Ok("2026-12-21T00:00:00.000Z".to_owned()));
        assert_eq!(expiry("8h", now).map(rfc3339), Ok("2026-11-21T08:00:00.000Z".to_owned()));
        assert_eq!(expiry("2027-01-31", now).map(rfc3339), Ok("2027-01-31T00:00:00.000Z".to_owned()));
        for wrong in ["", "d", "0d", "-1d", "soon", "2026-01-01", "2027-02-30", "99999999999d"] {
            assert!(expiry(wrong, now).is_err(), "{wrong}");
        }
    }
}
