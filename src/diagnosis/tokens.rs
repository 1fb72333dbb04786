//! The tokens: their file, their ends, what they open.

use bailiwick_config::{Config, Tokens};
use bailiwick_contract::time;
use bailiwick_platform::fs::modes::HAS_BITS;
use bailiwick_platform::fs::{OtherUsers, Protection};
use bailiwick_platform::quoting::quote;

use super::finding::Findings;
use super::repair::Repair;
use crate::installation::home::Home;

/// A token that ends within this time is named.
const SOON_MS: i64 = 7 * 24 * 3_600 * 1_000;

/// Looks at the tokens.
pub fn look(home: &Home, config: Option<&Config>, found: &mut Findings) {
    found.group("Tokens");
    let path = Tokens::path(&home.dirs);
    let tokens = match Tokens::load(&home.dirs) {
        Ok(tokens) => tokens,
        Err(error) => {
            let finding =
                found.fail("tokens", format!("{error}: nobody is allowed in by a token"), error.fix);
            let protection = Protection::of_name(&path).ok().filter(|it| it.others() != OtherUsers::Nothing);
            if let Some(from) = protection.filter(|_| path.is_file()) {
                finding.repaired_by(Repair::Narrow { path, from, is_folder: false });
            }
            return;
        }
    };
    if tokens.records().is_empty() {
        found.ok("tokens", "there is none; only clients over HTTP need one (`bailiwick token create NAME`)");
        return;
    }
    let now_ms = time::now_ms();
    let mut in_order = 0;
    for token in tokens.records() {
        let name = &token.name;
        // A login is renewed by its client, or begun again.
        let is_login = token.login.is_some();
        if is_login && token.is_expired(now_ms) {
            continue;
        }
        if token.is_expired(now_ms) {
            found.warn(
                "token-expired",
                format!("the token `{name}` has expired: it opens nothing any more"),
                format!("Run `bailiwick token revoke {name}`, and create another one if a client needs it."),
            );
            continue;
        }
        if !is_login && token.is_expired(now_ms + SOON_MS) {
            found.warn(
                "token-expires",
                format!("the token `{name}` expires at {}", token.expires_at.as_deref().unwrap_or("?")),
                format!("Make another one in time: `bailiwick token create {name}-2`."),
            );
        }
        let unknown = token.scopes.iter().find(|id| {
            *id != "*" && config.is_some_and(|config| !config.scopes.iter().any(|scope| scope.id == **id))
        });
        if let Some(id) = unknown {
            found.warn(
                "token-scope",
                format!("the token `{name}` names the scope `{id}`, which is not there"),
                format!(
                    "Run `bailiwick token revoke {}`, and create it again for scopes that are there.",
                    quote(name)
                ),
            );
            continue;
        }
        in_order += 1;
    }
    if in_order > 0 {
        found.ok(
            "tokens",
            format!(
                "valid: {in_order} of {}; their file is {}",
                tokens.records().len(),
                if HAS_BITS { "private (0600)" } else { "yours alone" }
            ),
        );
    }
}
