//! `token …`: by which tokens clients are known, and what each may use.

use schemars::JsonSchema;
use serde::Serialize;

use bailiwick_config::{Exposure, LoginCode, NewToken, TokenRecord};
use bailiwick_contract::time::{now_ms, parse_rfc3339, rfc3339};
use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_history::Filter;

use super::args::{ConfirmArgs, TokenCommand, TokenCreateArgs, TokenRotateArgs};
use super::ask;
use super::home::Home;
use super::known_token::known;
use super::printer::{Fit, Printer, Report, Table, one_line, with_nearest};

/// A day, in milliseconds.
const DAY_MS: i64 = 86_400_000;
/// Tokens that expire within so many days are said to expire soon.
const SOON_DAYS: i64 = 7;

/// Whether a token opens anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TokenState {
    /// It does.
    Valid,
    /// It does, for at most seven days more.
    ExpiresSoon,
    /// It does not any more.
    Expired,
}

/// What may be told about a token: everything but its hash.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenOutput {
    /// Its id.
    pub id: String,
    /// The name that the history shows as the caller.
    pub name: String,
    /// The ids of the scopes that it opens; `*` for all.
    pub scopes: Vec<String>,
    /// The capabilities that it may use, of those that a scope grants; `*` for all.
    pub capabilities: Vec<String>,
    /// When its value was made (RFC 3339).
    pub created_at: String,
    /// From when on it opens nothing (RFC 3339); null for never.
    pub expires_at: Option<String>,
    /// Whether it opens anything.
    pub state: TokenState,
    /// Whether it is the owner's.
    pub owner: bool,
    /// Where the browser went after the login by which a client got it; null for a token that was made by hand.
    pub login: Option<String>,
    /// When its name was last used since its value was made (RFC 3339); null where the history knows of no use.
    pub last_used_at: Option<String>,
}

/// A token whose value is shown, this once.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShownToken {
    /// The token.
    #[serde(flatten)]
    pub token: TokenOutput,
    /// Its value, which is kept nowhere; null with `--dry-run`.
    pub secret: Option<String>,
}

/// `token create` and `token rotate`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TokenShownOutput {
    /// Always true.
    pub ok: bool,
    /// The token with its value.
    pub token: ShownToken,
}

/// `token list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TokenListOutput {
    /// Always true.
    pub ok: bool,
    /// The tokens, in the order in which they were made.
    pub tokens: Vec<TokenOutput>,
}

/// `token revoke`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TokenRevokeOutput {
    /// Always true.
    pub ok: bool,
    /// The token as it was.
    pub revoked: TokenOutput,
    /// Whether it was revoked; not with `--dry-run`, and not if you said no.
    pub written: bool,
}

/// `token code`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TokenCodeOutput {
    /// Always true.
    pub ok: bool,
    /// The code, valid once and for ten minutes.
    pub code: String,
}

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
    let config = home.config()?;
    let ids = || config.scopes.iter().map(|scope| scope.id.as_str());
    if let Some(unknown) = args.scope.iter().find(|id| *id != "*" && !ids().any(|known| known == **id)) {
        let failure =
            Failure::new(ErrorCode::UnknownScope, format!("there is no scope `{}`", one_line(unknown)));
        return Err(with_nearest(failure, unknown, ids(), "`bailiwick scope list` shows them."));
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
                format!("there is a token `{}` already", one_line(&args.name)),
            )
            .hint(format!("Choose another name, or run `bailiwick token rotate {}`.", args.name)));
        }
        tokens.create(new, now).map_err(|error| Failure::invalid("name", error.problem).hint(error.fix))
    })?;
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
    let (record, secret) = home.edit_tokens(|tokens| {
        let record = known(tokens.records(), &args.name)?;
        if expires.is_none() && record.is_expired(now) {
            return Err(Failure::new(
                ErrorCode::Conflict,
                format!("the token `{}` has expired: a new value would open nothing", one_line(&record.name)),
            )
            .hint("Add when the new value expires, such as `--expires 30d` or `--expires never`."));
        }
        if let Some(at) = expires {
            tokens.set_expiry(&args.name, at);
        }
        tokens.rotate(&args.name, now).map_err(|error| error.for_person())
    })?;
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

/// Looks up when a token was last used, in milliseconds since the epoch.
fn last_used(home: &Home, record: &TokenRecord) -> Option<i64> {
    // A name that was used before is another token's use.
    let since_ms = parse_rfc3339(&record.created_at);
    let filter = Filter { caller: Some(record.name.clone()), since_ms, limit: 1, ..Filter::default() };
    let page = bailiwick_history::query(&home.dirs.state, &filter).ok()?;
    page.entries.first().map(|entry| entry.at_ms)
}

fn state(record: &TokenRecord, now: i64) -> TokenState {
    if record.is_expired(now) {
        return TokenState::Expired;
    }
    match record.expires_at.as_deref().and_then(parse_rfc3339) {
        Some(at) if at - now <= SOON_DAYS * DAY_MS => TokenState::ExpiresSoon,
        _ => TokenState::Valid,
    }
}

fn facts(record: &TokenRecord, last_used: Option<i64>) -> TokenOutput {
    TokenOutput {
        id: record.id.clone(),
        name: record.name.clone(),
        scopes: record.scopes.clone(),
        capabilities: record.capabilities.clone(),
        created_at: record.created_at.clone(),
        expires_at: record.expires_at.clone(),
        state: state(record, now_ms()),
        owner: record.owner,
        login: record.login.as_ref().map(|login| login.redirect_host.clone()),
        last_used_at: last_used.map(rfc3339),
    }
}

pub fn rights(record: &TokenRecord) -> String {
    let or_all = |list: &[String], all: &str| {
        if list.iter().any(|it| it == "*") { all.to_owned() } else { list.join(" ") }
    };
    format!(
        "{}: {}",
        or_all(&record.scopes, "all scopes"),
        or_all(&record.capabilities, "whatever they grant")
    )
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

fn ago(ms: i64) -> String {
    match ms {
        ..60_000 => "just now".to_owned(),
        60_000..3_600_000 => format!("{} min ago", ms / 60_000),
        3_600_000..172_800_000 => format!("{} h ago", ms / 3_600_000),
        _ => format!("{} days ago", ms / DAY_MS),
    }
}

fn date(at: &str) -> &str {
    at.split('T').next().unwrap_or(at)
}

/// Reads `30d`, `8h` or a date as a moment in the future.
fn expiry(when: &str, now: i64) -> Result<i64, Failure> {
    let wrong = |problem: &str| {
        Failure::invalid("--expires", format!("`{}` {problem}", one_line(when)))
            .hint("Use a number of days (30d) or hours (8h), or a date (2027-01-31).")
    };
    let span = |suffix: char, unit_ms: i64| {
        let number: i64 = when.strip_suffix(suffix)?.parse().ok()?;
        (1..=100_000).contains(&number).then(|| now + number * unit_ms)
    };
    let at = span('d', DAY_MS)
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

    #[test]
    fn the_time_since_a_use_is_said_in_the_largest_unit_that_tells() {
        for (ms, said) in [
            (0, "just now"),
            (-5, "just now"),
            (61_000, "1 min ago"),
            (3_600_000, "1 h ago"),
            (47 * 3_600_000, "47 h ago"),
            (3 * DAY_MS, "3 days ago"),
        ] {
            assert_eq!(ago(ms), said);
        }
    }
}
