//! `bailiwick man` writes a page for each command, and what formats manual pages finds nothing wrong in them.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use libtest_mimic::Trial;
use support::installation::Installation;

use crate::trials::TrialFilter;

/// The trials.
pub fn trials(_: &TrialFilter) -> Vec<Trial> {
    trials![every_command_has_a_manual_page_that_formats_without_a_warning]
}

fn every_command_has_a_manual_page_that_formats_without_a_warning() {
    let place = Installation::new();
    let ran = place.run(&["man", "man1", "--json"]);
    assert_eq!(ran.exit, 0, "{}", ran.err);
    let told = ran.json();
    let told: BTreeSet<String> = told["pages"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|it| Some(it.as_str()?.to_owned()))
        .collect();
    let folder = place.folder.path().join("man1");
    let written: BTreeSet<String> = fs::read_dir(&folder)
        .expect("made")
        .map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(told, written);
    for page in ["bailiwick.1", "bailiwick-setup.1", "bailiwick-scope-add.1", "bailiwick-policy-explain.1"] {
        assert!(written.contains(page), "{page}: {written:?}");
    }
    for page in &written {
        let formatted = Command::new("groff")
            .args(["-man", "-Tutf8", "-ww", "-rLL=80n"])
            .arg(folder.join(page))
            .output()
            .expect("groff runs");
        let said = String::from_utf8_lossy(&formatted.stderr);
        assert!(formatted.status.success() && said.is_empty(), "{page}: {said}");
        let source = fs::read_to_string(folder.join(page)).expect("written");
        for part in [".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", "bailiwick"] {
            assert!(source.contains(part), "{page}: {source}");
        }
    }
    let first = fs::read_to_string(folder.join("bailiwick.1")).expect("written");
    for code in ["path_out_of_scope", "BAILIWICK_HOME", "bailiwick\\-doctor(1)"] {
        assert!(first.contains(code), "{code}: {first}");
    }
}
