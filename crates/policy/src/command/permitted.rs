//! The commands of a scope: its rules and how it holds; and what the policy hands out when it permits.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use bailiwick_config::{NetworkRule, OtherHosts, SandboxLevel, ScopePolicy, ShellMode};
use bailiwick_contract::environment::{dangerous, is_name};
use bailiwick_contract::{CommandInput, CommandPlan, Containment, FOR_USER, Failure, Network};
use bailiwick_platform::machine::memory_bytes;
use bailiwick_platform::programs::usual_folders;

use super::hosts::HostRules;
use super::instead::instead;
use super::{Decision, Reason, RuleChange, Rules, Source, Verdict, recognise, text};

/// The refusals of the recogniser for texts that a shell could read.
const FOR_A_SHELL: &[&str] = &["not-literal", "shell-builtin", "program-word"];
/// The longest text for bash, in bytes: the system hands a program no longer word.
const MAX_TEXT_BYTES: usize = 120 * 1024;
/// How bash is started for a text, which comes next.
const TEXT: [&str; 4] = ["bash", "--noprofile", "--norc", "-c"];
/// The text that starts a program by its path, whose words come next.
const BY_PATH: [&str; 2] = ["exec -- \"$@\"", "bash"];
/// How many processes a command may have, unless a scope says otherwise.
const MAX_PROCESSES: u64 = 512;
/// The least that the memory of all processes of a command is bounded to by default.
const MIN_JOB_MEMORY_BYTES: u64 = 2 << 30;
/// How large a file a command may write, unless a scope says otherwise.
const MAX_FILE_MEGABYTES: u64 = 4_096;

/// Adds what keeps Git from running what a repository says, unless the user set such things.
fn environment(fixed: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut environment = fixed.clone();
    if !fixed.keys().any(|name| name.starts_with("GIT_CONFIG")) {
        // Hooks come from Git's own folder, which no file operation can write; not from the working tree.
        let settings = [
            ("safe.bareRepository", "explicit"),
            ("core.fsmonitor", "false"),
            ("core.hooksPath", ".git/hooks"),
            ("protocol.ext.allow", "never"),
            // What goes to the background would be ended with the command, in the middle of its work.
            ("gc.autoDetach", "false"),
            ("maintenance.autoDetach", "false"),
        ];
        environment.insert("GIT_CONFIG_COUNT".to_owned(), settings.len().to_string());
        for (at, (key, value)) in settings.into_iter().enumerate() {
            environment.insert(format!("GIT_CONFIG_KEY_{at}"), key.to_owned());
            environment.insert(format!("GIT_CONFIG_VALUE_{at}"), value.to_owned());
        }
    }
    environment.entry("GIT_TERMINAL_PROMPT".to_owned()).or_insert_with(|| "0".to_owned());
    environment
}

/// How a scope holds its commands, and what they find around them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPolicy {
    /// The level at which they are held; a level that the computer lacks refuses the command.
    pub sandbox: SandboxLevel,
    /// What they may reach.
    pub network: Network,
    /// The hosts that they may reach, where the network is [`Network::Hosts`].
    pub hosts: Option<Arc<HostRules>>,
    /// Whether the user is asked about other hosts.
    pub asks_about_hosts: bool,
    /// The folders in which programs are looked up, in this order. Some may not exist.
    pub search_path: Vec<PathBuf>,
    /// Further folders that a held command may read.
    pub read_paths: Vec<PathBuf>,
    /// Variables that every command gets.
    pub environment: BTreeMap<String, String>,
    /// Names of variables that a caller may set.
    pub allowed_environment: BTreeSet<String>,
    /// What bounds them.
    pub limits: CommandLimits,
}

impl CommandPolicy {
    /// Returns whether programs are looked up in the usual folders: the scope names no others.
    pub fn has_default_search_path(&self) -> bool {
        self.search_path == usual_folders()
    }
}

/// What bounds a command and all that it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandLimits {
    /// Memory of each process, in bytes; `None` for no bound.
    pub memory_bytes: Option<u64>,
    /// Memory of all processes together, in bytes.
    pub job_memory_bytes: u64,
    /// Processes at a time.
    pub processes: Option<u64>,
    /// Bytes of a file that it writes.
    pub file_bytes: Option<u64>,
}

