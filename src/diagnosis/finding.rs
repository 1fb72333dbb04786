//! What the checks found: how things stand, in words, and what to do about it.

use schemars::JsonSchema;
use serde::Serialize;

use super::repair::Repair;
use crate::installation::text::to_user;

/// How something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CheckState {
    /// It was checked, and is valid.
    Ok,
    /// It works, but not as it should, or not as the user may think.
    Warn,
    /// Something does not work.
    Fail,
}

/// What one check found.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The group, such as `Config`.
    pub group: &'static str,
    /// The stable name of the check, such as `config-mode`.
    pub check: &'static str,
    /// Its state.
    pub standing: CheckState,
    /// What was seen.
    pub says: String,
    /// What to do; none if it is valid.
    pub fix: Option<String>,
    /// What `--fix` does.
    pub repair: Option<Repair>,
}

impl Finding {
    /// Adds what `--fix` does about it.
    pub fn repaired_by(&mut self, repair: Repair) {
        self.repair = Some(repair);
    }
}

/// Everything that was found, group by group.
#[derive(Debug, Default)]
pub struct Findings {
    group: &'static str,
    list: Vec<Finding>,
}

impl Findings {
    /// Begins a group.
    pub fn group(&mut self, name: &'static str) {
        self.group = name;
    }

    /// Notes what is valid.
    pub fn ok(&mut self, check: &'static str, says: impl Into<String>) {
        self.add(check, CheckState::Ok, says.into(), None);
    }

    /// Notes what is not as it should be.
    pub fn warn(
        &mut self,
        check: &'static str,
        says: impl Into<String>,
        fix: impl Into<String>,
    ) -> &mut Finding {
        self.add(check, CheckState::Warn, says.into(), Some(fix.into()))
    }

    /// Notes what does not work.
    pub fn fail(
        &mut self,
        check: &'static str,
        says: impl Into<String>,
        fix: impl Into<String>,
    ) -> &mut Finding {
        self.add(check, CheckState::Fail, says.into(), Some(fix.into()))
    }

    fn add(
        &mut self,
        check: &'static str,
        standing: CheckState,
        says: String,
        fix: Option<String>,
    ) -> &mut Finding {
        let fix = fix.map(|fix| to_user(&fix));
        self.list.push(Finding { group: self.group, check, standing, says, fix, repair: None });
        self.list.last_mut().expect("it was just added")
    }

    /// Returns all of them, in the order of the groups.
    pub fn list(&self) -> &[Finding] {
        &self.list
    }

    /// Counts those that are in a way.
    pub fn count(&self, standing: CheckState) -> usize {
        self.list.iter().filter(|finding| finding.standing == standing).count()
    }
}
