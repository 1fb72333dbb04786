//! What needs approval the first time that a session of a client uses it: capabilities and programs.

use bailiwick_contract::command::is_program_name;
use bailiwick_contract::{Capability, Failure};

use super::command::{PermittedCommand, names_of};
use super::scope::clip;

/// What a scope asks about once for each session.
#[derive(Debug, Default)]
pub(super) struct FirstUses {
    capabilities: Vec<Capability>,
    programs: Vec<String>,
}

impl FirstUses {
    /// Reads the names of capabilities and programs.
    ///
    /// # Errors
    /// `invalid_request` with the place of what is neither.
    pub fn compile(names: &[String]) -> Result<Self, Failure> {
        let mut uses = Self::default();
        for (at, name) in names.iter().enumerate() {
            match Capability::ALL.iter().find(|it| it.as_str() == name) {
                Some(capability) => uses.capabilities.push(*capability),
                None if is_program_name(name) => uses.programs.push(name.clone()),
                None => {
                    return Err(Failure::invalid(
                        &format!("policy.askFirstUse[{at}]"),
                        format!("`{}` is no capability (`fs:write`) and no program (`npm`)", clip(name)),
                    ));
                }
            }
        }
        Ok(uses)
    }

    /// Returns which of them a request uses, as the config names them.
    pub fn of_request(&self, capabilities: &[Capability], command: Option<&PermittedCommand>) -> Vec<&str> {
        let used = self.capabilities.iter().filter(|it| capabilities.contains(it)).map(|it| it.as_str());
        used.chain(self.of_command(command)).collect()
    }

    /// Returns which of the programs a command names in any of its words: another program can start them.
    pub fn of_command<'a>(&'a self, command: Option<&PermittedCommand>) -> impl Iterator<Item = &'a str> {
        let words =
            command.into_iter().filter(|_| !self.programs.is_empty()).flat_map(PermittedCommand::commands);
        let names = |word: &String| names_of(word.rsplit(['/', '\\']).next().unwrap_or(word));
        let named: Vec<String> = words.flatten().flat_map(names).collect();
        let is_named =
            move |program: &&String| names_of(program).first().is_some_and(|it| named.contains(it));
        self.programs.iter().filter(is_named).map(String::as_str)
    }

    /// Returns whether nothing is asked about.
    pub const fn is_empty(&self) -> bool {
        self.capabilities.is_empty() && self.programs.is_empty()
    }
}
