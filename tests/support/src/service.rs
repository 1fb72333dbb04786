//! A service in this process, with what tests ask of it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::{Arc, LazyLock};

use bailiwick::adapters::auth::KeyRing;
use bailiwick::adapters::backend::{Backend, EmbeddedService};
use bailiwick::config::{NewToken, Tokens};
use bailiwick::contract::{Caller, Envelope, Progress, Transport, id, time};
use bailiwick::platform::dirs::Dirs;
use bailiwick::service::Service;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::needs::require_program;
use crate::patience::{PATIENCE, eventually_async};
use crate::scope::TestScope;

static RUNTIME: LazyLock<tokio::runtime::Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().expect("a runtime")
});

/// Runs a future on the tests' runtime, outside of any other.
pub fn wait_for<F: Future>(future: F) -> F::Output {
    RUNTIME.block_on(future)
}

/// Sends an envelope, and returns the whole answer.
pub async fn send(
    service: &Arc<Service>,
    caller: &Caller,
    envelope: Value,
    gone: &CancellationToken,
) -> Value {
    service.handle(caller, Envelope::from_value(envelope), gone).await.into_reply().into_value()
}

/// Sends an envelope of the local user to its end, and returns the whole answer.
pub fn call(service: &Arc<Service>, envelope: Value) -> Value {
    wait_for(send(service, &Caller::local(Transport::Stdio), envelope, &CancellationToken::new()))
}

/// Returns the `data` of an answer that must be a success.
pub fn data(answer: &Value) -> &Value {
    assert_eq!(answer["ok"], true, "{answer:#}");
    &answer["data"]
}