/// By what a command is granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grant {
    /// By the scope's rules: one of `allowedCommands` must match.
    Rules,
    /// By `package:run`: what starts is a script that the project defines, no rule has to allow it.
    /// What is denied or asked about stays so.
    Package,
    /// By `codex:run`: what starts is Codex with words of Bailiwick's own, no rule has to allow it.
    /// What is denied or asked about stays so.
    Codex,
}

/// A command that the policy permits. Only the policy makes one.
#[derive(Debug, Clone)]
pub struct PermittedCommand {
    plan: CommandPlan,
    hold: Arc<CommandPolicy>,
    must_be_full: Option<String>,
    otherwise: Option<Box<Failure>>,
    found: Option<Vec<Vec<String>>>,
}

impl PermittedCommand {
    /// Returns what runs.
    pub fn plan(&self) -> &CommandPlan {
        &self.plan
    }

    /// Returns how it is held.
    pub fn hold(&self) -> &CommandPolicy {
        &self.hold
    }

    /// Returns why only a full sandbox will do, if so; then a weaker level refuses the command.
    pub fn must_be_full(&self) -> Option<&str> {
        self.must_be_full.as_deref()
    }

    /// Returns the refusal of the strict rules, which applies where no full sandbox holds the command.
    pub fn otherwise(&self) -> Option<&Failure> {
        self.otherwise.as_deref()
    }

    /// Returns whether no rule allowed it, so that the rules could only advise and the sandbox alone holds it.
    pub fn is_advisory(&self) -> bool {
        self.otherwise.is_some()
    }

    /// Returns whether bash reads it.
    pub fn is_for_bash(&self) -> bool {
        self.found.is_some()
    }

    /// Returns how many words of its first command bash takes for itself, before what was asked for.
    pub fn own_words(&self) -> usize {
        match &self.found {
            None => 0,
            Some(_) if self.plan.first.commands[0].argv.len() == TEXT.len() + 1 => TEXT.len(),
            Some(_) => TEXT.len() + BY_PATH.len(),
        }
    }

    /// Returns the words of its commands; of a text for bash those that were found in it, as far as they are literal.
    pub fn commands(&self) -> impl Iterator<Item = &[String]> {
        let planned =
            self.found.is_none().then(|| self.plan.commands().map(|command| command.argv.as_slice()));
        planned.into_iter().flatten().chain(self.found.iter().flatten().map(Vec::as_slice))
    }
}

/// How many rules or programs a refusal names.
const MAX_SHOWN: usize = 12;

/// The commands of a scope: which may run, and how they are held.
#[derive(Debug)]
pub struct Commands {
    scope: String,
    rules: Rules,
    hold: Arc<CommandPolicy>,
    shell: ShellMode,
}

/// What is known about a command after the stage.
#[derive(Debug, Clone)]
pub struct JudgedCommand {
    /// What runs if it is permitted.
    pub permitted: PermittedCommand,
    /// What the rules say.
    pub verdict: Verdict,
    /// What changes the scope so that it is allowed, if it is not and there is something.
    allowed_by: Option<RuleChange>,
}

impl JudgedCommand {
    /// Returns why it does not run, unless it is allowed.
    pub fn refusal(&self) -> Option<Failure> {
        self.verdict.failure(self.allowed_by.as_ref().map(|change| change.commands.as_slice()))
    }

    /// Returns whether it needs approval.
    pub fn is_asked(&self) -> bool {
        self.verdict.decision == Decision::Ask
    }

    /// Returns what changes the scope so that it is allowed, if it is not and there is something.
    pub fn allowed_by(&self) -> Option<&RuleChange> {
        self.allowed_by.as_ref()
    }
}

