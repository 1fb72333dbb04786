//! The policy: an ordered list of stages whose only product is a [`Permit`].
//!
//! [`decide`] judges a request; [`explain`] runs the same stages and shows each verdict. Nothing else
//! makes a permit, and providers accept only what a permit holds. No stage touches the disk: names
//! come before rights, and rights before anything that could tell what exists.

#![forbid(unsafe_code)]

mod approval;
mod case;
mod closed_words;
pub mod command;
mod decide;
mod first_use;
mod grants;
mod located_path;
mod open;
mod paths;
mod permit;
mod permitted_path;
mod process;
mod root_paths;
mod program_settings;
mod scope;
mod screen;
mod sensitive;
mod sensitive_copies;
mod sensitive_rows;
mod sensitive_windows;
mod terminal_windows;
mod stage;
mod untrusted;

pub use approval::{Approval, ApprovedChanges, Question};
pub use case::{Candidate, Case, Catalogue, InputPath, Need, ParsedArguments};
pub use decide::{Denial, StageVerdict, Verdict, decide, explain, scope_of};
pub use grants::Grants;
pub use open::{OpenedFile, file_failure};
pub use paths::{ASK_FILES, CLOSED_FILES, ENVIRONMENT_FILE, PathRules};
pub use permit::{Permit, PermittedTarget};
pub use permitted_path::{PermittedPath, WritablePath};
pub use process::ProcessPolicy;
pub use program_settings::PROGRAM_SETTINGS;
pub use root_paths::RootPaths;
pub use scope::{AllRoots, CapabilityStatus, OwnFolders, Scope, ScopeRoot, Scopes, storage_key};
pub use screen::{ScreenRules, WindowFacts};
pub use sensitive::{SensitiveRow, shared_patterns};
pub use sensitive_copies::PATTERNS as COPY_PATTERNS;
pub use sensitive_rows::SENSITIVE;
pub use sensitive_windows::{SENSITIVE_WINDOWS, SensitiveWindowRow};
pub use stage::{STAGES, Stage};
pub use terminal_windows::is_terminal;
pub use untrusted::{AFTER_UNTRUSTED, UntrustedRead, shows_untrusted};
