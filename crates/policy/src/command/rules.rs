//! The rules of a scope: what denies beats what asks beats what allows, in any order.

use bailiwick_config::{CommandRule, SandboxLevel, ScopePolicy, ShellMode};
use bailiwick_contract::command::is_program_name;
use bailiwick_contract::{CommandPlan, Failure};

use super::care::{CarefulRow, care};
use super::pattern::Pattern;
use super::profile::{Profile, RowEffect, SAME_AS, Starts, as_push};
use super::reading::{Reading, names_of};
use super::{CommandVerdict, Decision, Grant, ImpliedNeeds, Reason, Source, Verdict, outside, text};

/// How deep commands in the words of commands are looked for.
const MAX_DEPTH: usize = 3;
/// How many options are bundled before one that takes a text.
const MAX_BUNDLED: usize = 6;
/// How many words are read again while looking for commands in the words of one.
const MAX_INNER_WORDS: usize = 4_000_000;

/// The compiled rules of a scope.
#[derive(Debug)]
pub struct Rules {
    pub(super) allowed: Vec<Pattern>,
    pub(super) ask: Vec<Pattern>,
    pub(super) denied: Vec<Pattern>,
    pub(super) shell: ShellMode,
    /// Whether what must be held fully can be.
    pub(super) may_be_full: bool,
    /// Whether nothing holds commands.
    pub(super) is_unheld: bool,
}

impl Rules {
    /// Compiles the rules of a scope and checks their examples.
    ///
    /// # Errors
    /// `invalid_request` that names the rule.
    pub fn compile(policy: &ScopePolicy) -> Result<Self, Failure> {
        let list = |field: &str, rules: &[CommandRule], wide: bool| {
            let compile = |(at, rule)| {
                let place = format!("policy.{field}[{at}]");
                let pattern = Pattern::compile(&place, rule)?;
                pattern.check_examples(&place, rule, wide)?;
                Ok(pattern)
            };
            rules.iter().enumerate().map(compile).collect::<Result<Vec<Pattern>, Failure>>()
        };
        Ok(Self {
            allowed: list("allowedCommands", &policy.allowed_commands, false)?,
            ask: list("askCommands", &policy.ask_commands, true)?,
            denied: list("deniedCommands", &policy.denied_commands, true)?,
            shell: policy.shell,
            may_be_full: matches!(policy.sandbox, SandboxLevel::Auto | SandboxLevel::Full),
            is_unheld: policy.sandbox == SandboxLevel::None,
        })
    }

    /// Judges every command of a plan.
    pub fn judge(&self, plan: &CommandPlan, grant: Grant) -> Verdict {
        Verdict::of(plan.commands().map(|command| self.judge_one(&command.argv, grant)).collect())
    }

    /// Judges a plan that the allowing rules do not allow and that a full sandbox holds: what denies or asks counts,
    /// and what never runs.
    pub fn judge_sandboxed(&self, plan: &CommandPlan) -> Verdict {
        Verdict::of(plan.commands().map(|command| self.sandboxed(&command.argv, &[&command.argv])).collect())
    }

    /// Judges a text that a shell will read in a full sandbox, by the commands that were found in it. That
    /// nothing is found does not mean that nothing is there.
    pub fn judge_text(&self, argv: &[String], pieces: &[Vec<String>]) -> Verdict {
        let commands: Vec<&[String]> = pieces.iter().map(Vec::as_slice).collect();
        let mut verdict = self.sandboxed(argv, &commands);
        if pieces.len() >= text::MAX_PIECES {
            verdict.reasons.insert(0, too_many_words());
            verdict.decision = Decision::Deny;
        }
        verdict.implies =
            Some(ImpliedNeeds { program: "bash".to_owned(), why: "a text for a shell can do anything" });
        verdict.profile = Some("bash");
        Verdict::of(vec![verdict])
    }

    fn sandboxed(&self, argv: &[String], commands: &[&[String]]) -> CommandVerdict {
        let mut reasons = vec![Reason {
            decision: Decision::Allow,
            source: Source::Always("shell-sandboxed"),
            why: "`policy.shell` lets any program and any text for bash run in a full sandbox".to_owned(),
        }];
        let mut profile = None;
        let mut budget = MAX_INNER_WORDS;
        for command in commands {
            let argv: Vec<&str> = command.iter().map(String::as_str).collect();
            self.against(&argv, &mut budget, &mut reasons);
            visit(&argv, MAX_DEPTH, &mut budget, &mut |reading, inner| {
                if !inner {
                    profile = profile.or(reading.profile.map(Profile::name));
                }
                reasons.extend(care(reading).iter().filter_map(|found| self.even_sandboxed(found, reading)));
            });
        }
        reasons.sort_by_key(|reason| std::cmp::Reverse(reason.decision));
        CommandVerdict {
            argv: argv.to_vec(),
            decision: reasons.first().map_or(Decision::Deny, |reason| reason.decision),
            reasons,
            must_be_full: Some("no rule allows it, so the sandbox alone holds it".to_owned()),
            implies: None,
            profile,
        }
    }

