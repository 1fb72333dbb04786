//! What a held command can still do: a probe program inside each level, compared with `probes.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use bailiwick::contract::command::{Containment, Network};

use super::place::{COPIES, LaunchFixture, bailiwick_program, file_or_copy, probe_program, single};
use crate::needs::{lacks_full_sandbox, lacks_root};
use crate::source::repository;
use crate::temporary::TemporaryFolder;

/// The columns of the table.
const HOLDS: &[(Containment, Network)] = &[
    (Containment::None, Network::Full),
    (Containment::Partial, Network::Full),
    (Containment::Partial, Network::None),
    (Containment::Full, Network::Full),
    (Containment::Full, Network::Loopback),
    (Containment::Full, Network::None),
];

/// What the probe tries to reach.
struct World {
    other: Child,
    _tcp: TcpListener,
    _path: UnixListener,
    _abstract: UnixListener,
    arguments: Vec<String>,
}

impl World {
    fn new(place: &LaunchFixture, name: &str) -> Self {
        let outside = place.outside().join("outside");
        let _ = fs::remove_dir_all(&outside);
        fs::create_dir(&outside).expect("made");
        for file in ["file", "cut", "rename", "move", "remove"] {
            fs::write(outside.join(file), "secret\n").expect("written");
        }
        fs::write(outside.join("program"), "#!/bin/sh\nexit 0\n").expect("written");
        fs::set_permissions(outside.join("program"), fs::Permissions::from_mode(0o755)).expect("set");
        let other = Command::new("sleep")
            .arg("1000")
            .env("SECRET", "x")
            .stdin(Stdio::null())
            .spawn()
            .expect("sleep starts");
        let tcp = TcpListener::bind("127.0.0.1:0").expect("bound");
        let udp = UdpSocket::bind("127.0.0.1:0").expect("bound");
        let (tcp_port, udp_port) =
            (tcp.local_addr().expect("bound").port(), udp.local_addr().expect("bound").port());
        // Ends with the test's process.
        std::thread::spawn(move || {
            let mut byte = [0; 1];
            while let Ok((length, from)) = udp.recv_from(&mut byte) {
                let _ = udp.send_to(&byte[..length], from);
            }
        });
        let abstract_name = format!("bailiwick-probe-{name}-{tcp_port}");
        let address = SocketAddr::from_abstract_name(&abstract_name).expect("a name");
        Self {
            arguments: vec![
                outside.to_string_lossy().into_owned(),
                other.id().to_string(),
                tcp_port.to_string(),
                udp_port.to_string(),
                abstract_name,
            ],
            other,
            _tcp: tcp,
            _path: UnixListener::bind(outside.join("socket")).expect("bound"),
            _abstract: UnixListener::bind_addr(&address).expect("bound"),
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.other.kill();
        let _ = self.other.wait();
    }
}

fn heading((level, network): (Containment, Network)) -> String {
    format!("{level}, network {network}")
}

/// Runs the probe at a level. Returns what is open and shut, in the probe's order.
fn probe(place: &mut LaunchFixture, hold: (Containment, Network)) -> Vec<(String, String)> {
    let (level, network) = hold;
    let world = World::new(place, &format!("{level}-{network}"));
    let program = probe_program();
    place.network = network;
    place.environment.push(("HOME".into(), place.outside().join("home").into()));
    // Outside of the system's folders: it must be told that it may be read.
    place.read_only = vec![program.clone()];
    let mut argv = vec![program.to_str().expect("UTF-8")];
    argv.extend(world.arguments.iter().map(String::as_str));
    let ran = place.run(level, single(&argv));
    let lines = ran.out().lines().map(|line| {
        let (answer, row) = line.split_once(' ').expect("an answer and a row");
        let row = row.split_once(" (").map_or(row, |(name, _)| name);
        (row.to_owned(), answer.to_owned())
    });
    lines.collect()
}

pub(super) fn table_file() -> PathBuf {
    file_or_copy(&repository().join("tests/it/launch/probes.md"))
}

const PREAMBLE: &str = "# What a held command can do

A program (`examples/probe.rs`) tries each of these inside each level. `open` means that it succeeded.
`UPDATE=1 cargo test --test it launch::probes` writes this table; read it then. The test fails where more is
open than is here, or where a row that begins `works` is shut. It may be that less is open on your machine: no
virtual machine around it, no root.

";

fn shown(columns: &[Vec<(String, String)>]) -> String {
    let mut text = PREAMBLE.to_owned();
    let headings: Vec<_> = HOLDS.iter().map(|hold| heading(*hold)).collect();
    writeln!(text, "| probe | {} |", headings.join(" | ")).expect("a string takes all");
    writeln!(text, "|---|{}", "---|".repeat(headings.len())).expect("a string takes all");
    for (at, (row, _)) in columns[0].iter().enumerate() {
        let answers: Vec<_> = columns.iter().map(|column| column[at].1.as_str()).collect();
        writeln!(text, "| {row} | {} |", answers.join(" | ")).expect("a string takes all");
    }
    text
}

fn expected() -> BTreeMap<String, Vec<String>> {
    let text = fs::read_to_string(table_file()).expect("the table exists");
    let rows = text.lines().filter(|line| line.starts_with("| ")).skip(1);
    rows.map(|line| {
        let mut cells = line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned());
        (cells.next().expect("a row has a name"), cells.collect())
    })
    .collect()
}

