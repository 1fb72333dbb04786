//! `ui.type`: type a text into a field, without the keyboard.

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::accessibility::{Ability, AccessibilityError, Element, ElementSource, Role};
use bailiwick_platform::program_error::ProgramError;
use bailiwick_providers::elements::ActionEffect;

use super::acting::{ACTION, Action, ActionOutput, CurrentElement, ElementName, act, find, judge, undecided};
use super::content::{Content, LONGEST, Setting, change, text_of};
use super::refusal::{failed, of_program};
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

/// What sending a form is called.
const SUBMIT: &str = "activate";

/// What to type.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The text; it is inserted at the caret, and what is selected stays.
    pub text: String,
    /// Whether it replaces the whole text; default false.
    #[serde(default)]
    pub clear: bool,
    /// Whether the field's own action `activate` is done afterwards, as Enter does; default false.
    #[serde(default)]
    pub submit: bool,
}

/// What was done.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// What came of the text. `path` is `text` where it was inserted, `value` where the whole text was set.
    #[serde(flatten)]
    pub typed: ActionOutput,
    /// With `submit`: the effect of that, as `effect`; `not_done` where the text is not what was expected, or the field cannot
    /// be used any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submitted: Option<&'static str>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "ui.type",
        summary: "Type a text into a field, without the keyboard",
        details: "Inserts at the caret, or replaces all with `clear`. `confirmed` where the text is exactly what was expected; only \
                  then `submit` counts, and where the field has no such action, nothing is typed. Fields that cannot be set \
                  answer `unsupported_action`. Secure fields and terminals are refused as by ui.set_value.",
        audited_fields: &["clear", "submit"],
        example: r#"{"op":"ui.type","target":"T1@s_0a1b2c3d4e","input":{"text":"Ada"}}"#,
        ..ACTION
    };
    type Input = Input;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, _: &NoFields) -> Result<Output, Failure> {
        if input.text.is_empty() && !input.clear {
            return Err(Failure::invalid("input.text", "`text` is empty")
                .hint("Give a text, or set `clear`, which empties the field."));
        }
        let name = ElementName::of_target(permit)?;
        let found = find(cx, permit, name)?;
        let CurrentElement { scene, element } = &found;
        let (display, id) = (scene.window.display.as_str(), &element.id);
        let source = cx.service.elements.source.as_ref();
        typable(element, &input.text)?;
        if input.submit {
            submittable(source, display, element)?;
        }
        let old = text_of(cx, display, id)?;
        // Where it is inserted; nowhere, where it replaces all.
        let at = match input.clear {
            true => None,
            false => Some(caret(source, display, element, &old)?),
        };
        let wanted = at.map_or_else(|| input.text.clone(), |at| inserted(&old, at, &input.text));
        judge(cx, permit, &found)?;
        if wanted.chars().nth(LONGEST).is_some() {
            return Err(Failure::invalid(
                "input.text",
                format!("the text would have more than {LONGEST} characters"),
            )
            .hint("Type less, or set `clear`."));
        }
        let content = Content::Text(old.clone());
        let path = if at.is_some() { "text" } else { "value" };
        let mut typed =
            ActionOutput { old: Some(content.shown()), ..ActionOutput::before(permit, element, path) };
        let role = element.role.name();
        if typed.dry_run {
            cx.summarize(format!("would type into a {role}"));
            return Ok(Output { typed, submitted: None });
        }
        let mut is_whole = false;
        let setting = Setting::Text(wanted.clone());
        change(cx, permit, &found, (&content, &setting), &mut typed, |source| {
            if let Some(at) = at {
                match source.insert_text(display, id, at, &input.text) {
                    Ok(true) => return Ok(true),
                    Ok(false) | Err(AccessibilityError::Program(ProgramError::Unable)) => {}
                    Err(error) => return Err(undecided(error)),
                }
                // It does not insert. All of it is set, unless it is another text by now.
                match text_of(cx, display, id)? {
                    now if now == wanted => return Ok(true),
                    now if now != old => {
                        return Err(Failure::new(ErrorCode::Conflict, "the text has changed meanwhile")
                            .hint("Call ui.see again."));
                    }
                    _ => is_whole = true,
                }
            }
            source.set_text(display, id, &wanted).map_err(undecided)
        })?;
        if is_whole {
            typed.path = "value";
        }
        let is_confirmed = typed.effect == Some(ActionEffect::Confirmed.as_str());
        let submitted = match (input.submit, is_confirmed) {
            (false, _) => None,
            (true, false) => Some(NOT_DONE),
            (true, true) => Some(submit(cx, permit, name, &mut typed)),
        };
        let effect = typed.effect.unwrap_or_default();
        cx.summarize(match submitted {
            None => format!("typed into a {role} in a window of {}: {effect}", scene.window.app),
            Some(sent) => {
                format!(
                    "typed into a {role} in a window of {}: {effect}, submitted: {sent}",
                    scene.window.app
                )
            }
        });
        Ok(Output { typed, submitted })
    }
}

