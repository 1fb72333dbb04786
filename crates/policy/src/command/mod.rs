//! Commands, judged: text to literal words, words to a verdict, a verdict to a [`PermittedCommand`].
//!
//! [`recognise`] turns what was asked for into a plan of literal words or refuses it. [`Rules`] judge
//! every command of a plan. Only this module makes a [`PermittedCommand`], and what runs commands takes
//! nothing else. Nothing here touches the disk or starts a program.

mod construct;
mod care;
mod hosts;
mod instead;
mod outside;
mod pattern;
mod permitted;
pub mod profile;
mod reading;
pub mod recognise;
mod rule_change;
mod rules;
mod scan;
mod second_reading;
mod text;
mod verdict;

pub use hosts::{HostName, HostRefusal, HostRules, allowing_word, is_usual_port};
pub use pattern::show as rule_text;
pub(super) use permitted::JudgedCommand;
pub use permitted::{CommandLimits, CommandPolicy, Commands, Grant, PermittedCommand};
pub(super) use reading::names_of;
pub use rule_change::RuleChange;
pub use rules::Rules;
pub use verdict::{CommandVerdict, Decision, ImpliedNeeds, Reason, Source, Verdict};
