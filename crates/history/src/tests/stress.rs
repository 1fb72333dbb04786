//! More of what the other tests do: run apart from the gate.

use super::damage::damage_at_random;

#[test]
fn ten_thousand_damages_stop_no_effect_without_a_reason_that_doctor_repeats() {
    damage_at_random(10_000, 1);
}
