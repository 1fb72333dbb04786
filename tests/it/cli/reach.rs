//! What is said of a service that other computers can reach.

use std::io::{BufRead, BufReader};

use serde_json::json;

use crate::installation::{Installation, Service};

/// Starts a service that other computers can reach, and returns what it says until it serves.
fn start_everywhere(place: &Installation, more: &[&str]) -> (Service, String) {
    let words = [&["start", "--host", "0.0.0.0", "--port", "0"], more].concat();
    let mut child = place.command(&words).spawn().expect("the binary runs");
    let lines = BufReader::new(child.stderr.take().expect("piped")).lines();
    let said: Vec<String> =
        lines.map(|line| line.expect("text")).take_while(|line| !line.contains("Ctrl-C")).collect();
    (Service { child, started: serde_json::Value::Null }, said.join("\n"))
}

#[test]
fn a_service_that_other_computers_can_reach_says_so_and_that_nothing_is_encrypted() {
    let place = Installation::set_up();
    place.make_token("owner");
    let says =
        |text: &str| text.contains("other computers can reach 0.0.0.0:") && text.contains("not encrypted");
    let (service, said_last) = start_everywhere(&place, &[]);
    let status = place.run(&["status"]);
    let doctor = place.run(&["doctor", "--json"]);
    drop(service);
    assert!(says(&said_last), "{said_last}");
    assert!(said_last.contains("listens on every address"), "{said_last}");
    assert!(said_last.contains("`bailiwick serve --host 0.0.0.0 --tls`"), "{said_last}");
    assert!(says(&status.out), "{}", status.out);
    let found = doctor.json().to_string();
    assert!(found.contains("service-network") && says(&found), "{found}");
    let service = place.start();
    let status = place.run(&["status"]);
    assert!(!status.out.contains("encrypted"), "{}", status.out);
    drop(service);
}

#[test]
fn a_service_that_encrypts_shows_its_certificate_and_is_checked_by_it() {
    let place = Installation::set_up();
    place.make_token("owner");
    let (service, said) = start_everywhere(&place, &["--tls"]);
    assert!(said.contains("the connection is encrypted") && !said.contains("Encrypt it"), "{said}");
    let status = place.run(&["status", "--json"]).json();
    let url = status["service"]["url"].as_str().expect("a URL");
    assert!(url.starts_with("https://127.0.0.1:"), "{status}");
    let fingerprint = status["service"]["certificateSha256"].as_str().expect("a fingerprint");
    assert_eq!(fingerprint.split(':').filter(|pair| pair.len() == 2).count(), 32, "{fingerprint}");
    // `doctor` asks over TLS, and knows the service by its certificate.
    let found = place.run(&["doctor", "--json"]).json();
    let checks: Vec<&serde_json::Value> = found["checks"].as_array().expect("checks").iter().collect();
    let state = |id: &str| {
        let check = checks.iter().find(|check| check["check"] == id);
        check.map(|check| check["standing"].clone()).unwrap_or_else(|| panic!("no {id}: {found}"))
    };
    assert_eq!((state("http"), state("service-network")), ("ok".into(), "ok".into()), "{found}");
    // An impostor with another certificate is not taken for it.
    let note = place.folder.path().join("home").join("run").join("service.json");
    let text = std::fs::read_to_string(&note).expect("a note");
    std::fs::write(&note, text.replace(fingerprint, &fingerprint.replace(':', ";"))).expect("written");
    let found = place.run(&["doctor", "--json"]).json().to_string();
    assert!(found.contains("does not answer"), "{found}");
    drop(service);
}

/// Returns the sockets of the internet's protocols that a process has: the table, the own address, the other one, and the state, in hex.
// They are read from /proc.
#[cfg(target_os = "linux")]
fn internet_sockets(process: u32) -> Vec<[String; 4]> {
    let links = std::fs::read_dir(format!("/proc/{process}/fd")).expect("it lives").flatten();
    let targets = links.filter_map(|link| std::fs::read_link(link.path()).ok());
    let own: std::collections::BTreeSet<String> = targets
        .filter_map(|to| Some(to.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let mut found = Vec::new();
    for table in ["tcp", "tcp6", "udp", "udp6", "raw", "raw6"] {
        let text = std::fs::read_to_string(format!("/proc/{process}/net/{table}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let cells: Vec<&str> = line.split_whitespace().collect();
            if own.contains(cells[9]) {
                found.push([table, cells[1], cells[2], cells[3]].map(str::to_owned));
            }
        }
    }
    found
}

// Its sockets are read from /proc.
#[cfg(target_os = "linux")]
#[test]
fn a_service_listens_on_this_computer_alone_and_connects_to_nothing() {
    let place = Installation::set_up();
    let token = place.make_token("owner");
    let service = place.start();
    let address = service.started["address"].as_str().expect("an address").to_owned();
    let port = address.rsplit(':').next().and_then(|port| port.parse::<u16>().ok()).expect("a port");
    let here = format!("0100007F:{port:04X}");
    for round in 0..3 {
        for op in ["file.list", "computer.info", "history.timeline"] {
            let answer = service.ask(&token, &json!({"scope": "project", "op": op}));
            assert_eq!(answer["op"], op, "{answer}");
        }
        assert_eq!(place.run(&["status"]).exit, 0);
        let sockets = internet_sockets(service.child.id());
        let listening: Vec<_> = sockets.iter().filter(|it| it[3] == "0A").collect();
        assert!(
            matches!(listening.as_slice(), [one] if one[0] == "tcp" && one[1] == here),
            "{round}: {sockets:?}"
        );
        // What else there is was accepted there, from this computer: it has called nobody.
        for [table, own, other, _] in &sockets {
            assert!(table == "tcp" && *own == here, "{round}: {sockets:?}");
            assert!(other.starts_with("0100007F:") || other == "00000000:0000", "{round}: {sockets:?}");
        }
    }
    drop(service);
}
