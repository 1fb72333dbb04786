//! The files themselves: links, modes, folders that are missing, and what may not be written.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use super::ClientFixture;

#[test]
fn a_link_in_the_files_place_stays_and_what_it_leads_to_is_edited() {
    let desk = ClientFixture::new();
    let real = desk.write("dotfiles/cursor.json", "{}\n");
    fs::set_permissions(&real, Permissions::from_mode(0o640)).expect("its own mode");
    fs::create_dir(desk.path(".cursor")).expect("made");
    symlink("../dotfiles/cursor.json", desk.path(".cursor/mcp.json")).expect("a link");
    desk.well(&["client", "install", "cursor", "--yes"]);
    assert!(desk.path(".cursor/mcp.json").is_symlink());
    assert!(desk.read("dotfiles/cursor.json").contains("bailiwick"));
    assert_eq!(fs::metadata(&real).expect("there").mode() & 0o7777, 0o640);
    desk.well(&["client", "remove", "cursor", "--yes"]);
    assert!(desk.path(".cursor/mcp.json").is_symlink());
    assert_eq!(desk.read("dotfiles/cursor.json"), "{}\n");

    // A link to a file that is still to come.
    fs::create_dir(desk.path(".gemini")).expect("made");
    symlink(desk.path("dotfiles/gemini.json"), desk.path(".gemini/settings.json")).expect("a link");
    desk.well(&["client", "install", "gemini", "--yes"]);
    assert!(desk.path(".gemini/settings.json").is_symlink());
    assert!(desk.read("dotfiles/gemini.json").contains("bailiwick"));
}

#[test]
fn a_file_with_two_names_keeps_both() {
    let desk = ClientFixture::new();
    let file = desk.write(".cursor/mcp.json", "{}\n");
    fs::hard_link(&file, desk.path("other-name.json")).expect("a second name");
    desk.well(&["client", "install", "cursor", "--yes"]);
    assert_eq!(desk.read("other-name.json"), desk.read(".cursor/mcp.json"));
    assert!(desk.read("other-name.json").contains("bailiwick"));
}

#[test]
fn missing_folders_are_made_and_go_again() {
    let desk = ClientFixture::new();
    desk.well(&["client", "install", "windsurf", "--yes"]);
    let file = desk.path(".codeium/windsurf/mcp_config.json");
    assert_eq!(fs::metadata(&file).expect("made").mode() & 0o7777, 0o600);
    desk.well(&["client", "remove", "windsurf", "--yes"]);
    assert!(!desk.path(".codeium").exists());

    // A file that came to hold more is not ours to remove.
    desk.well(&["client", "install", "cursor", "--yes"]);
    let more = desk.read(".cursor/mcp.json").replacen("{\n", "{\n  \"more\": 1,\n", 1);
    desk.write(".cursor/mcp.json", &more);
    desk.well(&["client", "remove", "cursor", "--yes"]);
    assert_eq!(desk.read(".cursor/mcp.json"), "{\n  \"more\": 1\n}\n");
}

#[test]
fn a_read_only_file_and_a_folder_in_its_place_stay_as_they_are() {
    let desk = ClientFixture::new();
    let file = desk.write(".cursor/mcp.json", "{}\n");
    fs::set_permissions(&file, Permissions::from_mode(0o444)).expect("read-only");
    let ran = desk.run(&["client", "install", "cursor", "--yes"]);
    assert!(ran.exit == 12 && ran.err.contains("read-only") && ran.err.contains("chmod u+w"), "{}", ran.err);
    assert_eq!(desk.read(".cursor/mcp.json"), "{}\n");
    assert_eq!(fs::metadata(&file).expect("there").mode() & 0o7777, 0o444);

    fs::create_dir_all(desk.path(".gemini/settings.json")).expect("made");
    let ran = desk.run(&["client", "install", "gemini", "--yes"]);
    assert!(ran.exit == 16 && ran.err.contains("is no file"), "{}", ran.err);
}

#[test]
fn the_file_as_it_was_is_kept_for_this_user_alone_and_put_back() {
    let desk = ClientFixture::new();
    let before = "{\"mcpServers\": {\"a\": {\"env\": {\"API_TOKEN\": \"a-secret\"}}}}";
    desk.write(".cursor/mcp.json", before);
    let ran = desk.well(&["client", "install", "cursor", "--yes", "--json"]);
    let id = ran.json()["edits"][0]["change"].as_str().expect("an id").to_owned();
    assert!(!ran.out.contains("a-secret"), "the diff shows no secret of the lines beside it: {}", ran.out);
    let listed = desk.well(&["client", "list", "--changes", "--json"]).json();
    let backup = std::path::PathBuf::from(listed["changes"][0]["backup"].as_str().expect("a path"));
    assert_eq!(fs::read_to_string(&backup).expect("kept"), before);
    assert_eq!(fs::metadata(&backup).expect("kept").mode() & 0o7777, 0o600);
    assert_eq!(fs::metadata(backup.parent().expect("a folder")).expect("made").mode() & 0o7777, 0o700);

    desk.well(&["client", "undo", &id, "--yes"]);
    assert_eq!(desk.read(".cursor/mcp.json"), before);
    let again = desk.run(&["client", "undo", &id, "--yes"]);
    assert_eq!(again.exit, 15, "{}", again.err);

    // What was changed since is not thrown away.
    desk.well(&["client", "install", "cursor", "--yes"]);
    let touched = desk.read(".cursor/mcp.json") + "\n";
    desk.write(".cursor/mcp.json", &touched);
    let refused = desk.run(&["client", "undo", "--yes"]);
    assert!(refused.exit == 16 && refused.err.contains("client remove cursor"), "{}", refused.err);
    assert_eq!(desk.read(".cursor/mcp.json"), touched);
}
