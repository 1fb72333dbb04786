//! Digests of recorded logs: what is known of each run from elsewhere is in its digest, and nothing else is.

mod recorded;
mod strange;

use libtest_mimic::Trial;
use support::logs::log_files;

use crate::trials::TrialFilter;

/// The trials: each log, and what arrives without one.
pub fn trials(_: &TrialFilter) -> Vec<Trial> {
    let mut trials = trials![
        recorded::there_are_sixty_logs_of_twelve_tools,
        strange::counts_that_do_not_agree_with_the_tools_own_give_no_digest,
        strange::whatever_arrives_is_taken_within_bounds,
        strange::a_failure_that_no_form_explains_gives_no_digest_of_a_tool,
    ];
    trials.extend(each![
        recorded::every_failing_test_and_every_place_of_an_error_is_in_the_digest_of_its_log,
        recorded::messages_are_given_while_there_is_room_for_them,
        recorded::short_output_has_no_digest,
        strange::in_whatever_pieces_the_streams_arrive_the_digest_is_the_same,
        strange::a_changed_log_makes_no_digest_claim_what_it_does_not_say,
        strange::a_log_that_breaks_off_is_not_told_as_a_whole,
        strange::what_a_viewer_shows_is_not_digested_as_a_tools_output;
        log_files().into_iter().map(|file| (file.name(), file))
    ]);
    trials
}
