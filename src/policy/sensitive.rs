//! The one list of sensitive files, used by read, search, find, list and copy alike.
//!
//! Names are folded before they are compared: case, and characters that some file systems ignore,
//! make no difference, on any platform.

use std::borrow::Cow;
use std::sync::LazyLock;

/// How a row's text is compared with one folded name of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The whole name.
    Name(&'static str),
    /// The beginning of the name.
    Start(&'static str),
    /// The end of the name.
    End(&'static str),
    /// Beginning and end.
    Both(&'static str, &'static str),
    /// The name, inside a folder of the given name.
    In(&'static str, &'static str),
}

/// One row: which names are closed, and why.
#[derive(Debug, Clone, Copy)]
pub struct SensitiveRow {
    form: Form,
    /// What such files hold; the rule that a denial names.
    pub rule: &'static str,
    /// Names that match and must be closed, for the test of the row.
    pub samples: &'static [&'static str],
}

const fn row(form: Form, rule: &'static str, samples: &'static [&'static str]) -> SensitiveRow {
    SensitiveRow { form, rule, samples }
}

/// Every row. A name that matches is closed, and so is everything in a folder of that name.
pub const SENSITIVE: &[SensitiveRow] = &[
    row(Form::Name(".env"), "environment-file", &[".env", ".ENV", "app/.env"]),
    row(Form::Start(".env."), "environment-file", &[".env.local", ".env.production"]),
    row(Form::End(".env"), "environment-file", &["prod.env"]),
    row(Form::Name(".envrc"), "environment-file", &[".envrc"]),
    row(Form::End(".pem"), "private-key", &["server.pem", "SERVER.PEM"]),
    row(Form::End(".key"), "private-key", &["server.key"]),
    row(Form::End(".p12"), "private-key", &["id.p12"]),
    row(Form::End(".pfx"), "private-key", &["id.pfx"]),
    row(Form::End(".p8"), "private-key", &["AuthKey.p8"]),
    row(Form::End(".jks"), "private-key", &["store.jks"]),
    row(Form::End(".keystore"), "private-key", &["debug.keystore"]),
    row(Form::End(".ppk"), "private-key", &["putty.ppk"]),
    row(Form::Start("id_rsa"), "private-key", &["id_rsa", "id_rsa.bak"]),
    row(Form::Start("id_dsa"), "private-key", &["id_dsa"]),
    row(Form::Start("id_ecdsa"), "private-key", &["id_ecdsa"]),
    row(Form::Start("id_ed25519"), "private-key", &["id_ed25519"]),
    row(Form::Name(".ssh"), "private-key", &[".ssh/config", ".ssh"]),
    row(Form::Name(".gnupg"), "private-key", &[".gnupg/secring.gpg"]),
    row(Form::End(".kdbx"), "password-store", &["passwords.kdbx"]),
    row(Form::Name(".password-store"), "password-store", &[".password-store/mail.gpg"]),
    row(Form::Name(".git-credentials"), "credentials", &[".git-credentials"]),
    row(Form::In(".git", "config"), "credentials", &[".git/config", "sub/.GIT/Config"]),
    row(Form::In(".git", "credentials"), "credentials", &[".git/credentials"]),
    row(Form::Name(".netrc"), "credentials", &[".netrc"]),
    row(Form::Name("_netrc"), "credentials", &["_netrc"]),
    row(Form::Name(".pgpass"), "credentials", &[".pgpass"]),
    row(Form::Name(".my.cnf"), "credentials", &[".my.cnf"]),
    row(Form::Name(".npmrc"), "credentials", &[".npmrc"]),
    row(Form::Name(".pypirc"), "credentials", &[".pypirc"]),
    row(Form::Name(".htpasswd"), "credentials", &[".htpasswd"]),
    row(Form::Name(".dockercfg"), "credentials", &[".dockercfg"]),
    row(Form::Name(".docker"), "credentials", &[".docker/config.json"]),
    row(Form::Name(".aws"), "credentials", &[".aws/credentials"]),
    row(Form::Name(".azure"), "credentials", &[".azure/accessTokens.json"]),
    row(Form::Name(".kube"), "credentials", &[".kube/config"]),
    row(Form::Name("kubeconfig"), "credentials", &["kubeconfig"]),
    row(Form::Name("gcloud"), "credentials", &[".config/gcloud/credentials.db"]),
    row(Form::Name(".vault-token"), "credentials", &[".vault-token"]),
    row(Form::Name(".terraformrc"), "credentials", &[".terraformrc"]),
    row(Form::Name("terraform.tfstate"), "credentials", &["terraform.tfstate"]),
    row(Form::Name("credentials"), "credentials", &["credentials"]),
    row(Form::Both("credentials.", ".json"), "credentials", &["credentials.prod.json"]),
    row(Form::Name("credentials.json"), "credentials", &["credentials.json"]),
    row(Form::Name("credentials.toml"), "credentials", &[".cargo/credentials.toml"]),
    row(Form::Name("credentials.yml"), "credentials", &["credentials.yml"]),
    row(Form::Name("credentials.yaml"), "credentials", &["credentials.yaml"]),
    row(Form::Name("credentials.yml.enc"), "credentials", &["config/credentials.yml.enc"]),
    row(Form::Both("service-account", ".json"), "credentials", &["service-account-prod.json"]),
    row(Form::Both("service_account", ".json"), "credentials", &["service_account.json"]),
    row(Form::Start("secrets."), "secrets", &["secrets.yaml", "Secrets.JSON"]),
    row(Form::Name(".secrets"), "secrets", &[".secrets"]),
    row(Form::End(".secret"), "secrets", &["token.secret"]),
    row(Form::Name("master.key"), "secrets", &["config/master.key"]),
    // Programs that stand here are started by AI clients, outside every sandbox; tokens stand here too.
    row(Form::Name(".mcp.json"), "client-settings", &[".mcp.json", "sub/.MCP.json"]),
    row(Form::Name(".claude.json"), "client-settings", &[".claude.json"]),
    row(Form::Name("claude_desktop_config.json"), "client-settings", &["claude_desktop_config.json"]),
    row(Form::Name("mcp_config.json"), "client-settings", &[".codeium/windsurf/mcp_config.json"]),
    row(Form::In(".claude", "settings.json"), "client-settings", &[".claude/settings.json"]),
    row(Form::In(".claude", "settings.local.json"), "client-settings", &[".claude/settings.local.json"]),
    row(Form::In(".codex", "config.toml"), "client-settings", &[".codex/config.toml"]),
    row(Form::In(".cursor", "mcp.json"), "client-settings", &[".cursor/mcp.json", "a/.Cursor/MCP.json"]),
    row(Form::In(".gemini", "settings.json"), "client-settings", &[".gemini/settings.json"]),
    row(Form::In(".vscode", "mcp.json"), "client-settings", &[".vscode/mcp.json"]),
    row(Form::In(".zed", "settings.json"), "client-settings", &[".zed/settings.json"]),
];

/// Names that match a row and are open all the same: they are made to be shared.
const SHARED: &[Form] = &[
    Form::Both(".env.", "example"),
    Form::Both(".env.", "sample"),
    Form::Both(".env.", "template"),
    Form::Both(".env.", "dist"),
    Form::Both("id_", ".pub"),
];

impl SensitiveRow {
    /// Shows which names the row closes, as a glob.
    pub fn pattern(&self) -> String {
        self.form.pattern()
    }
}

/// Shows the names that are open although a row matches them, as globs.
pub fn shared_patterns() -> Vec<String> {
    SHARED.iter().map(|form| form.pattern()).collect()
}

impl Form {
    fn pattern(self) -> String {
        match self {
            Self::Name(text) => text.to_owned(),
            Self::Start(text) => format!("{text}*"),
            Self::End(text) => format!("*{text}"),
            Self::Both(start, end) => format!("{start}*{end}"),
            Self::In(folder, text) => format!("{folder}/{text}"),
        }
    }

    /// Gives the byte that every name which it matches begins with; `None` if there is no such byte.
    fn first_byte(self) -> Option<u8> {
        match self {
            Self::Name(text) | Self::Start(text) | Self::Both(text, _) | Self::In(_, text) => {
                text.bytes().next()
            }
            Self::End(_) => None,
        }
    }

    fn matches(self, parent: Option<&[u8]>, name: &[u8]) -> bool {
        match self {
            Self::Name(text) => name == text.as_bytes(),
            Self::Start(text) => name.starts_with(text.as_bytes()),
            Self::End(text) => name.ends_with(text.as_bytes()),
            Self::Both(start, end) => {
                name.len() >= start.len() + end.len()
                    && name.starts_with(start.as_bytes())
                    && name.ends_with(end.as_bytes())
            }
            Self::In(folder, text) => name == text.as_bytes() && parent == Some(folder.as_bytes()),
        }
    }
}

/// Finds the rule that closes a name in a folder; both must be folded.
pub(super) fn rule_for(parent: Option<&[u8]>, name: &[u8]) -> Option<&'static str> {
    let row = likely_rows(name).find(|row| row.form.matches(parent, name))?;
    let shared = SHARED.iter().any(|form| form.matches(parent, name));
    (!shared).then_some(row.rule)
}

/// Gives the rows that can match a name, by its first byte, in the order of the table.
fn likely_rows(name: &[u8]) -> impl Iterator<Item = &'static SensitiveRow> {
    /// A bit for each row.
    static BY_FIRST_BYTE: LazyLock<Box<[u128; 256]>> = LazyLock::new(|| {
        let mut masks = Box::new([0; 256]);
        for (at, row) in SENSITIVE.iter().enumerate() {
            match row.form.first_byte() {
                Some(byte) => masks[usize::from(byte)] |= 1 << at,
                None => masks.iter_mut().for_each(|mask| *mask |= 1 << at),
            }
        }
        masks
    });
    const { assert!(SENSITIVE.len() <= 128, "a row has a bit of the mask") };
    let mut left = name.first().map_or(0, |byte| BY_FIRST_BYTE[usize::from(*byte)]);
    std::iter::from_fn(move || {
        let row = SENSITIVE.get(left.trailing_zeros() as usize)?;
        left &= left - 1;
        Some(row)
    })
}

