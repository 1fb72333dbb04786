//! More rounds of what `containment` does: run apart from the gate.

use super::kill_writes;

#[test]
fn many_writes_that_are_killed_leave_the_old_or_the_new_content() {
    kill_writes(48);
}
