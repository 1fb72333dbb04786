//! `status`: what it says at each step of the way, and what is to be done next.

use std::fs;

use super::place::TranscriptFixture;
use super::start::ServeProcess;
use super::transcript::Transcript;

#[test]
fn status_says_what_to_do_next_at_each_step() {
    let place = TranscriptFixture::new();
    let mut it = Transcript::begin(&place, "status", "From nothing to a running service");
    assert_eq!(it.run(&["status"], &[]), 18);
    place.well(&["setup", "--yes"]);
    it.note("Set up, and nothing is open");
    assert_eq!(it.run(&["status"], &[]), 0);
    place.well(&["setup", "project", "--yes"]);
    it.note("A folder is open");
    assert_eq!(it.run(&["status"], &[]), 0);
    fs::create_dir(place.path(".cursor")).expect("made");
    it.note("And a client is there");
    assert_eq!(it.run(&["status"], &[]), 0);
    place.well(&["client", "add", "cursor", "--yes"]);
    assert_eq!(it.run(&["status"], &[]), 0);
    it.note("Its settings lead to another Bailiwick");
    let settings = place.path(".cursor/mcp.json");
    let right = fs::read_to_string(&settings).expect("the settings");
    let other = right.replace("\"args\"", "\"env\": {\"BAILIWICK_HOME\": \"/srv/other\"}, \"args\"");
    assert_ne!(other, right);
    fs::write(&settings, other).expect("written");
    assert_eq!(it.run(&["status"], &[]), 0);
    fs::write(&settings, right).expect("written");
    let served = ServeProcess::start(&place);
    it.note("A service runs");
    assert_eq!(it.run(&["status"], &[]), 0);
    it.columns(40);
    assert_eq!(it.run(&["status"], &[]), 0);
    it.columns(80);
    served.end();
    fs::rename(place.path("project"), place.path("gone")).expect("moved");
    it.note("The folder is gone");
    assert_eq!(it.run(&["status"], &[]), 18);
    it.end();
}

#[test]
fn status_for_programs_has_the_fields_of_its_schema() {
    let place = TranscriptFixture::new();
    place.well(&["setup", "project", "--yes"]);
    let served = ServeProcess::start(&place);
    let told = place.well(&["status", "--json"]).json();
    served.end();
    let own = place.well(&["status", "--json"]).json();
    let set_up = place.well(&["setup", "project", "--json"]).json();
    for (schema, told) in [("status", &told), ("status", &own), ("setup", &set_up)] {
        let path = crate::source::repository().join(format!("schemas/cli/{schema}.json"));
        let schema = serde_json::from_str(&fs::read_to_string(path).expect("a schema")).expect("JSON");
        let errors: Vec<String> = jsonschema::validator_for(&schema)
            .expect("a schema")
            .iter_errors(told)
            .map(|error| error.to_string())
            .collect();
        assert!(errors.is_empty(), "{errors:?}: {told:#}");
    }
    assert_eq!((&told["ready"], &told["running"]), (&true.into(), &true.into()), "{told:#}");
    assert_eq!(
        (&own["ready"], &own["running"], &own["service"]),
        (&true.into(), &false.into(), &serde_json::Value::Null)
    );
}
