//! `client print`: the text that `client add` would write.

use bailiwick_contract::Failure;

use super::super::printer::Report;
use super::args::PrintArgs;
use crate::client_settings::connection::Connection;
use crate::client_settings::entry::Reach;
use crate::client_settings::kind::TokenForm;
use crate::client_settings::output::PrintOutput;
use crate::client_settings::places::SettingsPlace;
use crate::client_settings::rights::{caller, reach};
use crate::client_settings::snippets::snippet;
use crate::installation::home::Home;

/// Prints the entry of a client.
///
/// # Errors
/// When Bailiwick is not set up, or the client does not connect that way.
pub fn run(home: &Home, args: &PrintArgs) -> Result<Report, Failure> {
    let facts = args.client.facts();
    let how = &args.how.choice();
    let connection = Connection::new(home, &home.config()?);
    let caller = caller(home, args.client, how)?;
    let reach = reach(how, caller.as_ref());
    let place = SettingsPlace::find(args.client, &how.place).ok().map(|place| place.file);
    let (format, text) = snippet(args.client, &connection, &reach, &how.place.name)?;
    let mut notes = Vec::new();
    if let Some(place) = &place {
        notes.push(format!("It belongs into {}. {}", place.display(), facts.afterwards));
    }
    if caller.is_some_and(|it| it.scopes_of_new.is_some()) {
        let scopes: String = how.scope.iter().map(|id| format!(" --scope {id}")).collect();
        notes.push(format!("First make its token: `bailiwick token create {}{scopes}`.", facts.id));
    }
    if reach == Reach::Http && facts.token != TokenForm::Prompt {
        notes.push(format!(
            "The token belongs into the variable BAILIWICK_TOKEN where {} starts.",
            facts.title
        ));
    }
    let output = PrintOutput {
        ok: true,
        client: args.client,
        settings: place,
        format,
        snippet: text.clone(),
        notes: notes.clone(),
    };
    let json = serde_json::to_value(output).expect("an output has a JSON form");
    Ok(notes.into_iter().fold(Report::new(text, json).verbatim(), Report::note))
}
