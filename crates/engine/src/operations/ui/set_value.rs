//! `ui.set_value`: set the value of an element.

use crate::registry::prelude::*;
use bailiwick_contract::ErrorCode;
use bailiwick_platform::accessibility::{Ability, AccessibilityError, Element, Role, RuntimeId, State};
use bailiwick_providers::elements::{ActionEffect, quoted};

use super::acting::{ActionOutput, CurrentElement, find, is_shown, judge, look_for, shown, undecided};
use super::refusal::failed;

/// The operation.
pub struct Op;

/// The longest text, in characters.
const LONGEST: usize = 100_000;

/// What to set.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The whole new text of a field, or the number of a slider or spin button.
    pub value: String,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "ui.set_value",
        summary: "Set the value of an element",
        details: "Replaces the whole text of a field, or sets the number of a slider or spin button, without pointer and focus. \
                  The element is found again first, as for ui.press. The value is read back: `confirmed` where it is what was \
                  set, `partial` where the program made something else of it, `suspected_noop` where it stayed as it was. \
                  Secure fields are neither read nor set.",
        capabilities: &[&[Capability::UiControl]],
        effect: Effect::ControlsDesktop,
        target: TargetRule::Element,
        scope: ScopeNeed::In(&[ScopeType::Computer]),
        platforms: &["linux"],
        options: &[CommonOption::DryRun],
        timeout_seconds: 30,
        threads: Threads::Blocking,
        audited_fields: &[],
        example: r#"{"op":"ui.set_value","target":"T1@s_0a1b2c3d4e","input":{"value":"Ada"}}"#,
    };
    type Input = Input;
    type Options = NoFields;
    type Output = ActionOutput;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, _: &NoFields) -> Result<ActionOutput, Failure> {
        let value = input.value.as_str();
        if value.chars().nth(LONGEST).is_some() {
            return Err(Failure::invalid(
                "input.value",
                format!("`value` has more than {LONGEST} characters"),
            ));
        }
        let found = find(cx, permit)?;
        let CurrentElement { scene, element } = &found;
        let kind = Kind::of(element, value)?;
        let (display, id) = (scene.window.display.as_str(), &element.id);
        let old = read(cx, display, id, &kind)?;
        judge(cx, permit, &found)?;
        let mut acted = ActionOutput {
            element: shown(element),
            effect: None,
            path: "value",
            changed: Vec::new(),
            old: Some(old.shown()),
            new: None,
            dry_run: permit.common().dry_run,
        };
        if acted.dry_run {
            cx.summarize(format!("would set a {}", element.role.name()));
            return Ok(acted);
        }
        let source = cx.service.elements.source.as_ref();
        let accepted = match &kind {
            Kind::Text(text) => source.set_text(display, id, text).map_err(undecided)?,
            Kind::Number(number) => {
                source.set_number(display, id, *number).map(|()| true).map_err(undecided)?
            }
        };
        let new = look_for(cx, || read(cx, display, id, &kind), |now| kind.is_met_by(now));
        // A value that was read while nobody may see the window is left out.
        let is_shown = is_shown(cx, permit, &found)?;
        let effect = match &new {
            Ok(new) if kind.is_met_by(new) => ActionEffect::Confirmed,
            Ok(_) if !accepted => ActionEffect::Refused,
            Ok(new) if *new == old => ActionEffect::SuspectedNoop,
            Ok(_) => ActionEffect::Partial,
            Err(_) => ActionEffect::Unverifiable,
        };
        acted.effect = Some(effect.as_str());
        acted.new = new.ok().filter(|_| is_shown).map(|new| new.shown());
        cx.summarize(format!(
            "set a {} in a window of {}: {}",
            element.role.name(),
            scene.window.app,
            effect.as_str()
        ));
        Ok(acted)
    }
}

/// What is set.
enum Kind {
    Text(String),
    Number(f64),
}

/// What an element contains.
#[derive(Debug, PartialEq)]
enum Content {
    Text(String),
    Number(f64),
}

impl Kind {
    fn of(element: &Element, value: &str) -> Result<Self, Failure> {
        let unable = || failed(AccessibilityError::Unable);
        if matches!(element.role, Role::Slider | Role::SpinButton) && element.abilities.has(Ability::Number) {
            let number = value.trim().parse().ok().filter(|number: &f64| number.is_finite());
            let wrong =
                || Failure::invalid("input.value", "a slider or spin button takes a number, such as `12.5`");
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
    fn shown(&self) -> String {
        match self {
            Self::Text(text) => quoted(text),
            Self::Number(number) => number.to_string(),
        }
    }
}

fn read(cx: &Context, display: &str, id: &RuntimeId, kind: &Kind) -> Result<Content, Failure> {
    let source = cx.service.elements.source.as_ref();
    let ids = std::slice::from_ref(id);
    let content = match kind {
        // One more than can be set: a longer one is another.
        Kind::Text(_) => {
            source.texts(display, ids, LONGEST + 1).map_err(failed)?.pop().flatten().map(Content::Text)
        }
        Kind::Number(_) => source.numbers(display, ids).map_err(failed)?.pop().flatten().map(Content::Number),
    };
    content.ok_or_else(|| {
        Failure::new(ErrorCode::ElementNotFound, "the element is gone").hint("Call ui.see again.")
    })
}
