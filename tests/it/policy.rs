//! Properties of the policy, over random scopes, callers and envelopes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use bailiwick::config::{Config, ScopeConfig, ScopePolicy, VisibleInput};
use bailiwick::contract::{
    Caller, Capability, CapabilityGrant, Envelope, ErrorCode, Failure, ScopeGrant, ScopeNeed, ScopeType,
    Transport,
};
use bailiwick::operations::FAMILIES;
use bailiwick::platform::dirs::Dirs;
use bailiwick::platform::fs::modes::symlink;
use bailiwick::policy::{Case, OwnFolders, STAGES, Scopes, Verdict, decide, explain};
use bailiwick::registry::{Entry, Registry};
use bailiwick::service::{Service, ServiceSettings};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::system::{Need, tries};
use crate::temporary::TemporaryFolder;

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| Registry::new(FAMILIES));

/// Paths that matter: ordinary, missing, sensitive, climbing, absolute, odd.
const PATHS: &[&str] = &[
    "",
    ".",
    "a.txt",
    "folder/b.txt",
    "missing.txt",
    "missing/deeper.txt",
    "folder/../a.txt",
    ".env",
    "folder/.ENV.local",
    "id_rsa",
    ".git/config",
    ".git/HEAD",
    "out",
    "out/hosts",
    "pipe",
    "..",
    "../beside.txt",
    "folder/../../beside.txt",
    "/etc/passwd",
    "a\\xffb",
    "nul\0byte",
];

/// A scope's folder, and the config that serves it.
struct PolicyScope {
    folder: TemporaryFolder,
}

impl PolicyScope {
    /// An empty folder: enough for what is judged from the text alone.
    fn empty() -> Self {
        let folder = TemporaryFolder::new();
        fs::create_dir(folder.path().join("app")).expect("the temporary folder can be written");
        Self { folder }
    }

    /// A folder with one of everything.
    fn full() -> Self {
        let folder = TemporaryFolder::new();
        let root = folder.path().join("app");
        fs::create_dir_all(root.join("folder")).expect("the temporary folder can be written");
        fs::create_dir_all(root.join(".git")).expect("the temporary folder can be written");
        for name in
            ["a.txt", "folder/b.txt", ".env", "folder/.ENV.local", "id_rsa", ".git/config", ".git/HEAD"]
        {
            fs::write(root.join(name), "text\n").expect("the temporary folder can be written");
        }
        fs::write(folder.path().join("beside.txt"), "beside\n").expect("the temporary folder can be written");
        if Need::Links.is_there() {
            symlink("/etc", root.join("out")).expect("the temporary folder can be written");
        }
        Self { folder }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("app")
    }

    fn config(&self, scopes: &[Grants]) -> Config {
        let config = json!({"machineId": "01JD0000000000000000000000", "machineName": "test-computer"});
        let mut config: Config = serde_json::from_value(config).expect("a minimal config is whole");
        config.scopes = scopes.iter().map(|grants| grants.scope(&self.root())).collect();
        config
    }

    fn compile(&self, scopes: &[Grants]) -> Scopes {
        let own = OwnFolders::new([self.folder.path().join("home")]);
        Scopes::compile(&self.config(scopes), &own).expect("the generated scopes are whole")
    }
}

/// What one random scope grants.
#[derive(Debug, Clone)]
struct Grants {
    id: &'static str,
    granted: Vec<Capability>,
    ask: Vec<Capability>,
    deny: Vec<Capability>,
    open_sensitive: Vec<&'static str>,
    closed_files: Vec<&'static str>,
}

impl Grants {
    fn scope(&self, root: &Path) -> ScopeConfig {
        let scope = json!({
            "id": self.id,
            "roots": [root],
            "capabilities": self.granted,
            "ask": self.ask,
            "deny": self.deny,
            "policy": {"openSensitive": self.open_sensitive, "closedFiles": self.closed_files},
        });
        serde_json::from_value(scope).expect("the scope is of the config's form")
    }
}

const GLOBS: &[&str] = &["**/.env", "*.txt", "folder/**", "id_rsa", "**"];

fn capabilities() -> impl Strategy<Value = Vec<Capability>> {
    subsequence(Capability::ALL.to_vec(), 0..=Capability::ALL.len())
}

fn grants(id: &'static str) -> impl Strategy<Value = Grants> {
    let some = || subsequence(Capability::ALL.to_vec(), 0..=2);
    let globs = || subsequence(GLOBS.to_vec(), 0..=2);
    (capabilities(), some(), some(), globs(), globs()).prop_map(
        move |(granted, ask, deny, open_sensitive, closed_files)| Grants {
            id,
            granted,
            ask,
            deny,
            open_sensitive,
            closed_files,
        },
    )
}

