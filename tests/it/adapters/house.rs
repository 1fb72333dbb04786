//! A service in a temporary folder, with tokens, behind the transports.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use bailiwick::adapters::auth::KeyRing;
use bailiwick::adapters::backend::{Backend, Embedded};
use bailiwick::adapters::http::{HttpSettings, Server};
use bailiwick::adapters::socket;
use bailiwick::config::{Config, NewToken, Tokens};
use bailiwick::contract::{Caller, Transport, time};
use bailiwick::platform::dirs::Dirs;
use bailiwick::platform::fs::modes::symlink;
use bailiwick::platform::fs::replace_private_file;
use bailiwick::service::{Service, ServiceSettings};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::system::Need;
use crate::temporary::TemporaryFolder;

/// A service and what it is made of.
pub struct House {
    pub dirs: Dirs,
    pub config: Config,
    pub service: Arc<Service>,
    pub keys: Arc<KeyRing>,
    /// The secret of the token `local`, which may do everything.
    pub token: String,
    pub shutdown: CancellationToken,
    tasks: Vec<JoinHandle<()>>,
    folder: TemporaryFolder,
}

impl House {
    /// Makes a service with the scopes `app` (everything on files), `notes` (reading) and `blind`
    /// (history alone).
    pub fn new() -> Self {
        let folder = TemporaryFolder::new();
        let at = |path: &str| folder.path().join(path);
        for path in ["app/src", "notes", "outside"] {
            fs::create_dir_all(at(path)).expect("a folder is made");
        }
        for (path, text) in [
            ("app/README.md", "hello\n"),
            ("app/.env", "SECRET=1\n"),
            ("app/src/main.rs", "fn main() {}\n"),
            ("notes/todo.txt", "write tests\n"),
            ("outside/secret.txt", "not yours\n"),
        ] {
            fs::write(at(path), text).expect("a file is written");
        }
        if Need::Links.is_there() {
            symlink("../outside/secret.txt", at("app/out")).expect("a link is made");
        }
        let config: Config = serde_json::from_value(json!({
            "machineId": "01JD0000000000000000000000",
            "machineName": "test",
            "scopes": [
                {"id": "app", "roots": [at("app")], "capabilities": ["fs:read", "search:read", "fs:write", "history:read"]},
                {"id": "notes", "roots": [at("notes")], "capabilities": ["fs:read"]},
                {"id": "blind", "roots": [at("notes")], "capabilities": ["history:read"]},
            ],
        }))
        .expect("a valid config");
        let dirs = Dirs::below(folder.path().join("home"));
        let token = make_token(&dirs, "tester", None, &["*"], &["*"]);
        // It answers as the local user does, so that outcomes can be compared. No command gives a token that name.
        let tokens = dirs.config.join("tokens.json");
        let text = fs::read_to_string(&tokens).expect("the tokens are readable");
        replace_private_file(&tokens, text.replace("\"tester\"", "\"local\"").as_bytes())
            .expect("the tokens are saved");
        let service = support::boot(ServiceSettings { config: config.clone(), dirs: dirs.clone() })
            .unwrap_or_else(|error| panic!("the service starts: {error}"));
        let keys = Arc::new(KeyRing::open(dirs.clone()));
        let shutdown = CancellationToken::new();
        Self { dirs, config, service, keys, token, shutdown, tasks: Vec::new(), folder }
    }

    /// Writes the config, for the program to read.
    pub fn save_config(&self) {
        self.config.save(&Config::path(&self.dirs)).expect("the config is saved");
    }

    /// Gives a path in the temporary folder.
    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Gives the service as the local user has it.
    pub fn backend(&self) -> Backend {
        Backend::Embedded(self.embedded())
    }

    /// Returns the service in this process, for the local user.
    pub fn embedded(&self) -> Embedded {
        Embedded { service: Arc::clone(&self.service), caller: Caller::local(Transport::Stdio), keys: None }
    }

    /// Makes another token, and gives its secret.
    pub fn token(
        &self,
        name: &str,
        expires_at_ms: Option<i64>,
        scopes: &[&str],
        capabilities: &[&str],
    ) -> String {
        make_token(&self.dirs, name, expires_at_ms, scopes, capabilities)
    }

    /// Gives the settings of a listener on a free port.
    pub fn settings(&self) -> HttpSettings {
        HttpSettings { port: 0, ..HttpSettings::from_config(&self.config) }
    }

    /// Serves HTTP and gives the address.
    pub async fn http(&mut self) -> SocketAddr {
        let settings = self.settings();
        self.http_with(settings).await
    }

    /// Serves HTTP with other settings.
    pub async fn http_with(&mut self, settings: HttpSettings) -> SocketAddr {
        let server = Server::bind(Arc::clone(&self.service), Arc::clone(&self.keys), settings)
            .await
            .unwrap_or_else(|failure| panic!("the listener starts: {failure}"));
        let address = server.address();
        self.tasks.push(tokio::spawn(server.run(self.shutdown.clone())));
        address
    }

    /// Serves the local socket and gives its path.
    pub fn socket(&mut self) -> PathBuf {
        let path = socket::path(&self.dirs);
        let listener = socket::Listener::bind(&path).expect("the socket is free");
        let (service, keys) = (Arc::clone(&self.service), Arc::clone(&self.keys));
        self.tasks.push(tokio::spawn(socket::serve(listener, service, keys, self.shutdown.clone())));
        path
    }

    /// Ends what was served, and waits for it.
    pub async fn end(mut self) {
        self.shutdown.cancel();
        for task in std::mem::take(&mut self.tasks) {
            task.await.expect("it ends without a panic");
        }
    }
}

fn make_token(
    dirs: &Dirs,
    name: &str,
    expires_at_ms: Option<i64>,
    scopes: &[&str],
    capabilities: &[&str],
) -> String {
    let owned = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect();
    let mut tokens = Tokens::load(dirs).expect("the tokens are readable");
    let new = NewToken {
        name: name.to_owned(),
        scopes: owned(scopes),
        capabilities: owned(capabilities),
        expires_at_ms,
        owner: false,
    };
    let (_, secret) = tokens.create(new, time::now_ms()).expect("a token is made");
    tokens.save().expect("the tokens are saved");
    secret
}

/// Takes out what differs from run to run.
pub fn normal(mut outcome: Value) -> Value {
    for key in ["operationId", "startedAt", "durationMs"] {
        let taken = outcome.as_object_mut().and_then(|map| map.remove(key));
        assert!(taken.is_some_and(|value| !value.is_null()), "{key} is missing in {outcome}");
    }
    outcome
}
