//! `ui.press`: press an element.

use crate::registry::prelude::*;
use bailiwick_platform::accessibility::{Ability, AccessibilityError, Role};
use bailiwick_providers::elements::{ActionEffect, Change};

use super::acting::{
    ACTION, ActionOutput, CurrentElement, ElementName, find, look_for_change, may_be_done, shown, undecided,
};
use super::refusal::failed;

/// The operation.
pub struct Op;

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "ui.press",
        summary: "Press an element of a window",
        details: "Does what a click on the element does, without pointer and focus. The element is found again first, and \
                  nothing is done unless it is plainly the one that ui.see has shown. `effect` is read back: `confirmed` \
                  where the element, another of the window or the windows of the program changed, `suspected_noop` where a \
                  check box or toggle did not, else `unverifiable`. Nothing is pressed in terminals.",
        example: r#"{"op":"ui.press","target":"B3@s_0a1b2c3d4e"}"#,
        ..ACTION
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = ActionOutput;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<ActionOutput, Failure> {
        let found = find(cx, permit, ElementName::of_target(permit)?)?;
        let CurrentElement { scene, element } = &found;
        // Activating a field sends the form that it is in.
        if !element.abilities.has(Ability::Act) || element.role == Role::TextField {
            return Err(failed(AccessibilityError::Unable));
        }
        let mut acted = ActionOutput {
            element: shown(element),
            effect: None,
            path: "action",
            changed: Vec::new(),
            old: None,
            new: None,
            dry_run: permit.common().dry_run,
        };
        if acted.dry_run {
            cx.summarize(format!("would press a {}", element.role.name()));
            return Ok(acted);
        }
        let effect = match cx.service.elements.source.press(&scene.window.display, &element.id) {
            Ok(false) => ActionEffect::Refused,
            Err(error) if !may_be_done(&error) => return Err(failed(error)),
            pressed => {
                let change = look_for_change(cx, permit, &found)?;
                let is_seen = change.as_ref().is_some_and(Change::is_any);
                // A program that has not answered may wait for a dialog that it has opened, or have ended.
                if !is_seen && let Err(error) = pressed {
                    return Err(undecided(error));
                }
                acted.changed = change.as_ref().map(changed).unwrap_or_default();
                effect_of(element.role, change.as_ref())
            }
        };
        acted.effect = Some(effect.as_str());
        cx.summarize(format!(
            "pressed a {} in a window of {}: {}",
            element.role.name(),
            scene.window.app,
            effect.as_str()
        ));
        Ok(acted)
    }
}

fn effect_of(role: Role, change: Option<&Change>) -> ActionEffect {
    let toggles = matches!(role, Role::CheckBox | Role::Switch | Role::ToggleButton);
    match change {
        Some(change) if toggles && !change.of_element => {
            if change.is_any() {
                ActionEffect::Partial
            } else {
                ActionEffect::SuspectedNoop
            }
        }
        Some(change) if change.is_any() => ActionEffect::Confirmed,
        Some(_) | None => ActionEffect::Unverifiable,
    }
}

fn changed(change: &Change) -> Vec<String> {
    let own = [(change.of_element, "element"), (change.of_windows, "windows")];
    let own = own.iter().filter(|(applies, _)| *applies).map(|(_, word)| (*word).to_owned());
    own.chain(change.of_others.iter().cloned()).collect()
}
