//! Whether Codex is logged in: looked up where it keeps that, without asking anyone and without keeping anything.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use bailiwick_contract::{ErrorCode, FOR_USER, Failure, SCOPE};
use bailiwick_platform::fs::{OwnFileError, Secrecy, read_own_file};
use bailiwick_platform::machine::home_folder;

use super::settings::Provider;

/// The variables by which Codex takes a login that is in no file.
pub(super) const LOGIN_VARIABLES: &[&str] = &["CODEX_API_KEY", "CODEX_ACCESS_TOKEN"];
/// The file of the login in Codex's home.
pub(super) const AUTH_FILE: &str = "auth.json";
/// The largest such file that is read.
const LIMIT_BYTES: u64 = 1 << 20;

/// By what Codex is allowed in at its provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Login {
    /// An account; Codex renews what it keeps of it.
    Account,
    /// A key in its file.
    KeyFile,
    /// A key in the environment of the scope.
    Environment,
    /// A provider that takes no login of Codex.
    OwnProvider,
}

impl Login {
    /// Returns the name in results.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Account => "account",
            Self::KeyFile => "apiKey",
            Self::Environment => "environment",
            Self::OwnProvider => "provider",
        }
    }

    /// Finds out by what Codex would be let in.
    ///
    /// # Errors
    /// `provider_unavailable` with the rule `codex-logged-out`.
    pub(super) fn find(
        person: &Path,
        provider: &Provider,
        environment: &BTreeMap<String, String>,
    ) -> Result<Self, Failure> {
        let is_set = |name: &str| environment.get(name).is_some_and(|value| !value.is_empty());
        if let Some(name) = &provider.key_variable {
            return match is_set(name) {
                true => Ok(Self::Environment),
                false => Err(logged_out(format!("the key of its model provider is not set: `{name}`"))
                    .hint(format!("{FOR_USER}`bailiwick scope edit {SCOPE} --env {name}=KEY` sets it."))),
            };
        }
        if !provider.needs_login {
            return Ok(Self::OwnProvider);
        }
        if LOGIN_VARIABLES.iter().any(|name| is_set(name)) {
            return Ok(Self::Environment);
        }
        match read_own_file(&person.join(AUTH_FILE), Secrecy::Guarded, LIMIT_BYTES) {
            Ok((content, _)) => kind(&content),
            Err(OwnFileError::NotFound) => None,
            Err(error) => {
                return Err(logged_out(format!("its login cannot be read: {error}"))
                    .hint("For the user: run `codex login`."));
            }
        }
        .ok_or_else(|| {
            logged_out("there is no login".to_owned()).hint("For the user: run `codex login`.").hint(
                "For the user: a login in the system's keyring cannot be reached from here; \
                     `cli_auth_credentials_store = \"file\"` in Codex's config.toml keeps it in a file.",
            )
        })
    }
}

/// Returns what kind of login a file holds.
fn kind(content: &[u8]) -> Option<Login> {
    let login: Value = serde_json::from_slice(content).ok()?;
    let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    if is_text(&login["tokens"]["access_token"]) || is_text(&login["tokens"]["refresh_token"]) {
        return Some(Login::Account);
    }
    is_text(&login["OPENAI_API_KEY"]).then_some(Login::KeyFile)
}

fn logged_out(why: String) -> Failure {
    Failure::new(ErrorCode::ProviderUnavailable, format!("Codex is not logged in: {why}"))
        .detail("rule", "codex-logged-out")
}

/// Returns the user's own Codex home: what the scope's environment names, or `.codex` in their home.
pub(super) fn person_home(environment: &BTreeMap<String, String>) -> Option<PathBuf> {
    let named = environment.get("CODEX_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    named.or_else(|| home_folder().map(|home| home.join(".codex")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_is_known_by_what_the_file_holds() {
        assert_eq!(kind(br#"{"tokens":{"access_token":"a","refresh_token":"b"}}"#), Some(Login::Account));
        assert_eq!(kind(br#"{"auth_mode":"apikey","OPENAI_API_KEY":"sk"}"#), Some(Login::KeyFile));
        for nothing in ["", "{}", "[]", r#"{"OPENAI_API_KEY":null}"#, r#"{"tokens":{"access_token":""}}"#] {
            assert_eq!(kind(nothing.as_bytes()), None, "{nothing}");
        }
    }

    #[test]
    fn a_provider_with_a_key_of_its_own_needs_it_in_the_environment() {
        let nowhere = Path::new("/nonexistent");
        let own =
            |key: Option<&str>, needs_login| Provider { key_variable: key.map(str::to_owned), needs_login };
        let environment = BTreeMap::from([("KEY".to_owned(), "k".to_owned())]);
        let find = |provider| Login::find(nowhere, &provider, &environment);
        assert_eq!(find(own(Some("KEY"), false)).expect("set"), Login::Environment);
        assert_eq!(find(own(None, false)).expect("none needed"), Login::OwnProvider);
        for provider in [own(Some("OTHER"), false), own(None, true)] {
            let failure = find(provider).expect_err("there is no login");
            assert_eq!(failure.rule(), Some("codex-logged-out"));
        }
    }
}
