//! What is said of a service that other computers can reach.

use std::io::{BufRead, BufReader};

use crate::installation::Installation;

#[test]
fn a_service_that_other_computers_can_reach_says_so_and_that_nothing_is_encrypted() {
    let place = Installation::set_up();
    place.make_token("owner");
    let says =
        |text: &str| text.contains("other computers can reach 0.0.0.0:") && text.contains("not encrypted");
    let mut child =
        place.command(&["start", "--host", "0.0.0.0", "--port", "0"]).spawn().expect("the binary runs");
    let lines = BufReader::new(child.stderr.take().expect("piped")).lines();
    let said: Vec<String> =
        lines.map(|line| line.expect("text")).take_while(|line| !line.contains("Ctrl-C")).collect();
    let said_last = said.join("\n");
    let status = place.run(&["status"]);
    let doctor = place.run(&["doctor", "--json"]);
    let _ = child.kill();
    let _ = child.wait();
    assert!(says(&said_last), "{said_last}");
    assert!(says(&status.out), "{}", status.out);
    let found = doctor.json().to_string();
    assert!(found.contains("service-network") && says(&found), "{found}");
    let service = place.start();
    let status = place.run(&["status"]);
    assert!(!status.out.contains("encrypted"), "{}", status.out);
    drop(service);
}
