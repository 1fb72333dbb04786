//! How strongly a command is held here: what its scope wants against what this computer has.

use bailiwick_config::SandboxLevel;
use bailiwick_contract::{Containment, ErrorCode, FOR_USER, Failure, SCOPE, StageName};
use bailiwick_platform::launch::levels;

/// Returns the level at which a command of a scope runs. The first call looks at what the computer has.
///
/// # Errors
/// `provider_unavailable` where the computer lacks the level, with the layer that is missing: nothing runs
/// less strongly held than the scope wants.
pub fn level(wanted: SandboxLevel) -> Result<Containment, Failure> {
    let levels = levels();
    let level = match wanted {
        SandboxLevel::Full => Containment::Full,
        SandboxLevel::Partial => Containment::Partial,
        SandboxLevel::None => Containment::None,
        SandboxLevel::Auto => levels.strongest.max(Containment::Partial),
    };
    match levels.missing(level) {
        None => Ok(level),
        Some(why) => Err(lacking(level, why)),
    }
}

/// Chooses the level for a program of Bailiwick's own choice in a scope: the strongest there is, even where commands run without a
/// sandbox.
///
/// # Errors
/// Those of [`level`].
pub fn tool_level(of_scope: SandboxLevel) -> Result<Containment, Failure> {
    match of_scope {
        SandboxLevel::Full => level(SandboxLevel::Full),
        SandboxLevel::Auto | SandboxLevel::Partial => level(SandboxLevel::Auto),
        SandboxLevel::None => level(SandboxLevel::Auto).or_else(|_| level(SandboxLevel::None)),
    }
}

/// Refuses a command that only a full sandbox may hold, where it would be held less.
///
/// # Errors
/// `permission_denied`.
pub fn must_be_full(level: Containment, why: Option<&str>) -> Result<(), Failure> {
    match why {
        Some(why) if level < Containment::Full => Err(Failure::denied(
            "full-sandbox",
            format!(
                "this command runs in a full sandbox only, and here it would be sandboxed at `{level}`: {why}"
            ),
        )
        .at_stage(StageName::Command)
        .hint(full_sandbox_hint())),
        _ => Ok(()),
    }
}

/// Applies the strict rules to a command that no full sandbox holds.
///
/// # Errors
/// What the rules said.
pub fn strict_unless_full(level: Containment, refused: Option<&Failure>) -> Result<(), Failure> {
    match refused {
        Some(refused) if level < Containment::Full => Err(refused.clone().at_stage(StageName::Command).hint(format!(
            "Only in a full sandbox any program and any text for bash may run, and here commands are sandboxed at `{level}`."
        ))),
        _ => Ok(()),
    }
}

/// Returns a hint with what gives a scope full sandboxes.
pub fn full_sandbox_hint() -> String {
    match levels().missing(Containment::Full) {
        None => format!("{FOR_USER}`bailiwick scope edit {SCOPE} --sandbox full` gives its commands one."),
        Some(_) => format!("{FOR_USER}`bailiwick doctor` shows what this computer lacks for one."),
    }
}

fn lacking(level: Containment, why: &str) -> Failure {
    let failure = Failure::new(
        ErrorCode::ProviderUnavailable,
        format!("nothing was run: this computer cannot hold a command at the level `{level}`: {why}"),
    )
    .detail("rule", "sandbox-level")
    .detail("level", level.as_str());
    let weaker = match level {
        Containment::Full => Some(Containment::Partial),
        Containment::Partial | Containment::None => None,
    };
    let what = match weaker.filter(|weaker| levels().missing(*weaker).is_none()) {
        Some(weaker) => format!("--sandbox {weaker}` accepts a weaker one"),
        None if level == Containment::None => return failure,
        None => "--sandbox none` runs commands without one".to_owned(),
    };
    failure
        .hint(format!("{FOR_USER}`bailiwick scope edit {SCOPE} {what}."))
        .hint(format!("{FOR_USER}`bailiwick doctor` shows what this computer lacks."))
}