impl Commands {
    /// Compiles the part of a scope's policy that is about commands. Refusals name the scope.
    ///
    /// # Errors
    /// `invalid_request` with the rule's place, for rules that cannot be read or whose examples fail, for
    /// folders that are not absolute and for variables that no caller may set.
    pub fn compile(scope: &str, policy: &ScopePolicy) -> Result<Self, Failure> {
        for (field, folders) in
            [("policy.searchPath", &policy.search_path), ("policy.readPaths", &policy.read_paths)]
        {
            if let Some(folder) = folders.iter().find(|folder| !folder.is_absolute()) {
                return Err(Failure::invalid(
                    field,
                    format!("`{}` must be an absolute path", folder.display()),
                ));
            }
        }
        for name in &policy.allowed_environment {
            let why = if is_name(name) { dangerous(name) } else { Some("it is no name of a variable") };
            if let Some(why) = why {
                return Err(Failure::invalid(
                    "policy.allowedEnvironment",
                    format!("a caller may never set `{name}`: {why}"),
                )
                .hint(format!(
                    "Take it out; `bailiwick scope edit {scope} --env {name}=VALUE` gives every command a fixed value."
                )));
            }
        }
        let search_path =
            if policy.search_path.is_empty() { usual_folders() } else { policy.search_path.clone() };
        let megabytes = |count: u64| count.saturating_mul(1 << 20);
        let hold = CommandPolicy {
            sandbox: policy.sandbox,
            network: policy.network(),
            hosts: hosts(scope, policy)?.map(Arc::new),
            asks_about_hosts: matches!(
                &policy.network,
                Some(NetworkRule::Hosts(list)) if list.otherwise == OtherHosts::Ask
            ),
            search_path,
            read_paths: policy.read_paths.clone(),
            environment: environment(&policy.environment),
            allowed_environment: policy.allowed_environment.iter().cloned().collect(),
            limits: CommandLimits {
                memory_bytes: policy.max_memory_megabytes.map(megabytes),
                job_memory_bytes: policy
                    .max_job_memory_megabytes
                    .map_or_else(|| MIN_JOB_MEMORY_BYTES.max(memory_bytes() / 8), megabytes),
                processes: Some(policy.max_processes.unwrap_or(MAX_PROCESSES)),
                file_bytes: Some(megabytes(policy.max_file_megabytes.unwrap_or(MAX_FILE_MEGABYTES))),
            },
        };
        Ok(Self {
            scope: scope.to_owned(),
            rules: Rules::compile(policy)?,
            hold: Arc::new(hold),
            shell: policy.shell,
        })
    }

    /// Returns how commands are held.
    pub fn hold(&self) -> &CommandPolicy {
        &self.hold
    }

    /// Returns the rules.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Returns whether any program and any text for bash may run where a full sandbox holds it.
    pub fn runs_any_program(&self) -> bool {
        // With a way out a text that the rules cannot read could send what the rules ask about.
        self.shell == ShellMode::Sandboxed
            && matches!(self.hold.network, Network::None | Network::Loopback)
            && self.may_be_full()
    }

    /// Judges a command; `Deny` is an error, `Ask` is left to the approval.
    ///
    /// # Errors
    /// `invalid_request` for text that is no command, `permission_denied` with the rule.
    pub fn judge(&self, input: &CommandInput, grant: Grant) -> Result<JudgedCommand, Failure> {
        self.not_denied(self.explain(input, grant)?)
    }

    /// Judges a command on a computer that can hold it so strongly: what only a full sandbox lets run is judged by the
    /// strict rules where there is none.
    ///
    /// # Errors
    /// As [`Commands::judge`].
    pub fn judge_at(
        &self,
        input: &CommandInput,
        grant: Grant,
        strongest: Containment,
    ) -> Result<JudgedCommand, Failure> {
        if strongest == Containment::Full || !self.runs_any_program() {
            return self.judge(input, grant);
        }
        self.strict(input, grant).and_then(|judged| self.not_denied(judged)).map_err(|refused| {
            refused.hint(format!(
                "Any program and any text for bash may run in a full sandbox only; this computer has `{strongest}`."
            ))
        })
    }

    fn not_denied(&self, judged: JudgedCommand) -> Result<JudgedCommand, Failure> {
        match judged.refusal() {
            Some(failure) if judged.verdict.decision == Decision::Deny => {
                Err(self.with_alternatives(failure, &judged.verdict))
            }
            Some(_) | None => Ok(judged),
        }
    }

    /// Puts what the caller can do about a refusal before what only the user can: the operation that does the work
    /// of the program, and the programs that may run.
    fn with_alternatives(&self, mut failure: Failure, verdict: &Verdict) -> Failure {
        let Some((command, Reason { source: Source::Always(_), .. })) = verdict.deciding() else {
            return failure;
        };
        let program = command.argv.first().map_or("", String::as_str);
        let mut hints: Vec<String> = instead(program).map(str::to_owned).into_iter().collect();
        let programs: Vec<String> = self.rules.implications().into_iter().map(|(name, _)| name).collect();
        if programs.iter().any(|it| it == program) {
            let rules: Vec<&str> = self.rules.texts_about(program).take(MAX_SHOWN).collect();
            hints.push(format!("Of `{program}`, these may run: {}.", rules.join(", ")));
        } else if hints.is_empty() && !programs.is_empty() {
            let more = if programs.len() > MAX_SHOWN { " and more" } else { "" };
            let shown: Vec<&str> = programs.iter().take(MAX_SHOWN).map(String::as_str).collect();
            hints.push(format!("Programs that may run here: {}{more}.", shown.join(", ")));
        }
        hints.append(&mut failure.hints);
        Failure { hints, ..failure }
    }

