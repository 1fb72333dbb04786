//! `permissions.status`: what can be done on a display, and what is missing.

use crate::registry::prelude::*;
use bailiwick_contract::FOR_USER;
use bailiwick_policy::Scope;
use bailiwick_providers::display::{DesktopAbility, desktop_abilities};
use bailiwick_providers::grounding::Grounder;
use bailiwick_providers::screen::{AccessState, access_state};

use super::super::screen::unavailable;
use super::super::tray::finding::buses;

/// The operation.
pub struct Op;

/// What can be done.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// Whether the displays can be read.
    pub access: AccessState,
    /// What there is to do on the display.
    pub abilities: Vec<AbilityEntry>,
}

/// Something that can be done on the display, or why not.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AbilityEntry {
    /// Its name.
    pub name: &'static str,
    /// `available`; `missing`: the display or the computer lacks something; `not_granted`: this scope or caller does not have the
    /// right.
    pub state: &'static str,
    /// The right that it needs.
    pub capability: Capability,
    /// Why it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What the user does about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// The host and the port to which it sends pictures, if it is available and sends any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "permissions.status",
        summary: "Show what can be done on a display, and what is missing",
        details: "Pictures, text recognition, the vision model, windows, elements, pointer and keyboard, the clipboard, status icons, on the computer brightness \
                  and volume: each is asked of the display and of this computer, and compared with the rights of the scope. \
                  `bailiwick screen status` shows the user the same.",
        capabilities: &[&[
            Capability::ScreenCapture,
            Capability::WindowRead,
            Capability::UiRead,
            Capability::InputControl,
            Capability::ClipboardRead,
            Capability::SystemRead,
            Capability::SystemControl,
        ]],
        effect: Effect::ReadOnly,
        target: TargetRule::OptionalId("the id of a display; default the primary one"),
        scope: ScopeNeed::DESKTOP,
        example: r#"{"op":"permissions.status"}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<Output, Failure> {
        let displays = &cx.service.displays;
        let listing = displays.list().map_err(unavailable)?;
        let scope = permit.needed_scope()?;
        let folders = &scope.commands().hold().search_path;
        // Of several private displays the one that is meant has the word.
        let mut buses = buses(cx, scope);
        let at = buses.iter().position(|(place, _)| permit.id() == Some(place)).unwrap_or(0);
        let bus = (at < buses.len()).then(|| buses.swap_remove(at).1).flatten();
        let model = Grounder::new(cx.service.config.vision_model.as_ref(), &cx.service.roots);
        let model = model.map(|it| it.host());
        let abilities = desktop_abilities(displays, &listing, permit.id(), bus.as_deref(), folders, model);
        let abilities: Vec<AbilityEntry> = abilities.into_iter().map(|it| entry(permit, scope, it)).collect();
        let available = abilities.iter().filter(|it| it.state == "available").count();
        cx.summarize(format!("{available} of {} available", abilities.len()));
        Ok(Output { access: access_state(&listing.access), abilities })
    }
}

fn entry(permit: &Permit, scope: &Scope, ability: DesktopAbility) -> AbilityEntry {
    let DesktopAbility { name, capability, why, fix, host } = ability;
    // A model is asked about a picture.
    let picture = (capability == Capability::ScreenGround).then_some(Capability::ScreenCapture);
    let lacking = [Some(capability), picture].into_iter().flatten().find(|it| !permit.allows(*it));
    let state = match (&why, lacking) {
        (Some(_), _) => "missing",
        (None, None) => "available",
        (None, Some(_)) => "not_granted",
    };
    let fix = match (&why, lacking) {
        (None, Some(lacking)) => {
            let id = scope.id();
            Some(format!("{FOR_USER}`bailiwick scope allow {id} {}` allows it.", lacking.as_str()))
        }
        _ => fix.map(|fix| format!("{FOR_USER}{fix}")),
    };
    let host = host.filter(|_| state == "available");
    AbilityEntry { name, state, capability, why, fix, host }
}
