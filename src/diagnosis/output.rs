//! What `doctor` prints with `--json`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use super::finding::{CheckState, Finding};

/// How many checks stand how.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Counts {
    /// In order.
    pub ok: usize,
    /// Worth a look.
    pub warn: usize,
    /// Not working.
    pub fail: usize,
}

/// A change that `--fix` makes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RepairView {
    /// The file or folder that is changed.
    pub path: PathBuf,
    /// The change, as a diff.
    pub diff: String,
}

/// What one check found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckView {
    /// The group, such as `Config`.
    pub group: &'static str,
    /// The stable name of the check, such as `config-mode`.
    pub check: &'static str,
    /// Its state.
    pub standing: CheckState,
    /// What was seen.
    pub says: String,
    /// What to do; null if it is valid.
    pub fix: Option<String>,
    /// What `--fix` does about it; left out if it does nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repair: Option<RepairView>,
}

impl CheckView {
    /// Returns a finding, with what a repair would change.
    pub fn with_repair(finding: &Finding) -> Self {
        let repair = finding.repair.as_ref();
        let repair = repair.map(|repair| RepairView { path: repair.path().to_owned(), diff: repair.diff() });
        Self { repair, ..Self::without_repair(finding) }
    }

    /// Returns a finding alone.
    pub fn without_repair(finding: &Finding) -> Self {
        Self {
            group: finding.group,
            check: finding.check,
            standing: finding.standing,
            says: finding.says.clone(),
            fix: finding.fix.clone(),
            repair: None,
        }
    }
}

/// `doctor`, with and without `--fix`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DoctorOutput {
    /// Whether nothing fails.
    pub ok: bool,
    /// The version of this program.
    pub version: &'static str,
    /// How many checks stand how.
    pub counts: Counts,
    /// Every check, group by group.
    pub checks: Vec<CheckView>,
    /// What `--fix` fixed.
    pub repaired: Vec<CheckView>,
    /// The id by which the repairs are kept for `--undo`; null if nothing was fixed.
    pub undo: Option<String>,
}

/// `doctor --undo`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UndoOutput {
    /// Always true.
    pub ok: bool,
    /// What is as it was before the repairs.
    pub restored: Vec<PathBuf>,
}
