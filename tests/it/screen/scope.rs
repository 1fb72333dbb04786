//! A service that has one real display, and the files that it keeps.

use std::ops::Deref;
use std::path::PathBuf;

use bailiwick::adapters::backend::{Backend, EmbeddedService};
use bailiwick::contract::{Caller, Transport};
use bailiwick::platform::screen::Sources;
use bailiwick::providers::screen::{Picture, decode};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use support::scope::TestScope;
use support::screen::XServer;
use support::service::{TestService, data};

/// A service with the scopes `screen` and `other`, which take every kind of picture.
pub struct ScreenScope {
    host: TestService,
    pub caller: Caller,
}

impl Deref for ScreenScope {
    type Target = TestService;

    fn deref(&self) -> &TestService {
        &self.host
    }
}

impl ScreenScope {
    /// Creates one with a display; `policy` is added to that of the scope `screen`.
    pub fn on(server: &XServer, policy: Value) -> Self {
        Self::with(server.sources(), policy)
    }

    /// Creates one that looks for displays there.
    pub fn with(sources: Sources, policy: Value) -> Self {
        let scope = TestScope::new().with_scopes(&scopes(policy)).with_sources(sources);
        Self { host: scope.host(), caller: Caller::local(Transport::Stdio) }
    }

    /// Creates one whose scope `screen` also grants everything about windows and the clipboard.
    pub fn controlling(server: &XServer, policy: Value) -> Self {
        let mut all = scopes(policy);
        let more = ["window:read", "window:control", "clipboard:read", "clipboard:write"];
        all[0]["capabilities"].as_array_mut().expect("a list").extend(more.map(Value::from));
        let scope = TestScope::new().with_scopes(&all).with_sources(server.sources());
        Self { host: scope.host(), caller: Caller::local(Transport::Stdio) }
    }

    /// Sends a request with an input to the scope `screen`.
    pub async fn act(&self, op: &str, target: Option<&str>, input: Value, options: Value) -> Value {
        let envelope =
            json!({"scope": "screen", "op": op, "target": target, "input": input, "options": options});
        self.send_as(&self.caller, envelope).await
    }

    /// Changes the policy of the scope `screen`.
    pub fn change(&self, policy: Value) {
        let changed = TestScope::clone(self).with_scopes(&scopes(policy));
        self.service.reload(changed.config.clone()).unwrap_or_else(|error| panic!("it is taken up: {error}"));
    }

    /// Sends a request to the scope `screen`, and gives the answer with its images.
    pub async fn ask(&self, op: &str, target: Option<&str>, options: Value) -> Value {
        self.ask_in("screen", op, target, options).await
    }

    /// Sends a request to a scope, and gives the answer with its images.
    pub async fn ask_in(&self, scope: &str, op: &str, target: Option<&str>, options: Value) -> Value {
        let envelope = json!({"scope": scope, "op": op, "target": target, "options": options});
        self.send_as(&self.caller, envelope).await
    }

    /// Returns the service as transports have it, for this caller.
    pub fn backend(&self) -> Backend {
        Backend::Embedded(EmbeddedService { caller: self.caller.clone(), ..self.host.embedded() })
    }

    /// Returns a file or folder of Bailiwick's own state.
    pub fn state(&self, path: &str) -> PathBuf {
        self.dirs.state.join(path)
    }
}

fn scopes(policy: Value) -> [Value; 2] {
    let mut all = json!({"allowDisplays": true, "allowWindows": true, "allowProcesses": true});
    let fields = policy.as_object().expect("a policy is an object").clone();
    let mut own = all.clone();
    own.as_object_mut().expect("an object").extend(fields);
    let scope = |id: &str, policy: &Value| {
        json!({
            "id": id, "type": "computer", "capabilities": ["screen:capture", "history:read"], "policy": policy,
        })
    };
    [scope("screen", &own), scope("other", &all.take())]
}

/// Returns code, stage and rule of an answer that failed.
pub fn refusal(answer: &Value) -> (&str, &str, &str) {
    assert_eq!(answer["ok"], false, "{answer}");
    let error = &answer["error"];
    let text = |value: &'static str| error["details"][value].as_str().unwrap_or_default();
    (error["code"].as_str().unwrap_or_default(), text("stage"), text("rule"))
}

/// Reads the one image of an answer.
pub fn image(answer: &Value) -> Picture {
    data(answer);
    let images = answer["images"].as_array().unwrap_or_else(|| panic!("no image: {answer}"));
    assert_eq!(images.len(), 1);
    read(&images[0]["base64"])
}

/// Reads a picture out of base64.
pub fn read(base64: &Value) -> Picture {
    decode(&bytes(base64)).expect("a picture")
}

/// Returns the bytes of a text in base64.
pub fn bytes(base64: &Value) -> Vec<u8> {
    STANDARD.decode(base64.as_str().expect("a text")).expect("base64")
}

/// Counts the pixels of a colour.
pub fn count(picture: &Picture, colour: [u8; 3]) -> usize {
    picture.rgb().chunks_exact(3).filter(|pixel| **pixel == colour).count()
}
