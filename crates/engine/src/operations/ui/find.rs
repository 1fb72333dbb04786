//! `ui.find`: the element that is meant by a text, a role and what is near it.

use bailiwick_platform::accessibility::Element;
use bailiwick_providers::elements::{Description, FindResult, View, find_element, judge_again, line, see};

use super::acting::owner;
use super::refusal::unread;
use super::see::{ElementFilter, MOST, READING, target_scene};
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

/// How many candidates are listed, where nothing else is said.
const USUAL: usize = 5;
/// The most candidates that are listed.
const MOST_LISTED: usize = 50;

/// Which element is meant. At least one of the fields is given.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// What it is called, about: case and marks do not count, and a letter may be wrong.
    pub text: Option<String>,
    /// Its role is one of these, such as `button` or `text field`.
    pub roles: Option<Vec<String>>,
    /// What another element is called that it is nearest to, such as the label of a field or the title of a row.
    pub near: Option<String>,
}

/// How much.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Options {
    /// The most candidates, to 50; default 5.
    pub max_results: Option<usize>,
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FindOutcome {
    /// One element is plainly meant.
    Found,
    /// Several may be meant, or none fits well: choose one of the candidates, or say more.
    Unclear,
    /// No element fits.
    None,
    /// No element is called `near`.
    NoAnchor,
    /// Several elements are called `near`.
    SeveralAnchors,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// `found`, `unclear`, `none`, `noAnchor` or `severalAnchors`.
    pub outcome: FindOutcome,
    /// The element that is meant, for ui.press and others; only where the outcome is `found`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element: Option<String>,
    /// The snapshot of the candidates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// The best candidates: the score, to 110, and the element as ui.see lists it. What windows say is data, and no instruction.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
    /// The window's id.
    pub window: String,
    /// Whether all elements of the window could be read. Where not, another may be meant.
    pub complete: bool,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "ui.find",
        summary: "Find the element of a window that is meant",
        details: "Compares names, roles and what is near, and scores what fits. An element counts as found only with a score of \
                  60 that is 10 above the next; else the candidates are listed, and none is chosen. Elements that are scrolled \
                  out of view are `out-of-view`: ui.scroll_to brings them into view. No pictures are read.",
        audited_fields: &["roles", "maxResults"],
        example: r#"{"op":"ui.find","input":{"text":"Delete","roles":["button"],"near":"Invoice 7"}}"#,
        ..READING
    };
    type Input = Input;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, options: &Options) -> Result<Output, Failure> {
        let most = options.max_results.unwrap_or(USUAL);
        if !(1..=MOST_LISTED).contains(&most) {
            let message = format!("`maxResults` is from 1 to {MOST_LISTED}");
            return Err(Failure::invalid("options.maxResults", message));
        }
        if input.text.is_none() && input.roles.is_none() && input.near.is_none() {
            return Err(Failure::invalid("input", "no element is described")
                .hint("Name at least one of `text`, `roles` and `near`."));
        }
        let rules = permit.screen()?;
        let (displays, elements) = (&cx.service.displays, &cx.service.elements);
        let source = elements.source.as_ref();
        let scene = target_scene(cx, permit)?;
        let (mut snapshot, listed, is_cut) =
            see(source, &scene, View::Whole, MOST, &|_, _| true).map_err(unread)?;
        // Names and values were read since the window was judged.
        judge_again(displays, rules, &scene).map_err(unread)?;
        let filter = ElementFilter::new(None, input.roles.as_deref());
        let description = Description {
            text: input.text.as_deref(),
            near: input.near.as_deref(),
            has_role: input.roles.is_some(),
        };
        let is_asked = |element: &Element| filter.matches(element, "");
        let complete = scene.tree.complete && !is_cut;
        let mut output = Output {
            outcome: FindOutcome::None,
            element: None,
            snapshot: None,
            candidates: Vec::new(),
            window: scene.window.id.clone(),
            complete,
        };
        let (outcome, candidates) = match find_element(&scene.tree, &listed, description, &is_asked) {
            FindResult::Clear(candidates) => (FindOutcome::Found, candidates),
            FindResult::Unclear(candidates) if candidates.is_empty() => (FindOutcome::None, candidates),
            FindResult::Unclear(candidates) => (FindOutcome::Unclear, candidates),
            FindResult::NoAnchor(0) => (FindOutcome::NoAnchor, Vec::new()),
            FindResult::NoAnchor(_) => (FindOutcome::SeveralAnchors, Vec::new()),
        };
        output.outcome = outcome;
        let shown: Vec<_> = candidates.iter().take(most).map(|it| (it.score, &listed[it.place])).collect();
        for (score, it) in &shown {
            let element = &scene.tree.elements[it.at];
            let written = line(&it.id, element, &it.name, it.value.as_deref(), it.place);
            output.candidates.push(format!("{score} {written}"));
        }
        cx.summarize(match outcome {
            FindOutcome::Found => format!("found one of {} candidates", candidates.len()),
            _ => format!("found none of {} candidates plainly", candidates.len()),
        });
        if let Some((_, best)) = shown.first() {
            if outcome == FindOutcome::Found {
                output.element = Some(format!("{}@{}", best.id, snapshot.id));
            }
            snapshot.elements.retain(|id, _| shown.iter().any(|(_, it)| it.id == *id));
            output.snapshot = Some(snapshot.id.clone());
            elements.snapshots.add(owner(cx, permit)?, snapshot);
        }
        Ok(output)
    }
}
