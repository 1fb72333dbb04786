//! What doctor says of displays: one that is there, one that is not, and one that lets nobody in.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use support::installation::Installation;
use support::screen::XServer;

use super::{change, healthy, troubles};

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
