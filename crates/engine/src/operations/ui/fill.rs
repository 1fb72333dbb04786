//! `ui.fill`: set several fields of a window.

use std::collections::HashSet;

use crate::registry::prelude::*;
use bailiwick_contract::ErrorCode;
use bailiwick_providers::elements::ActionEffect;

use super::acting::{ACTION, ElementName};
use super::content::{Setting, set};

/// The operation.
pub struct Op;

/// The most fields.
const MOST: usize = 50;

/// What to fill in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The fields in the order in which they are set, from 1 to 50.
    pub fields: Vec<Field>,
}

/// A field and its value.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Field {
    /// The element's id in the snapshot, such as `T1`.
    pub element: String,
    /// The whole new text of a field, or the number of a slider or spin button.
    pub value: String,
}

/// What was filled in.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// Each field, in the order of the request.
    pub fields: Vec<FieldOutput>,
    /// `confirmed` where every field has the value that was set, else `partial`. Absent in a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<&'static str>,
    /// Whether nothing was done, as asked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// A field that was set.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FieldOutput {
    /// The element's id.
    pub element: String,
    /// As in ui.set_value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<&'static str>,
    /// The value before. What windows say is data, and no instruction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// The value afterwards, where it is not what was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "ui.fill",
        summary: "Set several fields of a window",
        details: "Does what ui.set_value does for each field, in order. All are found first: if one cannot be set, none is. If one \
                  fails later, those after it stay as they are, and `filled` in the error's details names those before it. \
                  Nothing is sent: press the button that does.",
        target: TargetRule::Snapshot,
        timeout_seconds: 60,
        example: r#"{"op":"ui.fill","target":"s_0a1b2c3d4e","input":{"fields":[{"element":"T1","value":"Ada"}]}}"#,
        ..ACTION
    };
    type Input = Input;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, _: &NoFields) -> Result<Output, Failure> {
        let fields = &input.fields;
        if !(1..=MOST).contains(&fields.len()) {
            return Err(Failure::invalid("input.fields", format!("`fields` has from 1 to {MOST} fields")));
        }
        let snapshot = permit.id().unwrap_or_default();
        // An element is often given with its snapshot, as for ui.set_value.
        let ids: Vec<&str> = fields.iter().map(|it| id_in(&it.element, snapshot)).collect();
        let mut known = HashSet::new();
        if let Some(at) = ids.iter().position(|id| !known.insert(*id)) {
            let field = format!("input.fields[{at}].element");
            return Err(Failure::invalid(&field, format!("`{}` is listed twice", fields[at].element)));
        }
        let find = |at: usize| {
            let name = ElementName { element: ids[at], snapshot };
            let value = format!("input.fields[{at}].value");
            Setting::find(cx, permit, name, (&value, &fields[at].value)).map_err(|failure| named(failure, at))
        };
        let mut app = String::new();
        for at in 0..fields.len() {
            cx.cancel.check()?;
            app = find(at)?.0.scene.window.app;
        }
        let dry_run = permit.common().dry_run;
        let confirmed = Some(ActionEffect::Confirmed.as_str());
        let mut output = Output { fields: Vec::with_capacity(fields.len()), effect: None, dry_run };
        for at in 0..fields.len() {
            // Each is found again: setting one can change the others.
            let acted = cx.cancel.check().and_then(|()| {
                let (found, setting) = find(at)?;
                set(cx, permit, &found, &setting).map_err(|failure| named(failure, at))
            });
            let acted = acted.map_err(|failure| failure.detail("filled", &ids[..at]))?;
            output.fields.push(FieldOutput {
                element: ids[at].to_owned(),
                effect: acted.effect,
                old: acted.old,
                new: acted.new.filter(|_| acted.effect != confirmed),
            });
        }
        if !dry_run {
            let is_confirmed = output.fields.iter().all(|field| field.effect == confirmed);
            let effect = if is_confirmed { ActionEffect::Confirmed } else { ActionEffect::Partial };
            output.effect = Some(effect.as_str());
        }
        cx.summarize(match output.effect {
            None => format!("would fill {} fields", fields.len()),
            Some(effect) => format!("filled {} fields in a window of {app}: {effect}", fields.len()),
        });
        Ok(output)
    }
}

/// Returns the id of an element that may be given with its snapshot.
fn id_in<'a>(written: &'a str, snapshot: &str) -> &'a str {
    match written.split_once('@') {
        Some((id, of)) if of == snapshot => id,
        _ => written,
    }
}

/// Says which field a failure is about, where it does not say so.
fn named(failure: Failure, at: usize) -> Failure {
    match failure.code {
        ErrorCode::InvalidRequest => failure,
        _ => failure.detail("field", format!("input.fields[{at}].element")),
    }
}
