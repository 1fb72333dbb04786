//! Redaction before anything is stored: known forms of secrets never reach the disk.
//!
//! A [`RedactedValue`] text is made here and nowhere else, and the store accepts nothing else. What is
//! replaced becomes `[redacted:kind:hmac8]`; the last part is keyed with a secret of this installation,
//! so that equal secrets can be seen to be equal and nothing else can be learned.
//!
//! The same search finds the secrets in answers of scopes that show handles for them, or marks ([`ScopeSecrets`]).
//!
//! Order: a cheap search for the fixed words of all rules; only the rules whose words occur are run;
//! then whatever looks random. A text is redacted before it is shortened. The words of a command are also
//! judged together, as one line: which of them is secret, often only another one says.

mod command;
mod event;
mod handles;
mod key;
mod placeholder;
mod random;
mod redacted;
mod rules;
mod scan;

pub use handles::{HANDLE, HandleProblem, NotedSecrets, ResolvedText, ScopeSecrets};
pub use redacted::RedactedValue;
pub use scan::Redactor;

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod tests;