fn caller() -> impl Strategy<Value = Caller> {
    let scopes = prop_oneof![
        Just(ScopeGrant::All),
        subsequence(vec!["app", "lib"], 0..=2)
            .prop_map(|ids| ScopeGrant::Only(ids.into_iter().map(str::to_owned).collect())),
    ];
    let granted = prop_oneof![
        Just(CapabilityGrant::All),
        capabilities().prop_map(|set| CapabilityGrant::Only(set.into_iter().collect())),
    ];
    (scopes, granted).prop_map(|(scopes, capabilities)| Caller {
        scopes,
        capabilities,
        ..Caller::local(Transport::Stdio)
    })
}

fn path() -> impl Strategy<Value = String> {
    prop_oneof![4 => select(PATHS).prop_map(str::to_owned), 1 => "[a-z./~\\\\:]{0,12}"]
}

/// Envelopes that begin as an operation's own example, so that many get far.
fn envelope() -> impl Strategy<Value = Envelope> {
    let examples: Vec<&'static str> = REGISTRY.operations().map(|entry| entry.spec.example).collect();
    let scope = prop_oneof![Just(None), Just(Some("app")), Just(Some("lib")), Just(Some("nowhere"))];
    let spoil = prop_oneof![
        6 => Just(None),
        1 => Just(Some(("op", json!("file.raed")))),
        1 => Just(Some(("input", json!({"unknown": 1})))),
        1 => Just(Some(("options", json!({"timeoutSeconds": 0})))),
        1 => Just(Some(("options", json!({"timeoutSeconds": 5, "maxOutputBytes": 2_000})))),
    ];
    (select(examples), scope, proptest::option::of(path()), spoil).prop_map(
        |(example, scope, target, spoil)| {
            let mut value: Value = serde_json::from_str(example).expect("an example is JSON");
            if let Some(target) = target
                && value.get("target").is_some()
            {
                value["target"] = json!(target);
            }
            if let Some((field, with)) = spoil {
                value[field] = with;
            }
            let mut envelope = Envelope::from_value(value).expect("it is still an envelope");
            envelope.scope = scope.map(str::to_owned);
            envelope
        },
    )
}

