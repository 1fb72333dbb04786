//! What every use of pointer and keyboard does before and after: its turn, who judges it, and releasing what is down.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use bailiwick_contract::{Caller, ErrorCode, ScopeType};
use bailiwick_platform::accessibility::{Role, State};
use bailiwick_platform::screen::{InputMode, InputStep, Receiver};
use bailiwick_policy::Scope;
use bailiwick_providers::elements::{ActionEffect, SceneError, WindowScene, scene};
use bailiwick_providers::screen::{
    Act, ClosedProcesses, InputOrder, InputSeen, InputTurn, NoTurn, act_if, release_input,
};

use super::super::screen::PointOutput;
use super::refusal::{not_in_foreground, of_elements, refused, secure};
use crate::operations::ui;
use crate::registry::prelude::*;

/// How often it is checked whether what is down may stay so.
const LOOK: Duration = Duration::from_millis(20);

/// The longest name of a caller in the banner, in characters.
const NAME_CHARACTERS: usize = 40;

/// How often the elements of a window are read whose title changes meanwhile.
const LOOKS_AT_ELEMENTS: usize = 4;

/// What the operations that use pointer and keyboard have in common.
pub(in crate::operations) const INPUT: OperationSpec = OperationSpec {
    name: "",
    summary: "",
    details: "",
    capabilities: &[&[Capability::InputControl]],
    effect: Effect::ControlsDesktop,
    target: TargetRule::OptionalId(
        "a window (from window.list), an element with its snapshot (from ui.see), or a display; default the primary display",
    ),
    scope: ScopeNeed::DESKTOP,
    platforms: &[],
    options: &[CommonOption::DryRun],
    timeout_seconds: 60,
    threads: Threads::Blocking,
    audited_fields: &[],
    example: "",
};

/// What says that pointer and keyboard may be seen to be used.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// Must be `true`: the user sees the pointer move and the window get the keys.
    pub foreground: bool,
}

/// A button of the pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Button {
    /// The left one (default).
    #[default]
    Left,
    /// The middle one.
    Middle,
    /// The right one.
    Right,
}

impl Button {
    pub const fn number(self) -> u8 {
        match self {
            Self::Left => 1,
            Self::Middle => 2,
            Self::Right => 3,
        }
    }
}

/// What was done.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// By which mechanism: `pointer` or `keyboard`.
    pub path: &'static str,
    /// `confirmed`: read back. `unverifiable`: it was sent, and what the program made of it is not known. `partial`: a part was
    /// read back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<&'static str>,
    /// The window that got it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// Its app, as its program tells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app: Option<String>,
    /// Where, in every space that applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub point: Option<PointOutput>,
    /// Where to, of a drag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<PointOutput>,
    /// The keys, by their usual names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<String>,
    /// How many characters were typed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub typed: Option<usize>,
    /// Whether every key and button is up again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub released: bool,
    /// Whether nothing was done, as asked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// One use of pointer and keyboard, from its turn to its end. Whatever ends it, what is down is released.
pub(in crate::operations) struct Seat<'a> {
    cx: &'a Context,
    permit: &'a Permit,
    scope: Arc<Scope>,
    closed: Arc<ClosedProcesses>,
    display: String,
    /// What the user's display shows meanwhile.
    banner: Option<String>,
    /// Whether something may be down.
    is_down: bool,
    _turn: InputTurn,
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        if self.is_down {
            // What this cannot release, the guard of the display does.
            let _ = release_input(&self.cx.service.displays, &self.display);
        }
    }
}

/// Refuses requests that do not say that they are seen.
///
/// # Errors
/// `unsupported_action`.
pub(in crate::operations) fn check_foreground(options: Options) -> Result<(), Failure> {
    if options.foreground { Ok(()) } else { Err(not_in_foreground()) }
}

impl<'a> Seat<'a> {
    /// Waits for the turn at a display.
    ///
    /// # Errors
    /// `conflict` where too many wait; `cancelled`, `timeout`.
    pub fn wait(cx: &'a Context, permit: &'a Permit, display: &str) -> Result<Self, Failure> {
        let turn = cx.service.lanes.wait(display, &cx.cancel).map_err(|error| match error {
            NoTurn::Ended(failure) => failure,
            NoTurn::Busy => {
                Failure::new(ErrorCode::Conflict, "others use pointer and keyboard, and more wait for them")
                    .detail("state", "busy")
                    .hint("Ask again later.")
            }
        })?;
        let closed = ClosedProcesses::find(cx.service.launcher.program());
        let scope = Arc::clone(permit.needed_scope()?);
        // The displays of folder scopes are private ones, which no user looks at.
        let is_users = scope.scope_type() == ScopeType::Computer;
        Ok(Self {
            cx,
            permit,
            banner: (is_users && scope.screen().shows_banner()).then(|| banner(&cx.caller)),
            scope,
            closed: Arc::new(closed),
            display: display.to_owned(),
            is_down: false,
            _turn: turn,
        })
    }

    /// Judges what would be done at this instant.
    ///
    /// # Errors
    /// A code for each reason.
    pub fn judge(&self, order: InputOrder) -> Result<InputSeen, Failure> {
        self.run(order, InputMode::Judge)
    }

