//! Commands: what runs, what is refused, and what a command that runs is kept from.

use std::fs;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::path::{Component, Path};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::diagnosis::command_steps::{a_command, refused_commands, run, unheld, write_outside};
use crate::installation::bounded_run::run_to_end;
use crate::installation::child::McpChild;
use crate::installation::limit::Limit;
use crate::installation::steps::{Expect, StepError, Steps, wrong};
use bailiwick_contract::Failure;
use bailiwick_platform::{machine, paths};

use super::installation::{OUTSIDE, ProofInstallation};

/// How long a program may take to connect to this computer.
const CONNECT_TIME: Duration = Duration::from_secs(3);
/// What a program says once it has connected.
const REACHED: &str = "reached";
/// Programs that can connect, and what each is to do; `PORT` stands for the port.
const CONNECTORS: &[(&str, &str, &str)] = &[
    ("bash", "connect.sh", "exec 3<>/dev/tcp/127.0.0.1/PORT && echo reached\n"),
    (
        "perl",
        "connect.pl",
        "use IO::Socket::INET;\nprint \"reached\\n\" if IO::Socket::INET->new(PeerAddr => '127.0.0.1:PORT', Timeout => 2);\n",
    ),
    (
        "python3",
        "connect.py",
        "import socket\nsocket.create_connection(('127.0.0.1', PORT), 2)\nprint('reached')\n",
    ),
];

/// Runs commands, and has them try what they must not be able to do.
pub fn commands(steps: &mut Steps, child: &mut McpChild, proof: &ProofInstallation) {
    steps.group("Commands");
    a_command(steps, child, "run");
    refused_commands(steps, child, "run");
    steps.group("Sandbox");
    if let Some(why) = unheld() {
        for name in ["a write outside", "a read outside", "your home folder", "the network"] {
            steps.skip(name, why.as_str());
        }
        return;
    }
    write_outside(steps, child, "run", &proof.place.base().join("made-by-a-command"));
    let read = run("run", json!(["cat", proof.outside]));
    steps.envelope("a read outside", child, read, Expect::Success, |data| {
        if data.to_string().contains(OUTSIDE) {
            return Err(wrong("a command read a file outside the scope"));
        }
        Ok(format!("nothing was read there: exit {}", data["exitCode"]))
    });
    steps.step_or_skip("your home folder", || home_folder(child, proof));
    let limit = steps.limit().clone();
    steps.step_or_skip("the network", || network(child, proof, &limit));
}

/// Sends the envelope of a command that has to run, whatever comes of it.
fn ran(child: &mut McpChild, envelope: Value) -> Result<Value, Failure> {
    let mut outcome = child.call("computer_operation", envelope)?;
    if outcome["ok"] == true {
        Ok(outcome["data"].take())
    } else {
        Err(wrong(format!("it failed: {}", outcome["error"]["message"])))
    }
}

/// Lists the user's home folder by a command. Names alone, and they are told to nobody.
fn home_folder(child: &mut McpChild, proof: &ProofInstallation) -> Result<((), String), StepError> {
    let skipped = |why: &str| Err(StepError::Skipped(why.to_owned()));
    let Some(home) = machine::home_folder().and_then(|home| paths::real(&home).ok()) else {
        return skipped("there is none");
    };
    if ["/usr", "/etc", "/bin", "/sbin", "/lib"].iter().any(|folder| home.starts_with(folder))
        || home == Path::new("/")
    {
        return skipped("it is a folder of the system, which commands may read");
    }
    // What leads to the scope has to be seen.
    let way = proof.place.base().strip_prefix(&home).ok().and_then(|rest| rest.components().next());
    let is_on_the_way = |name: &str| way == Some(Component::Normal(name.as_ref()));
    let has_content = fs::read_dir(&home)
        .into_iter()
        .flatten()
        .flatten()
        .any(|entry| !is_on_the_way(&entry.file_name().to_string_lossy()));
    if !has_content {
        return skipped("it is empty");
    }
    let data = ran(child, run("run", json!(["ls", "-A", home])))?;
    let shown = data["stdout"].as_str().unwrap_or_default();
    match shown.lines().filter(|name| !is_on_the_way(name)).count() {
        0 => Ok(((), format!("a command sees nothing of it: exit {}", data["exitCode"]))),
        count => Err(StepError::Wrong(wrong(format!("a command sees {count} names in it")))),
    }
}

/// Connects to a listener of this computer: from here, where it must work, and from a command, where it must not.
fn network(
    child: &mut McpChild,
    proof: &ProofInstallation,
    limit: &Limit,
) -> Result<((), String), StepError> {
    let failed = |error: std::io::Error| StepError::Wrong(wrong(error.to_string()));
    let listener = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let port = listener.local_addr().map_err(failed)?.port();
    for (program, file, text) in CONNECTORS {
        fs::write(proof.folder.join(file), text.replace("PORT", &port.to_string())).map_err(failed)?;
        let mut command = Command::new(program);
        command.arg(file).current_dir(&proof.folder);
        let reaches = run_to_end(&mut command, limit, CONNECT_TIME)
            .is_ok_and(|ended| ended.status.success() && ended.out.contains(REACHED));
        if !reaches || connections(&listener) == 0 {
            continue;
        }
        let data = ran(child, run("run", json!([program, file])))?;
        let says_so = data["stdout"].as_str().is_some_and(|out| out.contains(REACHED));
        let level = data["sandbox"]["network"].as_str().unwrap_or("?");
        if !says_so && connections(&listener) == 0 {
            let saw = format!(
                "{program} reaches this computer unheld, and as a command does not (network `{level}`)"
            );
            return Ok(((), saw));
        }
        return Err(match level {
            "full" => StepError::Skipped(
                "commands are not kept from the network here, as `status` says of the level they are held at"
                    .to_owned(),
            ),
            _ => StepError::Wrong(wrong(format!(
                "{program} reached this computer, though its network is `{level}`"
            ))),
        });
    }
    let names: Vec<&str> = CONNECTORS.iter().map(|(program, ..)| *program).collect();
    Err(StepError::Skipped(format!("none of {} is here to try it with", names.join(", "))))
}

/// Takes what has connected.
fn connections(listener: &TcpListener) -> usize {
    let mut count = 0;
    loop {
        match listener.accept() {
            Ok(_) => count += 1,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return count,
        }
    }
}
