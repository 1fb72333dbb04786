//! `config path`: which files are in force, and by what they are chosen.

use super::super::printer::{Fit, Report, Table, one_line};
use crate::diagnosis::config_files::{ChosenBy, PathOutput};
use crate::installation::home::Home;

/// Names the files.
pub fn run(home: &Home) -> Report {
    let output = PathOutput::of(home);
    let mut table = Table::new(&[("WHAT", Fit::Whole), ("IS THERE", Fit::Whole), ("PATH", Fit::Whole)]);
    for place in &output.places {
        let exists = if place.exists { "yes" } else { "no" };
        table.row([place.what.to_owned(), exists.to_owned(), one_line(&place.path.display().to_string())]);
    }
    let said = match output.chosen_by {
        ChosenBy::Flag => "named by --config",
        ChosenBy::Environment => "chosen by BAILIWICK_HOME",
        ChosenBy::Usual => "the usual place; BAILIWICK_HOME or --config choose another",
    };
    Report::of(table.text(), &output).note(format!("\nThe config is {said}."))
}
