//! What elements contain, and setting it: text fields, sliders and spin buttons.

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::accessibility::{Ability, Element, ElementSource, Role, RuntimeId, State};
use bailiwick_platform::program_error::ProgramError;
use bailiwick_policy::Permit;
use bailiwick_providers::elements::{ActionEffect, has_number, has_text, quoted};

use super::acting::{
    ActionOutput, CurrentElement, ElementName, LOOK, LOOK_FOR_WANTED, find, is_shown, judge, look_for,
    undecided,
};
use super::refusal::failed;
use crate::registry::Context;

/// The longest text, in characters.
pub(super) const LONGEST: usize = 100_000;

/// What an element is set to.
pub(in crate::operations) enum Setting {
    Text(String),
    Number(f64),
}

/// What an element contains.
#[derive(Debug, PartialEq)]
pub(super) enum Content {
    Text(String),
    Number(f64),
}

impl Setting {
    /// Finds an element that can be set to a value. `at` is the field of the request that has it.
    ///
    /// # Errors
    /// A code for each reason; nothing was touched then.
    pub fn find(
        cx: &Context,
        permit: &Permit,
        name: ElementName<'_>,
        (at, value): (&str, &str),
    ) -> Result<(CurrentElement, Self), Failure> {
        let found = find(cx, permit, name)?;
        let setting = Self::of(&found.element, (at, value))?;
        Ok((found, setting))
    }

    /// Reads a value as what an element is set to. `at` is the field of the request that has it.
    ///
    /// # Errors
    /// `invalid_request`, `unsupported_action`.
    pub fn of(element: &Element, (at, value): (&str, &str)) -> Result<Self, Failure> {
        if value.chars().nth(LONGEST).is_some() {
            return Err(Failure::invalid(at, format!("`value` has more than {LONGEST} characters")));
        }
        let unable = || failed(ProgramError::Unable.into());
        if matches!(element.role, Role::Slider | Role::SpinButton) && element.abilities.has(Ability::Number) {
            let number = value.trim().parse().ok().filter(|number: &f64| number.is_finite());
            let wrong = || Failure::invalid(at, "a slider or spin button takes a number, such as `12.5`");
            return number.map(Self::Number).ok_or_else(wrong);
        }
        let is_set = element.abilities.has(Ability::EditText)
            && element.states.has(State::Editable)
            && !element.states.has(State::ReadOnly);
        match element.role {
            Role::TextField | Role::ComboBox if is_set => Ok(Self::Text(value.to_owned())),
            Role::TextField => Err(unable().detail("state", "read-only")),
            _ => Err(unable()),
        }
    }

    const fn is_number(&self) -> bool {
        matches!(self, Self::Number(_))
    }

    fn is_met_by(&self, content: &Content) -> bool {
        match (self, content) {
            (Self::Text(wanted), Content::Text(text)) => wanted == text,
            (Self::Number(wanted), Content::Number(number)) => {
                (wanted - number).abs() <= 1e-9 * wanted.abs().max(1.0)
            }
            _ => false,
        }
    }
}

impl Content {
    pub fn shown(&self) -> String {
        match self {
            Self::Text(text) => quoted(text),
            Self::Number(number) => number.to_string(),
        }
    }
}

/// Sets an element and reads it back; as a dry run it is read only.
///
/// # Errors
/// A code for each reason. After `target_unresponsive` it may be done, or still be.
pub(super) fn set(
    cx: &Context,
    permit: &Permit,
    found: &CurrentElement,
    setting: &Setting,
) -> Result<ActionOutput, Failure> {
    let CurrentElement { scene, element } = found;
    let (display, id) = (scene.window.display.as_str(), &element.id);
    let old = read(cx, display, id, setting.is_number())?;
    judge(cx, permit, found)?;
    let mut acted = ActionOutput { old: Some(old.shown()), ..ActionOutput::before(permit, element, "value") };
    if !acted.dry_run {
        change(cx, permit, found, (&old, setting), &mut acted, |source| match setting {
            Setting::Text(text) => source.set_text(display, id, text).map_err(undecided),
            Setting::Number(number) => {
                source.set_number(display, id, *number).map(|()| true).map_err(undecided)
            }
        })?;
    }
    Ok(acted)
}

