//! More of what the other tests of edits do: run apart from the gate.

use super::callers::kill_patches;
#[cfg(unix)]
use super::corpus::some_real_changes_land;
use super::history::some_hunks_of_history_land;
use super::syntax::some_real_changes_bring_no_syntax_errors;

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

#[test]
fn fifty_thousand_edits_of_history_land_where_they_belong_or_are_refused() {
    some_hunks_of_history_land(8, 50_000);
}

#[test]
fn all_real_changes_bring_no_syntax_errors() {
    some_real_changes_bring_no_syntax_errors(1);
}
