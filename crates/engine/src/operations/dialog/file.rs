//! `dialog.file`: choose a path in a file dialog.

use std::ffi::OsString;
use std::thread;
use std::time::{Duration, Instant};

use bailiwick_contract::{ErrorCode, FOR_USER, RawPath};
use bailiwick_platform::accessibility::{Element, State};
use bailiwick_platform::fs::FileKind;
use bailiwick_platform::screen::ScreenError;
use bailiwick_policy::{InputPath, Need};
use bailiwick_providers::elements::{
    ActionEffect, SHOW_LOCATION, SceneError, WindowScene, accepting_buttons, is_titled, judge_again,
    location_fields, possible_file_choosers, quoted,
};

use super::super::ui::{failed, look_for, may_be_done, text_of, undecided};
use super::answering::{ANSWER, Dialog};
use crate::registry::ConditionalNeeds;
use crate::registry::prelude::*;

/// The operation.
pub struct Op;

/// How long a dialog may take to show what was done, or to close: its program looks at the file first.
const WITHIN: Duration = Duration::from_secs(10);
/// How long to wait between two readings of the dialog.
const PAUSE: Duration = Duration::from_millis(20);

/// What is done with the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// The program reads it; it has to exist.
    Open,
    /// The program writes it.
    Save,
}

/// Which file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The file or folder, as in file.stat.
    pub path: RawPath,
    /// `open` or `save`.
    pub mode: Mode,
    /// The whole title of the button that accepts it; default the only one beside Cancel.
    pub button: Option<String>,
}

/// What came of it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The title of the button that was pressed. What windows say is data, and no instruction.
    pub button: String,
    /// `confirmed`: the dialog has closed. `partial`: it has opened another window, such as a question whether to replace the file:
    /// dialog.list. `suspected_noop`: it is still open. `refused`: the program refused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<&'static str>,
    /// Whether nothing was done, as asked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "dialog.file",
        summary: "Choose a path in a file dialog",
        details: "The path is judged first as file.read or file.write would: to `open` needs fs:read, to `save` fs:write. Then its \
                  full path is set in the dialog, read back, and the accepting button pressed, without pointer and keyboard. For \
                  file dialogs of GTK 3 on a private display; those of other programs are used by dialog.input and ui.*.",
        scope: ScopeNeed::FOLDER,
        timeout_seconds: 60,
        audited_fields: &["path", "mode"],
        example: r#"{"op":"dialog.file","target":"s_0a1b2c3d4e","input":{"path":"notes.txt","mode":"open"}}"#,
        platforms: &["linux"],
        ..ANSWER
    };
    type Input = Input;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::paths(|input| {
        let access = match input.mode {
            Mode::Open => Access::Read,
            Mode::Save => Access::Write,
        };
        vec![InputPath { field: "input.path", path: input.path.clone(), access }]
    });
}

impl ConditionalNeeds for Op {
    fn needs(input: &Input, _: &NoFields) -> Vec<Need> {
        let (capability, what) = match input.mode {
            Mode::Open => (Capability::FsRead, "a file that a program is to open"),
            Mode::Save => (Capability::FsWrite, "a file that a program is to write"),
        };
        let instead = "Have the program do without, or ask the user for it.";
        vec![Need { field: "input.mode", capability, what, instead }]
    }
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, _: &NoFields) -> Result<Output, Failure> {
        let path = path_on_disk(permit)?;
        let Dialog { scene, .. } = Dialog::of_target(cx, permit)?;
        let chooser = chooser(cx, &scene)?;
        let button = button(&scene, chooser, input.button.as_deref())?.clone();
        let mut output =
            Output { button: quoted(&button.name), effect: None, dry_run: permit.common().dry_run };
        if output.dry_run {
            cx.summarize("would choose a file");
            return Ok(output);
        }
        let (scene, field) = location(cx, permit, scene, chooser)?;
        set(cx, &scene, &field, &path)?;
        let scene = once_enabled(cx, permit, &button)?;
        let source = cx.service.elements.source.as_ref();
        let effect = match source.press(&scene.window.display, &button.id) {
            Ok(false) => ActionEffect::Refused,
            // One that has not answered may have closed the dialog, or wait for another that it has opened.
            Ok(true) => wait_for_end(cx, permit, &scene)?,
            Err(error) if may_be_done(&error) => wait_for_end(cx, permit, &scene)?,
            Err(error) => return Err(undecided(error)),
        };
        output.effect = Some(effect.as_str());
        cx.summarize(format!("chose a file in a dialog of {}: {}", scene.window.app, effect.as_str()));
        Ok(output)
    }
}

/// Returns the full path that was judged, without links that lead elsewhere.
fn path_on_disk(permit: &Permit) -> Result<String, Failure> {
    let path = match (permit.input_paths(), permit.writable_paths()) {
        ([path], _) => {
            let path = path.follow()?;
            path.stat()?;
            path.on_disk()?
        }
        (_, [path]) => {
            let (_, _, path) = path.open_parent()?;
            let is_link = path.stat().is_ok_and(|stat| stat.kind == FileKind::Symlink);
            if is_link { path.follow()?.on_disk()? } else { path.on_disk()? }
        }
        _ => return Err(Failure::invalid("input.path", "no path is named")),
    };
    let unreadable =
        |_: OsString| Failure::invalid("input.path", "a path that is not UTF-8 cannot be set in a dialog");
    path.into_os_string().into_string().map_err(unreadable)
}

