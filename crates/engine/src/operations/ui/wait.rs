//! `ui.wait`: wait until a window shows an element, or does not any more.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::registry::prelude::*;
use bailiwick_contract::{ErrorCode, Progress};
use bailiwick_platform::accessibility::Element;
use bailiwick_platform::screen::ChangeWatch;
use bailiwick_policy::Scope;
use bailiwick_providers::display::Desktop;
use bailiwick_providers::elements::{ListedElement, Snapshot, View, judge_again, line, scene, see};

use super::acting::owner;
use super::condition::{ElementCondition, WantedState};
use super::refusal::unread;
use super::see::{MOST, active_window};

/// The operation.
pub struct Op;

/// How many elements are listed.
const LISTED: usize = 20;
/// The shortest time between two readings, and the longest one where something is drawn all the time.
const PAUSE: [Duration; 2] = [Duration::from_millis(40), Duration::from_millis(250)];
/// The longest time between two readings where nothing is drawn: some changes are not.
const REST: Duration = Duration::from_secs(4);
/// Reading takes at most one part in so many of the time, but for the first reading after nothing was drawn for a while.
const SHARE: u32 = 5;

/// An element to wait for. All conditions that are given have to match.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Its name contains this, in any case of letters.
    pub text: Option<String>,
    /// Its role is one of these, such as `button` or `text field`.
    pub roles: Option<Vec<String>>,
    /// Its value contains this, in the 240 characters that ui.see shows.
    pub value: Option<String>,
    /// It is in this state.
    pub state: Option<WantedState>,
    /// Default `shown`.
    pub until: Option<Until>,
    /// Whether `gone` counts only after such an element was seen in this wait; default true.
    pub edge: Option<bool>,
}

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Until {
    /// The window shows such an element.
    Shown,
    /// It shows none, or is gone itself.
    Gone,
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum UiWaitOutcome {
    /// The condition is met.
    Held,
    /// The condition is not met, and the time is over.
    TimeOver,
    /// The time is over, and the program did not answer at the end.
    Unknown,
}

/// What was seen.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// `held`, `timeOver`, or `unknown` where the program did not answer at the end.
    pub outcome: UiWaitOutcome,
    /// The window's id.
    pub window: String,
    /// The snapshot of the elements below, for ui.press and others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// The elements that matched at last, as ui.see lists them; at most 20.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elements: Vec<String>,
    /// How long this call waited, in milliseconds.
    pub elapsed_ms: u64,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "ui.wait",
        summary: "Wait until a window shows an element, or does not any more",
        details: "One call in place of many. With `timeoutSeconds` 1 it is a check. The elements that it finds have ids as those of \
                  ui.see. A window that closes ends a wait for `gone`; a wait for `shown` fails with it. The window is read as soon \
                  as something is drawn on its display, 4 to 25 times a second where that is all the time, and less and less \
                  often where nothing is, at last every four seconds, since some changes are not drawn. What takes long to read is \
                  read less often.",
        capabilities: &[&[Capability::UiRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::ActiveWindow,
        scope: ScopeNeed::DESKTOP,
        platforms: &["linux", "macos", "windows"],
        threads: Threads::Held,
        audited_fields: &["roles", "state", "until", "edge"],
        example: r#"{"op":"ui.wait","input":{"text":"Saved"},"options":{"timeoutSeconds":10}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

/// The elements that match, as they were read once.
struct WindowContents {
    snapshot: Snapshot,
    elements: Vec<String>,
}

/// Reads a window for the elements that are waited for.
struct Watch {
    desktop: Desktop,
    scope: Arc<Scope>,
    condition: ElementCondition,
}

impl Watch {
    fn window(&self) -> Result<String, Failure> {
        active_window(&self.desktop.displays, self.scope.screen())
    }

    fn look(&self, window: &str) -> Result<WindowContents, Failure> {
        let (displays, source) = (&self.desktop.displays, self.desktop.elements.source.as_ref());
        let rules = self.scope.screen();
        let scene = scene(displays, source, rules, window).map_err(unread)?;
        let is_wanted = |element: &Element, name: &str| self.condition.may_hold_of(element, name);
        let (mut snapshot, seen, _) = see(source, &scene, View::Shown, MOST, &is_wanted).map_err(unread)?;
        // Names and values were read since the window was judged.
        judge_again(displays, rules, &scene).map_err(unread)?;
        let has_value = |it: &ListedElement| self.condition.has_value(it.value.as_deref());
        let found: Vec<&ListedElement> = seen.iter().filter(|it| has_value(it)).take(LISTED).collect();
        snapshot.elements.retain(|id, _| found.iter().any(|it| it.id == *id));
        let listed = |it: &&ListedElement| {
            line(&it.id, &scene.tree.elements[it.at], &it.name, it.value.as_deref(), it.place)
        };
        Ok(WindowContents { elements: found.iter().map(listed).collect(), snapshot })
    }
}

impl Watch {
    /// Reads the window until the wait is over.
    ///
    /// # Errors
    /// Those of a window that cannot be read.
    async fn watch(
        self: &Arc<Self>,
        window: &str,
        until: Until,
        seen: &mut WaitState,
        progress: &Progress,
    ) -> Result<(), Failure> {
        let (watch, id) = (Arc::clone(self), window.to_owned());
        // Before the first reading, so that nothing is missed in between.
        let mut drawing = blocking(move || Ok(Drawing(watch.desktop.displays.watch(&id).ok()))).await?;
        let (mut pause, mut rest, mut was_drawn) = (PAUSE[0], PAUSE[0], false);
        loop {
            let began = Instant::now();
            let (watch, id) = (Arc::clone(self), window.to_owned());
            if seen.note(blocking(move || watch.look(&id)).await, until)? {
                return Ok(());
            }
            progress.say(seen.words());
            let share = began.elapsed() * (SHARE - 1);
            let ended = tokio::time::Instant::now();
            let is_drawn;
            (drawing, is_drawn) = drawing.wait(rest.max(share)).await?;
            (pause, rest) = match (was_drawn, is_drawn) {
                // Something is drawn all the time.
                (true, true) => {
                    tokio::time::sleep_until(ended + pause.max(share)).await;
                    (drawing, _) = drawing.wait(Duration::ZERO).await?;
                    ((pause * 5 / 4).min(PAUSE[1]), PAUSE[0])
                }
                // What is drawn can be told to who asks for elements a while later.
                (false, true) => (PAUSE[0], PAUSE[0]),
                (_, false) => (PAUSE[0], (rest * 2).min(REST)),
            };
            was_drawn = is_drawn;
        }
    }
}

/// Hears of what is drawn, where the display reports it.
struct Drawing(Option<ChangeWatch>);

impl Drawing {
    /// Waits until something is drawn, for so long at most. Returns whether something was.
    async fn wait(mut self, at_most: Duration) -> Result<(Self, bool), Failure> {
        blocking(move || {
            let is_drawn = match self.0.as_mut().map(|watch| watch.wait(at_most)) {
                Some(Ok(is_drawn)) => is_drawn,
                // The next reading says what is wrong with the display.
                Some(Err(_)) | None => {
                    self.0 = None;
                    std::thread::sleep(at_most.min(PAUSE[1]));
                    false
                }
            };
            Ok((self, is_drawn))
        })
        .await
    }
}

/// What a wait has seen so far.
#[derive(Default)]
struct WaitState {
    /// Whether an element that matches was there, or need not have been.
    was_seen: bool,
    /// Whether the program answered at last.
    is_known: bool,
    /// What was read last.
    last: Option<WindowContents>,
}

impl WaitState {
    /// Returns what was read last, in words.
    fn words(&self) -> String {
        let count = self.last.as_ref().map_or(0, |last| last.elements.len());
        match (self.is_known, count) {
            (false, _) => "the window could not be read".to_owned(),
            (true, 0) => "no element matches".to_owned(),
            (true, 1) => "1 element matches".to_owned(),
            (true, count) => format!("{count} elements match"),
        }
    }

    /// Notes what was read. Returns whether the wait is over.
    ///
    /// # Errors
    /// Those that do not pass while it waits.
    fn note(&mut self, read: Result<WindowContents, Failure>, until: Until) -> Result<bool, Failure> {
        let failure = match read {
            Ok(contents) => {
                let is_there = !contents.elements.is_empty();
                let is_over = match until {
                    Until::Shown => is_there,
                    Until::Gone => self.was_seen && !is_there,
                };
                self.was_seen |= is_there;
                self.is_known = true;
                self.last = Some(contents);
                return Ok(is_over);
            }
            Err(failure) => failure,
        };
        let was_read = self.last.is_some();
        match failure.code {
            // It changed its title while it was read.
            ErrorCode::Conflict => Ok(false),
            ErrorCode::TargetUnresponsive => {
                self.is_known = false;
                Ok(false)
            }
            // Its title changes, or its program ends.
            ErrorCode::ProviderUnavailable if was_read => {
                self.is_known = false;
                Ok(false)
            }
            ErrorCode::NotFound if until == Until::Gone && self.was_seen && was_read => {
                self.last = None;
                Ok(true)
            }
            _ => Err(failure),
        }
    }
}

impl RunAsync for Op {
    async fn run(cx: &Context, permit: &Permit, input: &Input, _: &NoFields) -> Result<Output, Failure> {
        let began = Instant::now();
        let until = input.until.unwrap_or(Until::Shown);
        if input.edge.is_some() && until == Until::Shown {
            return Err(
                Failure::invalid("input.edge", "`edge` is for a wait until `gone`").hint("Leave it out.")
            );
        }
        let (text, roles) = (input.text.as_deref(), input.roles.as_deref());
        let condition = ElementCondition::new("input", text, roles, input.value.as_deref(), input.state)?;
        let watch = Arc::new(Watch {
            desktop: Desktop {
                displays: Arc::clone(&cx.service.displays),
                elements: Arc::clone(&cx.service.elements),
            },
            scope: Arc::clone(permit.needed_scope()?),
            condition,
        });
        let window = match permit.id() {
            Some(window) => window.to_owned(),
            None => {
                let watch = Arc::clone(&watch);
                blocking(move || watch.window()).await?
            }
        };
        let deadline = tokio::time::Instant::from_std(cx.cancel.deadline());
        let mut seen = WaitState { was_seen: input.edge == Some(false), ..WaitState::default() };
        let watched =
            tokio::time::timeout_at(deadline, watch.watch(&window, until, &mut seen, &cx.progress)).await;
        let outcome = match watched {
            Ok(ended) => ended.map(|()| UiWaitOutcome::Held)?,
            Err(_) if seen.is_known => UiWaitOutcome::TimeOver,
            Err(_) => UiWaitOutcome::Unknown,
        };
        let mut output = output(cx, outcome, window, began);
        let last = seen.last.filter(|last| !last.elements.is_empty());
        if let Some(WindowContents { snapshot, elements }) = last {
            output.snapshot = Some(snapshot.id.clone());
            output.elements = elements;
            cx.service.elements.snapshots.add(owner(cx, permit)?, snapshot);
        }
        Ok(output)
    }
}

fn output(cx: &Context, outcome: UiWaitOutcome, window: String, began: Instant) -> Output {
    cx.summarize(match outcome {
        UiWaitOutcome::Held => "held".to_owned(),
        UiWaitOutcome::TimeOver => "time over".to_owned(),
        UiWaitOutcome::Unknown => "time over, and the program did not answer".to_owned(),
    });
    let elapsed_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    Output { outcome, window, snapshot: None, elements: Vec::new(), elapsed_ms }
}

/// Runs what reads windows on a thread that may block.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        Err(Failure::new(ErrorCode::ExecutionFailed, format!("the window could not be read: {error}")))
    })
}