/// What is answered of a form that was not sent.
const NOT_DONE: &str = "not_done";

/// Returns whether a text can be typed into an element.
///
/// # Errors
/// `invalid_request`, `unsupported_action`.
fn typable(element: &Element, text: &str) -> Result<(), Failure> {
    if matches!(element.role, Role::Slider | Role::SpinButton) {
        return Err(failed(ProgramError::Unable.into()));
    }
    Setting::of(element, ("input.text", text)).map(drop).map_err(|failure| match failure.code {
        ErrorCode::UnsupportedAction if !failure.details.contains_key("state") => of_program(
            ProgramError::Unable,
            "Call ui.see again.",
            "input.type types with the keyboard, where a scope allows it.",
        ),
        _ => failure,
    })
}

/// Returns whether an element has the action that sends its form.
///
/// # Errors
/// `unsupported_action`, and why the program does not answer.
fn submittable(source: &dyn ElementSource, display: &str, element: &Element) -> Result<(), Failure> {
    let actions = match element.abilities.has(Ability::Act) {
        true => source.actions(display, &element.id).map_err(failed)?,
        false => Vec::new(),
    };
    if actions.iter().any(|action| action == SUBMIT) {
        return Ok(());
    }
    Err(Failure::new(ErrorCode::UnsupportedAction, "the field has no action that submits")
        .detail("field", "input.submit")
        .detail("available", actions)
        .hint("Leave `submit` out, and press the button that sends the form."))
}

/// Reads before which character of an element's text its caret is.
///
/// # Errors
/// `unsupported_action` where the program does not say it, or the text has characters that some programs count as two (Qt).
fn caret(source: &dyn ElementSource, display: &str, element: &Element, text: &str) -> Result<usize, Failure> {
    let unknown = |why: &str| {
        Failure::new(ErrorCode::UnsupportedAction, why).hint("Set `clear`, which replaces the whole text.")
    };
    if text.chars().any(|it| it.len_utf16() > 1) {
        return Err(unknown("the text has characters, such as emoji, that programs count in different ways"));
    }
    let caret = source.details(display, &element.id).map_err(failed)?.caret;
    let caret = caret.ok_or_else(|| unknown("the program does not say where the caret is"))?;
    Ok(caret.min(text.chars().count()))
}

/// Returns a text with another inserted before the character at a place.
fn inserted(old: &str, caret: usize, text: &str) -> String {
    let at = old.char_indices().nth(caret).map_or(old.len(), |(at, _)| at);
    format!("{}{text}{}", &old[..at], &old[at..])
}

/// Sends the form of a field that was typed into: it is found and judged again first. Returns the effect.
fn submit(cx: &Context, permit: &Permit, name: ElementName<'_>, typed: &mut ActionOutput) -> &'static str {
    let action = Action {
        verbs: ("submit", "submitted"),
        path: "action",
        act: &|source, display, id| source.act(display, id, &[SUBMIT]),
        is_done: None,
        toggles: false,
    };
    let sent = find(cx, permit, name).and_then(|found| act(cx, permit, &found, &action));
    match sent {
        Ok(sent) => {
            typed.changed = sent.changed;
            sent.effect.unwrap_or(NOT_DONE)
        }
        Err(failure) => {
            cx.warn(format!("the text is typed; submitting it: {}", failure.message));
            if failure.details.contains_key("retry") { ActionEffect::Unverifiable.as_str() } else { NOT_DONE }
        }
    }
}
