//! What scope and caller grant together.

use bailiwick_contract::{Caller, Capability};

use super::{Scope, Standing};

/// How a scope and a caller stand to each capability, together. Without a scope nothing is granted.
#[derive(Debug, Clone)]
pub struct Grants {
    levels: Vec<Standing>,
    by_scope: Vec<Standing>,
}

impl Grants {
    /// Works out what a caller may do in a scope.
    pub fn of(caller: &Caller, scope: Option<&Scope>) -> Self {
        let in_scope = |it: &Capability| scope.map_or(Standing::Denied, |scope| scope.standing(*it));
        let by_scope: Vec<Standing> = Capability::ALL.iter().map(in_scope).collect();
        let of_both = |(it, standing): (&Capability, &Standing)| {
            if caller.capabilities.allows(*it) { *standing } else { Standing::Denied }
        };
        let levels = Capability::ALL.iter().zip(&by_scope).map(of_both).collect();
        Self { levels, by_scope }
    }

    /// Returns what scope and caller grant together.
    pub fn level(&self, capability: Capability) -> Standing {
        Self::find(&self.levels, capability)
    }

    /// Returns what the scope alone grants.
    pub fn of_scope(&self, capability: Capability) -> Standing {
        Self::find(&self.by_scope, capability)
    }

    /// Returns whether a capability is granted without asking anyone.
    pub fn allows(&self, capability: Capability) -> bool {
        self.level(capability) == Standing::Granted
    }

    /// Returns the best that one of several capabilities gets, with the first that gets it; `None` where all are denied.
    pub fn best_of(&self, group: &[Capability]) -> Option<(Capability, Standing)> {
        [Standing::Granted, Standing::Ask].into_iter().find_map(|wanted| {
            group.iter().find(|it| self.level(**it) == wanted).map(|capability| (*capability, wanted))
        })
    }

    /// Counts capabilities as granted from now on: the user has approved them.
    pub(super) fn approve(&mut self, capabilities: &[Capability]) {
        for (capability, level) in Capability::ALL.iter().zip(&mut self.levels) {
            if *level == Standing::Ask && capabilities.contains(capability) {
                *level = Standing::Granted;
            }
        }
    }

    fn find(levels: &[Standing], capability: Capability) -> Standing {
        let at = Capability::ALL.iter().position(|it| *it == capability);
        at.map_or(Standing::Denied, |at| levels[at])
    }
}
