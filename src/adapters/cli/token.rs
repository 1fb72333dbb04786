//! `token …`: by which tokens clients are known, and what each may use.

use bailiwick_config::{Exposure, LoginCode, NewToken, TokenRecord};
use bailiwick_contract::Failure;
use bailiwick_contract::time::{now_ms, parse_rfc3339};

use super::args::{ConfirmArgs, TokenCommand, TokenCreateArgs, TokenRotateArgs};
use super::ask;
use super::printer::{Fit, Printer, Report, Table, one_line};
use crate::installation::home::Home;
use crate::installation::known_token::known;
use crate::installation::local_time::{DAY_MS, ago};
use crate::installation::tokens::{
    self, SOON_DAYS, ShownToken, TokenCodeOutput, TokenListOutput, TokenRevokeOutput, TokenShownOutput,
    TokenState, expiry, facts, last_used, rights, state,
};

/// Runs one of the commands.
///
/// # Errors
/// When there is no such token, or the file cannot be read or written.
pub fn run(home: &Home, printer: Printer, command: &TokenCommand) -> Result<Report, Failure> {
    match command {
        TokenCommand::Create(args) => create(&home.dry_run(args.dry_run), args),
        TokenCommand::List => list(home),
        TokenCommand::Rotate(args) => rotate(&home.dry_run(args.confirm.dry_run), printer, args),
        TokenCommand::Code => code(home),
        TokenCommand::Revoke(args) => {
            let record = known(home.tokens()?.records(), &args.name)?.clone();
            let name = one_line(&record.name);
            let written = !args.confirm.dry_run && is_wanted(printer, args.confirm, &record, "Revoke")?;
            if written {
                home.edit_tokens(|tokens| {
                    known(tokens.records(), &record.id)?;
                    Ok(tokens.revoke(&record.id).expect("it was just found"))
                })?;
            }
            let text = match (written, args.confirm.dry_run) {
                (true, _) => format!("Revoked `{name}`: it opens nothing any more.\n"),
                (false, true) => format!("Would revoke `{name}`. It opens {}.\n", rights(&record)),
                (false, false) => "Left as it was.\n".to_owned(),
            };
            let revoked = facts(&record, last_used(home, &record));
            let report = Report::of(text, &TokenRevokeOutput { ok: true, revoked, written });
            Ok(if record.owner && written {
                report.note("\nhint: that was the owner's; `bailiwick token create NAME` makes another one.")
            } else {
                report
            })
        }
    }
}

/// Asks on a terminal whether a token is to stop opening what it opens.
fn is_wanted(
    printer: Printer,
    confirm: ConfirmArgs,
    record: &TokenRecord,
    verb: &str,
) -> Result<bool, Failure> {
    if !confirm.asks(printer) {
        return Ok(true);
    }
    printer.talk(&format!("`{}` opens {}.", one_line(&record.name), rights(record)));
    ask::yes(printer, &format!("{verb} it? Clients that use it have to be given another one."))
}

fn create(home: &Home, args: &TokenCreateArgs) -> Result<Report, Failure> {
    tokens::check_scopes(home, &args.scope)?;
    let now = now_ms();
    let all_if_empty = |names: Vec<String>| if names.is_empty() { vec!["*".to_owned()] } else { names };
    let new = NewToken {
        name: args.name.clone(),
        scopes: all_if_empty(args.scope.clone()),
        capabilities: all_if_empty(args.capability.iter().map(ToString::to_string).collect()),
        expires_at_ms: args.expires.as_deref().map(|when| expiry(when, now)).transpose()?,
        owner: false,
    };
    let (record, secret) = tokens::create(home, new, now)?;
    Ok(shown_once(home, &record, secret, ""))
}

fn rotate(home: &Home, printer: Printer, args: &TokenRotateArgs) -> Result<Report, Failure> {
    let now = now_ms();
    let expires = match args.expires.as_deref() {
        None => None,
        Some("never") => Some(None),
        Some(when) => Some(Some(expiry(when, now)?)),
    };
    let before = known(home.tokens()?.records(), &args.name)?.clone();
    if !home.is_dry_run && !is_wanted(printer, args.confirm, &before, "Replace")? {
        let token = ShownToken { token: facts(&before, None), secret: None };
        return Ok(Report::of("Left as it was.\n", &TokenShownOutput { ok: true, token }));
    }
    let (record, secret) = tokens::rotate(home, &args.name, expires, now)?;
    Ok(shown_once(home, &record, secret, "The old value opens nothing any more."))
}

