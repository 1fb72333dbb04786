//! The hosts of the package registries that the user's tools are set up for: read from the tools' own settings of the user
//! and the computer, never from a project's.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use bailiwick_platform::machine::home_folder;
use bailiwick_policy::command::HostName;

/// The longest settings file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// A tool that takes packages from a registry.
struct Tool {
    /// Variables that name its registry, or several apart by blanks, commas or bars.
    variables: &'static [&'static str],
    /// Its settings: `~` is the user's home.
    files: &'static [&'static str],
    /// The names in them that hold a registry's address.
    keys: fn(&str) -> bool,
    /// What it uses where nothing is set.
    usual: &'static [&'static str],
    /// Whether what is set is used beside the usual one.
    adds: fn(&str) -> bool,
}

const TOOLS: &[Tool] = &[
    // npm, pnpm, and Yarn before version 2.
    Tool {
        variables: &["npm_config_registry", "NPM_CONFIG_REGISTRY", "YARN_NPM_REGISTRY_SERVER"],
        files: &["~/.npmrc", "~/.yarnrc", "~/.yarnrc.yml", "/etc/npmrc", "/usr/local/etc/npmrc"],
        keys: |key| key == "registry" || key.ends_with(":registry") || key == "npmregistryserver",
        usual: &["registry.npmjs.org", "registry.yarnpkg.com"],
        adds: |key| key.ends_with(":registry"),
    },
    Tool {
        variables: &["PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX"],
        files: &[
            "~/.config/pip/pip.conf",
            "~/.pip/pip.conf",
            "~/Library/Application Support/pip/pip.conf",
            "/etc/pip.conf",
            "~/.config/uv/uv.toml",
            "/etc/uv/uv.toml",
        ],
        keys: |key| matches!(key, "index-url" | "extra-index-url" | "url"),
        usual: &["pypi.org", "files.pythonhosted.org"],
        adds: |key| matches!(key, "extra-index-url" | "url" | "PIP_EXTRA_INDEX_URL" | "UV_INDEX"),
    },
    Tool {
        variables: &[],
        files: &["~/.cargo/config.toml", "~/.cargo/config"],
        keys: |key| matches!(key, "registry" | "index"),
        usual: &["index.crates.io", "static.crates.io"],
        adds: |key| key == "index",
    },
    Tool {
        variables: &["GOPROXY"],
        files: &["~/.config/go/env", "~/Library/Application Support/go/env"],
        keys: |key| key == "goproxy",
        usual: &["proxy.golang.org", "sum.golang.org"],
        adds: |_| false,
    },
];

/// Returns the hosts, each once.
pub fn hosts() -> Vec<String> {
    let home = home_folder();
    hosts_of(home.as_deref(), |name| std::env::var(name).ok(), read)
}

fn read(path: &Path) -> Option<String> {
    // What is no file could be read without an end.
    let file = path.is_file().then(|| File::open(path).ok())??;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn hosts_of(
    home: Option<&Path>,
    variable: impl Fn(&str) -> Option<String>,
    read: impl Fn(&Path) -> Option<String>,
) -> Vec<String> {
    let mut all = BTreeSet::new();
    for tool in TOOLS {
        let mut set: Vec<(String, String)> =
            tool.variables.iter().filter_map(|name| Some(((*name).to_owned(), variable(name)?))).collect();
        for file in tool.files {
            let path = match file.strip_prefix("~/") {
                Some(rest) => home.map(|home| home.join(rest)),
                None => Some(PathBuf::from(file)),
            };
            let text = path.and_then(|path| read(&path)).unwrap_or_default();
            set.extend(settings(&text).filter(|(key, _)| (tool.keys)(key)));
        }
        let mut replaces = false;
        for (key, value) in set {
            let found: Vec<String> = value.split([' ', ',', '|', '\t']).filter_map(host_of).collect();
            replaces |= !found.is_empty() && !(tool.adds)(&key);
            all.extend(found);
        }
        if !replaces {
            all.extend(tool.usual.iter().map(|host| (*host).to_owned()));
        }
    }
    all.into_iter().collect()
}

/// Reads lines of the forms `key = value`, `key value` and `key: value`, which is all that such settings need.
fn settings(text: &str) -> impl Iterator<Item = (String, String)> {
    text.lines().filter_map(|line| {
        let line = line.trim().trim_start_matches("- ");
        if line.starts_with(['#', ';', '/']) {
            return None;
        }
        let (key, value) = match line.split_once('=') {
            Some(pair) => pair,
            None => line.split_once(": ").or_else(|| line.split_once(' '))?,
        };
        let bare = |text: &str| text.trim().trim_matches(['"', '\'']).to_owned();
        Some((bare(key).to_ascii_lowercase(), bare(value)))
    })
}

/// Returns the host of an address, as an entry of the config has it; none for what has no host.
fn host_of(url: &str) -> Option<String> {
    let url = url.trim_matches(['"', '\'', '[', ']']);
    let url = url.strip_prefix("sparse+").or_else(|| url.strip_prefix("registry+")).unwrap_or(url);
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let host = HostName::parse(host)?;
    match (scheme, port) {
        ("http" | "https", None | Some("443" | "80")) => Some(host.to_string()),
        ("http" | "https", Some(port)) => Some(format!("{host}:{}", port.parse::<u16>().ok()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_settings_the_usual_registries_are_named() {
        let found = hosts_of(None, |_| None, |_| None);
        let expected = [
            "files.pythonhosted.org",
            "index.crates.io",
            "proxy.golang.org",
            "pypi.org",
            "registry.npmjs.org",
            "registry.yarnpkg.com",
            "static.crates.io",
            "sum.golang.org",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_mirror_stands_in_place_of_the_usual_registry_and_a_further_one_beside_it() {
        let files = [
            (
                "/home/me/.npmrc",
                "; mine\nregistry=https://npm.corp.example:8443/npm/\n@own:registry = \"https://own.example/\"\n\
                 //npm.corp.example/:_authToken=secret\n",
            ),
            (
                "/home/me/.config/pip/pip.conf",
                "[global]\nextra-index-url = https://user:pass@py.corp.example/simple\n",
            ),
            (
                "/home/me/.cargo/config.toml",
                "[source.crates-io]\nreplace-with = \"corp\"\n[source.corp]\n\
                 registry = \"sparse+https://crates.corp.example/\"\n",
            ),
        ];
        let read = |path: &Path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == path);
            found.map(|(_, text)| (*text).to_owned())
        };
        let variable = |name: &str| (name == "GOPROXY").then(|| "https://go.corp.example,direct".to_owned());
        let expected = [
            "crates.corp.example",
            "files.pythonhosted.org",
            "go.corp.example",
            "npm.corp.example:8443",
            "own.example",
            "py.corp.example",
            "pypi.org",
        ];
        assert_eq!(hosts_of(Some(Path::new("/home/me")), variable, read), expected);
    }
}
