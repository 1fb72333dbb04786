//! How clients reach an installation.

use std::env;
use std::path::Path;

use bailiwick_config::Config;
use bailiwick_platform::dirs::System;

use crate::installation::home::Home;
use crate::installation::own_program::own_program;
use crate::installation::running::RunningNote;

/// What a client needs to know.
#[derive(Debug, Clone)]
pub struct Connection {
    /// The program that a client starts, by its absolute path.
    pub command: String,
    /// The program's arguments.
    pub arguments: Vec<String>,
    /// The variables that the program needs.
    pub environment: Vec<(String, String)>,
    /// The URL of the MCP endpoint.
    pub url: String,
}

impl Connection {
    /// Finds out how clients reach an installation.
    pub fn new(home: &Home, config: &Config) -> Self {
        let command = env::current_exe()
            .map_or_else(|_| "bailiwick".to_owned(), |path| own_program(&path).display().to_string());
        let mut arguments = vec!["mcp".to_owned()];
        if home.config_is_named {
            arguments.extend(["--config".to_owned(), home.config_path.display().to_string()]);
        }
        let set = |name: &str| env::var(name).ok().filter(|value| Path::new(value).is_absolute());
        // A client may be started without what this terminal has set, and many pass none of it on.
        let names: &[&str] = match set("BAILIWICK_HOME") {
            Some(_) => &["BAILIWICK_HOME"],
            None if home.config_is_named => &[],
            None if System::THIS == System::Linux => &["XDG_CONFIG_HOME", "XDG_STATE_HOME"],
            None => &[],
        };
        let environment = names.iter().filter_map(|name| Some(((*name).to_owned(), set(name)?)));
        // A service that runs listens where it was told to, which can be elsewhere than the config says.
        let url = RunningNote::of_running(home)
            .map_or_else(|| url(config.http.tls.is_some(), &config.host, config.port), |note| note.url);
        Self { command, arguments, environment: environment.collect(), url }
    }

    /// Returns the program that a client starts, by its absolute path.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Returns the program's arguments.
    pub fn arguments(&self) -> &[String] {
        &self.arguments
    }

    /// Returns the variables that the program needs.
    pub fn environment(&self) -> &[(String, String)] {
        &self.environment
    }

    /// Returns the URL of the MCP endpoint.
    pub fn url(&self) -> &str {
        &self.url
    }
}

/// Returns the URL of the MCP endpoint as a client on this computer reaches it.
pub fn url(is_encrypted: bool, host: &str, port: u16) -> String {
    let scheme = if is_encrypted { "https" } else { "http" };
    let host = match host {
        "0.0.0.0" => "127.0.0.1",
        "::" => "[::1]",
        other => other,
    };
    if host.contains(':') && !host.starts_with('[') {
        format!("{scheme}://[{host}]:{port}/mcp")
    } else {
        format!("{scheme}://{host}:{port}/mcp")
    }
}