    /// Returns what a row says that no sandbox makes up for.
    fn even_sandboxed(&self, found: &CarefulRow, reading: &Reading<'_>) -> Option<Reason> {
        let decision = match found.row.then {
            RowEffect::Never => Decision::Deny,
            RowEffect::AskAlways => Decision::Ask,
            _ => return None,
        };
        let names = |rule: &Pattern| {
            !found.words.is_empty()
                && found.words.iter().all(|word| rule.names(word))
                && rule.allows(&reading.hoisted, reading)
        };
        if decision == Decision::Ask && self.allowed.iter().any(names) {
            return None;
        }
        let (source, why) = (Source::Profile(found.program), found.row.why.to_owned());
        Some(Reason { decision, source, why })
    }

    /// Returns the programs that the allowing rules name, each with why it can run any code, if it can.
    pub fn implications(&self) -> Vec<(String, Option<&'static str>)> {
        let mut seen: Vec<(String, Option<&'static str>)> = Vec::new();
        for name in self.allowed.iter().flat_map(Pattern::programs) {
            if !seen.iter().any(|(program, _)| program == name) {
                let why = Reading::of(&expand(&[name])).profile.and_then(Profile::why_code);
                seen.push((name.to_owned(), why));
            }
        }
        seen
    }

    /// Returns the texts of the rules that allow something of a program.
    pub fn texts_about(&self, program: &str) -> impl Iterator<Item = &str> {
        self.allowed.iter().filter(move |rule| rule.programs().any(|name| name == program)).map(Pattern::text)
    }

    fn judge_one(&self, words: &[String], grant: Grant) -> CommandVerdict {
        let argv: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut verdict = CommandVerdict {
            argv: words.to_vec(),
            decision: Decision::Deny,
            reasons: Vec::new(),
            must_be_full: None,
            implies: None,
            profile: None,
        };
        self.against(&argv, &mut { MAX_INNER_WORDS }, &mut verdict.reasons);
        if let Some(reason) = program_word(argv.first().copied().unwrap_or_default()) {
            verdict.reasons.push(reason);
        }
        let reading = Reading::of(&argv);
        let matching: Vec<(usize, &Pattern)> =
            self.allowed.iter().enumerate().filter(|(_, rule)| rule.allows(&argv, &reading)).collect();
        match grant {
            Grant::Rules if matching.is_empty() => verdict.reasons.push(Reason {
                decision: Decision::Deny,
                source: Source::Always("not-allowed"),
                why: "no rule of `policy.allowedCommands` allows it".to_owned(),
            }),
            Grant::Rules => verdict.reasons.extend(matching.iter().map(|(at, rule)| Reason {
                decision: Decision::Allow,
                source: Source::Rule(format!("allowedCommands[{at}]")),
                why: format!("the rule {} allows it", rule.text()),
            })),
            Grant::Package => verdict.reasons.push(Reason {
                decision: Decision::Allow,
                source: Source::Always("package:run"),
                why: "`package:run` starts scripts of the project".to_owned(),
            }),
            Grant::Codex => verdict.reasons.push(Reason {
                decision: Decision::Allow,
                source: Source::Always("codex:run"),
                why: "`codex:run` starts Codex".to_owned(),
            }),
        }
        let expanded = expand(&argv);
        let profiled = if expanded == argv { reading } else { Reading::of(&expanded) };
        verdict.profile = profiled.profile.map(Profile::name);
        let names = |word: &str| matching.iter().any(|(_, rule)| rule.names(word));
        let is_whole = matching.iter().any(|(_, rule)| rule.is(&argv));
        for found in care(&profiled) {
            self.apply(&found, &names, is_whole, &mut verdict);
        }
        if self.is_unheld
            && let Some(word) = outside::word(&profiled)
            && !names(word)
        {
            verdict.reasons.push(Reason {
                decision: Decision::Ask,
                source: Source::Always("outside-word"),
                why: "a word of it leads out of the folder, and at `none` nothing holds it there".to_owned(),
            });
        }
        if let Some(profile) = profiled.profile
            && let Some(why) = profile.code
        {
            verdict.implies.get_or_insert(ImpliedNeeds { program: profile.name().to_owned(), why });
        }
        let named = || matching.iter().any(|(_, rule)| rule.programs().any(|name| name == argv[0]));
        if let Some(implied) = &verdict.implies
            && grant == Grant::Rules
            && !named()
        {
            verdict.reasons.push(Reason {
                decision: Decision::Deny,
                source: Source::Profile(verdict.profile.unwrap_or_default()),
                why: format!(
                    "`{}` can run any code ({}), so only a rule that names it allows it",
                    argv[0], implied.why
                ),
            });
        }
        verdict.reasons.sort_by_key(|reason| std::cmp::Reverse(reason.decision));
        verdict.decision = verdict.reasons.first().map_or(Decision::Deny, |reason| reason.decision);
        verdict
    }

    /// Adds what a row of the program's profile says. `is_whole` tells that a rule is the whole command.
    fn apply(
        &self,
        found: &CarefulRow,
        names: &dyn Fn(&str) -> bool,
        is_whole: bool,
        verdict: &mut CommandVerdict,
    ) {
        let lifted = !found.words.is_empty() && found.words.iter().all(|word| names(word));
        let (program, why) = (found.program, found.row.why);
        let said = match found.words.as_slice() {
            [] => why.to_owned(),
            _ if !found.may_say => format!("a word of it {why}"),
            words => format!("`{}` {why}", words.join(" ")),
        };
        let mut reason = |decision| {
            verdict.reasons.push(Reason { decision, source: Source::Profile(program), why: said.clone() });
        };
        match found.row.then {
            RowEffect::Code => {
                verdict.implies.get_or_insert(ImpliedNeeds { program: program.to_owned(), why });
            }
            // Where shells are held by a full sandbox, a rule takes none of it away.
            RowEffect::ShellText if is_whole && (self.shell == ShellMode::Off || !self.may_be_full) => {
                reason(Decision::Allow);
                verdict.implies.get_or_insert(ImpliedNeeds { program: program.to_owned(), why });
            }
            RowEffect::Shell | RowEffect::ShellText if self.shell == ShellMode::Off => reason(Decision::Deny),
            RowEffect::Refuse | RowEffect::Ask | RowEffect::AskAlways | RowEffect::Held if lifted => {
                reason(Decision::Allow);
                if found.row.then == RowEffect::Refuse {
                    verdict.implies.get_or_insert(ImpliedNeeds { program: program.to_owned(), why });
                }
            }
            RowEffect::Never | RowEffect::Refuse => reason(Decision::Deny),
            RowEffect::Ask | RowEffect::AskAlways => reason(Decision::Ask),
            RowEffect::Held | RowEffect::Shell | RowEffect::ShellText if self.may_be_full => {
                reason(Decision::Allow);
                verdict.must_be_full.get_or_insert(said);
            }
            RowEffect::Held => reason(Decision::Ask),
            RowEffect::Shell | RowEffect::ShellText => reason(Decision::Deny),
        }
    }

    /// Adds the rules that deny or ask about a command, or about one in its words.
    fn against(&self, argv: &[&str], budget: &mut usize, reasons: &mut Vec<Reason>) {
        let lists =
            [("deniedCommands", &self.denied, Decision::Deny), ("askCommands", &self.ask, Decision::Ask)];
        if lists.iter().all(|(_, rules, _)| rules.is_empty()) {
            return;
        }
        let mut hits: Vec<(&str, usize)> = Vec::new();
        visit(argv, MAX_DEPTH, budget, &mut |reading, inner| {
            for (field, rules, decision) in &lists {
                for (at, rule) in rules.iter().enumerate() {
                    if hits.contains(&(*field, at)) || !rule.covers(reading) {
                        continue;
                    }
                    hits.push((*field, at));
                    let verb = if *decision == Decision::Deny { "denies" } else { "wants approval of" };
                    let which = if inner { "a command in its words".to_owned() } else { "it".to_owned() };
                    reasons.push(Reason {
                        decision: *decision,
                        source: Source::Rule(format!("{field}[{at}]")),
                        why: format!("the rule {} {verb} {which}", rule.text()),
                    });
                }
            }
        });
        if *budget == 0 {
            reasons.push(too_many_words());
        }
    }
}

fn too_many_words() -> Reason {
    Reason {
        decision: Decision::Deny,
        source: Source::Always("too-many-words"),
        why: "it has more words that could be commands than are read".to_owned(),
    }
}

/// Calls `see` for a command in every way to read it, and for those that its words can be.
fn visit(argv: &[&str], depth: usize, budget: &mut usize, see: &mut dyn FnMut(&Reading<'_>, bool)) {
    visit_inner(argv, depth, budget, false, see);
}

fn visit_inner(
    argv: &[&str],
    depth: usize,
    budget: &mut usize,
    inner: bool,
    see: &mut dyn FnMut(&Reading<'_>, bool),
) {
    if argv.is_empty() || *budget == 0 {
        return;
    }
    *budget = budget.saturating_sub(argv.len());
    let reading = Reading::of(argv);
    see(&reading, inner);
    let expanded = expand(argv);
    if expanded != argv {
        see(&Reading::of(&expanded), inner);
    }
    if let Some((program, sub)) = program_with_sub(&reading.names) {
        let mut other = vec![program.as_str(), sub.as_str()];
        other.extend_from_slice(&argv[1..]);
        let other_reading = Reading::of(&other);
        see(&other_reading, inner);
        if let Some(push) = as_push(&other, &other_reading) {
            see(&Reading::of(&push), inner);
        }
    }
    if let Some(push) = as_push(argv, &reading) {
        see(&Reading::of(&push), inner);
    }
    let starts = reading.starts();
    if starts == Starts::Nothing || depth == 0 {
        return;
    }
    for at in 1..argv.len() {
        let word = argv[at];
        // An option, a variable or a number before the command is passed over word by word.
        if program_word(word.rsplit('/').next().unwrap_or(word)).is_none() {
            visit_inner(&argv[at..], depth - 1, budget, true, see);
        }
        if starts == Starts::Texts {
            for text in texts_in(word) {
                visit_text(text, &argv[at + 1..], depth - 1, budget, see);
            }
        }
    }
}

/// Returns what a word of a wrapper can hold as the text of a command: `env '-Sgit push'`, `env -Sgit`.
fn texts_in(word: &str) -> Vec<&str> {
    let mut texts = Vec::new();
    if word.contains(char::is_whitespace) {
        texts.push(word);
    }
    if word.len() > 2 && word.starts_with('-') {
        texts.extend(word.split_once('=').map(|(_, text)| text));
        // Options can be bundled before the one that takes the text.
        let ends = word.char_indices().skip(2).take(MAX_BUNDLED);
        texts.extend(ends.map(|(at, _)| &word[at..]));
    }
    texts
}

/// Calls `see` for the commands that a text can hold; the words after the text continue its last one.
fn visit_text(
    text: &str,
    rest: &[&str],
    depth: usize,
    budget: &mut usize,
    see: &mut dyn FnMut(&Reading<'_>, bool),
) {
    let pieces = text::pieces(text);
    for (at, piece) in pieces.iter().enumerate() {
        let mut words: Vec<&str> = piece.iter().map(String::as_str).collect();
        let own = words.len();
        if at + 1 == pieces.len() {
            *budget = budget.saturating_sub(rest.len());
            words.extend_from_slice(rest);
        }
        for start in 0..own {
            if program_word(words[start].rsplit('/').next().unwrap_or_default()).is_none() {
                visit_inner(&words[start..], depth, budget, true, see);
            }
        }
    }
}

/// Returns a command whose program is another by another name, as that one: `npx x` is `npm exec x`.
fn expand<'a>(argv: &[&'a str]) -> Vec<&'a str> {
    let program = argv.first().copied().unwrap_or_default();
    let names = names_of(program.rsplit('/').next().unwrap_or(program));
    match SAME_AS.iter().find(|(name, _)| names.iter().any(|it| it == name)) {
        Some((_, full)) => full.iter().copied().chain(argv[1..].iter().copied()).collect(),
        None => argv.to_vec(),
    }
}

/// Takes `git-push` apart into `git` and `push`, for the programs that are installed so.
fn program_with_sub(names: &[String]) -> Option<(String, String)> {
    names.iter().find_map(|name| {
        let (program, sub) = name.split_once('-')?;
        (["git", "cargo"].contains(&program) && !sub.is_empty()).then(|| (program.to_owned(), sub.to_owned()))
    })
}

/// Refuses program words that are no bare name.
fn program_word(word: &str) -> Option<Reason> {
    (!is_program_name(word)).then(|| Reason {
        decision: Decision::Deny,
        source: Source::Always("program-word"),
        why: "a program is named by its bare name, without a folder: it is looked up on the scope's search path"
            .to_owned(),
    })
}
