//! What doctor says of displays: one that is there, one that is not, and one that lets nobody in.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::net::TcpListener;

use serde_json::{Value, json};
use support::installation::Installation;
use support::screen::XServer;

use super::{change, doctor, healthy, home, mode, troubles};

fn with_screens() -> Installation {
    let place = healthy();
    change(&place, |config| {
        let screen = json!({
            "id": "screen", "type": "computer", "capabilities": ["screen:capture"],
            "policy": {"allowDisplays": true},
        });
        config["scopes"].as_array_mut().expect("a list").push(screen);
    });
    place
}

fn looked(place: &Installation, variables: &[(&str, &str)]) -> Value {
    let mut command = place.command(&["doctor", "--json"]);
    command.env_remove("DISPLAY").env_remove("XAUTHORITY").envs(variables.iter().copied());
    serde_json::from_slice(&command.output().expect("the binary runs").stdout).expect("JSON")
}

fn of_screens(report: &Value) -> BTreeSet<String> {
    troubles(report).into_iter().filter(|check| check.starts_with("screen")).collect()
}

pub fn a_display_that_can_be_looked_at_is_in_order() {
    let place = with_screens();
    let server = XServer::start();
    let cookies = server.sources().authority.expect("it has cookies");
    let cookies = cookies.to_str().expect("UTF-8");
    let report = looked(&place, &[("DISPLAY", &server.id()), ("XAUTHORITY", cookies)]);
    assert_eq!(of_screens(&report), BTreeSet::new(), "{report:#}");
    let checks = report["checks"].as_array().expect("checks");
    let screen = checks.iter().find(|it| it["check"] == "screen").expect("told");
    assert!(screen["says"].as_str().is_some_and(|says| says.contains(&server.id())), "{screen}");
}

pub fn a_display_that_is_gone_and_a_cookie_that_cannot_be_read_are_named() {
    let place = with_screens();
    // Nobody starts servers of such numbers.
    let report = looked(&place, &[("DISPLAY", ":64321"), ("XAUTHORITY", "/none/cookies")]);
    let expected = ["screen-authority", "screen-display"].map(str::to_owned);
    assert_eq!(of_screens(&report), BTreeSet::from(expected), "{report:#}");
    let checks = report["checks"].as_array().expect("checks");
    for check in checks.iter().filter(|it| it["check"].as_str().is_some_and(|it| it.starts_with("screen-"))) {
        assert!(
            check["fix"].as_str().is_some_and(|fix| fix.contains("DISPLAY") || fix.contains("XAUTHORITY")),
            "{check}"
        );
    }
}

pub fn a_display_that_lets_nobody_in_is_named() {
    let place = with_screens();
    let server = XServer::start();
    let report = looked(&place, &[("DISPLAY", &server.id())]);
    assert_eq!(of_screens(&report), BTreeSet::from(["screen-display".to_owned()]), "{report:#}");
}

pub fn displays_are_not_looked_at_for_scopes_that_take_no_pictures() {
    let report = looked(&healthy(), &[("DISPLAY", ":64321"), ("XAUTHORITY", "/none/cookies")]);
    assert_eq!(of_screens(&report), BTreeSet::new(), "{report:#}");
}

pub fn a_vision_model_that_can_be_asked_is_in_order_and_is_not_asked() {
    let place = healthy();
    let usual = troubles(&doctor(&place, &[]));
    let model = TcpListener::bind("127.0.0.1:0").expect("a port");
    model.set_nonblocking(true).expect("set");
    let address = model.local_addr().expect("bound");
    let file = home(&place).join("model.key");
    fs::write(&file, "the-key-0a1b2c3d4e5f").expect("written");
    mode(&file, 0o600);
    let set = |key: &str, value: Value| {
        let model =
            json!({"kind": "ollama", "baseUrl": format!("http://{address}"), "model": "m", key: value});
        change(&place, |config| config["visionModel"] = model);
    };
    let says = |variables: &[(&str, &str)]| {
        let report = looked(&place, variables);
        assert_eq!(troubles(&report), usual, "{report:#}");
        let checks = report["checks"].as_array().expect("checks");
        let check = checks.iter().find(|it| it["check"] == "vision-model").expect("told");
        assert!(!report.to_string().contains("the-key"), "{report:#}");
        check["says"].as_str().expect("text").to_owned()
    };
    set("keyFile", json!(file));
    let said = says(&[]);
    assert!(said.contains(&format!("{address} can be asked")) && said.contains("no scope grants"), "{said}");
    change(&place, |config| {
        let capabilities = config["scopes"][0]["capabilities"].as_array_mut().expect("a list");
        capabilities.extend([json!("screen:capture"), json!("screen:ground")]);
    });
    let said = says(&[]);
    assert!(said.contains("scope `project` has screen.ground send pictures"), "{said}");
    // The service may have a variable that is not set here.
    set("keyVariable", json!("KEY_OF_A_MODEL"));
    assert!(says(&[]).contains("`KEY_OF_A_MODEL` of the service, which is not set here"));
    assert!(says(&[("KEY_OF_A_MODEL", "the-key-0a1b2c3d4e5f")]).contains("can be asked"));
    assert_eq!(model.accept().expect_err("nobody came").kind(), ErrorKind::WouldBlock);
}
