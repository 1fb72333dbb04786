//! What scope and caller grant together.

use bailiwick_contract::{Caller, Capability};

use super::{CapabilityStatus, Scope};

/// How a scope and a caller stand to each capability, together. Without a scope nothing is granted.
#[derive(Debug, Clone)]
pub struct Grants {
    levels: Vec<CapabilityStatus>,
    by_scope: Vec<CapabilityStatus>,
}

impl Grants {
    /// Works out what a caller may do in a scope.
    pub fn of(caller: &Caller, scope: Option<&Scope>) -> Self {
        let in_scope = |it: &Capability| scope.map_or(CapabilityStatus::Denied, |scope| scope.standing(*it));
        let by_scope: Vec<CapabilityStatus> = Capability::ALL.iter().map(in_scope).collect();
        let of_both = |(it, standing): (&Capability, &CapabilityStatus)| {
            if caller.capabilities.allows(*it) { *standing } else { CapabilityStatus::Denied }
        };
        let levels = Capability::ALL.iter().zip(&by_scope).map(of_both).collect();
        Self { levels, by_scope }
    }

    /// Returns what scope and caller grant together.
    pub fn level(&self, capability: Capability) -> CapabilityStatus {
        Self::find(&self.levels, capability)
    }

    /// Returns what the scope alone grants.
    pub fn of_scope(&self, capability: Capability) -> CapabilityStatus {
        Self::find(&self.by_scope, capability)
    }

    /// Returns whether a capability is granted without asking anyone.
    pub fn allows(&self, capability: Capability) -> bool {
        self.level(capability) == CapabilityStatus::Granted
    }

    /// Returns the best that one of several capabilities gets, with the first that gets it; `None` where all are denied.
    pub fn best_of(&self, group: &[Capability]) -> Option<(Capability, CapabilityStatus)> {
        [CapabilityStatus::Granted, CapabilityStatus::Ask].into_iter().find_map(|wanted| {
            group.iter().find(|it| self.level(**it) == wanted).map(|capability| (*capability, wanted))
        })
    }

    /// Counts capabilities as granted from now on: the user has approved them.
    pub(super) fn approve(&mut self, capabilities: &[Capability]) {
        for (capability, level) in Capability::ALL.iter().zip(&mut self.levels) {
            if *level == CapabilityStatus::Ask && capabilities.contains(capability) {
                *level = CapabilityStatus::Granted;
            }
        }
    }

    fn find(levels: &[CapabilityStatus], capability: Capability) -> CapabilityStatus {
        let at = Capability::ALL.iter().position(|it| *it == capability);
        at.map_or(CapabilityStatus::Denied, |at| levels[at])
    }
}
