//! Every check of an installation, and the repairs of what they find.

use serde_json::{Value, json};

use bailiwick_contract::Failure;

use super::backups::Backups;
use super::finding::{Finding, Findings};
use super::output::CheckView;
use super::service::AskService;
use super::{clients, computer, config, folders, history, scopes, screens, service, tokens};
use crate::installation::home::Home;

/// More rounds than one installation has mistakes that hide others.
const MAX_ROUNDS: usize = 64;

/// What was found, and what was repaired before.
pub struct Examination {
    /// What every check finds now.
    pub found: Findings,
    /// What was found before, and is repaired.
    pub repaired: Vec<Finding>,
    /// The id by which the repairs are taken back.
    pub undo: Option<String>,
}

impl Examination {
    /// Looks at an installation, and changes nothing.
    pub fn at(home: &Home, ask: AskService) -> Self {
        Self { found: look(home, ask), repaired: Vec::new(), undo: None }
    }
}

/// Looks at an installation, and repairs what can be repaired.
///
/// # Errors
/// When a repair cannot be made; what was changed before stays and can be taken back.
pub fn look_and_repair(home: &Home, ask: AskService) -> Result<Examination, Failure> {
    let mut looked = Examination::at(home, ask);
    let mut backups = Backups::begin(&home.dirs.state);
    for _ in 0..MAX_ROUNDS {
        // One after the other: a repair can show what it hid, or fix the next as well.
        let Some(finding) = looked.found.list().iter().find(|it| it.repair.is_some()).cloned() else { break };
        let repair = finding.repair.as_ref().expect("it was chosen for it");
        backups.apply(repair)?;
        looked.repaired.push(finding);
        looked.found = look(home, ask);
    }
    backups.settle();
    looked.undo = backups.id();
    Ok(looked)
}

/// Returns what every check finds, for a program, without what repairs would change.
pub fn found(home: &Home, ask: AskService) -> Value {
    let checks: Vec<CheckView> = look(home, ask).list().iter().map(CheckView::without_repair).collect();
    json!({"checks": checks})
}

/// Makes every check.
fn look(home: &Home, ask: AskService) -> Findings {
    let mut found = Findings::default();
    let config = config::look(home, &mut found);
    tokens::look(home, config.as_ref(), &mut found);
    folders::look(home, &mut found);
    if let Some(config) = &config {
        scopes::look(home, config, &mut found);
    }
    history::look(home, &mut found);
    service::look(home, config.as_ref(), ask, &mut found);
    computer::look(home, config.as_ref(), &mut found);
    screens::look(config.as_ref(), &home.dirs, &mut found);
    clients::look(home, config.as_ref(), &mut found);
    found
}