#[test]
fn no_more_is_open_than_the_table_says() {
    if lacks_full_sandbox() {
        return;
    }
    let columns: Vec<_> = HOLDS.iter().map(|hold| probe(&mut LaunchFixture::new(), *hold)).collect();
    if std::env::var_os("UPDATE").is_some() {
        fs::write(table_file(), shown(&columns)).expect("written");
    }
    let expected = expected();
    let mut problems = Vec::new();
    for (at, (hold, column)) in HOLDS.iter().zip(&columns).enumerate() {
        assert_eq!(column.len(), expected.len(), "{}: every row of the table is tried", heading(*hold));
        for (row, answer) in column {
            let wanted = expected.get(row).map(|cells| cells[at].as_str()).unwrap_or_default();
            let must_work = row.starts_with("works") && answer != "open";
            if must_work || (answer == "open" && wanted != "open") {
                problems.push(format!("{}: {row} is {answer}, should be `{wanted}`", heading(*hold)));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn the_full_level_is_shut_but_for_what_it_is_for() {
    // Said once more, apart from the table, so that an update cannot weaken it unseen.
    let own = ["TCP on a loopback of its own", "a private /tmp and shared memory", "a terminal of its own"];
    let by_choice =
        ["TCP to the computer's loopback", "UDP to the computer's loopback", "netlink socket for routes"];
    for (row, cells) in expected() {
        for (hold, cell) in HOLDS.iter().zip(&cells).filter(|((level, _), _)| *level == Containment::Full) {
            let may_be_open = match hold.1 {
                Network::Full => by_choice.contains(&row.as_str()),
                // Of its own network, in which there is nothing to see or to change.
                Network::Loopback | Network::Hosts => row == "netlink socket for routes",
                Network::None => false,
            };
            let meant = row.starts_with("works") || own.contains(&row.as_str());
            assert!(cell == "shut" || may_be_open || meant, "{}: {row} is {cell}", heading(*hold));
        }
    }
}

#[test]
fn an_ordinary_user_is_held_as_root_is() {
    // The other tests run as anyone who runs them. Where that is root, they run once more as nobody.
    if lacks_root() {
        return;
    }
    let folder = TemporaryFolder::new();
    let test = std::env::current_exe().expect("this test");
    for file in [&test, &bailiwick_program(), &probe_program(), &table_file()] {
        fs::copy(file, folder.path().join(file.file_name().expect("a name"))).expect("copied");
    }
    let home = TemporaryFolder::new();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o1777)).expect("set");
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(folder.path().join(test.file_name().expect("a name")))
        .args(["launch::plans", "launch::bounds", "launch::probes::no_more_is_open_than_the_table_says"])
        .args(["launch::killing::detached", "launch::killing::a_dropped", "launch::killing::what_a_killed"])
        .args([
            "launch::keeping",
            "launch::terminal",
            "launch::door",
            "launch::deaths",
            "launch::memory",
            "launch::own_socket",
            "launch::figures::a_full",
        ])
        .current_dir(home.path())
        .env_remove("UPDATE")
        .env(COPIES, folder.path())
        .env("TMPDIR", home.path())
        .output()
        .expect("setpriv starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("test result: ok."), "{said}");
    assert!(!said.contains(" 0 passed"), "{said}");
}