/// Folds a name for comparison: upper and lower case are one, ignored characters vanish.
///
/// # Source
/// The code points that HFS+ ignores: U+200C–200F, U+202A–202E, U+206A–206F, U+FEFF (Apple TN1150).
/// Upper-casing first brings ſ to s and the Kelvin sign to k.
pub(super) fn fold(name: &[u8]) -> Cow<'_, [u8]> {
    if name.iter().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        return Cow::Borrowed(name);
    }
    let mut folded = Vec::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        let kept = chunk.valid().chars().filter(|c| {
            !matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
        });
        let mut buffer = [0; 4];
        for lower in kept.flat_map(char::to_uppercase).flat_map(char::to_lowercase) {
            folded.extend_from_slice(lower.encode_utf8(&mut buffer).as_bytes());
        }
        folded.extend_from_slice(chunk.invalid());
    }
    Cow::Owned(folded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::fs::RelPath;

    fn closed(path: &str) -> Option<&'static str> {
        let path = RelPath::parse(path.as_bytes()).expect("a good path");
        let mut parent: Option<Cow<'_, [u8]>> = None;
        for name in path.components() {
            let name = fold(name);
            if let Some(rule) = rule_for(parent.as_deref(), &name) {
                return Some(rule);
            }
            parent = Some(name);
        }
        None
    }

    #[test]
    fn every_row_closes_its_samples() {
        for row in SENSITIVE {
            for sample in row.samples {
                assert!(closed(sample).is_some(), "{sample} must be closed");
            }
        }
    }

    #[test]
    fn other_spellings_are_closed_too() {
        for path in
            [".ENV", ".\u{200c}env", ".env\u{feff}", "ſecrets.json", "server.\u{212a}ey", ".Git/CONFIG"]
        {
            assert!(closed(path).is_some(), "{path:?} must be closed");
        }
    }

    #[test]
    fn ordinary_files_are_open() {
        for path in [
            "src/main.rs",
            ".env.example",
            ".env.local.sample",
            "id_rsa.pub",
            "environment.rs",
            "keys.rs",
            ".github/workflows/ci.yml",
            ".gitignore",
            "src/config",
            "secretsauce.md",
            "docs/monkey.md",
        ] {
            assert_eq!(closed(path), None, "{path} must be open");
        }
    }
}