    /// Returns what the rules say about a command, without permitting it.
    ///
    /// # Errors
    /// As [`Commands::judge`], for texts that are not literal; `Deny` is a verdict here.
    pub fn verdict(&self, input: &CommandInput, grant: Grant) -> Result<Verdict, Failure> {
        self.explain(input, grant).map(|judged| judged.verdict)
    }

    /// Judges by the language of literal words and by the rules alone.
    fn strict(&self, input: &CommandInput, grant: Grant) -> Result<JudgedCommand, Failure> {
        recognise::plan(input).map(|plan| {
            let (verdict, allowed_by) = self.judged(|rules| rules.judge(&plan, grant));
            let must_be_full = verdict.must_be_full().map(str::to_owned);
            let permitted = PermittedCommand {
                plan,
                hold: Arc::clone(&self.hold),
                must_be_full,
                otherwise: None,
                found: None,
            };
            JudgedCommand { permitted, verdict, allowed_by }
        })
    }

    fn explain(&self, input: &CommandInput, grant: Grant) -> Result<JudgedCommand, Failure> {
        let strict = self.strict(input, grant);
        if grant != Grant::Rules || !self.runs_any_program() {
            return strict.map_err(|refused| self.with_hint(input, refused));
        }
        let refused = match &strict {
            Ok(judged) => judged.refusal().map(|it| self.with_alternatives(it, &judged.verdict)),
            Err(failure) => Some(failure.clone()),
        };
        let Some(refused) = refused else { return strict };
        match self.judge_sandboxed(input, &strict, refused) {
            Some(sandboxed)
                if strict.as_ref().is_ok_and(|it| it.verdict.decision <= sandboxed.verdict.decision) =>
            {
                strict
            }
            Some(sandboxed) => Ok(sandboxed),
            None => strict.map_err(|refused| self.with_hint(input, refused)),
        }
    }

    /// Judges by the rules, and finds the commands that would allow what they refuse.
    fn judged(&self, judge: impl Fn(&Rules) -> Verdict) -> (Verdict, Option<RuleChange>) {
        let verdict = judge(&self.rules);
        let allowed_by = match verdict.decision {
            Decision::Allow => None,
            Decision::Ask | Decision::Deny => self.rules.allowed_by(&self.scope, &verdict, judge),
        };
        (verdict, allowed_by)
    }

    /// Judges what the allowing rules and the language of literal words do not allow, where the scope lets any program
    /// run in a full sandbox. `None` for what bash would not start either.
    fn judge_sandboxed(
        &self,
        input: &CommandInput,
        strict: &Result<JudgedCommand, Failure>,
        refused: Failure,
    ) -> Option<JudgedCommand> {
        let (plan, (verdict, allowed_by), found) = match (strict, input) {
            (Ok(judged), _) => {
                let plan = judged.permitted.plan.clone();
                let verdict = self.judged(|rules| rules.judge_sandboxed(&plan));
                (plan, verdict, None)
            }
            (Err(_), CommandInput::Line(text)) if text.contains('\0') || text.len() > MAX_TEXT_BYTES => {
                return None;
            }
            (Err(failure), input) if !is_for_a_shell(failure) && !is_long(input) => return None,
            (Err(_), CommandInput::Line(text)) => {
                let argv: Vec<String> = TEXT.into_iter().chain([text.as_str()]).map(str::to_owned).collect();
                let found = text::pieces(text);
                let verdict = self.judged(|rules| rules.judge_text(&argv, &found));
                (CommandPlan::of_argv(argv), verdict, Some(found))
            }
            // A program that is named by its path starts inside the sandbox, whose tree has it or has it not.
            (Err(_), CommandInput::Argv(words)) if words.first().is_some_and(|word| word.contains('/')) => {
                let own = TEXT.into_iter().chain(BY_PATH).map(str::to_owned);
                let argv: Vec<String> = own.chain(words.iter().cloned()).collect();
                let judged = CommandPlan::of_argv(words.clone());
                let verdict = self.judged(|rules| rules.judge_sandboxed(&judged));
                (CommandPlan::of_argv(argv), verdict, Some(vec![words.clone()]))
            }
            (Err(_), _) => return None,
        };
        let permitted = PermittedCommand {
            plan,
            hold: Arc::clone(&self.hold),
            must_be_full: verdict.must_be_full().map(str::to_owned),
            otherwise: Some(Box::new(refused)),
            found,
        };
        Some(JudgedCommand { permitted, verdict, allowed_by })
    }

