//! What the rules say about a plan, and why.

use serde_json::{Value, json};

use bailiwick_contract::{ErrorCode, FOR_USER, Failure};

use super::profile::find;

/// The strength of a verdict. The order is the strength: a denial beats a question beats an allowance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// It may run.
    Allow,
    /// It runs once it is approved.
    Ask,
    /// It does not run.
    Deny,
}

impl Decision {
    /// Returns the word that `policy explain` and `policy test` use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    /// Finds a decision by its word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Allow, Self::Ask, Self::Deny].into_iter().find(|decision| decision.as_str() == word)
    }
}

/// Where a reason comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A rule of the scope, with its place such as `deniedCommands[0]`.
    Rule(String),
    /// A row of the program's profile.
    Profile(&'static str),
    /// What holds for every command.
    Always(&'static str),
}

impl Source {
    /// Returns the name that denials carry as `rule`.
    pub fn name(&self) -> String {
        match self {
            Self::Rule(place) => place.clone(),
            Self::Profile(program) => format!("profile:{program}"),
            Self::Always(name) => (*name).to_owned(),
        }
    }
}

/// Why a command is judged so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// What this reason alone would decide.
    pub decision: Decision,
    /// Where it comes from.
    pub source: Source,
    /// In words.
    pub why: String,
}

/// What allowing a command means beyond its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImpliedNeeds {
    /// The program.
    pub program: String,
    /// Why it can run any code.
    pub why: &'static str,
}

/// What the rules say about one command of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandVerdict {
    /// Its words.
    pub argv: Vec<String>,
    /// The verdict: the strongest of the reasons, and `Deny` without any.
    pub decision: Decision,
    /// The reasons, strongest first.
    pub reasons: Vec<Reason>,
    /// Why it may run in a full sandbox only, if so.
    pub must_be_full: Option<String>,
    /// Why it can run any code, if so.
    pub implies: Option<ImpliedNeeds>,
    /// The program's profile; without one nothing is known about what it can start.
    pub profile: Option<&'static str>,
}

/// What the rules say about a whole plan: every command of it is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The strongest decision on any of its commands.
    pub decision: Decision,
    /// The commands, in the written order.
    pub commands: Vec<CommandVerdict>,
}

impl Verdict {
    /// Puts the verdicts on the commands of a plan together.
    pub(super) fn of(commands: Vec<CommandVerdict>) -> Self {
        let decision = commands.iter().map(|it| it.decision).max().unwrap_or(Decision::Deny);
        Self { decision, commands }
    }

    /// Returns why the plan may run in a full sandbox only, if so.
    pub fn must_be_full(&self) -> Option<&str> {
        self.commands.iter().find_map(|it| it.must_be_full.as_deref())
    }

    /// Returns what allowing it means: programs that can run any code. Empty if none can.
    pub fn implies(&self) -> impl Iterator<Item = &ImpliedNeeds> {
        self.commands.iter().filter_map(|it| it.implies.as_ref())
    }

    /// Returns the first command that is judged as the whole is, with its strongest reason.
    pub fn deciding(&self) -> Option<(&CommandVerdict, &Reason)> {
        let command = self.commands.iter().find(|it| it.decision == self.decision)?;
        Some((command, command.reasons.first()?))
    }

    /// Returns the refusal, unless the plan is allowed: `permission_denied`, or `approval_required` for `Ask`.
    /// `allowed_by` are the commands that change the scope so that it is allowed, if there are some.
    pub fn failure(&self, allowed_by: Option<&[String]>) -> Option<Failure> {
        let (command, reason) = self.deciding()?;
        let named = named(command);
        let failure = match self.decision {
            Decision::Allow => return None,
            Decision::Ask => {
                Failure::new(ErrorCode::ApprovalRequired, format!("{named} needs approval: {}", reason.why))
            }
            Decision::Deny => {
                Failure::new(ErrorCode::PermissionDenied, format!("{named} does not run: {}", reason.why))
            }
        };
        let hint = match allowed_by {
            Some([one]) => format!("`{one}` allows it."),
            Some(several) => {
                let several: Vec<String> = several.iter().map(|it| format!("`{it}`")).collect();
                format!("{} allow it together.", several.join(" and "))
            }
            None => "`bailiwick policy explain 'COMMAND'` shows which word is meant.".to_owned(),
        };
        Some(failure.hint(format!("{FOR_USER}{hint}")).detail("rule", reason.source.name()))
    }

    /// Returns the verdict as JSON for `policy explain --json`.
    pub fn to_json(&self) -> Value {
        let commands: Vec<Value> = self
            .commands
            .iter()
            .map(|command| {
                let reasons: Vec<Value> = command
                    .reasons
                    .iter()
                    .map(|it| json!({"decision": it.decision.as_str(), "rule": it.source.name(), "why": it.why}))
                    .collect();
                json!({
                    "argv": command.argv,
                    "verdict": command.decision.as_str(),
                    "reasons": reasons,
                    "profile": command.profile,
                    "mustBeFull": command.must_be_full,
                    "implies": command.implies.as_ref().map(|it| json!({"arbitraryCode": it.why})),
                })
            })
            .collect();
        json!({"verdict": self.decision.as_str(), "commands": commands})
    }
}

/// Names a command in a message: its program, and a subcommand that is known. Other words can be secrets.
fn named(command: &CommandVerdict) -> String {
    let program = command.argv.first().map_or("", String::as_str);
    let is_bare =
        program.len() <= 64 && program.bytes().all(|it| it.is_ascii_alphanumeric() || b"._+-".contains(&it));
    // A text that bash is to read is none of bash's own words.
    let is_text = command.argv.get(..4).is_some_and(|words| words == ["bash", "--noprofile", "--norc", "-c"]);
    if !is_bare || is_text {
        return "the command".to_owned();
    }
    let known = command.profile.and_then(find).map_or(&[][..], |profile| profile.subcommands);
    let sub = command.argv.iter().skip(1).find(|word| known.contains(&word.as_str()));
    let rest = if command.argv.len() > 1 + usize::from(sub.is_some()) { " …" } else { "" };
    match sub {
        Some(sub) => format!("`{program} {sub}{rest}`"),
        None => format!("`{program}{rest}`"),
    }
}
