//! What the owner has agreed to and no client has taken yet: approvals of the page, and authorization codes.
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

/// What a code stands for.
#[derive(Debug, Clone)]
pub struct Agreed {
    /// The login that it begins.
    pub login: NewLogin,
    /// The address to which it was sent.
    pub redirect_uri: String,
    /// The SHA-256 of the verifier, in base64url.
    pub challenge: String,
}

/// How the use of a code ended.
#[derive(Debug)]
pub enum Taken {
    /// It was good.
    Agreed(Box<Agreed>),
    /// It had been used before, for the login with this id.
    Used(Option<String>),
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
    agreed: Option<Box<Agreed>>,
    /// The login that came of it.
    login: Option<String>,
}

impl Codes {
    /// Makes a code.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn issue(&self, agreed: Agreed) -> Result<String, getrandom::Error> {
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
        state
            .codes
            .insert(key(&code), Code { made: Instant::now(), agreed: Some(Box::new(agreed)), login: None });
        Ok(code)
    }

    /// Uses up a code.
    pub fn take(&self, code: &str) -> Taken {
        let mut state = self.state();
        let Some(code) = state.codes.get_mut(&key(code)) else { return Taken::Unknown };
        match code.agreed.take() {
            Some(agreed) if code.made.elapsed() < CODE_VALID => Taken::Agreed(agreed),
            Some(_) => Taken::Unknown,
            None => Taken::Used(code.login.clone()),
        }
    }

    /// Notes which login came of a code.
    pub fn became(&self, code: &str, login: &str) {
        if let Some(code) = self.state().codes.get_mut(&key(code)) {
            code.login = Some(login.to_owned());
        }
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