    /// Adds what would let a shell have a text, or why it may not.
    fn with_hint(&self, input: &CommandInput, refused: Failure) -> Failure {
        if !is_for_a_shell(&refused)
            || matches!(input, CommandInput::Argv(words) if !words.first().is_some_and(|it| it.contains('/')))
        {
            return refused;
        }
        let scope = &self.scope;
        let hint = match (self.shell, self.hold.network) {
            (ShellMode::Off, _) => {
                format!(
                    "`bailiwick scope edit {scope} --shell sandboxed` lets bash run such texts, in a full sandbox only."
                )
            }
            (ShellMode::Sandboxed, Network::Full) if self.may_be_full() => {
                format!(
                    "`bailiwick scope edit {scope} --network loopback` lets bash run such texts in a full sandbox. With \
                     the whole network only literal words run, since the rules could not guard what a shell sends."
                )
            }
            (ShellMode::Sandboxed, Network::Hosts) if self.may_be_full() => {
                format!(
                    "`bailiwick scope edit {scope} --network loopback` lets bash run such texts in a full sandbox. With \
                     hosts to reach only literal words run, since the rules could not guard what a shell sends."
                )
            }
            (ShellMode::Sandboxed, _) => {
                format!("`bailiwick scope edit {scope} --sandbox full` lets bash run such texts.")
            }
        };
        refused.hint(format!("{FOR_USER}{hint}"))
    }

    fn may_be_full(&self) -> bool {
        matches!(self.hold.sandbox, SandboxLevel::Auto | SandboxLevel::Full)
    }
}

/// Reads the hosts that a scope names. They are enforced by a full sandbox, and by nothing else.
fn hosts(scope: &str, policy: &ScopePolicy) -> Result<Option<HostRules>, Failure> {
    let Some(NetworkRule::Hosts(list)) = &policy.network else { return Ok(None) };
    if !matches!(policy.sandbox, SandboxLevel::Auto | SandboxLevel::Full) {
        return Err(Failure::invalid(
            "policy.network",
            format!(
                "hosts can be enforced by a full sandbox only, and `sandbox` is `{}`",
                policy.sandbox.as_str()
            ),
        )
        .hint(format!("`bailiwick scope edit {scope} --sandbox auto`, or `--network loopback`.")));
    }
    let compiled = match list.otherwise {
        OtherHosts::Deny => HostRules::compile(&list.hosts),
        OtherHosts::Ask => HostRules::compile_any(&list.hosts),
    };
    compiled.map(Some).map_err(|(at, why)| {
        let field = "policy.network.hosts";
        let field = at.map_or(field.to_owned(), |at| format!("{field}[{at}]"));
        Failure::invalid(&field, why)
    })
}

fn is_for_a_shell(refused: &Failure) -> bool {
    refused.rule().is_some_and(|rule| FOR_A_SHELL.contains(&rule))
}

/// Returns whether a string is longer than one of literal words may be: a here-document can be.
fn is_long(input: &CommandInput) -> bool {
    matches!(input, CommandInput::Line(text) if text.len() > recognise::MAX_LINE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_default_a_job_takes_an_eighth_of_the_memory_or_2_gib() {
        let limit = |policy: &ScopePolicy| {
            Commands::compile("app", policy).expect("a good policy").hold().limits.job_memory_bytes
        };
        let by_default = limit(&ScopePolicy::default());
        assert!((1..=(memory_bytes() / 8).max(2 << 30)).contains(&by_default), "{by_default}");
        for megabytes in [1, 96, u64::MAX] {
            let policy = ScopePolicy { max_job_memory_megabytes: Some(megabytes), ..ScopePolicy::default() };
            assert_eq!(limit(&policy), megabytes.saturating_mul(1 << 20));
        }
    }
}
