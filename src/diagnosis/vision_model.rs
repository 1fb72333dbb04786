//! The vision model of screen.ground: whether it can be asked. Nothing is sent to it.

use std::env;
use std::sync::Arc;

use bailiwick_config::{Config, ScopeConfig};
use bailiwick_contract::{Capability, Failure};
use bailiwick_platform::dirs::Dirs;
use bailiwick_policy::{AllRoots, OwnFolders, Scopes};
use bailiwick_providers::grounding::Grounder;

use super::finding::Findings;
use crate::installation::text::to_user;

/// Returns the host and the port to which pictures are sent.
///
/// # Errors
/// `provider_unavailable` where no model is configured, or its key cannot be read from here; those of the scopes.
pub(super) fn host(config: Option<&Config>, dirs: &Dirs) -> Result<String, Failure> {
    let roots = roots(config, dirs)?;
    Grounder::new(config.and_then(|config| config.vision_model.as_ref()), &roots).map(|it| it.host())
}

fn roots(config: Option<&Config>, dirs: &Dirs) -> Result<AllRoots, Failure> {
    let scopes = config.map(|config| Scopes::compile(config, &OwnFolders::of(dirs))).transpose()?;
    Ok(AllRoots::of(Arc::new(scopes.unwrap_or_default())))
}

/// Checks the model, and the scopes that may have it asked.
pub(super) fn look(config: &Config, dirs: &Dirs, found: &mut Findings) {
    let granting: Vec<&ScopeConfig> =
        config.scopes.iter().filter(|scope| scope.grants(Capability::ScreenGround)).collect();
    for scope in granting.iter().filter(|scope| !scope.grants(Capability::ScreenCapture)) {
        let id = &scope.id;
        found.warn(
            "vision-model-rights",
            format!("scope `{id}` grants screen:ground without screen:capture: screen.ground is refused"),
            format!("Allow it with `bailiwick scope allow {id} screen:capture`, or take the right away with `bailiwick scope deny {id} screen:ground`."),
        );
    }
    let Some(model) = &config.vision_model else {
        if let Some(scope) = granting.first() {
            let id = &scope.id;
            found.warn(
                "vision-model",
                format!("scope `{id}` grants screen:ground, but no vision model is configured"),
                format!("Set `visionModel` with `bailiwick config edit`, or take the right away with `bailiwick scope deny {id} screen:ground`."),
            );
        }
        return;
    };
    let users = match granting.first() {
        Some(scope) => format!("scope `{}` has screen.ground send pictures", scope.id),
        None => "no scope grants screen:ground: no picture is sent".to_owned(),
    };
    // What is wrong with the scopes is reported with them.
    let Ok(roots) = roots(Some(config), dirs) else { return };
    match (Grounder::new(Some(model), &roots).map(|it| it.host()), &model.key_variable) {
        (Ok(host), _) => found.ok("vision-model", format!("the vision model at {host} can be asked; {users}")),
        // It is the service that needs it, which has an environment of its own.
        (Err(_), Some(name)) if env::var_os(name).is_none() => found.ok(
            "vision-model",
            format!(
                "the key of the vision model is in the variable `{name}` of the service, which is not set here; {users}; \
                 `bailiwick call permissions.status` shows what the service has"
            ),
        ),
        (Err(failure), _) => {
            let fix = failure.hints.first().map(|hint| to_user(hint)).unwrap_or_default();
            let file = model.key_file.as_ref().map(|file| format!(" It is {}.", file.display()));
            found.warn("vision-model", failure.message, format!("{fix}{}", file.unwrap_or_default()));
        }
    }
}
