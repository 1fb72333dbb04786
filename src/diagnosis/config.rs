//! The config file: its mode, its text, what it says.

use std::fs;
use std::io;
use std::net::IpAddr;

use bailiwick_config::Config;
use bailiwick_platform::fs::{OtherUsers, Protection};
use bailiwick_platform::{machine, paths};

use super::config_fixes::find_fixes;
use super::finding::Findings;
use super::repair::Repair;
use crate::installation::home::Home;
use crate::installation::host::{is_host, is_origin};

/// Looks at the config. Returns it, if it can be read.
pub fn look(home: &Home, found: &mut Findings) -> Option<Config> {
    found.group("Config");
    let path = &home.config_path;
    let shown = path.display();
    let protection = match Protection::of(path) {
        Ok(protection) => protection,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            found.fail(
                "config-there",
                format!("Bailiwick is not set up: there is no {shown}"),
                "Run `bailiwick setup FOLDER` to open a folder.",
            );
            return None;
        }
        Err(error) => {
            found.fail(
                "config-there",
                format!("{shown}: {error}"),
                "Check the folder's owner and permissions.",
            );
            return None;
        }
    };
    let is_exposed = protection.others() == OtherUsers::Change;
    if is_exposed {
        // The mode of a link says nothing; what it leads to is changed where it lies.
        let path = paths::real(path).unwrap_or_else(|_| path.clone());
        let command = Protection::narrowing_command(&home.config_path, false);
        found
            .fail(
                "config-mode",
                format!("other users can change {shown} ({protection}): nothing is served"),
                format!("Run `{command}`, and read whether it still says what you decided."),
            )
            .repaired_by(Repair::Narrow { path, from: protection, is_folder: false });
    }
    let text = fs::read_to_string(path).ok();
    let user_home = machine::home_folder();
    let fixes = text.as_deref().map(|text| find_fixes(text, user_home.as_deref())).unwrap_or_default();
    let is_fixable = !fixes.is_empty();
    for it in fixes {
        found.fail(it.check, format!("{shown}: {}", it.says), it.fix).repaired_by(Repair::Replace {
            path: path.clone(),
            before: text.clone(),
            after: it.after,
        });
    }
    match Config::load(path) {
        Ok(config) => {
            found.ok("config", format!("{shown} is valid; scopes: {}", config.scopes.len()));
            schema(home, &config, found);
            reach(&config, found);
            Some(config)
        }
        // What is wrong is said above, with its repair.
        Err(_) if is_fixable || is_exposed => None,
        Err(error) => {
            found.fail("config", error.to_string(), error.fix);
            None
        }
    }
}

/// The schema that editors complete from.
fn schema(home: &Home, config: &Config, found: &mut Findings) {
    let Some(folder) = home.config_path.parent() else { return };
    if config.schema.as_deref() != Some(&format!("./{}", Config::SCHEMA_FILE)) {
        return;
    }
    let path = folder.join(Config::SCHEMA_FILE);
    let before = fs::read_to_string(&path).ok();
    let after = Config::SCHEMA;
    if before.as_deref() == Some(after) {
        found.ok("config-schema", "editors complete from the schema of this version");
        return;
    }
    let says = if before.is_some() { "is of another version" } else { "is missing" };
    found
        .warn(
            "config-schema",
            format!("{} {says}; editors complete from it", path.display()),
            "Write the schema of this version.",
        )
        .repaired_by(Repair::Replace { path, before, after: after.to_owned() });
}

/// From where the service can be reached.
fn reach(config: &Config, found: &mut Findings) {
    let is_loopback = config.host == "localhost"
        || config.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    if is_loopback {
        found.ok("host", format!("only this computer reaches it ({}, port {})", config.host, config.port));
    } else {
        found.warn(
            "host",
            format!(
                "`host` is {}: other computers reach it, over HTTP that anybody between can read",
                config.host
            ),
            "Set `host` to 127.0.0.1, and put a tunnel or a proxy with TLS in front of it.",
        );
    }
    elsewhere(config, found);
}

/// Under which names a tunnel or a proxy may hand requests on, and whether they need a token.
fn elsewhere(config: &Config, found: &mut Findings) {
    let (hosts, origins) = (&config.http.allowed_hosts, &config.http.allowed_origins);
    let needs_token = !config.http.allow_loopback_without_token;
    if let Some(wrong) = hosts.iter().find(|host| !is_host(host)) {
        found.fail(
            "http-hosts",
            format!("`http.allowedHosts` has `{wrong}`, which is no name: `bailiwick serve` would fail"),
            "Write the name alone, such as `bw.example`, or with a port, such as `bw.example:443`.",
        );
    }
    if let Some(wrong) = origins.iter().find(|origin| !is_origin(origin)) {
        found.warn(
            "http-origins",
            format!("`http.allowedOrigins` has `{wrong}`, which no browser says: it lets nobody in"),
            "Write scheme and name alone, such as `https://app.example`.",
        );
    }
    if !hosts.is_empty() && !needs_token {
        found.fail(
            "tunnel-no-token",
            format!(
                "anyone who reaches {} is allowed in without a token: a tunnel's requests come from this computer",
                hosts.join(", ")
            ),
            "Set `http.allowLoopbackWithoutToken` to false, and give each client a token.",
        );
    } else if !hosts.is_empty() {
        found.ok(
            "tunnel",
            format!("a tunnel or proxy may serve it as {}; a token is needed", hosts.join(", ")),
        );
    } else if !needs_token {
        found.warn(
            "no-token-needed",
            "`http.allowLoopbackWithoutToken` is on: every program and every user of this computer is allowed in",
            "Set it to false, and give each client a token.",
        );
    }
}
