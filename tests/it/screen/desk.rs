//! A service that has one real display, and the files that it keeps.

use std::path::PathBuf;
use std::sync::Arc;

use bailiwick::adapters::backend::{Backend, Embedded};
use bailiwick::config::Config;
use bailiwick::contract::{Caller, Envelope, Transport};
use bailiwick::platform::dirs::Dirs;
use bailiwick::platform::launch::Launcher;
use bailiwick::platform::screen::Sources;
use bailiwick::providers::screen::{Picture, decode};
use bailiwick::service::{Service, ServiceSettings};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::ground::XServer;
use crate::temporary::TemporaryFolder;

/// A service with the scopes `screen` and `other`, which take every kind of picture.
pub struct Desk {
    pub service: Arc<Service>,
    pub caller: Caller,
    folder: TemporaryFolder,
}

impl Desk {
    /// Makes one with a display; `policy` is added to that of the scope `screen`.
    pub fn on(server: &XServer, policy: Value) -> Self {
        Self::with(server.sources(), policy)
    }

    /// Makes one that looks for displays there.
    pub fn with(sources: Sources, policy: Value) -> Self {
        let folder = TemporaryFolder::new();
        let dirs = Dirs::below(folder.path().join("home"));
        let settings = ServiceSettings { config: config(policy), dirs };
        let launcher = Launcher::with_program(env!("CARGO_BIN_EXE_bailiwick").into());
        let service = Service::boot_on(settings, launcher, sources);
        let service = service.unwrap_or_else(|error| panic!("the service starts: {error}"));
        Self { service, caller: Caller::local(Transport::Stdio), folder }
    }

    /// Changes the policy of the scope `screen`.
    pub fn change(&self, policy: Value) {
        self.service.reload(config(policy)).unwrap_or_else(|error| panic!("it is taken up: {error}"));
    }

    /// Sends a request to the scope `screen`, and gives the answer with its images.
    pub async fn ask(&self, op: &str, target: Option<&str>, options: Value) -> Value {
        self.ask_in("screen", op, target, options).await
    }

    /// Sends a request to a scope, and gives the answer with its images.
    pub async fn ask_in(&self, scope: &str, op: &str, target: Option<&str>, options: Value) -> Value {
        let envelope = json!({"scope": scope, "op": op, "target": target, "options": options});
        let envelope = Envelope::from_value(envelope);
        let outcome = self.service.handle(&self.caller, envelope, &CancellationToken::new()).await;
        outcome.into_reply().into_value()
    }

    /// Gives the service as the local user has it.
    pub fn backend(&self) -> Backend {
        Backend::Embedded(Embedded {
            service: Arc::clone(&self.service),
            caller: self.caller.clone(),
            keys: None,
        })
    }

    /// Gives a file or folder of Bailiwick's own state.
    pub fn state(&self, path: &str) -> PathBuf {
        self.folder.path().join("home/state").join(path)
    }
}

fn config(policy: Value) -> Config {
    let mut all = json!({"allowDisplays": true, "allowWindows": true, "allowProcesses": true});
    let fields = policy.as_object().expect("a policy is an object").clone();
    let mut own = all.clone();
    own.as_object_mut().expect("an object").extend(fields);
    let scope = |id: &str, policy: &Value| {
        json!({
            "id": id, "type": "computer", "capabilities": ["screen:capture", "history:read"], "policy": policy,
        })
    };
    let config = json!({
        "machineId": "01JD0000000000000000000000",
        "machineName": "test",
        "scopes": [scope("screen", &own), scope("other", &all.take())],
    });
    serde_json::from_value(config).expect("a valid config")
}

/// Gives the data of an answer that succeeded.
pub fn data(answer: &Value) -> &Value {
    assert_eq!(answer["ok"], true, "{answer}");
    &answer["data"]
}

/// Gives code, stage and rule of an answer that failed.
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

/// Gives the bytes of a text in base64.
pub fn bytes(base64: &Value) -> Vec<u8> {
    STANDARD.decode(base64.as_str().expect("a text")).expect("base64")
}

/// Counts the pixels of a colour.
pub fn count(picture: &Picture, colour: [u8; 3]) -> usize {
    picture.rgb().chunks_exact(3).filter(|pixel| **pixel == colour).count()
}
