//! More of what `containment` does: run apart from the gate.

use proptest::prelude::*;

use super::{kill_writes, nothing_outside_is_reached, tree_and_paths};
use crate::system::tries;

proptest! {
    #![proptest_config(ProptestConfig { cases: tries(64), max_shrink_iters: 40, ..ProptestConfig::default() })]

    #[test]
    fn no_operation_reaches_outside_by_any_of_many_links_and_paths(
        (nodes, paths) in tree_and_paths(),
    ) {
        nothing_outside_is_reached(&nodes, &paths)?;
    }
}

#[test]
fn many_writes_that_are_killed_leave_the_old_or_the_new_content() {
    kill_writes(48);
}