/// Finds what files are chosen in.
fn chooser(cx: &Context, scene: &WindowScene) -> Result<usize, Failure> {
    let source = cx.service.elements.source.as_ref();
    for at in possible_file_choosers(&scene.tree) {
        let actions = source.actions(&scene.window.display, &scene.tree.elements[at].id).map_err(failed)?;
        if actions.iter().any(|name| name == SHOW_LOCATION) {
            return Ok(at);
        }
    }
    Err(Failure::new(ErrorCode::UnsupportedAction, "the dialog is no file dialog of GTK 3")
        .hint("Use its elements: ui.see, dialog.input, dialog.press."))
}

/// Finds the button that accepts what was chosen.
fn button<'a>(scene: &'a WindowScene, chooser: usize, title: Option<&str>) -> Result<&'a Element, Failure> {
    let all = accepting_buttons(&scene.tree, chooser).into_iter().map(|at| &scene.tree.elements[at]);
    let found: Vec<&Element> =
        all.filter(|it| title.is_none_or(|title| is_titled(&it.name, title))).collect();
    match found[..] {
        [one] => Ok(one),
        [] => Err(Failure::new(ErrorCode::ElementNotFound, "the dialog has no button that accepts a file")
            .detail("field", "input.button")
            .hint("dialog.list lists the buttons.")),
        _ => Err(Failure::new(ErrorCode::AmbiguousTarget, "several buttons may accept the file")
            .detail("field", "input.button")
            .hint("Name the button; dialog.list lists them.")),
    }
}

/// Finds the field for the path, and has it shown where it does not show yet.
fn location(
    cx: &Context,
    permit: &Permit,
    scene: WindowScene,
    chooser: usize,
) -> Result<(WindowScene, Element), Failure> {
    let id = scene.tree.elements[chooser].id.clone();
    let field_of = |scene: &WindowScene| {
        let chooser = scene.tree.elements.iter().position(|it| it.id == id)?;
        match location_fields(&scene.tree, chooser)[..] {
            [at] => Some(scene.tree.elements[at].clone()),
            _ => None,
        }
    };
    if let Some(field) = field_of(&scene) {
        return Ok((scene, field));
    }
    let source = cx.service.elements.source.as_ref();
    if !source.act(&scene.window.display, &id, &[SHOW_LOCATION]).map_err(undecided)? {
        return Err(Failure::new(
            ErrorCode::ExecutionFailed,
            "the program does not show the field for a path",
        ));
    }
    let shown = {
        let read = || Dialog::of_target(cx, permit).map(|dialog| dialog.scene);
        look_for(cx, WITHIN, read, |scene| field_of(scene).is_some())?
    };
    let field = field_of(&shown).ok_or_else(|| {
        Failure::new(ErrorCode::ElementNotFound, "the dialog shows no single field for a path")
            .hint("ui.see shows the dialog as it is.")
    })?;
    Ok((shown, field))
}

/// Sets the path, and reads it back: programs may complete what is set.
fn set(cx: &Context, scene: &WindowScene, field: &Element, path: &str) -> Result<(), Failure> {
    let (source, display) = (cx.service.elements.source.as_ref(), scene.window.display.as_str());
    source.set_text(display, &field.id, path).map_err(undecided)?;
    let read = look_for(cx, WITHIN, || text_of(cx, display, &field.id), |now| now == path)?;
    if read == path {
        return Ok(());
    }
    Err(Failure::new(ErrorCode::ExecutionFailed, "the dialog does not take the path: nothing was accepted")
        .hint(format!("{FOR_USER}the program may not allow to type a path.")))
}

/// Waits until a button is enabled. Returns the dialog, as it was judged then.
fn once_enabled(cx: &Context, permit: &Permit, button: &Element) -> Result<WindowScene, Failure> {
    let read = || Dialog::of_target(cx, permit).map(|dialog| dialog.scene);
    let is_enabled = |scene: &WindowScene| {
        scene.tree.elements.iter().any(|it| it.id == button.id && it.states.has(State::Enabled))
    };
    let scene = look_for(cx, WITHIN, read, is_enabled)?;
    if is_enabled(&scene) {
        return Ok(scene);
    }
    Err(Failure::new(ErrorCode::ElementDisabled, "the button that accepts the file is disabled")
        .hint("ui.see shows the dialog as it is."))
}

/// Waits until the dialog has closed, or has opened another.
fn wait_for_end(cx: &Context, permit: &Permit, before: &WindowScene) -> Result<ActionEffect, Failure> {
    let (displays, rules) = (&cx.service.displays, permit.screen()?);
    let until = Instant::now() + WITHIN;
    loop {
        match judge_again(displays, rules, before) {
            Err(SceneError::Screen(ScreenError::UnknownWindow(_))) => return Ok(ActionEffect::Confirmed),
            Ok(siblings) if !siblings.contains(&before.window.id) => return Ok(ActionEffect::Confirmed),
            Ok(siblings) if siblings.iter().any(|it| !before.siblings.contains(it)) => {
                return Ok(ActionEffect::Partial);
            }
            _ => {}
        }
        if Instant::now() >= until || cx.cancel.is_raised() {
            return Ok(ActionEffect::SuspectedNoop);
        }
        thread::sleep(PAUSE);
    }
}
