//! The drills that no test of a family runs.

use super::run_drill;
use crate::needs::{lacks_full_sandbox, require_program};

#[test]
fn what_was_answered_is_not_lost_when_the_service_is_killed_at_any_moment() {
    run_drill("kills", &[]);
}

// Linux asks about system calls (seccomp).
#[cfg(target_os = "linux")]
#[test]
fn a_program_that_ends_at_any_system_call_or_whose_calls_fail_leaves_all_or_nothing() {
    run_drill("cuts", &["git"]);
}

#[test]
fn a_full_and_a_read_only_disk_refuse_effects_and_are_over_with_their_cause() {
    run_drill("disks", &[]);
}

#[test]
fn commands_reach_hosts_by_the_proxy_almost_as_fast_as_directly() {
    if lacks_full_sandbox() {
        return;
    }
    run_drill("egress", &["curl"]);
}

// A library before the system's moves the clock.
#[cfg(target_os = "linux")]
#[test]
fn a_clock_that_jumps_both_ways_by_200_days_removes_nothing() {
    require_program("cc");
    run_drill("clocks", &[]);
}

#[test]
fn no_damage_of_what_is_kept_stops_the_service_for_good() {
    run_drill("damages", &[]);
}

// Memory is read from /proc.
#[cfg(target_os = "linux")]
#[test]
fn nobody_waits_for_300_waits_300_slow_senders_or_300_who_read_nothing() {
    run_drill("starvation", &[]);
}

// Memory is read from /proc.
#[cfg(target_os = "linux")]
#[test]
fn floods_of_requests_without_a_right_leave_the_service_in_reach_and_small() {
    run_drill("floods", &[]);
}

// Memory is read from /proc.
#[cfg(target_os = "linux")]
#[test]
fn a_service_that_works_for_long_stays_as_it_is() {
    run_drill("soak", &[]);
}

#[test]
fn what_is_kept_stays_within_its_bounds_at_every_moment() {
    run_drill("bounds", &[]);
}

// Processor time is read from /proc.
#[cfg(target_os = "linux")]
#[test]
fn two_gigabytes_of_output_are_counted_and_take_no_memory() {
    run_drill("long-output", &[]);
}

// Memory is read from /proc.
#[cfg(target_os = "linux")]
#[test]
fn a_project_of_very_many_files_is_answered_in_time_and_honestly() {
    run_drill("many-files", &["git"]);
}

// Terminals and previews of Linux.
#[cfg(target_os = "linux")]
#[test]
fn tickets_are_shown_soon_and_a_long_history_is_judged() {
    run_drill("approvals", &[]);
}
