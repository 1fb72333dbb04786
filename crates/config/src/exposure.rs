//! By which URLs clients elsewhere reach this computer: the one of the config, and that of a tunnel that runs.

use std::io;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::{FileLock, Secrecy, create_private_dir, read_own_file, replace_private_file};

use super::model::Config;
use super::public_url::PublicUrl;

/// The largest note that is read.
const LIMIT_BYTES: u64 = 8_192;
/// The lock that a tunnel has while it runs.
const LOCK: &str = "tunnel.lock";

/// What a tunnel was last seen to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Reachability {
    /// Nobody has tried yet.
    Unchecked,
    /// A round trip through the URL has come back to this computer.
    Reachable,
    /// A round trip has failed.
    Unreachable,
}

/// How a client gets in by a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Authentication {
    /// By a login, or a token.
    Login,
    /// By a token that the tunnel's program adds.
    Token,
}

/// A URL by which clients elsewhere reach this computer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Exposure {
    /// What forwards it: `manual` for the URL of the config, else the tunnel's program.
    pub by: String,
    /// The URL of the MCP endpoint; null where a tunnel has none, or not yet.
    pub url: Option<String>,
    /// How a client gets in.
    pub authentication: Authentication,
    /// What the last round trip has shown.
    pub reachability: Reachability,
    /// When that was, in RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked_at: Option<String>,
    /// Why it is not reachable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The process of `bailiwick tunnel`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_id: Option<u32>,
}

impl Exposure {
    /// Makes that of the config's URL, which nobody has tried.
    pub fn manual(url: &PublicUrl) -> Self {
        Self {
            by: "manual".to_owned(),
            url: Some(url.resource()),
            authentication: Authentication::Login,
            reachability: Reachability::Unchecked,
            checked_at: None,
            problem: None,
            process_id: None,
        }
    }

    /// Returns all that there are, a tunnel that runs first.
    pub fn all(config: &Config, dirs: &Dirs) -> Vec<Self> {
        let manual = config.http.public_base_url.as_ref().map(Self::manual);
        TunnelLock::exposure(dirs).into_iter().chain(manual).collect()
    }

    /// Returns the URL under which clients log in now: that of a tunnel that runs, else that of the config.
    pub fn public_url(config: &Config, dirs: &Dirs) -> Option<PublicUrl> {
        let tunnel = TunnelLock::exposure(dirs).and_then(|tunnel| tunnel.url);
        let tunnel = tunnel.and_then(|url| PublicUrl::try_from(url.trim_end_matches("/mcp").to_owned()).ok());
        tunnel.or_else(|| config.http.public_base_url.clone())
    }
}

/// The right to be this installation's tunnel: one at a time.
pub struct TunnelLock {
    path: PathBuf,
    _lock: FileLock,
}

impl TunnelLock {
    /// Takes it. `None` while another tunnel runs.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn take(dirs: &Dirs) -> io::Result<Option<Self>> {
        create_private_dir(&dirs.runtime)?;
        let lock = FileLock::try_take(&dirs.runtime, LOCK)?;
        Ok(lock.map(|lock| Self { path: path(dirs), _lock: lock }))
    }

    /// Leaves a note of how the tunnel is.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn leave(&self, exposure: &Exposure) -> io::Result<()> {
        let text = serde_json::to_vec(exposure).expect("a note has a JSON form");
        replace_private_file(&self.path, &text)
    }

    /// Reads the note of the tunnel that runs.
    pub fn exposure(dirs: &Dirs) -> Option<Exposure> {
        let (text, _) = read_own_file(&path(dirs), Secrecy::Secret, LIMIT_BYTES).ok()?;
        // A note without a process that has the lock was left by one that was killed.
        let is_left = FileLock::try_take(&dirs.runtime, LOCK).is_ok_and(|lock| lock.is_some());
        if is_left { None } else { serde_json::from_slice(&text).ok() }
    }
}

impl Drop for TunnelLock {
    #[expect(clippy::disallowed_methods, reason = "it is a file of Bailiwick's own")]
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn path(dirs: &Dirs) -> PathBuf {
    dirs.runtime.join("tunnel.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tunnel_is_known_while_its_process_has_the_lock() {
        let home =
            std::env::temp_dir().join(format!("bailiwick-tunnel-{}", bailiwick_contract::id::new_id()));
        let dirs = Dirs::below(home.clone());
        let mut config: Config = serde_json::from_value(serde_json::json!({
            "machineId": "01JD0000000000000000000000", "machineName": "test",
            "http": {"publicBaseUrl": "https://own.example"},
        }))
        .expect("a config");
        let url = |config: &Config| Exposure::public_url(config, &dirs).map(|url| url.origin().to_owned());
        assert_eq!(url(&config).as_deref(), Some("https://own.example"));
        let lock = TunnelLock::take(&dirs).expect("writable").expect("free");
        assert!(TunnelLock::take(&dirs).expect("writable").is_none(), "one at a time");
        let tunnel = Exposure {
            by: "cloudflare".to_owned(),
            url: Some("https://a-b.trycloudflare.com/mcp".to_owned()),
            ..Exposure::manual(&PublicUrl::try_from("https://own.example".to_owned()).expect("a URL"))
        };
        lock.leave(&tunnel).expect("written");
        assert_eq!(url(&config).as_deref(), Some("https://a-b.trycloudflare.com"));
        assert_eq!(Exposure::all(&config, &dirs).len(), 2);
        // Killed, it leaves the note.
        std::fs::copy(path(&dirs), home.join("kept")).expect("copied");
        drop(lock);
        assert_eq!(Exposure::all(&config, &dirs).len(), 1);
        std::fs::rename(home.join("kept"), path(&dirs)).expect("put back");
        assert_eq!(Exposure::all(&config, &dirs).len(), 1, "nobody has the lock");
        config.http.public_base_url = None;
        assert_eq!(url(&config), None);
        bailiwick_platform::fs::remove_tree(&home).expect("removed");
    }
}
