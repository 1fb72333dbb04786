//! `man`: a manual page for each command, made from the command line's own definition.
//!
//! Nothing is written here that `--help` does not say, but where files lie and what exit codes mean.

use std::fs;
use std::io;
use std::path::Path;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use schemars::JsonSchema;
use serde::Serialize;

use bailiwick_contract::{ErrorCode, Failure};

use super::definition::definition;
use super::printer::Report;

/// `man`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ManOutput {
    /// Always true.
    pub ok: bool,
    /// The folder, as it was named.
    pub folder: String,
    /// The names of the pages that were written into it.
    pub pages: Vec<String>,
}

/// Writes the pages into a folder, which is made if it is missing.
///
/// # Errors
/// `execution_failed` when the folder cannot be written.
pub fn run(folder: &Path) -> Result<Report, Failure> {
    let refused = |error: io::Error| {
        Failure::new(
            ErrorCode::ExecutionFailed,
            format!("the pages cannot be written into `{}`: {error}", folder.display()),
        )
        .hint("Name a folder that you may write, such as ~/.local/share/man/man1.")
    };
    let pages = pages();
    fs::create_dir_all(folder).map_err(refused)?;
    for (name, text) in &pages {
        fs::write(folder.join(name), text).map_err(refused)?;
    }
    let folder = folder.display().to_string();
    let text = format!("{} pages written into {folder}; the first is bailiwick.1\n", pages.len());
    let pages = pages.into_iter().map(|(name, _)| name).collect();
    Ok(Report::of(text, &ManOutput { ok: true, folder, pages }))
}

/// Returns every page: the name of its file, and its text.
fn pages() -> Vec<(String, String)> {
    let mut whole = definition().disable_help_subcommand(true);
    whole.build();
    let mut pages = Vec::new();
    gather(&whole, None, &mut pages);
    pages
}

fn gather(command: &Command, above: Option<&str>, pages: &mut Vec<(String, String)>) {
    let man = Man::new(command.clone())
        // An argument of a macro that is empty would be no argument.
        .date(" ")
        .source(concat!("bailiwick ", env!("CARGO_PKG_VERSION")))
        .manual("Bailiwick");
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let text = page(command, &man, above).expect("memory can be written");
    pages.push((man.get_filename(), text));
    for below in command.get_subcommands().filter(|it| !it.is_hide_set()) {
        gather(below, Some(&name), pages);
    }
}

fn page(command: &Command, man: &Man, above: Option<&str>) -> io::Result<String> {
    let mut out = Vec::new();
    man.render_title(&mut out)?;
    man.render_name_section(&mut out)?;
    man.render_synopsis_section(&mut out)?;
    let told = told(command);
    let (description, examples) = told.split_once("Examples:\n").unwrap_or((&told, ""));
    let mut text = Roff::new();
    text.control("SH", ["DESCRIPTION"]);
    for line in description.trim().lines() {
        if line.trim().is_empty() {
            text.control("PP", []);
        } else {
            text.text([roman(line.trim_start())]);
        }
    }
    text.to_writer(&mut out)?;
    man.render_options_section(&mut out)?;
    if command.get_subcommands().any(|it| !it.is_hide_set()) {
        man.render_subcommands_section(&mut out)?;
    }
    let mut more = Roff::new();
    if !examples.trim().is_empty() {
        // As they stand, line for line.
        more.control("SH", ["EXAMPLES"]).control("nf", []);
        for line in examples.trim_end().lines() {
            more.text([roman(line.trim_start())]);
        }
        more.control("fi", []);
    }
    match above {
        None => of_the_program(&mut more),
        Some(above) => {
            more.control("SH", ["SEE ALSO"]).text([bold(above), roman("(1)")]);
        }
    }
    more.to_writer(&mut out)?;
    let text = String::from_utf8(out).expect("it was made of text");
    Ok(text.chars().map(plain).collect())
}

/// Writes a character so that every formatter shows it as it is: a backtick would become an opening quote, and what is not
/// ASCII depends on how the formatter is called.
fn plain(character: char) -> String {
    match character {
        '`' => r"\(ga".to_owned(),
        it if it.is_ascii() => it.to_string(),
        it => format!(r"\[u{:04X}]", u32::from(it)),
    }
}

/// Returns all that the help of a command says around its flags.
fn told(command: &Command) -> String {
    let about = command.get_long_about().or_else(|| command.get_about());
    let after = command.get_after_long_help().or_else(|| command.get_after_help());
    about.into_iter().chain(after).map(|text| format!("{text}\n\n")).collect()
}

/// What holds for every command.
fn of_the_program(page: &mut Roff) {
    let item = |page: &mut Roff, name: &str, text: &str| {
        page.control("TP", []).text([bold(name)]).text([roman(text)]);
    };
    page.control("SH", ["EXIT STATUS"]);
    item(page, "0", "Success.");
    item(
        page,
        "1",
        "What was checked is not valid; or an operation was tried, and failed (execution_failed).",
    );
    for facts in ErrorCode::ALL.iter().map(|code| code.facts()).filter(|facts| facts.exit_code > 1) {
        item(page, &facts.exit_code.to_string(), &format!("{}: {}", facts.name, facts.meaning));
    }
    page.control("SH", ["ENVIRONMENT"]);
    item(page, "BAILIWICK_HOME", "Config, state and socket are in this folder.");
    item(page, "XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_RUNTIME_DIR", "Where they lie else.");
    item(page, "NO_COLOR", "No colour is used if this is set.");
    page.control("SH", ["FILES"]);
    item(page, "~/.config/bailiwick/config.json", "What is open, and for what.");
    item(page, "~/.config/bailiwick/tokens.json", "Who may ask; no token can be read out of it.");
    item(page, "~/.local/state/bailiwick/", "The history, and what started processes printed.");
}
