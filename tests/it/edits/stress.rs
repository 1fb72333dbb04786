//! More rounds of what `callers` does: run apart from the gate.

use super::callers::kill_patches;

#[test]
fn many_patches_that_are_killed_leave_old_or_new_files() {
    kill_patches(48);
}
