//! The rules of a scope.

use crate::config::{CommandRule, ScopePolicy};
use crate::contract::{CommandPlan, Failure, SimpleCommand};

use super::{CommandVerdict, Decision, Grant, Reason, Source, Verdict};

/// The compiled rules of a scope.
#[derive(Debug)]
pub struct Rules {
    allowed: Vec<String>,
}

impl Rules {
    /// Compiles the rules of a scope.
    ///
    /// # Errors
    /// `invalid_request` that names the rule.
    pub fn compile(policy: &ScopePolicy) -> Result<Self, Failure> {
        let allowed = policy.allowed_commands.iter().filter_map(|rule| match rule {
            CommandRule::Line(line) => line.split_whitespace().next().map(str::to_owned),
            CommandRule::Tokens(_) => None,
        });
        Ok(Self { allowed: allowed.collect() })
    }

    /// Judges every command of a plan.
    pub fn judge(&self, plan: &CommandPlan, grant: Grant) -> Verdict {
        Verdict::of(plan.commands().map(|command| self.judge_one(command, grant)).collect())
    }

    fn judge_one(&self, command: &SimpleCommand, grant: Grant) -> CommandVerdict {
        let allowed =
            grant == Grant::Package || self.allowed.iter().any(|program| program == command.program());
        let decision = if allowed { Decision::Allow } else { Decision::Deny };
        let source = Source::Always("not-allowed");
        let why = "no rule allows it".to_owned();
        CommandVerdict {
            argv: command.argv.clone(),
            decision,
            reasons: vec![Reason { decision, source, why }],
            must_be_full: None,
            implies: None,
        }
    }
}
