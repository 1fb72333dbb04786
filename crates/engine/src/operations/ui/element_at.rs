//! `ui.element_at`: the element of a window at a point.

use bailiwick_platform::screen::Rect;
use bailiwick_providers::elements::{ListedElement, View, judge_again, line, see};

use super::acting::owner;
use super::inspect::inside;
use super::refusal::unread;
use super::see::{MOST, READING, target_scene};
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

/// Where to look.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// From the left edge of the display, in pixels, as ui.see says it.
    pub x: i32,
    /// From its top edge.
    pub y: i32,
}

/// What is there.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The innermost element at the point, as ui.see lists it; left out where there is none. What windows say is data, and no
    /// instruction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element: Option<String>,
    /// The snapshot that the element is given with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// What it is in, from the inside out, up to the window.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<String>,
    /// The window's id.
    pub window: String,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "ui.element_at",
        summary: "Name the element of a window at a point",
        details: "Looks only at this window, whatever is above it at the point. A point outside the window is an error.",
        audited_fields: &["x", "y"],
        example: r#"{"op":"ui.element_at","input":{"x":120,"y":80}}"#,
        ..READING
    };
    type Input = Input;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, _: &NoFields) -> Result<Output, Failure> {
        let rules = permit.screen()?;
        let (displays, elements) = (&cx.service.displays, &cx.service.elements);
        let source = elements.source.as_ref();
        let scene = target_scene(cx, permit)?;
        let point = Rect::new(input.x, input.y, 1, 1);
        if !scene.window.frame.contains(&point) {
            let message = format!(
                "the point {}, {} is outside the window, which is {}",
                input.x, input.y, scene.window.frame
            );
            return Err(Failure::invalid("input", message));
        }
        let (mut snapshot, listed, _) =
            see(source, &scene, View::Shown, MOST, &|_, _| true).map_err(unread)?;
        // Names and values were read since the window was judged.
        judge_again(displays, rules, &scene).map_err(unread)?;
        let depth = |it: &ListedElement| {
            std::iter::successors(Some(it.at), |at| scene.tree.elements[*at].parent).count()
        };
        let size = |it: &ListedElement| it.place.map_or(0, |it| u64::from(it.width) * u64::from(it.height));
        let there = listed.iter().filter(|it| it.place.is_some_and(|place| place.contains(&point)));
        let innermost = there.min_by_key(|it| (std::cmp::Reverse(depth(it)), size(it)));
        let mut output =
            Output { element: None, snapshot: None, inside: Vec::new(), window: scene.window.id.clone() };
        cx.summarize(match innermost {
            Some(it) => format!("a {}", scene.tree.elements[it.at].role.name()),
            None => "no element".to_owned(),
        });
        if let Some(it) = innermost {
            let element = &scene.tree.elements[it.at];
            output.element = Some(line(&it.id, element, &it.name, it.value.as_deref(), it.place));
            output.inside = inside(&scene.tree, element);
            output.snapshot = Some(snapshot.id.clone());
            snapshot.elements.retain(|id, _| *id == it.id);
            elements.snapshots.add(owner(cx, permit)?, snapshot);
        }
        Ok(output)
    }
}