/// Judges, and gives the refusal if there is one.
fn refusal(scopes: &Scopes, caller: &Caller, envelope: &Envelope) -> Option<Failure> {
    decide(&Case {
        caller,
        envelope,
        scopes,
        catalogue: &*REGISTRY,
        approvals: &[],
        untrusted: &[],
        secret_handles: &[],
        is_rollback: false,
    })
    .err()
    .map(|denial| denial.failure)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: tries(256), ..ProptestConfig::default() })]

    #[test]
    fn taking_a_grant_away_never_permits(
        app in grants("app"), lib in grants("lib"), caller in caller(), envelope in envelope(),
        taken in select(Capability::ALL),
    ) {
        let world = PolicyScope::empty();
        if refusal(&world.compile(&[app.clone(), lib.clone()]), &caller, &envelope).is_some() {
            let mut less = app.clone();
            less.granted.retain(|capability| *capability != taken);
            prop_assert!(refusal(&world.compile(&[less, lib.clone()]), &caller, &envelope).is_some());

            let kept = Capability::ALL.iter().filter(|it| **it != taken && caller.capabilities.allows(**it));
            let narrower = Caller {
                capabilities: CapabilityGrant::Only(kept.copied().collect::<BTreeSet<_>>()),
                ..caller
            };
            prop_assert!(refusal(&world.compile(&[app, lib]), &narrower, &envelope).is_some());
        }
    }

    #[test]
    fn taking_a_scope_away_never_permits_a_request_that_names_its_scope(
        app in grants("app"), lib in grants("lib"), caller in caller(), envelope in envelope(),
    ) {
        let world = PolicyScope::empty();
        let scopes = world.compile(&[app, lib]);
        if envelope.scope.is_some() && refusal(&scopes, &caller, &envelope).is_some() {
            for kept in ["app", "lib"] {
                let ids = [kept].into_iter().filter(|id| caller.scopes.allows(id)).map(str::to_owned);
                let narrower = Caller { scopes: ScopeGrant::Only(ids.collect()), ..caller.clone() };
                prop_assert!(refusal(&scopes, &narrower, &envelope).is_some());
            }
        }
    }

    #[test]
    fn adding_a_deny_or_an_ask_never_permits(
        app in grants("app"), caller in caller(), envelope in envelope(),
        capability in select(Capability::ALL), glob in select(GLOBS),
    ) {
        let world = PolicyScope::empty();
        if refusal(&world.compile(std::slice::from_ref(&app)), &caller, &envelope).is_some() {
            let mut denied = app.clone();
            denied.deny.push(capability);
            let mut closed = app.clone();
            closed.closed_files.push(glob);
            let mut shut = app.clone();
            shut.open_sensitive.retain(|open| *open != glob);
            for stricter in [denied, closed, shut] {
                prop_assert!(refusal(&world.compile(&[stricter]), &caller, &envelope).is_some());
            }
            // A grant turned into a question is not a grant.
            let mut asked = app;
            asked.ask.extend(asked.granted.iter().copied().filter(|it| *it == capability));
            prop_assert!(refusal(&world.compile(&[asked]), &caller, &envelope).is_some());
        }
    }

    #[test]
    fn decide_and_explain_agree(
        app in grants("app"), lib in grants("lib"), caller in caller(), envelope in envelope(),
    ) {
        let world = PolicyScope::empty();
        let scopes = world.compile(&[app, lib]);
        let case = Case { caller: &caller, envelope: &envelope, scopes: &scopes, catalogue: &*REGISTRY, approvals: &[], untrusted: &[], secret_handles: &[], is_rollback: false };
        let verdicts = explain(&case);
        prop_assert_eq!(verdicts.len(), STAGES.len());
        let first = verdicts.iter().find_map(|verdict| match &verdict.verdict {
            Verdict::Refused(failure) => Some(failure.clone()),
            Verdict::Passed(_) => None,
            Verdict::NotAsked => panic!("`{}` was not asked before any refusal", verdict.stage),
        });
        let refused = decide(&case).err().map(|denial| denial.failure);
        prop_assert_eq!(&first, &refused);
        if let Some(failure) = refused {
            prop_assert!(failure.stage().is_some(), "a refusal names its stage");
        } else {
            prop_assert!(verdicts.iter().all(|one| matches!(one.verdict, Verdict::Passed(_))));
        }
    }

    #[test]
    fn an_unknown_scope_says_nothing_about_operations_or_paths(
        app in grants("app"), caller in caller(), one in envelope(), other in envelope(),
    ) {
        let world = PolicyScope::empty();
        let scopes = world.compile(&[app]);
        let ask = |envelope: &Envelope| {
            let envelope = Envelope { scope: Some("nowhere".to_owned()), ..envelope.clone() };
            refusal(&scopes, &caller, &envelope)
        };
        prop_assert_eq!(ask(&one).map(|failure| failure.code), Some(ErrorCode::UnknownScope));
        prop_assert_eq!(ask(&one), ask(&other));
    }

    #[test]
    fn a_scope_that_is_closed_to_the_caller_is_answered_like_one_that_does_not_exist(
        app in grants("app"), lib in grants("lib"), envelope in envelope(),
    ) {
        let world = PolicyScope::empty();
        let scopes = world.compile(&[app, lib]);
        let caller = Caller {
            scopes: ScopeGrant::Only(BTreeSet::from(["lib".to_owned()])),
            ..Caller::local(Transport::Http)
        };
        let ask = |id: &str| {
            let envelope = Envelope { scope: Some(id.to_owned()), ..envelope.clone() };
            let failure = refusal(&scopes, &caller, &envelope).expect("neither is open");
            failure.to_json().to_string().replace(&format!("`{id}`"), "`…`")
        };
        prop_assert_eq!(ask("app"), ask("nowhere"));
    }

    #[test]
    fn a_missing_capability_says_nothing_about_what_exists(
        envelope in envelope(), one in select(PATHS), other in select(PATHS),
    ) {
        let world = PolicyScope::full();
        let nothing = Grants {
            id: "app",
            granted: vec![],
            ask: vec![],
            deny: vec![],
            open_sensitive: vec![],
            closed_files: vec![],
        };
        let scopes = world.compile(&[nothing]);
        let caller = Caller::local(Transport::Http);
        let ask = |target: &str| {
            let target = Some(target.to_owned()).filter(|target| !target.is_empty());
            let envelope = Envelope { scope: Some("app".to_owned()), target, ..envelope.clone() };
            refusal(&scopes, &caller, &envelope)
        };
        if envelope.op != "computer.info" {
            prop_assert!(ask(one).is_some());
            prop_assert_eq!(ask(one), ask(other));
        }
    }

    #[test]
    fn no_stage_looks_at_the_disk(
        app in grants("app"), caller in caller(), envelopes in proptest::collection::vec(envelope(), 8),
    ) {
        let world = PolicyScope::full();
        let scopes = world.compile(&[app]);
        let judge = || -> Vec<_> {
            envelopes.iter().map(|envelope| refusal(&scopes, &caller, envelope)).collect()
        };
        let before = judge();
        // Everything goes away, the root's own path too; the open root stays open.
        if Need::Moves.is_there() {
            fs::rename(world.root(), world.folder.path().join("moved")).expect("it can be renamed");
            fs::remove_dir_all(world.folder.path().join("moved")).expect("it can be removed");
        } else {
            for entry in fs::read_dir(world.root()).expect("it can be read") {
                let path = entry.expect("it can be read").path();
                let gone = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
                gone.expect("it can be removed");
            }
        }
        prop_assert_eq!(before, judge());
    }
}

