//! What the owner has approval to and no client has taken yet: approvals of the page, and authorization codes.
//!
//! Everything here was made after the owner's proof, so strangers cannot fill it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use bailiwick_config::NewLogin;
use bailiwick_contract::hex;

/// How long a code may be exchanged.
const CODE_VALID: Duration = Duration::from_secs(60);
/// How long a used code is remembered, so that its second use is noticed.
const REMEMBERED: Duration = Duration::from_secs(600);
/// How long the owner may think about what to allow.
const PROOF_VALID: Duration = Duration::from_secs(600);
/// How many of each there are at most; the oldest gives way.
const MAX: usize = 64;

/// What the owner has allowed, for which a client gets a code.
#[derive(Debug, Clone)]
pub struct Approval {
    /// The login that it begins.
    pub login: NewLogin,
    /// The address to which it was sent.
    pub redirect_uri: String,
    /// The SHA-256 of the verifier, in base64url.
    pub challenge: String,
}

/// How the use of a code ended.
#[derive(Debug)]
pub enum CodeUse {
    /// It was good.
    First(Box<Approval>),
    /// It had been used before, for the login with this id.
    Again(Option<String>),
    /// There is none, or its time is over.
    Unknown,
}

/// The codes and proofs of a service.
#[derive(Debug, Default)]
pub struct Codes {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// By the SHA-256 of the code.
    codes: HashMap<[u8; 32], Code>,
    /// When the owner gave proof, by the id of the request.
    proofs: HashMap<String, Instant>,
}

#[derive(Debug)]
struct Code {
    made: Instant,
    approval: Option<Box<Approval>>,
    /// The login that came of it.
    login: Option<String>,
    /// Whether it was used a second time.
    is_reused: bool,
}

impl Codes {
    /// Creates a code.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn issue(&self, approval: Approval) -> Result<String, getrandom::Error> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes)?;
        let code = hex(&bytes);
        let mut state = self.state();
        state.codes.retain(|_, code| code.made.elapsed() < REMEMBERED);
        if state.codes.len() >= MAX
            && let Some(oldest) = state.codes.iter().min_by_key(|(_, code)| code.made).map(|(key, _)| *key)
        {
            state.codes.remove(&oldest);
        }
        state.codes.insert(
            key(&code),
            Code { made: Instant::now(), approval: Some(Box::new(approval)), login: None, is_reused: false },
        );
        Ok(code)
    }

    /// Uses up a code.
    pub fn take(&self, code: &str) -> CodeUse {
        let mut state = self.state();
        let Some(code) = state.codes.get_mut(&key(code)) else { return CodeUse::Unknown };
        match code.approval.take() {
            Some(approval) if code.made.elapsed() < CODE_VALID => CodeUse::First(approval),
            Some(_) => CodeUse::Unknown,
            None => {
                code.is_reused = true;
                CodeUse::Again(code.login.clone())
            }
        }
    }

    /// Notes which login came of a code. Returns whether that login may stay: the code was not used again meanwhile.
    pub fn set_login(&self, code: &str, login: &str) -> bool {
        self.state().codes.get_mut(&key(code)).is_some_and(|code| {
            code.login = Some(login.to_owned());
            !code.is_reused
        })
    }

    /// Notes that the owner gave proof for a request.
    pub fn prove(&self, request: &str) {
        let mut state = self.state();
        state.proofs.retain(|_, at| at.elapsed() < PROOF_VALID);
        if state.proofs.len() >= MAX
            && let Some(oldest) = state.proofs.iter().min_by_key(|(_, at)| **at).map(|(id, _)| id.clone())
        {
            state.proofs.remove(&oldest);
        }
        state.proofs.insert(request.to_owned(), Instant::now());
    }

    /// Uses up the owner's proof for a request. Returns whether there was one.
    pub fn take_proof(&self, request: &str) -> bool {
        self.state().proofs.remove(request).is_some_and(|at| at.elapsed() < PROOF_VALID)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(code: &str) -> [u8; 32] {
    Sha256::digest(code.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn approval() -> Approval {
        let text = String::new;
        let login = NewLogin {
            name: text(),
            scopes: Vec::new(),
            capabilities: Vec::new(),
            client_id: text(),
            redirect_host: text(),
            resource: text(),
        };
        Approval { login, redirect_uri: text(), challenge: text() }
    }

    #[test]
    fn a_code_that_is_used_again_before_its_login_is_there_ends_that_login() {
        let codes = Codes::default();
        let code = codes.issue(approval()).expect("a code");
        assert!(matches!(codes.take(&code), CodeUse::First(_)));
        assert!(matches!(codes.take(&code), CodeUse::Again(None)));
        assert!(!codes.set_login(&code, "login"));
        let code = codes.issue(approval()).expect("a code");
        assert!(matches!(codes.take(&code), CodeUse::First(_)));
        assert!(codes.set_login(&code, "login"));
        assert!(matches!(codes.take(&code), CodeUse::Again(Some(login)) if login == "login"));
        assert!(matches!(codes.take("other"), CodeUse::Unknown));
    }

    #[test]
    fn what_the_owner_agrees_to_is_bounded_and_a_proof_is_used_once() {
        let codes = Codes::default();
        for number in 0..2 * MAX {
            codes.issue(approval()).expect("a code");
            codes.prove(&number.to_string());
        }
        assert!(codes.state().codes.len() <= MAX && codes.state().proofs.len() <= MAX);
        let last = (2 * MAX - 1).to_string();
        assert!(codes.take_proof(&last) && !codes.take_proof(&last));
    }
}
