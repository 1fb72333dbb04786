//! Scopes in a temporary folder, for services in this process and for the program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use bailiwick::config::Config;
use bailiwick::contract::id::new_id;
use bailiwick::platform::dirs::Dirs;
use bailiwick::platform::screen::Sources;
use bailiwick::service::{Service, ServiceSettings};
use serde_json::{Value, json};

use crate::program;
use crate::service::TestService;
use crate::temporary::TemporaryFolder;

/// A config with the scope `app`, whose root is the folder `app` of a temporary folder. Other scopes may be added.
///
/// Clones share the folder; it is removed with the last of them, after all processes that run there were stopped.
#[derive(Clone)]
pub struct TestScope {
    pub config: Config,
    pub dirs: Dirs,
    /// A time to sleep that no other test has: the word by which processes of this test are known.
    pub word: String,
    pub(crate) sources: Option<Sources>,
    home: PathBuf,
    scopes: Vec<Value>,
    folder: Arc<Folder>,
    /// The config as the program is told it, where it is not below the home folder.
    config_path: Option<PathBuf>,
}

/// What all clones share.
struct Folder {
    temporary: TemporaryFolder,
    /// The services that were booted in this process.
    services: Mutex<Vec<Weak<Service>>>,
}

impl TestScope {
    /// Creates the scope `app`, in which files may be read, searched and written, and the history read.
    pub fn new() -> Self {
        Self::in_folder(TemporaryFolder::new())
    }

    /// As [`TestScope::new`], in this folder.
    pub fn in_folder(folder: TemporaryFolder) -> Self {
        let capabilities = ["fs:read", "search:read", "fs:write", "history:read"];
        let digits =
            new_id().bytes().rev().take(9).map(|byte| char::from(b'0' + byte % 10)).collect::<String>();
        let config = Config::new("01JD0000000000000000000000".to_owned(), "test".to_owned());
        Self {
            // The desktop of who runs the tests is left alone.
            config: Config { notifications: false, ..config },
            dirs: Dirs::below(folder.path().join("home")),
            home: folder.path().join("home"),
            word: format!("7{digits}"),
            sources: None,
            scopes: Vec::new(),
            folder: Arc::new(Folder { temporary: folder, services: Mutex::default() }),
            config_path: None,
        }
        .with_scope(json!({"id": "app", "roots": ["app"], "capabilities": capabilities}))
    }

    /// Sets what the first scope grants.
    pub fn with_capabilities(self, capabilities: &[&str]) -> Self {
        self.with_field("capabilities", json!(capabilities))
    }

    /// Sets the policy of the first scope.
    pub fn with_policy(self, policy: Value) -> Self {
        self.with_field("policy", policy)
    }

    /// Sets the roots of the first scope, paths below the folder.
    pub fn with_roots(self, roots: &[&str]) -> Self {
        let _ = fs::remove_dir(self.root());
        self.with_field("roots", json!(roots)).make_roots()
    }

    /// Sets a field of the first scope.
    pub fn with_field(mut self, name: &str, value: Value) -> Self {
        self.scopes[0][name] = value;
        self.compile()
    }

    /// Adds a scope, as a config has it but for its roots: they are paths below the folder.
    pub fn with_scope(mut self, scope: Value) -> Self {
        self.scopes.push(scope);
        self.compile().make_roots()
    }

    /// Adds a scope that is like the first one, with a folder of its own name.
    pub fn with_copy(self, id: &str) -> Self {
        let mut copy = self.scopes[0].clone();
        (copy["id"], copy["roots"]) = (json!(id), json!([id]));
        self.with_scope(copy)
    }

    /// Puts these scopes in the place of `app`, without making their roots.
    pub fn with_scopes(mut self, scopes: &[Value]) -> Self {
        let _ = fs::remove_dir(self.root());
        self.scopes = scopes.to_vec();
        self.compile()
    }

    /// Puts the config into a file beside which everything lies, as `--config` has it.
    pub fn with_config_file(mut self) -> Self {
        let own = self.beside("own");
        self.dirs =
            Dirs { config: own.clone(), state: own.join("own.state"), runtime: own.join("own.state/run") };
        self.config_path = Some(own.join("own.json"));
        self
    }