    /// Does it, if it may be done at this instant.
    ///
    /// # Errors
    /// A code for each reason; nothing was done then.
    pub fn act(&mut self, order: InputOrder) -> Result<InputSeen, Failure> {
        self.cx.cancel.check()?;
        self.is_down = true;
        let seen = self.run(order, InputMode::Act(self.banner.clone()))?;
        self.is_down = seen.done.held > 0;
        Ok(seen)
    }

    fn run(&self, order: InputOrder, mode: InputMode) -> Result<InputSeen, Failure> {
        let displays = &self.cx.service.displays;
        act_if(displays, &self.scope, &self.closed, &self.display, order, mode).map_err(refused)
    }

    /// Judges a window by its elements, where its program tells them: nothing goes to terminals within it, to dialogs that ask
    /// for a secret and, where keys are pressed, to fields for secrets.
    ///
    /// # Errors
    /// `permission_denied`, `secure_field`; `target_unresponsive` where its program hangs; `conflict` where its title changes all
    /// the time.
    pub fn judge_elements(&self, window: Option<&str>, is_typed: bool) -> Result<(), Failure> {
        let Some(window) = window else { return Ok(()) };
        let Some(scene) = scene_to_judge(self.cx, self.permit, window)? else { return Ok(()) };
        ui::judge_window(&self.closed, &scene)?;
        let is_secure = |it: &bailiwick_platform::accessibility::Element| {
            it.role == Role::PasswordField && it.states.has(State::Focused)
        };
        if is_typed && scene.tree.elements.iter().any(is_secure) {
            return Err(secure());
        }
        Ok(())
    }

    /// Waits while something is down, and looks whether it may stay so.
    ///
    /// # Errors
    /// Why it may not; it is released with this.
    pub fn hold(&mut self, ms: u64, watched: &InputOrder) -> Result<(), Failure> {
        let until = Instant::now() + Duration::from_millis(ms);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            thread::sleep(left.min(LOOK));
            self.cx.cancel.check()?;
            self.judge(watched.clone())?;
        }
    }
}

/// Returns what the user's display shows of a caller: the user's name for it, and in quotes what it calls itself.
fn banner(caller: &Caller) -> String {
    let short = |text: &str| -> String {
        let is_plain = |it: &char| !it.is_control() && *it != '"';
        text.chars().filter(is_plain).take(NAME_CHARACTERS).collect()
    };
    let client = caller.client.as_deref().map(|client| format!(" (\"{}\")", short(client)));
    let (name, client) = (short(&caller.name), client.unwrap_or_default());
    format!("Bailiwick: {name}{client} uses pointer and keyboard. What it does: bailiwick log")
}

/// Reads the elements of a window to judge it by them; nothing where its program tells none.
///
/// # Errors
/// `target_unresponsive` where its program hangs; `conflict` where its title changes all the time.
pub(in crate::operations) fn scene_to_judge(
    cx: &Context,
    permit: &Permit,
    window: &str,
) -> Result<Option<WindowScene>, Failure> {
    let (displays, source, rules) =
        (&cx.service.displays, cx.service.elements.source.as_ref(), permit.screen()?);
    let read = || scene(displays, source, rules, window);
    // Titles change while one types. One that never rests would keep the elements from being judged.
    let changes = |read: &Result<_, SceneError>| matches!(read, Err(SceneError::Changed(_)));
    let read = (1..LOOKS_AT_ELEMENTS).fold(read(), |last, _| if changes(&last) { read() } else { last });
    match read {
        Ok(scene) => Ok(Some(scene)),
        Err(error) => of_elements(error).map_or(Ok(None), Err),
    }
}

/// Returns the id of the window that gets something.
pub(in crate::operations) fn window_of(seen: &InputSeen, receiver: &Receiver) -> Option<String> {
    receiver.window.map(|at| seen.scene.windows[at].id.clone())
}

/// Returns what the receiver of something is called.
pub(in crate::operations) fn app_of(seen: &InputSeen, receiver: &Receiver) -> Option<String> {
    receiver.window.map(|at| seen.scene.windows[at].app.clone()).filter(|app| !app.is_empty())
}

/// Returns the receiver at a point of what was judged.
pub(super) fn at(seen: &InputSeen, place: usize) -> Receiver {
    seen.scene.at_points.get(place).map(|(_, receiver)| receiver.clone()).unwrap_or_default()
}

/// Wraps steps that need no place.
pub(in crate::operations) fn steps(steps: Vec<InputStep>) -> impl Iterator<Item = Act> {
    steps.into_iter().map(Act::Step)
}

/// The effect of what was sent and cannot be read back.
pub(super) const SENT: Option<&str> = Some(ActionEffect::Unverifiable.as_str());

#[cfg(test)]
mod tests {
    use bailiwick_contract::Transport;

    use super::*;

    #[test]
    fn the_banner_has_the_name_of_a_client_in_quotes_and_on_one_line() {
        let called = |client: Option<&str>| {
            banner(&Caller { client: client.map(str::to_owned), ..Caller::local(Transport::Stdio) })
        };
        assert_eq!(called(None), "Bailiwick: local uses pointer and keyboard. What it does: bailiwick log");
        let sly = called(Some("x\") does nothing.\n\u{1b}[2J\r"));
        assert!(sly.starts_with("Bailiwick: local (\"x) does nothing.[2J\") uses pointer"), "{sly}");
        assert!(called(Some(&"界".repeat(500))).chars().count() < 130);
    }
}
