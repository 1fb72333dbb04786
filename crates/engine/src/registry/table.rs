//! The table of families, and finding an operation by name.

use std::collections::HashMap;

use bailiwick_contract::{Failure, fields};
use bailiwick_policy::{Candidate, Catalogue, Scope};

use super::Entry;

/// The operations that share the part of their name before the dot.
pub struct Family {
    /// The part before the dot.
    pub name: &'static str,
    /// What the family is for, in one sentence.
    pub summary: &'static str,
    /// Its operations, in the order of the documents.
    pub operations: &'static [Entry],
}

/// Every operation of this build, by name.
pub struct Registry {
    families: &'static [&'static Family],
    by_name: HashMap<&'static str, &'static Entry>,
}

impl Registry {
    /// Builds the index of a table of families.
    pub fn new(families: &'static [&'static Family]) -> Self {
        let rows = families.iter().flat_map(|family| family.operations);
        Self { families, by_name: rows.map(|entry| (entry.spec.name, entry)).collect() }
    }

    /// Returns the families, in the order of the documents.
    pub fn families(&self) -> &'static [&'static Family] {
        self.families
    }

    /// Returns every operation, in the order of the documents.
    pub fn operations(&self) -> impl Iterator<Item = &'static Entry> {
        self.families.iter().flat_map(|family| family.operations)
    }

    /// Checks that each name in a scope's `askOperations` is one of an operation or a family: nothing would be asked because
    /// of another.
    ///
    /// # Errors
    /// `invalid_request` with the place of the name.
    pub fn check_asked_operations(&self, scope: &Scope) -> Result<(), Failure> {
        for (at, name) in scope.ask_operations().iter().enumerate() {
            let exists = match name.strip_suffix('*') {
                Some(family) => self.operations().any(|entry| entry.spec.name.starts_with(family)),
                None => self.entry(name).is_some(),
            };
            if !exists {
                return Err(Failure::invalid(
                    &format!("policy.askOperations[{at}]"),
                    format!("scope `{}` asks about `{name}`, which is not an operation", scope.id()),
                )
                .hint("`bailiwick client tools` lists the operations."));
            }
        }
        Ok(())
    }

    /// Finds an operation by its exact name.
    pub fn entry(&self, name: &str) -> Option<&'static Entry> {
        self.by_name.get(name).copied()
    }
}

impl Catalogue for Registry {
    fn find(&self, name: &str) -> Option<&dyn Candidate> {
        self.entry(name).map(|entry| entry as &dyn Candidate)
    }

    fn names(&self, canonical: &str) -> Vec<&'static str> {
        let all = self.operations().filter(|entry| entry.canonical_name() == canonical);
        all.map(|entry| entry.spec.name).collect()
    }

    fn nearest(&self, name: &str) -> Vec<&'static str> {
        fields::nearest(name, self.operations().map(|entry| entry.spec.name), 3)
    }
}