    /// Puts Bailiwick's own folders elsewhere.
    pub fn with_home(mut self, home: PathBuf) -> Self {
        self.dirs = Dirs::below(home.clone());
        self.home = home;
        self
    }

    /// Sets where services look for displays.
    pub fn with_sources(mut self, sources: Sources) -> Self {
        self.sources = Some(sources);
        self
    }

    /// Writes the config, for the program to read.
    pub fn save(self) -> Self {
        self.save_config();
        self
    }

    /// Writes the config, for the program to read.
    pub fn save_config(&self) {
        self.config.save(&self.config_path()).expect("the config is saved");
    }

    /// Returns the path of the config.
    pub fn config_path(&self) -> PathBuf {
        self.config_path.clone().unwrap_or_else(|| Config::path(&self.dirs))
    }

    /// Returns the temporary folder.
    pub fn folder(&self) -> &Path {
        self.folder.temporary.path()
    }

    /// Returns a path below the temporary folder.
    pub fn beside(&self, path: impl AsRef<Path>) -> PathBuf {
        self.folder().join(path)
    }

    /// Returns a path in the folder of `app`.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root().join(path)
    }

    /// Returns the folder of `app`.
    pub fn root(&self) -> PathBuf {
        self.beside("app")
    }

    /// Writes a file in the folder of `app`.
    pub fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder is made");
        fs::write(path, content).expect("a file is written");
    }

    /// Boots a service. Several may run at once.
    pub fn boot(&self) -> Arc<Service> {
        let settings = ServiceSettings { config: self.config.clone(), dirs: self.dirs.clone() };
        let booted = match &self.sources {
            Some(sources) => crate::boot_on(settings, sources.clone()),
            None => crate::boot(settings),
        };
        let service = booted.unwrap_or_else(|error| panic!("the service starts: {error}"));
        self.services().push(Arc::downgrade(&service));
        service
    }

    fn services(&self) -> MutexGuard<'_, Vec<Weak<Service>>> {
        self.folder.services.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Boots a service, with all that a test does with one. Several may run at once.
    pub fn host(&self) -> TestService {
        TestService::new(self.clone())
    }

    /// Creates a command of the program, with nothing of this process's environment.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.env_clear().stdin(Stdio::null());
        match &self.config_path {
            Some(path) => command.env("HOME", self.folder()).arg("--config").arg(path),
            None => command.env("BAILIWICK_HOME", &self.home),
        };
        command.args(words);
        command
    }

    /// Runs the program with some words, and returns what it prints as JSON.
    pub fn cli(&self, words: &[&str]) -> Value {
        let output = self.command(words).arg("--json").output().expect("the program runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        serde_json::from_str(&text).unwrap_or(Value::String(text))
    }

    /// Sends an envelope by the command line: to the running service, if there is one.
    pub fn call(&self, envelope: &Value) -> Value {
        self.cli(&["call", &envelope.to_string()])
    }

    fn make_roots(self) -> Self {
        for root in self.config.scopes.iter().flat_map(|scope| &scope.roots) {
            fs::create_dir_all(root).expect("a folder is made");
        }
        self
    }

    /// Creates the config of the scopes.
    fn compile(mut self) -> Self {
        let scopes = self.scopes.iter().map(|scope| {
            let mut scope = scope.clone();
            for root in scope.get_mut("roots").and_then(Value::as_array_mut).into_iter().flatten() {
                *root = json!(self.beside(root.as_str().expect("a path")));
            }
            serde_json::from_value(scope).expect("a valid scope")
        });
        self.config.scopes = scopes.collect();
        self
    }
}

impl Drop for TestScope {
    /// However a test ends, nothing of it continues.
    fn drop(&mut self) {
        let is_last = Arc::strong_count(&self.folder) == 1;
        let has_started = || fs::read_dir(self.dirs.state.join("processes")).is_ok_and(|it| it.count() > 0);
        if is_last && has_started() {
            if !self.config_path().exists() {
                let _ = self.config.save(&self.config_path());
            }
            let _ = self.command(&["processes", "stop", "--all", "--grace", "0"]).output();
        }
        if is_last {
            // One that a task still has would make files of its history again.
            self.services()
                .iter()
                .filter_map(Weak::upgrade)
                .for_each(|service| drop(service.history().status()));
        }
    }
}