/// Every file below a folder with its content, links as where they lead.
fn snapshot(folder: &Path, prefix: &str, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let entry = entry.expect("the folder can be read");
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type().expect("an entry has a kind");
        if kind.is_dir() {
            found.push((path.clone(), Vec::new()));
            snapshot(&entry.path(), &format!("{path}/"), found);
        } else if kind.is_symlink() {
            let leads_to = fs::read_link(entry.path()).expect("a link can be read");
            found.push((path, leads_to.to_string_lossy().into_owned().into_bytes()));
        } else {
            found.push((path, fs::read(entry.path()).expect("a file can be read")));
        }
    }
}

#[test]
fn ask_never_runs_anything() {
    let world = PolicyScope::full();
    // The files that examples name exist, so that nothing else would stop them.
    for entry in REGISTRY.operations() {
        let example: Value = serde_json::from_str(entry.spec.example).expect("an example is JSON");
        let target = example["target"].as_str().unwrap_or_default();
        if entry.spec.family() == "file" && target.contains('.') {
            let path = world.root().join(target);
            fs::create_dir_all(path.parent().expect("it is in the root")).expect("it can be made");
            fs::write(path, "text\n").expect("it can be written");
        }
    }
    let asked = Grants {
        id: "app",
        granted: Capability::ALL.to_vec(),
        ask: Capability::ALL.to_vec(),
        deny: vec![],
        open_sensitive: vec![],
        closed_files: vec![],
    };
    let contents = || {
        let mut found = Vec::new();
        snapshot(&world.root(), "", &mut found);
        found.sort();
        found
    };
    let before = contents();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
    runtime.block_on(async {
        let mut config = world.config(&[asked]);
        // A command that no rule allows is refused before anybody is asked.
        config.scopes[0].policy.allowed_commands = vec!["git *".into(), "npm *".into()];
        // Those of its private displays.
        config.scopes[0].policy.allow_windows = Some(true);
        // Pictures of the computer are taken in its scopes alone.
        let mut screen = config.scopes[0].clone();
        (screen.id, screen.scope_type, screen.roots) = ("screen".to_owned(), ScopeType::Computer, Vec::new());
        screen.policy = ScopePolicy {
            allow_displays: Some(true),
            allow_windows: Some(true),
            allow_processes: Some(true),
            visible_input: VisibleInput::Allow,
            ..ScopePolicy::default()
        };
        config.scopes.push(screen);
        let settings = ServiceSettings { config, dirs: Dirs::below(world.folder.path().join("home")) };
        let questions = settings.dirs.state.join("approvals");
        let service: Arc<Service> = support::boot(settings).expect("the config is whole");
        let is_here = |entry: &&Entry| entry.spec.supports_platform(std::env::consts::OS);
        let entries = REGISTRY.operations().filter(is_here);
        for entry in entries.filter(|entry| !entry.spec.capabilities.is_empty()) {
            let mut envelope =
                Envelope::from_json(entry.spec.example.as_bytes()).expect("an example is read");
            let in_computer = [ScopeNeed::DESKTOP, ScopeNeed::COMPUTER].contains(&entry.spec.scope);
            envelope.scope = Some(if in_computer { "screen" } else { "app" }.to_owned());
            let caller = Caller::local(Transport::Stdio);
            let outcome = service.handle(&caller, Ok(envelope), &CancellationToken::new()).await;
            let failure = outcome.result.expect_err("a person has not said yes");
            assert_eq!(failure.code, ErrorCode::ApprovalRequired, "{}: {failure}", entry.spec.name);
            assert!(failure.details["approvalId"].is_string(), "{}: {failure:?}", entry.spec.name);
            // There is room for so many open questions only.
            fs::rename(&questions, questions.with_extension(entry.spec.name)).expect("the question is there");
        }
    });
    assert_eq!(before, contents());
}
