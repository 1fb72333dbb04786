//! What every answer to a dialog does before: judging the dialog, and finding the element again.

use std::sync::Arc;

use bailiwick_providers::elements::{Snapshot, WindowScene};

use super::super::ui::{
    ACTION, CurrentElement, candidates, closed_processes, enabled, judge_window, resolved, scene_of,
    snapshot_of,
};
use crate::registry::prelude::*;

/// What the operations that answer dialogs have in common.
pub(super) const ANSWER: OperationSpec = OperationSpec { target: TargetRule::Snapshot, ..ACTION };

/// A dialog that clients may answer.
pub(super) struct Dialog {
    /// What was seen of it.
    pub snapshot: Arc<Snapshot>,
    /// Its window at this moment.
    pub scene: WindowScene,
}

impl Dialog {
    /// Reads the dialog of the snapshot that is the target.
    ///
    /// # Errors
    /// `invalid_request` where the window is no dialog, `secure_field`, `permission_denied`, `stale_snapshot`.
    pub fn of_target(cx: &Context, permit: &Permit) -> Result<Self, Failure> {
        let snapshot = snapshot_of(cx, permit, permit.id().unwrap_or_default())?;
        let scene = scene_of(cx, permit, &snapshot)?;
        judge_window(&closed_processes(cx), &scene)?;
        if !scene.is_dialog() {
            return Err(Failure::invalid("target", "the window of the snapshot is no dialog").hint(
                "dialog.list lists dialogs; ui.press and ui.set_value use the elements of other windows.",
            ));
        }
        Ok(Self { snapshot, scene })
    }

    /// Writes elements of the dialog, by their ids in the snapshot, as answers name candidates. Those that are gone are left out.
    pub fn candidates(&self, ids: &[String]) -> Vec<String> {
        let (tree, known) = (&self.scene.tree, &self.snapshot.elements);
        let at =
            |id: &String| tree.elements.iter().position(|it| Some(&it.id) == known.get(id).map(|it| &it.id));
        candidates(&self.snapshot, tree, ids.iter().filter_map(at)).collect()
    }

    /// Finds an element of the dialog again, by its id in the snapshot.
    ///
    /// # Errors
    /// A code for each reason; nothing was touched then.
    pub fn element(self, id: &str) -> Result<CurrentElement, Failure> {
        enabled(resolved(self.scene, &self.snapshot, id)?)
    }
}
