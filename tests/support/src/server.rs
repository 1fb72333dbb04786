//! A service behind the transports: HTTP, and the local socket.

use std::fs;
use std::net::SocketAddr;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

use bailiwick::adapters::auth::KeyRing;
use bailiwick::adapters::http::{HttpSettings, Server};
use bailiwick::adapters::socket;
use bailiwick::platform::fs::modes::symlink;
use bailiwick::platform::fs::replace_private_file;
use serde_json::json;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::scope::TestScope;
use crate::service::{TestService, make_token};
use crate::system::Need;

/// A service with tokens, and what serves it.
pub struct TestServer {
    pub keys: Arc<KeyRing>,
    /// The secret of the token `local`, which may do everything.
    pub token: String,
    pub shutdown: CancellationToken,
    tasks: Vec<JoinHandle<()>>,
    host: TestService,
}

impl Deref for TestServer {
    type Target = TestService;

    fn deref(&self) -> &TestService {
        &self.host
    }
}

impl TestServer {
    /// Creates a service with the scopes `app` (everything on files), `notes` (reading) and `blind`
    /// (history alone).
    pub fn new() -> Self {
        let scope = TestScope::new()
            .with_scope(json!({"id": "notes", "roots": ["notes"], "capabilities": ["fs:read"]}))
            .with_scope(json!({"id": "blind", "roots": ["notes"], "capabilities": ["history:read"]}));
        fs::create_dir(scope.beside("outside")).expect("a folder is made");
        for (path, text) in
            [("README.md", "hello\n"), (".env", "SECRET=1\n"), ("src/main.rs", "fn main() {}\n")]
        {
            scope.write(path, text);
        }
        for (path, text) in [("notes/todo.txt", "write tests\n"), ("outside/secret.txt", "not yours\n")] {
            fs::write(scope.beside(path), text).expect("a file is written");
        }
        if Need::Links.is_there() {
            symlink("../outside/secret.txt", scope.path("out")).expect("a link is made");
        }
        let token = make_token(&scope.dirs, "tester", None, &["*"], &["*"]);
        // It answers as the local user does, so that outcomes can be compared. No command gives a token that name.
        let tokens = scope.dirs.config.join("tokens.json");
        let text = fs::read_to_string(&tokens).expect("the tokens are readable");
        replace_private_file(&tokens, text.replace("\"tester\"", "\"local\"").as_bytes())
            .expect("the tokens are saved");
        Self { token, ..Self::over(scope.host()) }
    }

    /// Creates one of a service, without a token.
    pub fn over(host: TestService) -> Self {
        let keys = Arc::new(KeyRing::open(host.dirs.clone()));
        Self { keys, token: String::new(), shutdown: CancellationToken::new(), tasks: Vec::new(), host }
    }

    /// Returns a path in the temporary folder.
    pub fn path(&self, path: &str) -> PathBuf {
        self.beside(path)
    }

    /// Makes another token, and returns its secret.
    pub fn token(
        &self,
        name: &str,
        expires_at_ms: Option<i64>,
        scopes: &[&str],
        capabilities: &[&str],
    ) -> String {
        make_token(&self.dirs, name, expires_at_ms, scopes, capabilities)
    }

    /// Returns the settings of a listener on a free port.
    pub fn settings(&self) -> HttpSettings {
        HttpSettings { port: 0, ..HttpSettings::from_config(&self.config) }
    }

    /// Serves HTTP and returns the address.
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

    /// Serves the local socket and returns its path.
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
