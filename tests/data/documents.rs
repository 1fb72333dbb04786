//! The documents are true: their links lead somewhere, their commands are understood, and what they show was printed.

mod book;
mod command_lines;
mod links;
// The pages are read by the programs of Unix that show manuals.
#[cfg(target_os = "linux")]
pub mod manual;
mod markdown;
// Guides show the terminal of a computer with Linux.
#[cfg(target_os = "linux")]
pub mod shown;
// It is a terminal of Linux.
#[cfg(target_os = "linux")]
mod terminal;

use libtest_mimic::Trial;

use crate::trials::TrialFilter;

/// The trials: what all pages have to have. The modules `manual` and `shown` have their own.
pub fn trials(_: &TrialFilter) -> Vec<Trial> {
    trials![
        book::the_book_lists_every_page_once,
        book::what_pages_link_to_is_in_the_book,
        command_lines::every_command_line_of_the_documents_is_understood,
        command_lines::lines_for_a_shell_are_split_into_words,
        links::every_link_leads_to_a_file_and_a_heading_that_exist,
        links::links_lead_from_where_they_stand,
        markdown::blocks_headings_and_links_are_found,
    ]
}