/// A process that is killed if the test ends before it does.
pub struct Program(pub Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns whether a process is there, and no mere entry that nobody took note of yet.
#[cfg(target_os = "linux")]
pub fn lives(process: u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

/// A service in this process over the folders of a scope.
pub struct TestService {
    pub service: Arc<Service>,
    scope: TestScope,
}

impl Deref for TestService {
    type Target = TestScope;

    fn deref(&self) -> &TestScope {
        &self.scope
    }
}

impl DerefMut for TestService {
    fn deref_mut(&mut self) -> &mut TestScope {
        &mut self.scope
    }
}

impl TestService {
    /// Starts a service for these scopes.
    pub fn new(scope: TestScope) -> Self {
        Self { service: scope.boot(), scope }
    }

    /// Starts a service whose scope runs commands, with this policy.
    pub fn for_commands(policy: Value) -> Self {
        let capabilities = ["fs:read", "fs:write", "command:run", "package:run", "history:read"];
        TestScope::new().with_capabilities(&capabilities).with_policy(policy).host()
    }

    /// Starts a service whose scope starts programs of Python and waits for them.
    pub fn for_waits() -> Self {
        Self::for_waits_with(&["fs:read", "fs:write", "command:run", "process:manage", "history:read"])
    }

    /// As [`TestService::for_waits`], with these capabilities.
    pub fn for_waits_with(capabilities: &[&str]) -> Self {
        let policy = json!({"allowedCommands": ["python3 *"], "network": "loopback"});
        TestScope::new().with_capabilities(capabilities).with_policy(policy).host()
    }

    /// Returns a caller with a token of its own, which exists: what it runs is not ended as that of a revoked one is.
    pub fn caller_with_token(&self, name: &str) -> Caller {
        make_token(&self.dirs, name, None, &["*"], &["*"]);
        let found = KeyRing::open(self.dirs.clone()).profile(name, Transport::Stdio);
        found.expect("the tokens are readable").expect("the token is there")
    }

    /// Ends the service, and returns its folders.
    pub fn into_scope(self) -> TestScope {
        self.scope
    }

    /// Puts another service in the place of this one, over the same folders.
    pub fn restart(&mut self) {
        self.service = self.scope.boot();
    }

    /// Returns the service in this process, for the local user.
    pub fn embedded(&self) -> EmbeddedService {
        EmbeddedService {
            service: Arc::clone(&self.service),
            caller: Caller::local(Transport::Stdio),
            keys: None,
        }
    }

    /// Returns the service as the local user has it.
    pub fn backend(&self) -> Backend {
        Backend::Embedded(self.embedded())
    }

    /// Creates a token that may do everything, and returns its secret.
    pub fn token(&self, name: &str) -> String {
        make_token(&self.dirs, name, None, &["*"], &["*"])
    }

    /// Sends an envelope of scope `app`, unless it names another, as the local user; returns the whole answer.
    pub async fn send(&self, envelope: Value) -> Value {
        self.send_as(&Caller::local(Transport::Stdio), envelope).await
    }

    /// As [`TestService::send`], until the caller is gone.
    pub async fn send_until(&self, envelope: Value, gone: &CancellationToken) -> Value {
        self.send_as_until(&Caller::local(Transport::Stdio), envelope, gone).await
    }

    /// As [`TestService::send`], for a caller.
    pub async fn send_as(&self, caller: &Caller, envelope: Value) -> Value {
        self.send_as_until(caller, envelope, &CancellationToken::new()).await
    }

    /// As [`TestService::send`], for a caller, until it is gone.
    pub async fn send_as_until(
        &self,
        caller: &Caller,
        mut envelope: Value,
        gone: &CancellationToken,
    ) -> Value {
        if let Some(fields) = envelope.as_object_mut() {
            fields.entry("scope").or_insert_with(|| json!("app"));
        }
        send(&self.service, caller, envelope, gone).await
    }

    /// Sends an envelope that must succeed, and returns its `data`.
    pub async fn data(&self, envelope: Value) -> Value {
        let answer = self.send(envelope.clone()).await;
        assert_eq!(answer["ok"], true, "{envelope}: {answer:#}");
        answer["data"].clone()
    }

    /// Sends an envelope that must fail, and returns its code.
    pub async fn code(&self, envelope: Value) -> String {
        let answer = self.send(envelope.clone()).await;
        assert_eq!(answer["ok"], false, "{envelope}: {answer:#}");
        answer["error"]["code"].as_str().expect("a code").to_owned()
    }

    /// Returns the requests that wait for an approval, as `approve --list` shows them.
    pub fn waiting(&self) -> Vec<Value> {
        let listed = self.cli(&["approve", "--list"]);
        listed["approvals"].as_array().unwrap_or_else(|| panic!("{listed:#}")).clone()
    }

    /// Waits until the preview of a ticket has ended, and returns it as `approve --list` shows it.
    pub async fn preview(&self, ticket: &str) -> Value {
        // Asked for in its file until then: each list is a start of the program.
        let file = self.dirs.state.join("approvals").join(format!("{ticket}.preview"));
        eventually_async("the preview ends", || {
            let text = fs::read(&file).unwrap_or_default();
            serde_json::from_slice(&text).is_ok_and(|preview: Value| preview["state"] != "running")
        })
        .await;
        let listed = self.waiting().into_iter().find(|it| it["id"] == ticket);
        listed.unwrap_or_else(|| panic!("{ticket} waits no more"))["preview"].clone()
    }

    /// Runs a command, an array or a string, and returns the whole answer.
    pub async fn answer(&self, command: Value, options: Value) -> Value {
        self.send(json!({"op": "command.run", "input": {"command": command}, "options": options})).await
    }

    /// Runs a command and returns its `data`.
    pub async fn run(&self, command: Value) -> Value {
        let answer = self.answer(command, json!({"timeoutSeconds": 600})).await;
        data(&answer).clone()
    }

    /// Runs a command that must succeed, and returns what it prints to standard output.
    pub async fn out(&self, command: Value) -> String {
        let data = self.run(command.clone()).await;
        assert_eq!(data["exitCode"], 0, "{command}: {data:#}");
        data["stdout"].as_str().expect("text").to_owned()
    }

    /// Starts `bailiwick mcp` on the same folders, as a client does.
    pub fn mcp(&self) -> Program {
        self.save_config();
        let mut command = self.command(&["mcp"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        Program(command.spawn().expect("the program starts"))
    }

    /// Starts a command as a process, and returns its id.
    pub async fn start(&self, command: Value) -> String {
        let data = self.data(json!({"op": "process.start", "input": {"command": command}})).await;
        data["processId"].as_str().expect("an id").to_owned()
    }

    /// Starts a Python program as a process, and returns its id. Lines are printed at once.
    pub async fn python(&self, program: &str) -> String {
        require_program("python3");
        let name = format!("{}.py", id::new_id());
        self.write(&name, format!("import sys, time, os\n{program}\n"));
        self.start(json!(["python3", "-u", name])).await
    }

    /// Reads a process, with options.
    pub async fn read(&self, id: &str, options: Value) -> Value {
        self.data(json!({"op": "process.read", "target": id, "options": options})).await
    }

    /// Stops a process.
    pub async fn stop(&self, id: &str, options: Value) -> Value {
        let data = self.data(json!({"op": "process.stop", "target": id, "options": options})).await;
        data["stopped"][0].clone()
    }

    /// Waits until a process has ended, and reads it.
    pub async fn over(&self, id: &str) -> Value {
        let process = self.service.facts().processes.find("app", id).expect("it is there");
        // What ends the telling ends the process.
        let _ = process.changes().wait_for(|change| change.ended).await;
        self.read(id, json!({})).await
    }

    /// Waits until a process has printed a text.
    pub async fn printed(&self, id: &str, text: &str) {
        let process = self.service.facts().processes.find("app", id).expect("it is there");
        let mut changes = process.changes();
        loop {
            let is_over = changes.borrow_and_update().ended;
            let read = self.read(id, json!({})).await;
            if read["stdout"].as_str().is_some_and(|stdout| stdout.contains(text)) {
                return;
            }
            assert!(!is_over, "it ended without a word of {text:?}: {read:#}");
            // Where it ends, the next look is the last.
            let _ = changes.changed().await;
        }
    }

    /// Kills the keepers of all processes that run, and with them all that they keep.
    #[cfg(unix)]
    pub fn kill_keepers(&self) {
        for process in self.service.facts().processes.all() {
            let keeper = process.status().ok().filter(|status| !status.state.is_final());
            let number = keeper.and_then(|status| i32::try_from(status.process_id).ok());
            if let Some(keeper) = number.and_then(rustix::process::Pid::from_raw) {
                let _ = rustix::process::kill_process(keeper, rustix::process::Signal::KILL);
            }
        }
    }

    /// Waits for the conditions, and returns `data`.
    pub async fn wait(&self, input: Value) -> Value {
        self.data(wait_envelope(&input)).await
    }

    /// Waits until the conditions hold.
    pub async fn wait_until(&self, input: Value) {
        let waited = self.wait(input).await;
        assert_eq!(waited["outcome"], "held", "{waited:#}");
    }

    /// Waits for the conditions, acts as soon as they were checked for the first time, and returns `data`.
    pub async fn wait_and(&self, input: Value, act: impl AsyncFnOnce()) -> Value {
        self.wait_and_when("", input, act).await
    }

    /// Waits for the conditions, acts as soon as the wait reports this text, and returns `data`.
    pub async fn wait_and_when(&self, text: &str, input: Value, act: impl AsyncFnOnce()) -> Value {
        data(&self.send_and_when(text, wait_envelope(&input), act).await).clone()
    }

    /// Sends a request that waits, acts as soon as it reports this text, and returns the answer.
    pub async fn send_and_when(&self, text: &str, envelope: Value, act: impl AsyncFnOnce()) -> Value {
        let (caller, gone, progress) =
            (Caller::local(Transport::Stdio), CancellationToken::new(), Progress::default());
        let envelope = Envelope::from_value(envelope);
        let waiting = self.service.handle_told(Arc::new(caller), envelope, &gone, &progress);
        let acting = async {
            // A wait reports how far it is after each look that did not end it.
            let reports = || progress.said().is_some_and(|report| report.contains(text));
            eventually_async("the wait looks", reports).await;
            act().await;
        };
        let (outcome, ()) = tokio::join!(waiting, acting);
        outcome.into_reply().into_value()
    }
}

impl TestScope {
    /// Makes two scopes that start processes, `app` and `other`, both with this policy.
    pub fn for_processes(policy: Value) -> Self {
        let capabilities = ["fs:write", "command:run", "package:run", "process:manage", "history:read"];
        Self::new().with_capabilities(&capabilities).with_policy(policy).with_copy("other").save()
    }

    /// Returns the folder of a process.
    pub fn process(&self, id: &str) -> PathBuf {
        self.dirs.state.join("processes").join(id)
    }

    /// Starts `bailiwick serve`, and waits until it serves.
    pub fn serve(&self) -> Program {
        let mut command = self.command(&["start", "--port", "0", "--json"]);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut program = Program(command.spawn().expect("the program starts"));
        let output = program.0.stdout.take().expect("piped");
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).expect("it says that it serves");
        assert!(line.contains("\"ok\":true"), "{line}");
        program
    }
}

fn wait_envelope(input: &Value) -> Value {
    json!({"scope": "app", "op": "process.wait", "input": input, "options": {"timeoutSeconds": PATIENCE.as_secs()}})
}

/// Creates a token, and returns its secret.
pub fn make_token(
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

/// Counts the processes of this computer that have this word among their arguments.
pub fn processes_with(word: &str) -> usize {
    let Ok(entries) = fs::read_dir("/proc") else { return 0 };
    entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()))
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .filter(|line| line.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes()))
        .count()
}

/// Takes out what differs from run to run.
pub fn normal(mut outcome: Value) -> Value {
    for key in ["operationId", "startedAt", "durationMs"] {
        let taken = outcome.as_object_mut().and_then(|map| map.remove(key));
        assert!(taken.is_some_and(|value| !value.is_null()), "{key} is missing in {outcome}");
    }
    outcome
}