/// Has what an element contains changed, and reads back what came of it. `act` returns whether the program says that it did.
///
/// # Errors
/// Those of `act`.
pub(super) fn change(
    cx: &Context,
    permit: &Permit,
    found: &CurrentElement,
    (old, wanted): (&Content, &Setting),
    acted: &mut ActionOutput,
    act: impl FnOnce(&dyn ElementSource) -> Result<bool, Failure>,
) -> Result<(), Failure> {
    let (display, id) = (found.scene.window.display.as_str(), &found.element.id);
    let accepted = act(cx.service.elements.source.as_ref())?;
    let read = || read(cx, display, id, wanted.is_number());
    let time = if accepted { LOOK_FOR_WANTED } else { LOOK };
    let new = look_for(cx, time, read, |now| wanted.is_met_by(now));
    // A value that was read while nobody may see the window is left out.
    let is_shown = is_shown(cx, permit, &found.scene)?;
    let effect = match &new {
        Ok(new) if wanted.is_met_by(new) => ActionEffect::Confirmed,
        Ok(_) if !accepted => ActionEffect::Refused,
        Ok(new) if new == old => ActionEffect::SuspectedNoop,
        Ok(_) => ActionEffect::Partial,
        Err(_) => ActionEffect::Unverifiable,
    };
    acted.effect = Some(effect.as_str());
    acted.new = new.ok().filter(|_| is_shown).map(|new| new.shown());
    Ok(())
}

/// Sets an element as [`set`] does, and notes it for the history.
///
/// # Errors
/// As [`set`].
pub(in crate::operations) fn set_one(
    cx: &Context,
    permit: &Permit,
    found: &CurrentElement,
    setting: &Setting,
) -> Result<ActionOutput, Failure> {
    let acted = set(cx, permit, found, setting)?;
    let role = found.element.role.name();
    cx.summarize(match acted.effect {
        None => format!("would set a {role}"),
        Some(effect) => format!("set a {role} in a window of {}: {effect}", found.scene.window.app),
    });
    Ok(acted)
}

/// Reads what an element contains, a text up to its longest.
///
/// # Errors
/// `unsupported_action` where it contains neither text nor number.
pub(super) fn content_of(cx: &Context, found: &CurrentElement) -> Result<Content, Failure> {
    let CurrentElement { scene, element } = found;
    let is_number = has_number(element);
    if !is_number && !has_text(element) {
        return Err(Failure::new(ErrorCode::UnsupportedAction, "the element has no value")
            .hint("ui.see shows what it is called."));
    }
    read(cx, &scene.window.display, &element.id, is_number)
}

/// Reads the text of an element.
///
/// # Errors
/// `element_not_found`, and why the program does not answer.
pub(in crate::operations) fn text_of(cx: &Context, display: &str, id: &RuntimeId) -> Result<String, Failure> {
    match read(cx, display, id, false)? {
        Content::Text(text) => Ok(text),
        Content::Number(number) => Ok(number.to_string()),
    }
}

fn read(cx: &Context, display: &str, id: &RuntimeId, is_number: bool) -> Result<Content, Failure> {
    let source = cx.service.elements.source.as_ref();
    let ids = std::slice::from_ref(id);
    let content = if is_number {
        source.numbers(display, ids).map_err(failed)?.pop().flatten().map(Content::Number)
    } else {
        // One more than can be set: a longer one is another.
        source.texts(display, ids, LONGEST + 1).map_err(failed)?.pop().flatten().map(Content::Text)
    };
    content.ok_or_else(|| {
        Failure::new(ErrorCode::ElementNotFound, "the element is gone").hint("Call ui.see again.")
    })
}
