//! What the policy judges: a request, who sent it, and the scopes and operations that exist.

use std::any::Any;

use bailiwick_contract::{
    Access, Caller, Capability, CommandInput, CommonOptions, Envelope, Failure, OperationSpec, RawPath,
};

use super::{Approval, Scopes, UntrustedRead};

/// One request before judgement.
pub struct Case<'a> {
    /// Who asks.
    pub caller: &'a Caller,
    /// What is asked.
    pub envelope: &'a Envelope,
    /// The scopes of this computer.
    pub scopes: &'a Scopes,
    /// The operations of this build.
    pub catalogue: &'a dyn Catalogue,
    /// What the user has approved, as far as it was taken for this request.
    pub approvals: &'a [Approval],
    /// What the caller has read in the last day that anybody may have written, oldest first; one for each scope. Only scopes with
    /// `afterUntrusted` look at it.
    pub untrusted: &'a [UntrustedRead],
    /// The handles of secrets that the request gives to a command or process; their values are in the envelope already.
    pub secret_handles: &'a [String],
    /// Whether the service takes back what a batch has changed that was permitted: nothing is asked about again. No client
    /// can say so.
    pub is_rollback: bool,
}

/// The operations that exist, as far as the policy needs to know them.
pub trait Catalogue: Sync {
    /// Finds an operation by its exact name.
    fn find(&self, name: &str) -> Option<&dyn Candidate>;
    /// Returns all names of an operation, by its canonical one.
    fn names(&self, canonical: &str) -> Vec<&'static str>;
    /// Returns names near to a misspelt one, best first.
    fn nearest(&self, name: &str) -> Vec<&'static str>;
}

/// One operation, as far as the policy needs to know it.
pub trait Candidate: Sync {
    /// Its description.
    fn spec(&self) -> &'static OperationSpec;
    /// Returns the name of the operation that this is another name of; its own where it is none.
    fn canonical_name(&self) -> &'static str;
    /// Reads `input` and `options` into the operation's types.
    ///
    /// # Errors
    /// `invalid_request` that names the field.
    fn parse(&self, envelope: &Envelope) -> Result<ParsedArguments, Failure>;
}

/// An operation's `input` and `options` after parsing.
pub struct ParsedArguments {
    /// The operation's own typed input and options.
    pub fields: Box<dyn Any + Send + Sync>,
    /// The paths in them that must be permitted for the call to continue.
    pub paths: Vec<InputPath>,
    /// The capabilities that they need beyond those of the operation.
    pub needs: Vec<Need>,
    /// The command in them that must be permitted for the call to continue.
    pub command: Option<CommandInput>,
    /// The shared options.
    pub common: CommonOptions,
}

/// A path inside `input` that the policy judges like the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputPath {
    /// The field that holds it, such as `input.to`.
    pub field: &'static str,
    /// The path as written.
    pub path: RawPath,
    /// What is done with it.
    pub access: Access,
}

/// A capability that a given field needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// The field, such as `options.sandbox`.
    pub field: &'static str,
    /// The capability.
    pub capability: Capability,
    /// What needs it, as the beginning of a sentence.
    pub what: &'static str,
    /// What the caller can do without it, as a sentence.
    pub instead: &'static str,
}
