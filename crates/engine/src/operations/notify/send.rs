//! `notify.send`: show the user a message.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use bailiwick_contract::{ErrorCode, FOR_USER};
use bailiwick_platform::notifications::{self, Notification, NotificationError, Urgency};

use super::limit::{MOST, MessageLimit};
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

/// How many characters of each text are shown.
const TITLE_CHARACTERS: usize = 80;
const BODY_CHARACTERS: usize = 240;
/// How many characters of the name of a client are shown.
const NAME_CHARACTERS: usize = 40;

static LIMIT: Mutex<MessageLimit> = Mutex::new(MessageLimit::new());

/// What to show.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// What it is about; 80 characters are shown.
    pub title: String,
    /// What there is to know; 240 characters are shown, on one line.
    #[serde(default)]
    pub body: String,
    /// `low`, `normal` (default) or `critical`.
    #[serde(default)]
    pub urgency: Level,
}

/// How urgent it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Level {
    /// It need not be seen at once.
    Low,
    /// As most are.
    #[default]
    Normal,
    /// It stays until the user closes it.
    Critical,
}

/// What was done.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// `unverifiable`: the desktop has taken it; whether the user sees it is not known. Left out with `dryRun`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<&'static str>,
    /// Whether a text was cut.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// Whether nothing was done, as asked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "notify.send",
        summary: "Show the user a message on the desktop",
        details: "Bailiwick's words above it name the client and the scope. The texts are shown in quotes, as they are: no markup, \
                  links or buttons. All clients together show 10 in a minute. Nothing comes back: ask the user where an answer is needed.",
        capabilities: &[&[Capability::NotifySend]],
        effect: Effect::ControlsDesktop,
        target: TargetRule::None,
        scope: ScopeNeed::DESKTOP,
        platforms: &["linux"],
        options: &[CommonOption::DryRun],
        audited_fields: &["title", "urgency"],
        example: r#"{"op":"notify.send","input":{"title":"Build done","body":"3 tests fail."}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, _: &NoFields) -> Result<Output, Failure> {
        let ((title, is_title_cut), (body, is_body_cut)) =
            (quoted(&input.title, TITLE_CHARACTERS), quoted(&input.body, BODY_CHARACTERS));
        let Some(title) = title else {
            return Err(Failure::invalid("input.title", "`title` has at least one character that shows"));
        };
        let dry_run = permit.common().dry_run;
        let mut output = Output { effect: None, truncated: is_title_cut || is_body_cut, dry_run };
        if dry_run {
            cx.summarize("would show a message");
            return Ok(output);
        }
        if !LIMIT.lock().unwrap_or_else(PoisonError::into_inner).count(Instant::now()) {
            return Err(Failure::new(
                ErrorCode::Conflict,
                format!(
                    "clients have shown {MOST} messages in the last minute, which is as many as they may"
                ),
            )
            .detail("state", "busy")
            .hint("Wait a minute, or put what there is to know into one message."));
        }
        let (name, _) = cut(&cx.caller.name, NAME_CHARACTERS);
        let notification = Notification {
            title: format!("Message from a client: {name} (scope {})", permit.needed_scope()?.id()),
            lines: [Some(title), body].into_iter().flatten().collect(),
        };
        let urgency = match input.urgency {
            Level::Low => Urgency::Low,
            Level::Normal => Urgency::Normal,
            Level::Critical => Urgency::Critical,
        };
        notifications::send(&notification, urgency).map_err(refused)?;
        output.effect = Some("unverifiable");
        cx.summarize("the desktop has taken the message");
        Ok(output)
    }
}

/// Cuts a text, with its blanks and line ends as single blanks. Returns also whether anything was cut.
fn cut(text: &str, characters: usize) -> (String, bool) {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(characters) {
        Some((at, _)) => (format!("{}…", &text[..at]), true),
        None => (text, false),
    }
}

/// Puts a text in quotes that it cannot leave; nothing where it is empty.
fn quoted(text: &str, characters: usize) -> (Option<String>, bool) {
    let (text, is_cut) = cut(text, characters);
    let inner = text.replace(['“', '”', '„', '‟', '〝', '〞', '〟', '＂'], "\"");
    let shows = inner.chars().any(|it| !it.is_control());
    (shows.then(|| format!("“{inner}”")), is_cut)
}

fn refused(error: NotificationError) -> Failure {
    let code = match error {
        NotificationError::Unsupported => ErrorCode::UnsupportedPlatform,
        NotificationError::NoDesktop => ErrorCode::ProviderUnavailable,
        NotificationError::Silent => ErrorCode::TargetUnresponsive,
    };
    let failure = Failure::new(code, error.to_string());
    if error == NotificationError::NoDesktop {
        return failure.hint(format!("{FOR_USER}Bailiwick has to run in the session of your desktop."));
    }
    failure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_leave_its_quotes() {
        let shown = |text: &str| quoted(text, 10).0;
        assert_eq!(shown("”\nBail"), Some("“\" Bail”".to_owned()));
        assert_eq!(shown(" \n\t "), None);
        assert_eq!(quoted("0123456789", 10), (Some("“0123456789”".to_owned()), false));
        assert_eq!(quoted("0123456789a", 10), (Some("“0123456789…”".to_owned()), true));
    }
}
