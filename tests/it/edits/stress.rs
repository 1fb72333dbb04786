//! More of what the other tests of edits do: run apart from the gate.

#[cfg(unix)]
use super::against_git::some_merges_end_as_with_git;
use super::batches::judge_batches;
use super::callers::kill_patches;
#[cfg(unix)]
use super::corpus::some_real_changes_land;
use super::history::some_hunks_of_history_land;
use super::samples::history;
use super::syntax::some_real_changes_bring_no_syntax_errors;
#[cfg(unix)]
use super::undo::remove_and_undo;
use super::writers::edit_beside_a_writer;
#[cfg(unix)]
use crate::drills::run_drill;

// strace, by which the drill sees what is written when.
#[cfg(unix)]
#[test]
fn a_power_loss_at_any_moment_leaves_what_undo_needs() {
    run_drill("power-loss", &["strace"]);
}

// Memory is read from /proc.
#[cfg(unix)]
#[test]
fn a_folder_of_600_000_files_takes_no_more_memory_than_one_of_few() {
    run_drill("many-names", &["strace"]);
}

// strace, by which the drill sees what a write asks of the system.
#[cfg(unix)]
#[test]
fn a_write_does_not_wait_for_200_000_kept_changes() {
    run_drill("kept-changes", &["strace"]);
}

// The figures are of the same run, so that a slow computer changes nothing.
#[cfg(unix)]
#[test]
fn a_folder_of_ten_thousand_files_goes_with_undo_in_twice_the_time_of_a_plain_removal_at_most() {
    let (plain, with_undo) = remove_and_undo(100, 100);
    println!("10,000 files: {plain:?} without undo, {with_undo:?} with undo");
    assert!(with_undo <= plain * 2, "{with_undo:?} against {plain:?}");
}

#[test]
fn each_step_of_ten_thousand_batches_is_judged_as_it_is_alone() {
    println!("{:?}", judge_batches(10_000));
}

#[test]
fn four_thousand_edits_beside_another_program_lose_nothing_of_it() {
    edit_beside_a_writer(4_000);
}

#[test]
fn many_patches_that_are_killed_leave_old_or_new_files() {
    kill_patches(48);
}

// Git is asked thousands of times for the form of a change, minutes under wine.
#[cfg(unix)]
#[test]
fn all_real_changes_land_where_they_belong_in_every_form_and_dialect() {
    some_real_changes_land(1);
}

// Of another repository, each hunk in so many is taken as its history is long: `BAILIWICK_HISTORY_ONE_OF`.
fn one_of(usual: usize) -> usize {
    let named = std::env::var("BAILIWICK_HISTORY_ONE_OF").ok();
    named.and_then(|number| number.parse().ok()).unwrap_or(usual)
}

#[test]
fn fifty_thousand_edits_of_history_land_where_they_belong_or_are_refused() {
    let least = if history().1 { 1 } else { 50_000 };
    some_hunks_of_history_land(one_of(8), least);
}

// A real Git, with its history.
#[cfg(unix)]
#[test]
fn merges_of_history_end_as_git_merges_them_or_are_refused() {
    let least = if history().1 { 1 } else { 1_000 };
    some_merges_end_as_with_git(one_of(8), least);
}

#[test]
fn all_real_changes_bring_no_syntax_errors() {
    some_real_changes_bring_no_syntax_errors(1);
}
