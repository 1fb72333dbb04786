//! `config path`: which files are in force, and by what they are chosen.

use std::env;

use crate::adapters::socket;
use bailiwick_config::{Config, Tokens};

use super::super::home::Home;
use super::super::printer::{Fit, Report, Table, one_line};
use super::output::{ChosenBy, PathOutput, PlaceOutput};

/// Names the files.
pub fn run(home: &Home) -> Report {
    let chosen_by = if home.config_is_named {
        ChosenBy::Flag
    } else if env::var_os("BAILIWICK_HOME").is_some_and(|it| !it.is_empty()) {
        ChosenBy::Environment
    } else {
        ChosenBy::Usual
    };
    let schema = home.config_path.with_file_name(Config::SCHEMA_FILE);
    let places = [
        ("config", home.config_path.clone()),
        ("tokens", Tokens::path(&home.dirs)),
        ("schema for editors", schema),
        ("state and history", home.dirs.state.clone()),
        ("local socket", socket::path(&home.dirs)),
    ];
    let places: Vec<PlaceOutput> =
        places.into_iter().map(|(what, path)| PlaceOutput { what, exists: path.exists(), path }).collect();
    let mut table = Table::new(&[("WHAT", Fit::Whole), ("IS THERE", Fit::Whole), ("PATH", Fit::Whole)]);
    for place in &places {
        let exists = if place.exists { "yes" } else { "no" };
        table.row([place.what.to_owned(), exists.to_owned(), one_line(&place.path.display().to_string())]);
    }
    let said = match chosen_by {
        ChosenBy::Flag => "named by --config",
        ChosenBy::Environment => "chosen by BAILIWICK_HOME",
        ChosenBy::Usual => "the usual place; BAILIWICK_HOME or --config choose another",
    };
    let output = PathOutput { ok: true, config: home.config_path.clone(), chosen_by, places };
    Report::of(table.text(), &output).note(format!("\nThe config is {said}."))
}
