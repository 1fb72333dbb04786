//! `clipboard.paste`: paste something, and give the user's clipboard back.

use crate::registry::prelude::*;
use bailiwick_providers::elements::ActionEffect;
use bailiwick_providers::screen::{ClipboardReturn, InputOrder, TemporaryClipboard, save_clipboard};

use super::super::input::{
    Chord, INPUT, InputTarget, Options, Seat, app_of, check_foreground, steps, window_of,
};
use super::content::Input;
use super::refusal::refused;

/// The operation.
pub struct Op;

/// The keys by which programs paste.
const PASTE: &str = "ctrl+v";

/// What was done.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// `unverifiable`: the program has fetched the content; what it made of it is not known. `suspected_noop`: it has not fetched
    /// it. Left out with `dryRun`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<&'static str>,
    /// The window that got the keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// Its app, as its program tells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app: Option<String>,
    /// The keys that were pressed.
    pub keys: String,
    /// The size of the content in bytes.
    pub size: usize,
    /// Whether the program has fetched the content.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fetched: bool,
    /// What is on the clipboard now: `restored`: what was there before; `empty`: nothing, as before; `replaced`: something that was
    /// copied meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clipboard: Option<&'static str>,
    /// Whether nothing was done, as asked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "clipboard.paste",
        summary: "Paste text, a picture or files into the window that has the keyboard",
        details: "Puts the content on the clipboard, presses Ctrl+V, waits until the program has fetched it, and gives back what was on \
                  the clipboard before. Judged as input.key. Where the clipboard has what clipboard.get does not read, or more than \
                  32 MiB, nothing is pasted.",
        capabilities: &[&[Capability::ClipboardWrite], &[Capability::InputControl]],
        target: TargetRule::OptionalId(
            "a window (from window.list), which must have the keyboard, or a display; default the primary display",
        ),
        platforms: &["linux"],
        example: r#"{"op":"clipboard.paste","input":{"text":"Hello, 世界"},"options":{"foreground":true}}"#,
        ..INPUT
    };
    type Input = Input;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, options: &Options) -> Result<Output, Failure> {
        check_foreground(*options)?;
        let (content, size) = input.content()?;
        let chord = Chord::parse(PASTE, "input")?;
        let target = InputTarget::read(cx, permit)?;
        if target.element.is_some() {
            return Err(Failure::invalid("target", "the target is a window or a display, not an element")
                .hint("Focus the element with ui.focus first."));
        }
        let mut seat = Seat::wait(cx, permit, &target.display)?;
        let acts = steps(chord.presses()).chain(steps(chord.releases())).collect();
        let order = InputOrder { acts, window: target.window, ..InputOrder::default() };
        let judged = seat.judge(order.clone())?;
        let receiver = judged.scene.focus.clone();
        let window = window_of(&judged, &receiver);
        seat.judge_elements(window.as_deref(), true)?;
        let displays = &cx.service.displays;
        let earlier =
            save_clipboard(displays, permit.needed_scope()?, Some(&target.display)).map_err(refused)?;
        let mut done = Output {
            app: app_of(&judged, &receiver),
            keys: chord.name,
            size,
            dry_run: permit.common().dry_run,
            ..Output::default()
        };
        if done.dry_run {
            cx.summarize("would paste");
            done.window = window;
            return Ok(done);
        }
        let own = receiver.window.and_then(|at| judged.scene.windows[at].pid);
        let pids: Vec<u32> = receiver.inner.iter().filter_map(|it| it.pid).chain(own).collect();
        // From here on, whatever happens, the user's content is given back.
        let clipboard =
            TemporaryClipboard::begin(displays, &target.display, content, earlier).map_err(refused)?;
        seat.act(InputOrder { focused: window.clone(), ..order })?;
        done.fetched = clipboard.wait(window.as_deref().unwrap_or_default(), &pids, &cx.cancel)?;
        done.clipboard = Some(match clipboard.end().map_err(refused)? {
            ClipboardReturn::Content => "restored",
            ClipboardReturn::Nothing => "empty",
            ClipboardReturn::Replaced => "replaced",
        });
        let effect = if done.fetched { ActionEffect::Unverifiable } else { ActionEffect::SuspectedNoop };
        (done.effect, done.window) = (Some(effect.as_str()), window);
        cx.summarize(format!(
            "{size} bytes, {}",
            if done.fetched { "fetched by the program" } else { "not fetched" }
        ));
        Ok(done)
    }
}
