//! Larger sizes of what `search` does: run apart from the gate.

use super::only_the_beginning_of_rules_is_read;

#[test]
fn half_a_million_rules_cost_only_their_beginning() {
    only_the_beginning_of_rules_is_read(500_000);
}
