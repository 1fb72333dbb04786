//! What a scope grants, in plain words, and for whom its sensitive files are closed.

use bailiwick_config::{ScopeConfig, ScopePolicy, SecretCommands, SecretMode};
use bailiwick_contract::{Capability, ScopeType};
use bailiwick_platform::launch::hides_files;
use bailiwick_providers::command::level;

/// Returns in words what a scope grants and what it does not, a line for each right.
pub fn describe_grants(scope: &ScopeConfig) -> Vec<(&'static str, String)> {
    let is_asked = |it: &Capability| scope.ask.contains(it) && scope.grants(*it);
    let is_granted = |it: &Capability| scope.grants(*it) && !is_asked(it);
    let words = |it: &Capability| {
        let asks = if is_asked(it) { "; needs your approval" } else { "" };
        format!("{} ({it}{asks})", meaning(*it))
    };
    // A right that a scope without displays can never use is named there only if it is granted.
    let is_usable = |it: &Capability| {
        let has_displays = scope.scope_type == ScopeType::Computer || scope.grants(Capability::DisplayManage);
        has_displays || !it.is_of_the_desktop()
    };
    let list = |wanted: bool| {
        let of_list = |it: &&Capability| is_granted(it) == wanted && (wanted || is_usable(it));
        let found: Vec<String> = Capability::ALL.iter().filter(of_list).map(words).collect();
        if found.is_empty() { "nothing".to_owned() } else { found.join("\n") }
    };
    vec![("clients may", list(true)), ("they may not", list(false))]
}

/// For whom the sensitive files of a scope are closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closure {
    /// For all that clients can do: no program runs there.
    Everything,
    /// For file operations and for programs, which run in a full sandbox.
    Programs,
    /// For file operations alone: what holds programs cannot keep single files from them.
    FileOperations,
}

/// Returns for whom the sensitive files of a scope are closed, on this computer.
pub fn closure(scope: &ScopeConfig) -> Closure {
    if !scope.grants_any(&[Capability::CommandRun, Capability::PackageRun, Capability::CodexRun]) {
        return Closure::Everything;
    }
    // Where the level cannot be had, nothing runs.
    match level(scope.policy.sandbox) {
        Ok(level) if !hides_files(level) => Closure::FileOperations,
        Ok(_) | Err(_) => Closure::Programs,
    }
}

/// Returns what answers show in the place of secrets; `None` where they show the secrets.
pub fn secret_words(policy: &ScopePolicy) -> Option<&'static str> {
    match (policy.secrets, policy.secret_commands) {
        (SecretMode::Off, _) => None,
        (SecretMode::Redact, _) => Some("answers show marks in their place, which clients cannot write back"),
        (SecretMode::Handles, SecretCommands::Ask) => Some(
            "answers show handles in their place, which stand for the values in what clients write;\n\
             commands are given them with your approval only",
        ),
        (SecretMode::Handles, SecretCommands::Allow) => Some(
            "answers show handles in their place, which stand for the values in what clients write\n\
             and in the commands that they run",
        ),
    }
}

/// Returns in plain words what a capability lets clients do.
pub fn meaning(capability: Capability) -> &'static str {
    match capability {
        Capability::FsRead => "read and list files",
        Capability::SearchRead => "search in files",
        Capability::FsWrite => "create, change, move and delete files",
        Capability::GitRead => "read the state and history of Git",
        Capability::GitWrite => "stage and commit",
        Capability::CommandRun => "run commands",
        Capability::ProcessManage => "start and stop processes",
        Capability::PackageRun => "run the project's scripts",
        Capability::CodexRun => "run Codex",
        Capability::ScreenCapture => "take images of the screen",
        Capability::ScreenGround => "send images of the screen to your vision model",
        Capability::UiRead => "read the elements of windows",
        Capability::UiControl => "press elements of windows and set their values",
        Capability::InputControl => "use pointer and keyboard",
        Capability::WindowRead => "list windows",
        Capability::WindowControl => "focus, move and close windows",
        Capability::ClipboardRead => "read the clipboard",
        Capability::ClipboardWrite => "replace what the clipboard has",
        Capability::DisplayManage => "make private displays",
        Capability::AppControl => "start programs on private displays",
        Capability::NotifySend => "show you messages on the desktop",
        Capability::SystemRead => "read battery and volume, and how long you have been away",
        Capability::SystemControl => "set brightness and volume",
        Capability::HistoryRead => "see what was done here",
    }
}
