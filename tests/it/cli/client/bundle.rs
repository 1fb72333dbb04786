//! Bundles and the registry's entry, read back by other means than they were written with.

use std::io::Read;

use rawzip::ZipArchive;
use serde_json::{Value, json};

use super::ClientFixture;

#[test]
fn a_bundle_holds_the_manifest_and_the_program_and_is_the_same_each_time() {
    let desk = ClientFixture::new();
    let program = "a program\n".repeat(1_000);
    desk.write("program", &program);
    let words =
        ["client", "mcpb", "--out", "b.mcpb", "--binary", "program", "--platform", "darwin", "--json"];
    let first = desk.well(&words).json();
    let bytes = std::fs::read(desk.path("b.mcpb")).expect("written");
    assert_eq!(first["bytes"], bytes.len());
    let second = desk.well(&words).json();
    assert_eq!(first["sha256"], second["sha256"]);

    let archive = ZipArchive::from_slice(&bytes).expect("a zip file");
    let mut entries = archive.entries();
    let mut found = Vec::new();
    while let Some(entry) = entries.next_entry().expect("readable") {
        let path = entry.file_path().try_normalize().expect("a plain path").as_ref().to_owned();
        let mode = entry.mode().value() & 0o777;
        let local = archive.get_entry(entry.wayfinder()).expect("there");
        let mut content = String::new();
        local
            .verifying_reader(flate2::bufread::DeflateDecoder::new(local.data()))
            .read_to_string(&mut content)
            .expect("whole");
        found.push((path, mode, content));
    }
    assert_eq!((found[1].0.as_str(), found[1].1, &found[1].2), ("server/bailiwick", 0o755, &program));
    assert_eq!((found[0].0.as_str(), found[0].1, found.len()), ("manifest.json", 0o644, 2));
    let manifest: Value = serde_json::from_str(&found[0].2).expect("JSON");
    assert_eq!(manifest["manifest_version"], "0.3");
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(manifest["server"]["mcp_config"]["command"], "${__dirname}/server/bailiwick");
    assert_eq!(manifest["compatibility"]["platforms"], json!(["darwin"]));
}

#[test]
fn the_registrys_entry_names_the_published_bundle_by_its_sum() {
    let desk = ClientFixture::new();
    let mut words = vec!["client", "mcpb", "--binary", "project/hello.txt", "--platform", "linux", "--json"];
    words.extend(["--server-json", "server.json", "--registry-name", "io.github.example/bailiwick"]);
    let refused = desk.run(&[&words[..], &["--url", "http://example.org/bailiwick.mcpb"]].concat());
    assert_eq!(refused.exit, 2, "{}", refused.out);
    assert!(!desk.path("server.json").exists());
    let url = "https://example.org/bailiwick.mcpb";
    let made = desk.well(&[&words[..], &["--url", url]].concat()).json();
    let entry: Value = serde_json::from_str(&desk.read("server.json")).expect("JSON");
    assert_eq!(entry["packages"][0]["fileSha256"], made["sha256"]);
    assert_eq!(entry["packages"][0]["identifier"], url);
    assert!(entry["description"].as_str().expect("text").len() <= 100);
    assert!(desk.path(&format!("bailiwick-{}.mcpb", env!("CARGO_PKG_VERSION"))).is_file());
}