fn shown_once(home: &Home, record: &TokenRecord, secret: String, also: &str) -> Report {
    let text = format!("{secret}\n");
    let token = facts(record, None);
    if home.is_dry_run {
        let text = format!(
            "Would make a value for `{}`. It would open {}, and expire {}.\n",
            one_line(&record.name),
            rights(record),
            expires(record, now_ms())
        );
        return Report::of(text, &TokenShownOutput { ok: true, token: ShownToken { token, secret: None } });
    }
    let output = TokenShownOutput { ok: true, token: ShownToken { token, secret: Some(secret) } };
    let report = Report::of(text, &output)
        .note(format!(
            "\nThis is the token `{}`. It is shown this once and kept only as a hash.",
            one_line(&record.name)
        ))
        .note(format!("It opens {}, and expires {}.", rights(record), expires(record, now_ms())));
    if also.is_empty() { report } else { report.note(also) }
}

fn code(home: &Home) -> Result<Report, Failure> {
    let config = home.config()?;
    let code = LoginCode::create(&home.dirs, now_ms()).map_err(|error| error.for_person())?;
    let report = Report::of(format!("{code}\n"), &TokenCodeOutput { ok: true, code: code.clone() })
        .note("\nType it on the page that a client opened, if it was you who began that. Valid once, for 10 minutes.");
    Ok(match Exposure::public_url(&config, &home.dirs) {
        Some(_) => report,
        None => {
            report.note("hint: no client can log in yet: `bailiwick tunnel cloudflare` opens a URL for that.")
        }
    })
}

fn list(home: &Home) -> Result<Report, Failure> {
    let tokens = home.tokens()?;
    let now = now_ms();
    let mut table = Table::new(&[
        ("NAME", Fit::Cut),
        ("OPENS", Fit::Cut),
        ("EXPIRES", Fit::Whole),
        ("LAST USED", Fit::Whole),
        ("MADE", Fit::WholeOrGone),
        ("ID", Fit::WholeOrGone),
    ]);
    let mut all = Vec::new();
    let mut soon = Vec::new();
    for record in tokens.records() {
        let used = last_used(home, record);
        let name = match (record.owner, &record.login) {
            (true, _) => format!("{} (owner)", record.name),
            (false, Some(_)) => format!("{} (login)", record.name),
            (false, None) => record.name.clone(),
        };
        table.row([
            one_line(&name),
            rights(record),
            expires(record, now),
            used.map_or_else(|| "never".to_owned(), |at| ago(now - at)),
            date(&record.created_at).to_owned(),
            record.id.clone(),
        ]);
        if state(record, now) != TokenState::Valid {
            soon.push(record);
        }
        all.push(facts(record, used));
    }
    let text = if all.is_empty() { "There are no tokens.\n".to_owned() } else { table.text() };
    let report = Report::of(text, &TokenListOutput { ok: true, tokens: all });
    Ok(soon.into_iter().fold(report, |report, record| {
        let name = one_line(&record.name);
        let says = if record.is_expired(now) { "has expired" } else { "expires soon" };
        if record.login.is_some() {
            return report.note(format!(
                "\nhint: the login `{name}` {says}: its client renews it automatically, or logs in again."
            ));
        }
        report.note(format!(
            "\nhint: `{name}` {says}: `bailiwick token rotate {name} --expires 30d` renews it."
        ))
    }))
}

/// Returns when a token expires.
fn expires(record: &TokenRecord, now: i64) -> String {
    match record.expires_at.as_deref().and_then(|at| Some((at, parse_rfc3339(at)?))) {
        None => "never".to_owned(),
        Some((at, _)) if record.is_expired(now) => format!("{} (expired)", date(at)),
        Some((at, ms)) if ms - now <= SOON_DAYS * DAY_MS => format!("{} (soon)", date(at)),
        Some((at, _)) => date(at).to_owned(),
    }
}

fn date(at: &str) -> &str {
    at.split('T').next().unwrap_or(at)
}
