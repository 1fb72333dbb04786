//! Commands where the scope or the caller lacks `fs:write`: they read the folders, and write nothing in them.

use std::collections::BTreeSet;
use std::fs;

use bailiwick::contract::{Caller, Capability, CapabilityGrant, Containment, Transport};
use serde_json::{Value, json};

use crate::needs::at_every_level;
use support::scope::TestScope;
use support::service::TestService;

/// Ways to write; each leaves something in the folder, or takes something away.
const MAKEFILE: &str = "\
write:
\t@touch made; mkdir folder; echo more >> file; echo x > file; rm -f file; mv file moved; ln file hard; chmod 600 file; \
truncate -s 0 file; ln -s file soft; cp file copy; echo kept > $$HOME/kept; cat $$HOME/kept; cat file; exit 3
read:
\t@cat file
";

struct Makefile {
    host: TestService,
}

impl Makefile {
    fn new(level: Containment, capabilities: &[&str], ask: &[&str]) -> Self {
        let scope = TestScope::new()
            .with_capabilities(capabilities)
            .with_field("ask", json!(ask))
            .with_policy(json!({"sandbox": level, "allowedCommands": ["make *"]}));
        scope.write("Makefile", MAKEFILE);
        scope.write("file", "content\n");
        Self { host: scope.host() }
    }

    async fn make(&self, caller: &Caller, target: &str) -> Value {
        let request = json!({"op": "command.run", "input": {"command": ["make", target]}});
        let answer = self.host.send_as(caller, request).await;
        assert_eq!(answer["ok"], true, "{answer:#}");
        answer
    }

    /// Returns the names in the folder, and what the file holds.
    fn state(&self) -> (BTreeSet<String>, String) {
        let app = self.host.root();
        let names = fs::read_dir(&app).expect("listed").flatten();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        (names, fs::read_to_string(app.join("file")).unwrap_or_default())
    }
}

fn local() -> Caller {
    Caller::local(Transport::Stdio)
}

/// A caller whose token has everything but `fs:write`.
fn reader() -> Caller {
    let granted = Capability::ALL.iter().copied().filter(|it| *it != Capability::FsWrite);
    Caller { capabilities: CapabilityGrant::Only(granted.collect()), ..local() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_writes_in_the_folders_only_where_scope_and_caller_may() {
    at_every_level(|level| async move {
        let without = Makefile::new(level, &["fs:read", "command:run"], &[]);
        let asked = Makefile::new(level, &["fs:read", "command:run"], &["fs:write"]);
        let with = Makefile::new(level, &["fs:read", "fs:write", "command:run"], &[]);
        for (place, caller, of) in [
            (&without, local(), "bailiwick scope allow app fs:write"),
            (&asked, local(), "bailiwick scope allow app fs:write"),
            (&with, reader(), "its token lacks fs:write"),
        ] {
            let before = place.state();
            let answer = place.make(&caller, "write").await;
            let printed = answer["data"]["stdout"].as_str().expect("text");
            assert!(printed.contains("kept\n"), "the private HOME can be written: {answer:#}");
            if level == Containment::None {
                assert_ne!(place.state(), before, "nothing holds it: {answer:#}");
                continue;
            }
            assert_eq!(place.state(), before, "{level}: {answer:#}");
            assert!(printed.ends_with("content\n"), "{level}: {answer:#}");
            let warnings = answer["warnings"].as_array().expect("a list");
            let said: Vec<_> =
                warnings.iter().filter(|it| it.to_string().contains("write nothing")).collect();
            assert!(said.len() == 1 && said[0].to_string().contains(of), "{level}: {answer:#}");
            assert!(!answer["warnings"].to_string().contains("scope add"), "{level}: {answer:#}");
            assert_eq!(
                place.make(&caller, "read").await["warnings"],
                json!([]),
                "what succeeds needs no hint"
            );
        }
        let fresh = Makefile::new(level, &["fs:read", "fs:write", "command:run"], &[]);
        let before = fresh.state();
        let answer = fresh.make(&local(), "write").await;
        assert_ne!(fresh.state(), before, "{level}: {answer:#}");
        assert!(!answer["warnings"].to_string().contains("write nothing"), "{level}: {answer:#}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_and_a_package_script_write_no_more_than_a_command() {
    at_every_level(|level| async move {
        if level == Containment::None {
            return;
        }
        let place = Makefile::new(level, &["fs:read", "command:run", "package:run", "process:manage"], &[]);
        let before = place.state();
        let ran = place.host
            .send(json!({"scope": "app", "op": "package.run", "input": {"script": "write"}}))
            .await;
        assert_eq!(ran["data"]["exitCode"], 2, "{ran:#}");
        assert!(ran["warnings"].to_string().contains("write nothing"), "{ran:#}");
        let started = place.host
            .send(json!({"scope": "app", "op": "process.start", "input": {"command": ["make", "write"]}}))
            .await;
        let id = started["data"]["processId"].as_str().unwrap_or_else(|| panic!("{started:#}")).to_owned();
        let waited = json!({"scope": "app", "op": "process.wait", "input": {"any": [{"until": "exit", "process": id}]},
            "options": {"timeoutSeconds": 600}});
        let waited = place.host.send(waited).await;
        let read = place.host.send(json!({"scope": "app", "op": "process.read", "target": id})).await;
        assert_eq!(read["data"]["exitCode"], 2, "{read:#}");
        assert!(format!("{waited}{read}").contains("write nothing"), "{waited:#} {read:#}");
        assert_eq!(place.state(), before, "{level}");
    })
    .await;
}
