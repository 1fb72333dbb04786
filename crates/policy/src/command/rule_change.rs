//! Which change of a scope's rules allows a refused command, as the commands that make it.

use bailiwick_config::CommandRule;
use bailiwick_contract::command::is_program_name;
use bailiwick_platform::quoting::quote;

use super::pattern::Pattern;
use super::profile::find;
use super::{CommandVerdict, Decision, Rules, Source, Verdict};

/// The longest name of a program that a hint repeats: a longer one may be anything.
pub(super) const MAX_NAME: usize = 64;

/// Rules to remove and rules to add.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleChange {
    /// The rules to remove, as the command line names them.
    pub removed: Vec<String>,
    /// The rules to add to those that allow.
    pub added: Vec<String>,
    /// The files to open without asking.
    pub files: Vec<String>,
    /// The commands of the program that make the change.
    pub commands: Vec<String>,
}

impl RuleChange {
    /// Adds rules to remove, in the one command that removes.
    #[must_use]
    pub(in super::super) fn and_removes(mut self, scope: &str, more: Vec<String>) -> Self {
        if more.is_empty() {
            return self;
        }
        if !self.removed.is_empty() {
            self.commands.remove(0);
        }
        self.removed.extend(more);
        let flags: String =
            self.removed.iter().map(|rule| format!(" --remove-rule {}", quote(rule))).collect();
        self.commands.insert(0, format!("bailiwick scope edit {scope}{flags}"));
        self
    }

    /// Adds files to open without asking.
    #[must_use]
    pub(in super::super) fn and_opens(mut self, scope: &str, files: Vec<String>) -> Self {
        if !files.is_empty() {
            let flags: String = files.iter().map(|glob| format!(" --files {}", quote(glob))).collect();
            self.commands.push(format!("bailiwick scope allow {scope}{flags}"));
            self.files = files;
        }
        self
    }
}

impl Rules {
    /// Returns the change that makes a scope allow what `refused` is about. It is tried before it
    /// is named: `judge` is asked with the changed rules. `None` where no such change allows it: rules that
    /// name a word which the profile of a program refuses are for users to write.
    pub(super) fn allowed_by(
        &self,
        scope: &str,
        refused: &Verdict,
        judge: impl Fn(&Self) -> Verdict,
    ) -> Option<RuleChange> {
        let mut change = self.change_for(refused)?;
        if judge(&self.with(&change)?).decision != Decision::Allow {
            return None;
        }
        let flags = |flag: &str, rules: &[String]| -> String {
            rules.iter().map(|rule| format!(" {flag} {}", quote(rule))).collect()
        };
        if !change.removed.is_empty() {
            change
                .commands
                .push(format!("bailiwick scope edit {scope}{}", flags("--remove-rule", &change.removed)));
        }
        if !change.added.is_empty() {
            change
                .commands
                .push(format!("bailiwick scope allow {scope}{}", flags("--command", &change.added)));
        }
        Some(change)
    }

    fn change_for(&self, refused: &Verdict) -> Option<RuleChange> {
        let mut change = RuleChange::default();
        for command in refused.commands.iter().filter(|it| it.decision != Decision::Allow) {
            for reason in command.reasons.iter().filter(|it| it.decision != Decision::Allow) {
                let (list, rule) = match &reason.source {
                    Source::Rule(place) => (&mut change.removed, self.at(place)?),
                    Source::Always("not-allowed") => (&mut change.added, any_words(command)?),
                    Source::Always(_) => return None,
                    // Whether the changed rules override it is seen when they are tried.
                    Source::Profile(_) => match subcommand(command) {
                        Some(rule) if reason.decision == Decision::Ask => (&mut change.added, rule),
                        _ => continue,
                    },
                };
                if !list.contains(&rule) {
                    list.push(rule);
                }
            }
        }
        Some(change)
    }

    /// Returns the rule at a place such as `askCommands[0]`.
    fn at(&self, place: &str) -> Option<String> {
        let (list, index) = place.strip_suffix(']')?.split_once('[')?;
        let list = if list == "deniedCommands" { &self.denied } else { &self.ask };
        list.get(index.parse::<usize>().ok()?).map(|rule| rule.spelled().to_owned())
    }

    fn with(&self, change: &RuleChange) -> Option<Self> {
        let without = |list: &[Pattern]| -> Vec<Pattern> {
            list.iter()
                .filter(|rule| !change.removed.iter().any(|it| it == rule.spelled()))
                .cloned()
                .collect()
        };
        let mut allowed = without(&self.allowed);
        for rule in &change.added {
            allowed.push(Pattern::compile("--command", &CommandRule::Line(rule.clone())).ok()?);
        }
        Some(Self { allowed, ask: without(&self.ask), denied: without(&self.denied), ..*self })
    }
}

fn any_words(command: &CommandVerdict) -> Option<String> {
    let program = command.argv.first()?;
    (program.len() <= MAX_NAME && is_program_name(program)).then(|| format!("{program} *"))
}

/// The program with its subcommand, where both are names that are known: other words can be secrets.
fn subcommand(command: &CommandVerdict) -> Option<String> {
    let program = any_words(command)?;
    let known = find(command.profile?)?.subcommands;
    let sub = command.argv.iter().skip(1).find(|word| known.contains(&word.as_str()))?;
    Some(program.replace('*', &format!("{sub} *")))
}
